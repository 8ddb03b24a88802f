import { expect, test } from 'vitest'
import { growClassificationTree } from '../../src/stats/decision-tree/grow-classification-tree.ts'
import { growRegressionTree } from '../../src/stats/decision-tree/grow-regression-tree.ts'
import { midranks } from '../../src/stats/midranks.ts'
import { quantileMap } from '../../src/stats/quantile-map.ts'
import { randomSource } from '../../src/stats/random.ts'
import { worthWeights } from '../../src/stats/weighted-sample.ts'
import { LatencyProfile } from '../../src/whatif/recompute/latency-profile.ts'

/** Values with ties, and how many each stands for. */
function sample(seed: number) {
  const random = randomSource(seed)
  const size = 5 + random.integer(40)
  const values = Float64Array.from({ length: size }, () => random.integer(30))
  const weights = values.map(() => 1 + random.integer(6))
  return { values, weights, rows: repeatedRows(weights) }
}

function repeatedRows(weights: Float64Array): number[] {
  return Array.from(weights, (weight, row) => Array<number>(weight).fill(row)).flat()
}

const SEEDS = Array.from({ length: 40 }, (_, i) => i + 1)

test('a weighted value of a profile or a quantile map is as many equal ones', () => {
  for (const seed of SEEDS) {
    const [one, other] = [sample(seed), sample(seed + 100)]
    const repeated = ({ values, rows }: typeof one) => rows.map((row) => values[row] as number)
    const map = quantileMap(one.values, other.values, {
      baseWeights: one.weights,
      targetWeights: other.weights,
    })
    const alike = quantileMap(repeated(one), repeated(other))
    const asked = [-1, 40, 3.5, ...one.values]
    expect(asked.map(map)).toEqual(asked.map((value) => expect.closeTo(alike(value), 9)))
    const own = { baseWeights: one.weights, targetWeights: one.weights }
    expect([...one.values].map(quantileMap(one.values, one.values, own))).toEqual([...one.values])
    const profile = LatencyProfile.ofRequests(one.values, one.weights)
    const plain = LatencyProfile.ofRequests(repeated(one))
    const shares = Array.from({ length: 41 }, (_, i) => i / 40)
    expect(shares.map((q) => profile.quantile(q))).toEqual(
      shares.map((q) => expect.closeTo(plain.quantile(q), 9)),
    )
    const ranks = midranks(Float64Array.from(repeated(one)))
    expect(one.rows.map((row) => midranks(one.values, one.weights)[row])).toEqual([...ranks])
  }
})

test('values that weigh less than 1 stand in the middle of their weight', () => {
  const quarters = { baseWeights: [0.25, 0.5, 0.25], targetWeights: [0.25, 0.5, 0.25] }
  expect([10, 20, 30].map(quantileMap([30, 10, 20], [30, 10, 20], quarters))).toEqual([10, 20, 30])
  expect(LatencyProfile.ofRequests([10, 20], [0.5, 0.5]).quantile(0.5)).toBe(15)
  expect(() => quantileMap([1], [2], { baseWeights: [0] })).toThrow('a number above 0')
})

test('worth weights add up to what weights are worth; equal ones count once each', () => {
  expect([...worthWeights(Float64Array.of(1, 3))]).toEqual([0.4, expect.closeTo(1.2, 12)])
  expect([...worthWeights(Float64Array.of(7, 7))]).toEqual([1, 1])
})

test('a tree of weighted rows has the shares and means of a tree of as many rows', () => {
  for (const seed of SEEDS) {
    const random = randomSource(seed)
    const codes = Int32Array.from({ length: 60 }, (_, row) => row % 2)
    const weights = Float64Array.from(codes, () => 1 + random.integer(5))
    const labels = Uint8Array.from(codes, (code) => Number(random.next() < 0.2 + 0.6 * code))
    const target = Float64Array.from(codes, (code) => 100 * code + random.integer(50))
    const rows = repeatedRows(weights)
    const host = (own: Int32Array) =>
      [{ name: 'host', kind: 'categorical', codes: own, levels: ['a', 'b'] }] as const
    const repeatedCodes = Int32Array.from(rows, (row) => codes[row] as number)
    const options = { maxDepth: 1, prune: false }
    for (const criterion of ['gain-ratio', 'gini'] as const) {
      const own = { ...options, criterion }
      const { root } = growClassificationTree(host(codes), labels, { ...own, weights })
      const plain = growClassificationTree(
        host(repeatedCodes),
        Uint8Array.from(rows, (row) => labels[row] as number),
        own,
      ).root
      expect(contentsOf(root)).toEqual(contentsOf(plain))
    }
    const { root } = growRegressionTree(host(codes), target, { ...options, weights })
    const repeated = Float64Array.from(rows, (row) => target[row] as number)
    const plain = growRegressionTree(host(repeatedCodes), repeated, options).root
    expect(contentsOf(root)).toEqual(contentsOf(plain))
    const [p, plainP] = [root, plain].map((node) => (node.kind === 'split' ? node.p : undefined))
    expect(p).toBeGreaterThanOrEqual(plainP as number)
  }
})

interface Node {
  readonly kind: string
  readonly weights?: readonly number[]
  readonly weight?: number
  readonly mean?: number
  readonly sd?: number
  readonly children?: readonly Node[]
}

function contentsOf({
  kind,
  weights = [],
  weight = 0,
  mean = 0,
  sd = 0,
  children = [],
}: Node): object {
  const numbers = [...weights, weight, mean, sd].map((each) => Number(each.toFixed(6)))
  return { kind, numbers, children: children.map(contentsOf) }
}
