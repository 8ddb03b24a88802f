import { afterAll, describe, expect, test } from 'vitest'
import {
  ksTwoSample,
  mannWhitney,
  type RandomSource,
  randomSource,
  vanElteren,
} from '../../src/stats/index.ts'
import { tailTest } from '../../src/stats/tail-test.ts'
import {
  LATENCY_MODELS,
  type LatencyModel,
  latencies,
  percent,
  textTable,
} from './latency-models.ts'

type Samples = readonly [before: Float64Array, after: Float64Array]

interface LevelCase {
  readonly test: string
  readonly p: (samples: Samples, random: RandomSource) => number
  readonly sizes: readonly [n1: number, n2: number]
  readonly rounds?: number
  /** How often p ≤ 0.05: at most, where the test is discrete and so cautious. */
  readonly atMost?: boolean
  /** The latencies are rounded, to tie. */
  readonly rounded?: boolean
}

/** The sample dealt out to strata of unequal sizes. */
function strataOf([before, after]: Samples) {
  const part = (sample: Float64Array, residue: number) =>
    sample.filter((_, i) => (i % 5 < 2 ? 0 : i % 5 === 2 ? 1 : 2) === residue)
  return [0, 1, 2].map((residue) => ({
    before: part(before, residue),
    after: part(after, residue),
  }))
}

/** In no order: latencies come sorted, and strata are dealt by place. */
const shuffled = (samples: Samples, random: RandomSource) =>
  samples.map((sample) => Float64Array.from(random.shuffle([...sample]))) as unknown as Samples

/** A seed of its own for each case, wherever it stands. */
const seedOf = (name: string) =>
  [...name].reduce((sum, letter) => (31 * sum + letter.charCodeAt(0)) % 2 ** 31, 7)

const LEVEL_CASES: readonly LevelCase[] = [
  { test: 'Mann-Whitney', p: ([a, b]) => mannWhitney(a, b).p, sizes: [60, 45] },
  {
    test: 'Mann-Whitney, tied',
    p: ([a, b]) => mannWhitney(a, b).p,
    sizes: [60, 45],
    rounded: true,
  },
  {
    test: 'Mann-Whitney, slower',
    p: ([a, b]) => mannWhitney(a, b, { alternative: 'slower' }).p,
    sizes: [30, 80],
  },
  {
    test: 'van Elteren',
    p: (samples, random) => vanElteren(strataOf(shuffled(samples, random))).p,
    sizes: [50, 40],
  },
  {
    test: 'van Elteren, slower',
    p: (samples, random) =>
      vanElteren(strataOf(shuffled(samples, random)), { alternative: 'slower' }).p,
    sizes: [40, 70],
  },
  { test: 'tail', p: ([a, b]) => tailTest(a, b).p, sizes: [200, 150], atMost: true },
  {
    test: 'tail, slower, after few',
    p: ([a, b]) => tailTest(a, b, { alternative: 'slower' }).p,
    sizes: [200, 20],
    atMost: true,
  },
  {
    test: 'tail, faster, before few',
    p: ([a, b]) => tailTest(a, b, { alternative: 'faster' }).p,
    sizes: [20, 200],
    atMost: true,
  },
  {
    test: 'KS, exact',
    p: ([a, b]) => ksTwoSample(a, b, { method: 'exact' }).p,
    sizes: [40, 31],
    atMost: true,
  },
]

/** Declares the simulation for the cases that `chosen` picks by name. */
function describeNullLevel(chosen: (name: string) => boolean = () => true): void {
  describe('of samples from one distribution a test rejects at 5 % in 5 % of the rounds', () => {
    const rows: string[][] = []

    test.each(LEVEL_CASES.filter(({ test }) => chosen(test)))(
      '$test',
      ({ test, p, sizes, atMost = false, rounded = false, rounds = 1000 }) => {
        const random = randomSource(seedOf(test))
        let rejected = 0
        for (let round = 0; round < rounds; round++) {
          const model = LATENCY_MODELS[round % LATENCY_MODELS.length] as LatencyModel
          const [before, after] = sizes.map((n) => {
            const sample = latencies(model, n, { random })
            return rounded ? sample.map((value) => Math.round(value / 20)) : sample
          }) as [Float64Array, Float64Array]
          if (p([before, after], random) <= 0.05) rejected++
        }
        const error = Math.sqrt((0.05 * 0.95) / rounds)
        rows.push([
          test,
          sizes.join('/'),
          percent(rejected / rounds),
          percent(error),
          atMost ? '≤' : '=',
        ])
        expect(rejected / rounds).toBeLessThanOrEqual(0.05 + 3 * error)
        // A cautious test must reject all the same.
        expect(rejected / rounds).toBeGreaterThanOrEqual(atMost ? 0.005 : 0.05 - 3 * error)
      },
    )

    afterAll(() => {
      const header = ['test', 'sizes', 'rejected', '± SE', '5 %']
      console.log(`Rejected at 5 % without a difference, in %\n${textTable(header, rows)}`)
    })
  })
}

describe('five tests', () =>
  describeNullLevel((name) =>
    ['Mann-Whitney, tied', 'van Elteren', 'tail', 'KS, exact'].includes(name),
  ))

describe('all tests', { tags: 'full' }, () => describeNullLevel())
