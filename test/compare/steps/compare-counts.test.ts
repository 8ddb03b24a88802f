import { describe, expect, test } from 'vitest'
import type { ChoiceCounts } from '../../../src/compare/steps/call-counts.ts'
import { compareCounts } from '../../../src/compare/steps/compare-counts.ts'
import { BLOCKS } from '../../../src/compare/steps/time-blocks.ts'
import { normalQuantile, randomSource } from '../../../src/stats/index.ts'
import { expectRelative } from '../../stats/expect-relative.ts'
import { rOracle } from '../../stats/oracles/read.ts'

type Table = readonly [made1: number, chances1: number, made2: number, chances2: number]

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
    const { p } = compareCounts(expected.tables.map(inOneBlock))
    // R does not correct for continuity below half a call of difference; we call that no difference.
    if (expected.statistic < 0.01) return expect(p).toBe(1)
    expectRelative(p, expected.p, 1e-11)
    expect(normalQuantile(p / 2) ** 2).toBeCloseTo(expected.statistic, 9)
  })

  test.each(r.fisher)('one stratum has p of Fisher, $p', ({ table, p }) => {
    expectRelative(compareCounts([inOneBlock(table)]).p, p, 1e-9)
  })
})

test('swapping the periods turns the difference and keeps p', () => {
  const tables: Table[] = [
    [3, 10, 9, 12],
    [5, 20, 11, 15],
  ]
  const there = compareCounts(tables.map(inOneBlock))
  const back = compareCounts(tables.map(([a, b, c, d]) => inOneBlock([c, d, a, b])))
  expectRelative(back.difference, -there.difference, 1e-14)
  expectRelative(back.p, there.p, 1e-12)
  expect(there).toMatchObject({ made: [8, 20], chances: [30, 27] })
})

test('strata without chances in both periods are counted but not compared', () => {
  const only = compareCounts([inOneBlock([3, 10, 9, 12])])
  const both = compareCounts([inOneBlock([3, 10, 9, 12]), inOneBlock([0, 0, 50, 60])])
  expect(both).toEqual({ ...only, made: [3, 59], chances: [10, 72] })
  expect(compareCounts([inOneBlock([0, 0, 50, 60])]).p).toBeNaN()
})

test('there is no p where all or none of the chances are taken', () => {
  expect(compareCounts([inOneBlock([5, 5, 9, 9])]).p).toBeNaN()
  expect(compareCounts([inOneBlock([0, 5, 0, 9])]).p).toBeNaN()
})

test('the same totals tell less where shares wander from stretch to stretch', () => {
  const calm = ofHundred(Array(BLOCKS).fill(20), Array(BLOCKS).fill(28))
  const wild = ofHundred([0, 40, 0, 40, 0, 40, 0, 40, 0, 40], [48, 8, 48, 8, 48, 8, 48, 8, 48, 8])
  expect(compareCounts([calm]).p).toBeLessThan(1e-4)
  expect(compareCounts([wild]).p).toBeGreaterThan(0.1)
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
      if (compareCounts(counts).p < 0.05) rejected++
    }
    const error = Math.sqrt((0.05 * 0.95) / runs)
    expect(rejected / runs).toBeLessThanOrEqual(0.05 + 3 * error)
  },
)
