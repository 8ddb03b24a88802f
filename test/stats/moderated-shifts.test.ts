import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BlockedStratum, moderatedShifts, randomSource } from '../../src/stats/index.ts'
import { directionOf } from '../../src/stats/two-sample.ts'
import { expectRelative } from './expect-relative.ts'
import { testLevel } from './moderated-level.ts'

type Measure = readonly BlockedStratum[]

/** Each value in a stretch of time of its own. */
const sample = (values: readonly number[]) => ({ values, blocks: values.map((_, i) => i) })

const arbitrarySample = fc
  .array(fc.tuple(fc.integer({ min: 10, max: 40 }), fc.nat(5)), { minLength: 1, maxLength: 12 })
  .map((pairs) => ({
    values: pairs.map(([value]) => value),
    blocks: pairs.map(([, block]) => block),
  }))
const arbitraryMeasures = fc.array(
  fc.array(fc.record({ before: arbitrarySample, after: arbitrarySample }), {
    minLength: 1,
    maxLength: 3,
  }),
  { minLength: 1, maxLength: 4 },
)

const mapped = (
  measures: readonly Measure[],
  change: (stratum: BlockedStratum) => BlockedStratum,
): Measure[] => measures.map((strata) => strata.map(change))

const MIRRORED = { slower: 'faster', faster: 'slower', none: 'none' } as const
const NUMBERS = ['p', 'rankP', 'logP', 'probabilitySlower', 'factor', 'designEffect'] as const

describe('for all measures', () => {
  test('swapping the periods mirrors directions and factors and keeps p', () => {
    fc.assert(
      fc.property(arbitraryMeasures, (measures) => {
        const there = moderatedShifts(measures)
        const swapped = mapped(measures, ({ before, after }) => ({ before: after, after: before }))
        moderatedShifts(swapped).forEach((back, i) => {
          const own = there[i] as typeof back
          for (const name of ['p', 'rankP', 'logP', 'designEffect'] as const) {
            expectRelative(back[name], own[name], 1e-8)
          }
          expectRelative(back.factor, 1 / own.factor, 1e-9)
          expect(back.probabilitySlower).toBeCloseTo(1 - own.probabilitySlower, 11)
          expect(back.direction).toBe(MIRRORED[own.direction])
          expect(own.direction).toBe(directionOf(own.probabilitySlower - 0.5))
        })
      }),
    )
  })

  test('the order of values, strata and measures does not matter', () => {
    fc.assert(
      fc.property(arbitraryMeasures, fc.integer(), (measures, seed) => {
        const random = randomSource(seed)
        const shuffled = ({ values, blocks }: BlockedStratum['before']) => {
          const order = random.shuffle([...Array(values.length).keys()])
          return {
            values: order.map((i) => values[i] as number),
            blocks: order.map((i) => blocks[i] as number),
          }
        }
        const others = mapped(measures, ({ before, after }) => ({
          before: shuffled(before),
          after: shuffled(after),
        }))
        expect(moderatedShifts(others)).toEqual(moderatedShifts(measures))
        const turned = others.map((strata) => strata.toReversed()).reverse()
        const back = moderatedShifts(turned).reverse()
        moderatedShifts(measures).forEach((own, i) => {
          for (const name of NUMBERS) expectRelative(back[i]?.[name] as number, own[name], 1e-8)
        })
      }),
    )
  })

  test('values in another unit have the same ranks, p and factors', () => {
    fc.assert(
      fc.property(arbitraryMeasures, (measures) => {
        const scaled = ({ values, blocks }: BlockedStratum['before']) => ({
          values: Array.from(values, (value) => 1000 * value),
          blocks,
        })
        const others = mapped(measures, ({ before, after }) => ({
          before: scaled(before),
          after: scaled(after),
        }))
        const [own, other] = [moderatedShifts(measures), moderatedShifts(others)]
        const ranks = (all: typeof own) =>
          all.map(({ rankP, probabilitySlower, designEffect, direction }) => {
            return { rankP, probabilitySlower, designEffect, direction }
          })
        expect(ranks(other)).toEqual(ranks(own))
        for (const [i, { factor }] of other.entries()) {
          expectRelative(factor, own[i]?.factor as number, 1e-9)
        }
      }),
    )
  })

  test('NaN and infinite values are left out, with their stretches of time', () => {
    fc.assert(
      fc.property(arbitraryMeasures, (measures) => {
        const holed = ({ values, blocks }: BlockedStratum['before']) => ({
          values: [Number.NaN, ...Array.from(values), Number.POSITIVE_INFINITY],
          blocks: [9, ...Array.from(blocks), 8],
        })
        const others = mapped(measures, ({ before, after }) => ({
          before: holed(before),
          after: holed(after),
        }))
        expect(moderatedShifts(others)).toEqual(moderatedShifts(measures))
      }),
    )
  })
})

