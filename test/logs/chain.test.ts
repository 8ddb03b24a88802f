import { describe, expect, test } from 'vitest'
import type { AttentionGraph } from '../../src/logs/attention/focus-attention.ts'
import { compareLogs } from '../../src/logs/compare-logs.ts'
import { happensBefore } from '../../src/logs/dependencies/learn-dependencies.ts'
import type { LogClass } from '../../src/logs/features/log-set.ts'
import { describeWithShared, sharedJson } from '../shared.ts'
import { chainBenchmark } from './chain-benchmark.ts'
import { logsOf } from './make-logs.ts'

interface Network {
  readonly edges: readonly [one: string, other: string, weight: number, r2: number][]
  readonly component: readonly string[]
  readonly tree: readonly [child: string, parent: string, weight: number][]
  readonly score: number
}

interface Oracle {
  readonly names: readonly string[]
  readonly X: Readonly<Record<'0' | '1', readonly (readonly number[])[]>>
  readonly P: Readonly<Record<'0' | '1', readonly number[]>>
  readonly welch: Readonly<Record<string, readonly [t: number, p: number]>>
  readonly dn: Readonly<Record<string, Network>>
  readonly happensBefore_class0: readonly (readonly [string, string])[]
}

const P = 'run time'

/** Both ends of an edge in order, with what else is known of it. */
function sorted(edges: readonly (readonly [string, string, ...number[]])[]): string[] {
  const rounded = (value: number) => value.toPrecision(7)
  return edges
    .map(([one, other, ...rest]) => {
      const ends = [one, other].map((name) => (name === P ? 'P' : name)).sort()
      return [...ends, ...rest.map(rounded)].join(' ')
    })
    .sort()
}

describeWithShared('the chain benchmark agrees with the oracle', () => {
  const oracle = sharedJson<Oracle>('oracles/distalyzer_chain.json')
  const { names, X, P: performance } = oracle
  const order = names.map((_, i) => i).sort((i, j) => (`${names[i]}` < `${names[j]}` ? -1 : 1))
  const inOrder = (rows: readonly (readonly number[])[]) =>
    rows.map((row) => order.map((i) => row[i] as number))
  const logs = logsOf({
    names: order.map((i) => names[i] as string),
    // Class 0 is the slow one.
    after: inOrder(X[0]),
    before: inOrder(X[1]),
    badP: performance[0],
    goodP: performance[1],
  })

  test('t and p of every variable', () => {
    const { divergence } = compareLogs(logs)
    for (const [name, [t, p]] of Object.entries(oracle.welch)) {
      const found =
        name === 'P' ? divergence.performance : divergence.variable('event', name)?.features[0]
      expect(Math.abs(Number(found?.t) / t - 1)).toBeLessThan(1e-10)
      if (p < 1e-290) expect(found?.p).toBeLessThan(1e-290)
      else expect(Math.abs(Number(found?.p) / p - 1)).toBeLessThan(1e-10)
    }
  })

  const cases = Object.keys(oracle.dn).map((key) => {
    const [number, stop] = key.split('-')
    return {
      key,
      class: (number === '0' ? 'after' : 'before') as LogClass,
      stop: stop === 'F' ? ('significance' as const) : ('orange' as const),
    }
  })

  test.each(cases)('dependencies, component, tree and score of $key', ({ key, ...options }) => {
    const expected = oracle.dn[key] as Network
    const comparison = compareLogs(logs, options)
    const graph = comparison.attention.best('event') as AttentionGraph
    const network = comparison.networks.network({
      kind: 'event',
      class: options.class,
      featureType: 'firstAbsolute',
    })
    expect(sorted(network.edges.map(({ from, to, weight, r2 }) => [from, to, weight, r2]))).toEqual(
      sorted(expected.edges),
    )
    expect(graph.nodes.map(({ name }) => (name === P ? 'P' : name)).sort()).toEqual(
      expected.component,
    )
    const tree = graph.edges.filter(({ inTree }) => inTree)
    expect(sorted(tree.map(({ from, to, weight }) => [from, to, weight * 120]))).toEqual(
      sorted(expected.tree),
    )
    expect(Math.abs(graph.score / expected.score - 1)).toBeLessThan(1e-10)
  })

  test('what happens before what', () => {
    const column = (name: string) =>
      name === 'P' ? performance[0] : X[0].map((row) => row[names.indexOf(name)] as number)
    const all = [...names, 'P']
    const pairs = all.flatMap((one) =>
      all
        .filter((other) => happensBefore(column(one), column(other)) < 0)
        .map((other) => [one, other]),
    )
    expect(pairs).toEqual(oracle.happensBefore_class0)
  })

  test('edges of the chain point from cause to effect', () => {
    const graph = compareLogs(logs).attention.best('event')
    expect(
      graph?.edges
        .filter(({ directed, inTree }) => directed && inTree)
        .map(({ from, to }) => `${from} → ${to}`)
        .sort(),
    ).toEqual(['A → M', 'M → run time', 'W → run time'])
  })
})

/** In how many networks of `runs` seeds and both classes a variable is connected with performance. */
function shares(size: number, runs: number): (name: string) => number {
  const counts = new Map<string, number>()
  for (let seed = 1; seed <= runs; seed++) {
    const comparison = compareLogs(logsOf(chainBenchmark(seed, size)))
    for (const logClass of ['before', 'after'] as const) {
      const graph = comparison.with({ class: logClass }).attention.best('event')
      for (const { name } of graph?.nodes ?? []) counts.set(name, (counts.get(name) ?? 0) + 1)
      const tree = graph?.edges.filter(({ inTree }) => inTree) ?? []
      const has = (one: string, other: string) =>
        tree.some(({ from, to }) => [from, to].includes(one) && [from, to].includes(other))
      if (has('A', 'M') && has('M', P)) counts.set('chain', (counts.get('chain') ?? 0) + 1)
      if (graph?.nodes.some(({ name }) => name === 'R' || name === 'R2')) {
        counts.set('distractor', (counts.get('distractor') ?? 0) + 1)
      }
    }
  }
  return (name) => (counts.get(name) ?? 0) / (2 * runs)
}

describe('over 200 draws of the chain benchmark', () => {
  test('with 120 instances a class the cause is found and the distractor is not', {
    tags: 'full',
  }, () => {
    const share = shares(120, 200)
    expect(share('distractor')).toBeLessThanOrEqual(0.05)
    expect(share('A')).toBeGreaterThanOrEqual(0.95)
    expect(share('M')).toBeGreaterThanOrEqual(0.95)
    expect(share('chain')).toBeGreaterThanOrEqual(0.9)
  })

  test('with 34 instances a class the cause is still found', () => {
    const share = shares(34, 200)
    expect(share('distractor')).toBeLessThanOrEqual(0.1)
    expect(share('A')).toBeGreaterThanOrEqual(0.95)
  })

  test('the distractor diverges most, and is no part of the best graph', () => {
    const comparison = compareLogs(logsOf(chainBenchmark(1, 120)))
    const [first, second] = comparison.divergence.variables
    expect([first?.name, second?.name]).toEqual(['R', 'R2'])
    const names = comparison.attention.best('event')?.nodes.map(({ name }) => name)
    expect(names).not.toContain('R')
  })
})
