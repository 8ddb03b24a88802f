import { expect, test } from 'vitest'
import {
  compareChoices,
  StretchCounts,
  unweighted,
} from '../../../src/compare/steps/time-blocks.ts'
import { type RandomSource, randomSource } from '../../../src/stats/random.ts'

/** How many requests each recorded one stands for, by whether it fails. */
const DESIGNS = {
  'all kept': () => 1,
  'failures kept, others 1 in 10': (fails: boolean) => (fails ? 1 : 10),
  '1 in 10': () => 10,
  'half kept, half 1 in 20': (_: boolean, random: RandomSource) => (random.next() < 0.5 ? 1 : 20),
} satisfies Record<string, (fails: boolean, random: RandomSource) => number>
type Design = keyof typeof DESIGNS

interface Period {
  readonly design: Design
  readonly size: number
  readonly rate: number
}

/** Requests of two periods, each sampled by its own design, in ten stretches of time. */
function sampled(periods: readonly [Period, Period], random: RandomSource) {
  const recorded = periods.flatMap(({ design, size, rate }, period) =>
    Array.from({ length: size }, (_, i) => {
      const fails = random.next() < rate
      const weight = DESIGNS[design](fails, random)
      const isKept = random.next() < 1 / weight
      return { fails, weight, isKept, stretch: 10 * period + Math.floor((10 * i) / size) }
    }).filter(({ isKept }) => isKept),
  )
  const counted = Float64Array.from(recorded, ({ weight }) => weight)
  const [all, failed] = [new StretchCounts({ counted }, 20), new StretchCounts({ counted }, 20)]
  recorded.forEach(({ fails, stretch }, request) => {
    all.add(request, stretch)
    if (fails) failed.add(request, stretch)
  })
  return all.choices(failed)
}

const BLOCKS = { of: new Uint8Array(), perRun: 10, runs: 1, pairs: null }

/** Share of simulated pairs of periods of which p is below a level. */
function rejected(periods: readonly [Period, Period], runs: number, level = 0.05) {
  const random = randomSource(11)
  const found = Array.from({ length: runs }, () => {
    const [test] = compareChoices([{ strata: [sampled(periods, random)] }], BLOCKS)
    return (test?.p ?? 1) < level
  })
  return found.filter(Boolean).length / runs
}

test('failures that are all kept are worth nearly as many requests as they are of', () => {
  const design = 'failures kept, others 1 in 10'
  const period = { design, size: 20_000, rate: 0.02 } as const
  const counts = sampled([period, period], randomSource(3))
  const worth = unweighted(counts, 10).chances.reduce((sum, one) => sum + one, 0)
  // Of a share of 2 %, failures bring 0.98 of the variance, the others ten times 0.02: 1.18 in all.
  expect(worth / 40_000).toBeGreaterThan(0.8)
  expect(worth / 40_000).toBeLessThan(0.9)
})

test('weights that tell nothing of failures leave what the sample is worth (Kish)', () => {
  const period = { design: '1 in 10', size: 20_000, rate: 0.02 } as const
  const counts = sampled([period, period], randomSource(3))
  const { chances } = unweighted(counts, 10)
  chances.forEach((own, i) => {
    expect(own).toBeCloseTo((counts.chances[i] as number) / 10, 6)
  })
})

test.each([
  ['failures kept, others 1 in 10', 0.9],
  ['1 in 10', 0],
] as const)('2.2 %% → 6.2 %% of 2,000 requests, %s: p < 0.001 in %s at least', (design, least) => {
  const [before, after] = [0.022, 0.062].map((rate) => ({ design, size: 2000, rate }))
  expect(rejected([before as Period, after as Period], 40, 0.001)).toBeGreaterThanOrEqual(least)
})

const PAIRS: readonly (readonly [Design, Design])[] = [
  ['all kept', 'failures kept, others 1 in 10'],
  ['failures kept, others 1 in 10', 'failures kept, others 1 in 10'],
  ['1 in 10', '1 in 10'],
  ['1 in 10', 'failures kept, others 1 in 10'],
  ['all kept', '1 in 10'],
  ['half kept, half 1 in 20', 'half kept, half 1 in 20'],
  ['half kept, half 1 in 20', 'failures kept, others 1 in 10'],
]

test.each(PAIRS)(
  '%s → %s: of rates that are the same, at most 7 in 100 p are below 0.05',
  (...pair) => {
    for (const rate of [0.02, 0.1]) {
      const [before, after] = pair.map((design) => ({ design, size: 1000, rate }))
      expect(rejected([before as Period, after as Period], 100)).toBeLessThanOrEqual(0.07)
    }
  },
)

test.each(PAIRS.flatMap((pair) => [0.002, 0.02, 0.1].map((rate) => [...pair, rate] as const)))(
  '%s → %s, a rate of %s in 200 to 5,000 requests: at most 7 in 100 p are below 0.05, both ways',
  { tags: 'full' },
  (before, after, rate) => {
    for (const size of [200, 1000, 5000]) {
      const [one, other] = [before, after].map((design) => ({ design, size, rate }))
      expect(rejected([one as Period, other as Period], 600)).toBeLessThanOrEqual(0.07)
      expect(rejected([other as Period, one as Period], 600)).toBeLessThanOrEqual(0.07)
    }
  },
)