test('strata of unequal size count in the direction as they do in the probability', () => {
  // Weighed by pairs alone, n·m/(n + m), the two would cancel; the test of ranks weighs them
  // n·m/(n + m + 1).
  const up = { before: sample([1, 1, 2]), after: sample([2]) }
  const down = { before: sample([2]), after: sample([1]) }
  const [one] = moderatedShifts([[up, down]])
  // Pairs of `up`: two slower, one equal.
  expect(one?.probabilitySlower).toBeCloseTo(((3 / 5) * (5 / 6)) / (3 / 5 + 1 / 3), 11)
  expect(one?.direction).toBe('slower')
})

test('stretches of time may be numbered beyond 255', () => {
  const values = Array.from({ length: 600 }, (_, i) => 100 + ((i * 37) % 101))
  const [one] = moderatedShifts([[{ before: sample(values), after: sample(values) }]])
  expect(one).toMatchObject({ direction: 'none', p: 1 })
  expectRelative(one?.designEffect as number, 1, 1e-12)
})

test('a single measure of few values has the p of an ordinary t-test of logs', () => {
  const [one] = moderatedShifts([
    [{ before: sample([1, 10, 100]), after: sample([10, 100, 1000]) }],
  ])
  // t = 1 / √(⅔) with 4 degrees of freedom; pt(-sqrt(1.5), 4) * 2 of R.
  expectRelative(one?.logP as number, 0.2878641347266908, 1e-9)
  expectRelative(one?.factor as number, 10, 1e-12)
})

test('a single measure of several strata has the p of a linear model of logs, one shift for all', () => {
  const [one] = moderatedShifts([
    [
      { before: sample([10, 20]), after: sample([40]) },
      { before: sample([30]), after: sample([30, 90]) },
    ],
  ])
  // R: summary(lm(log(c(10, 20, 40, 30, 30, 90)) ~ factor(c(1, 1, 1, 2, 2, 2)) + c(0, 0, 1, 0, 1, 1)))
  expectRelative(one?.logP as number, 0.1968607178272873, 1e-9)
})

test('single slow values of strata of few are no change: p < 0.001 is as rare as it says', () => {
  const random = randomSource(3)
  const draw = () => {
    const size = 1 + random.integer(3)
    const value = () => random.logNormal(9, 0.2) * (random.next() < 0.03 ? 8 : 1)
    return sample(Array.from({ length: size }, value))
  }
  const measures = () => [1, 2].map(() => ({ before: draw(), after: draw() }))
  const ps = Array.from({ length: 50 }, () =>
    moderatedShifts(Array.from({ length: 60 }, measures)).map(({ logP }) => logP),
  ).flat()
  const tested = ps.filter((p) => !Number.isNaN(p))
  expect(tested.length).toBeGreaterThan(2000)
  expect(tested.filter((p) => p < 0.001).length).toBeLessThan(0.002 * tested.length)
})

test('equal values have no p of ranks; measures of one period only have none at all', () => {
  const same = sample([5, 5, 5])
  const [equal, missing] = moderatedShifts([
    [{ before: same, after: same }],
    [{ before: same, after: sample([]) }],
  ])
  expect(equal).toMatchObject({ p: Number.NaN, probabilitySlower: 0.5, factor: 1 })
  expect(missing).toMatchObject({ beforeCount: 0, afterCount: 0, p: Number.NaN, direction: 'none' })
})

const equal = (length: number, value: number) => sample(Array.from({ length }, () => value))

test('491 values of 2 against 449 do not differ by the rounding of their mean, and lend it to no other', () => {
  const others = [1, 2, 3].map((k) => {
    const values = (length: number) => Array.from({ length }, (_, i) => 10 + ((i * k) % 7))
    return [{ before: sample(values(70)), after: sample(values(63)) }]
  })
  const twos = [{ before: equal(491, 2), after: equal(449, 2) }]
  const [constant, ...beside] = moderatedShifts([twos, ...others])
  expect(constant).toMatchObject({ p: Number.NaN, factor: 1, direction: 'none' })
  expect(beside.map(({ logP }) => logP)).toEqual(moderatedShifts(others).map(({ logP }) => logP))
})

