import { describe, expect, test } from 'vitest'
import {
  type ChoiceCounts,
  type CountsTest,
  compareCounts,
} from '../../../src/compare/steps/time-blocks.ts'
import { BLOCKS } from '../../../src/compare/thresholds.ts'
import { normalQuantile, type RandomSource, randomSource } from '../../../src/stats/index.ts'
import { expectRelative } from '../../stats/expect-relative.ts'
import { rOracle } from '../../stats/oracles/read.ts'

type Table = readonly [made1: number, chances1: number, made2: number, chances2: number]

/** What is tested with nothing beside it. */
function compareOne(strata: readonly ChoiceCounts[]): CountsTest {
  const [only] = compareCounts([strata])
  return only as CountsTest
}

/** All counts of a period in its first stretch of time: nothing is known of how levels wander. */
function inOneBlock([made1, chances1, made2, chances2]: Table): ChoiceCounts {
  const [made, chances] = [new Float64Array(2 * BLOCKS), new Float64Array(2 * BLOCKS)]
  made.set([made1])
  made.set([made2], BLOCKS)
  chances.set([chances1])
  chances.set([chances2], BLOCKS)
  return { made, chances }
}

/** 100 chances a stretch of time, these of them taken. */
function ofHundred(before: readonly number[], after: readonly number[]): ChoiceCounts {
  return {
    made: Float64Array.from([...before, ...after]),
    chances: new Float64Array(2 * BLOCKS).fill(100),
  }
}

describe('against R', () => {
  const r = rOracle()

  test.each(r.mantelHaenszel)('several strata have p of Mantel and Haenszel, $p', (expected) => {
    const { p } = compareOne(expected.tables.map(inOneBlock))
    // R does not correct for continuity below half a call of difference; we call that no difference.
    if (expected.statistic < 0.01) return expect(p).toBe(1)
    expectRelative(p, expected.p, 1e-11)
    expect(normalQuantile(p / 2) ** 2).toBeCloseTo(expected.statistic, 9)
  })

  test.each(r.fisher)('one stratum has p of Fisher, $p', ({ table, p }) => {
    expectRelative(compareOne([inOneBlock(table)]).p, p, 1e-9)
  })
})

test('swapping the periods turns the difference and keeps p', () => {
  const tables: Table[] = [
    [3, 10, 9, 12],
    [5, 20, 11, 15],
  ]
  const there = compareOne(tables.map(inOneBlock))
  const back = compareOne(tables.map(([a, b, c, d]) => inOneBlock([c, d, a, b])))
  expectRelative(back.difference, -there.difference, 1e-14)
  expectRelative(back.p, there.p, 1e-12)
  expect(there).toMatchObject({ made: [8, 20], chances: [30, 27] })
})

test('strata without chances in both periods are counted but not compared', () => {
  const only = compareOne([inOneBlock([3, 10, 9, 12])])
  const both = compareOne([inOneBlock([3, 10, 9, 12]), inOneBlock([0, 0, 50, 60])])
  expect(both).toEqual({ ...only, made: [3, 59], chances: [10, 72], worth: [10, 72] })
  expect(compareOne([inOneBlock([0, 0, 50, 60])]).p).toBeNaN()
})

test('there is no p where all or none of the chances are taken', () => {
  expect(compareOne([inOneBlock([5, 5, 9, 9])]).p).toBeNaN()
  expect(compareOne([inOneBlock([0, 5, 0, 9])]).p).toBeNaN()
})

test('the same totals tell less where shares wander from stretch to stretch', () => {
  const calm = ofHundred(Array(BLOCKS).fill(20), Array(BLOCKS).fill(28))
  const wild = ofHundred([0, 40, 0, 40, 0, 40, 0, 40, 0, 40], [48, 8, 48, 8, 48, 8, 48, 8, 48, 8])
  expect(compareOne([calm]).p).toBeLessThan(1e-4)
  expect(compareOne([wild]).p).toBeGreaterThan(0.1)
})

const LEVELS = [
  { name: 'one stratum', strata: 1, wander: 0.1 },
  { name: 'three strata', strata: 3, wander: 0.1 },
  { name: 'one stratum, wandering far', strata: 1, wander: 0.4 },
  { name: 'three strata, wandering far', strata: 3, wander: 0.4 },
]

test.each(LEVELS)(
  'of shares that wander from stretch to stretch, at most 5 % have p < 0.05: $name',
  ({ strata, wander }) => {
    const random = randomSource(strata)
    const runs = 1000
    let rejected = 0
    for (let run = 0; run < runs; run++) {
      const shares = Array.from({ length: 2 * BLOCKS }, () => 0.3 + wander * (random.next() - 0.5))
      const counts = Array.from({ length: strata }, (): ChoiceCounts => {
        const made = Float64Array.from(shares, (share) => {
          let sum = 0
          for (let i = 0; i < 60; i++) if (random.next() < share) sum++
          return sum
        })
        return { chances: new Float64Array(2 * BLOCKS).fill(60), made }
      })
      if (compareOne(counts).p < 0.05) rejected++
    }
    const error = Math.sqrt((0.05 * 0.95) / runs)
    expect(rejected / runs).toBeLessThanOrEqual(0.05 + 3 * error)
  },
)

describe('many small counts, judged together', () => {
  /** 30 against 30 chances each, of which a share that wanders by `level` is taken. */
  const draw = (random: RandomSource, level: number, share = 0.2, shareAfter = share) =>
    [1, 2].map((): ChoiceCounts => {
      const made = new Float64Array(2 * BLOCKS)
      for (let stretch = 0; stretch < 2 * BLOCKS; stretch++) {
        const own = (stretch < BLOCKS ? share : shareAfter) + level * (random.next() - 0.5)
        for (let i = 0; i < 3; i++)
          if (random.next() < own) made[stretch] = (made[stretch] ?? 0) + 1
      }
      return { chances: new Float64Array(2 * BLOCKS).fill(3), made }
    })

  test.each([0, 0.4])('of 40 whose shares wander by %s, at most 5 % have p < 0.05', (level) => {
    const random = randomSource(11)
    const shares = Array.from({ length: 100 }, () => {
      const tests = compareCounts(Array.from({ length: 40 }, () => draw(random, level)))
      return tests.filter(({ p }) => p < 0.05).length / tests.length
    })
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length
    expect(mean).toBeLessThanOrEqual(0.05)
    expect(mean).toBeGreaterThan(0.01)
  })

  test('a design effect that is large by chance is taken for what those of the others are', () => {
    const random = randomSource(12)
    const calm = Array.from({ length: 40 }, () => draw(random, 0))
    const bursts: ChoiceCounts = {
      chances: new Float64Array(2 * BLOCKS).fill(2),
      made: Float64Array.from([0, 2, 0, 2, 2, 0, 0, 2, 0, 0, ...Array(BLOCKS).fill(0)]),
    }
    const alone = compareOne([bursts]).p
    const [among] = compareCounts([[bursts], ...calm])
    expect(among?.p).toBeLessThan(alone / 2)
    expect(among?.p).toBeLessThan(0.01)
  })
})