test('values that vary in neither period but differ have the exact p of their arrangement', () => {
  const varying = [{ before: sample([10, 11, 14, 12]), after: sample([13, 10, 12, 11]) }]
  const apart = [{ before: equal(4, 0), after: equal(4, 1) }]
  const twice = [...apart, { before: equal(3, 7), after: equal(5, 9) }]
  const bothWays = [...apart, { before: equal(3, 9), after: equal(5, 7) }]
  const few = [{ before: equal(3, 0), after: equal(2, 1) }]
  const many = [{ before: equal(1000, 50), after: equal(1000, 90) }]
  const [, one, two, none, tooFew, sure] = moderatedShifts([
    varying,
    apart,
    twice,
    bothWays,
    few,
    many,
  ])
  expectRelative(one?.logP as number, 2 / 70, 1e-12)
  expectRelative(two?.logP as number, 2 / 70 / 56, 1e-12)
  expect([none?.logP, tooFew?.logP]).toEqual([1, Number.NaN])
  expect(sure?.p).toBeLessThan(1e-100)
})

test('5 against 8 values of a factor of 50 are found beside 30 measures that did not change', () => {
  const random = randomSource(7)
  const draw = (size: number, mu: number) =>
    sample(Array.from({ length: size }, () => random.logNormal(mu, 1)))
  for (let run = 0; run < 20; run++) {
    const null_ = Array.from({ length: 30 }, () => [{ before: draw(5, 9), after: draw(8, 9) }])
    const slow = [{ before: draw(5, 9), after: draw(8, 9 + Math.log(50)) }]
    const [found] = moderatedShifts([slow, ...null_])
    // Significant even among all 31.
    expect(found?.p).toBeLessThan(0.05 / 31)
    expect(found?.direction).toBe('slower')
  }
})

test('2 values have a p of logs only if they lie beyond all of at least 8', () => {
  const before = Array.from({ length: 16 }, (_, i) => 50 + i)
  const [apart, within, single] = moderatedShifts(
    [[402, 501], [60, 501], [501]].map((after) => [
      { before: sample(before), after: sample(after) },
    ]),
  )
  expect(apart!.p).toBeLessThan(1e-6)
  expect(within!.logP).toBeNaN()
  expect(single!.logP).toBeNaN()
  const few = { before: sample(before.slice(9)), after: sample([402, 501]) }
  expect(moderatedShifts([[few]])[0]!.logP).toBeNaN()
})

test('of 40 measures of 16 and 2 values with heavy tails, at most 1 in 100 has p < 0.01', () => {
  const random = randomSource(3)
  const values = (count: number) =>
    Array.from({ length: count }, () => 1000 * random.next() ** -0.7)
  let significant = 0
  for (let round = 0; round < 50; round++) {
    const measures = Array.from({ length: 40 }, () => [
      { before: sample(values(16)), after: sample(values(2)) },
    ])
    significant += moderatedShifts(measures).filter(({ p }) => p < 0.01).length
  }
  expect(significant).toBeLessThan(20)
})

test('the same shift tells less where neighbors are alike', () => {
  const blocks = Array.from({ length: 100 }, (_, i) => Math.floor(i / 10))
  const noise = (i: number) => 1000 + ((i * 61) % 97)
  const period = (level: (i: number) => number) => ({
    values: blocks.map((_, i) => level(i)),
    blocks,
  })
  const calm = { before: period(noise), after: period((i) => noise(i) + 60) }
  const wander = (i: number) => noise(i) + (Math.floor(i / 10) % 2) * 400
  const wild = { before: period(wander), after: period((i) => wander(i) + 60) }
  const [[quiet], [loud]] = [moderatedShifts([[calm]]), moderatedShifts([[wild]])]
  expect(quiet?.p).toBeLessThan(1e-6)
  expect(loud?.p).toBeGreaterThan(0.1)
  expect(loud?.designEffect).toBeGreaterThan(5)
})

/** Periods of the same time, whose levels wander together; `factor` is what after takes more. */
function sameTime(seed: number, factor: number, measures = 6): Measure[] {
  const random = randomSource(seed)
  const levels = Array.from({ length: 10 }, () => Math.exp(0.5 * random.normal()))
  const period = (from: number, by: number) => {
    const blocks = Array.from({ length: 200 }, (_, i) => Math.floor(i / 20))
    const values = blocks.map(
      (block) => 1000 * levels[block]! * by * Math.exp(0.2 * random.normal()),
    )
    return { values, blocks: blocks.map((block) => block + from) }
  }
  return Array.from({ length: measures }, (_, i) => [
    { before: period(0, 1), after: period(10, i === 0 ? factor : 1) },
  ])
}

test('what happens to both periods at the same time is no difference, and hides none', {
  tags: 'full',
}, () => {
  const changed = sameTime(1, 1.25)
  expect(moderatedShifts(changed)[0]?.p).toBeGreaterThan(0.2)
  expect(moderatedShifts(changed, { perRun: 10, pairs: 'time' })[0]?.p).toBeLessThan(1e-4)
  const null200 = Array.from({ length: 200 }, (_, seed) =>
    moderatedShifts(sameTime(seed + 2, 1), { perRun: 10, pairs: 'time' }),
  ).flat()
  const rejected = null200.filter(({ p }) => p < 0.05).length / null200.length
  expect(rejected).toBeLessThan(0.05)
})

test('a warm-up that both periods begin with hides no change, phase by phase', () => {
  const random = randomSource(1)
  const period = (from: number, times: number) => {
    const blocks = Array.from({ length: 300 }, (_, i) => Math.floor(i / 30))
    const values = blocks.map(
      (block) => 1000 * (1 + 2 * Math.exp(-block)) * times * random.logNormal(0, 0.4),
    )
    return { values, blocks: blocks.map((block) => block + from) }
  }
  const measures = [1.2, 1, 1, 1].map((times) => [
    { before: period(0, 1), after: period(10, times) },
  ])
  expect(moderatedShifts(measures, { perRun: 10 })[0]?.p).toBeGreaterThan(0.05)
  const [slower, ...others] = moderatedShifts(measures, { perRun: 10, pairs: 'phase' })
  expect(slower?.p).toBeLessThan(1e-3)
  for (const { p } of others) expect(p).toBeGreaterThan(0.05)
})

// More, and wandering that lasts, in moderated-level.full.test.ts.
const RUNS = 400
testLevel(
  {
    name: '30 measures of 5 and 8 independent values',
    sizes: [5, 8],
    measures: 30,
    level: 0,
    kept: 0,
    seed: 3,
  },
  RUNS,
)
testLevel(
  {
    name: 'one measure with a level that wanders from stretch to stretch',
    sizes: [60, 50],
    measures: 1,
    level: 0.5,
    kept: 0.3,
    seed: 5,
  },
  RUNS,
)

test('what is known of many values is not overruled by measures of few', () => {
  const measure = (random: ReturnType<typeof randomSource>, size: number, spread: number) => {
    const draw = () => sample(Array.from({ length: size }, () => random.logNormal(10, spread)))
    return [{ before: draw(), after: draw() }]
  }
  const ps = Array.from({ length: 60 }, (_, seed) => {
    const random = randomSource(seed)
    const few = Array.from({ length: 200 }, () => measure(random, 2, 0.4))
    const usual = Array.from({ length: 12 }, () => measure(random, 200, 0.4))
    const wide = Array.from({ length: 2 }, () => measure(random, 200, 1.2))
    return moderatedShifts([...few, ...usual, ...wide]).slice(-2)
  }).flat()
  expect(ps.filter(({ logP }) => logP < 0.001).length / ps.length).toBeLessThan(0.01)
})

describe('a service that gets warm in the period before, and warmer after', () => {
  const random = randomSource(1)
  const draw = (times: number) =>
    Array.from({ length: 8 }, (): BlockedStratum[] => {
      const [before, after] = [0, 1].map((period): BlockedStratum['before'] => {
        const blocks = Array.from({ length: 300 }, (_, i) => Math.floor(i / 30))
        const values = blocks.map((block) => {
          const level = 60 + 40 * Math.exp(-(10 * period + block) / 6)
          return 100 * level * (period === 1 ? times : 1) * random.logNormal(0, 0.5)
        })
        return { values, blocks }
      }) as [BlockedStratum['before'], BlockedStratum['before']]
      return [{ before, after }]
    })

  test('has not changed', () => {
    const shifts = moderatedShifts(draw(1))
    expect(shifts.every(({ factor }) => factor < 0.9)).toBe(true)
    expect(8 * Math.min(...shifts.map(({ p }) => p))).toBeGreaterThan(0.05)
  })

  test('has changed where it takes twice as long', () => {
    expect(Math.max(...moderatedShifts(draw(2)).map(({ p }) => p))).toBeLessThan(1e-3)
  })
})
