import { describe, expect, test } from 'vitest'
import { compareSamples, SAMPLE_TESTS } from '../../../src/compare/mutations/compare-samples.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { around, chains, makeGraphs } from '../../make-traces.ts'
import { compareShops } from '../findings/fixture.ts'

const random = randomSource(4)
const sample = (size: number, factor = 1) =>
  Float64Array.from({ length: size }, () => factor * random.logNormal(5, 0.5))
const SLOWER = { before: sample(80), after: sample(60, 1.8) }
const ALIKE = { before: sample(80), after: sample(60) }
/** The same but for its slowest tenth. */
const TAIL = {
  before: Float64Array.from({ length: 200 }, (_, i) => 100 + i),
  after: Float64Array.from({ length: 200 }, (_, i) => (i < 180 ? 100 + i : 10 * (100 + i))),
}

describe.each(SAMPLE_TESTS.map((name) => [name] as const))('%s', (name) => {
  const at = (pair: typeof SLOWER, alternative: 'two-sided' | 'slower' | 'faster') =>
    compareSamples(pair, { test: name, alternative, method: 'auto' })

  test('has the shape of every other', () => {
    expect(at(SLOWER, 'two-sided')).toMatchObject({
      statistic: expect.any(Number),
      p: expect.any(Number),
      location: expect.any(Number),
      direction: 'slower',
      testable: true,
      beforeCount: 80,
      afterCount: 60,
    })
  })

  test.skipIf(name === 'p99')('sees that requests became slower', () => {
    expect(at(SLOWER, 'two-sided').p).toBeLessThan(0.05)
    expect(at(SLOWER, 'slower').p).toBeLessThan(0.05)
    expect(at(SLOWER, 'faster').p).toBeGreaterThan(0.3)
  })

  test('does not see what is not there', () => {
    expect(at(ALIKE, 'two-sided').p).toBeGreaterThan(0.05)
  })

  test('says nothing of too few', () => {
    const few = { before: SLOWER.before.slice(0, 3), after: SLOWER.after.slice(0, 3) }
    expect(at(few, 'two-sided').testable).toBe(false)
  })
})

test('a changed tail is seen at p95, and not by the Kolmogorov-Smirnov test', () => {
  const p = (name: 'ks' | 'p95') =>
    compareSamples(TAIL, {
      test: name,
      alternative: 'two-sided',
      method: 'auto',
    }).p
  expect(p('ks')).toBeGreaterThan(0.05)
  expect(p('p95')).toBeLessThan(0.01)
})

test('an unknown test names those there are', () => {
  const period = () => makeGraphs(chains(['a', 'b'], around(100, 20)))
  expect(() => compare(period(), period(), { test: 't' as 'ks' }).ranking).toThrow(
    "Option test is \"t\". Give 'ks', 'mann-whitney', 'p95' or 'p99'.",
  )
})

describe('effect sizes', () => {
  const { responseTime } = compareShops({}, { stockUs: 1300 })

  test('beside every p: how much slower, and how often', () => {
    const effect = responseTime.effect(0)
    const [low, high] = effect.interval
    expect(low).toBeLessThan(effect.medianShiftUs)
    expect(high).toBeGreaterThan(effect.medianShiftUs)
    expect(low).toBeLessThan(300)
    expect(high).toBeGreaterThan(300)
    expect(effect.meanShiftUs).toBeCloseTo(300, -2)
    expect(effect.p95ShiftUs).toBeCloseTo(300, -2)
    expect(effect.p95Interval[0]).toBeLessThan(effect.p95ShiftUs)
    expect(effect.p99Interval[1]).toBeGreaterThanOrEqual(effect.p99ShiftUs)
    expect(effect.probabilitySlower).toBeGreaterThan(0.9)
    expect(effect.wassersteinUs).toBeCloseTo(effect.meanShiftUs, -1)
    expect(effect.detectableShiftUs).toBeLessThan(effect.medianShiftUs)
  })

  test('the quick one is part of the whole one', () => {
    expect(responseTime.effect(0)).toMatchObject(responseTime.medianEffect(0))
  })

  test('of edges', () => {
    const changed = responseTime.edges(0).find(({ test }) => test?.rejected)
    expect(responseTime.edgeEffect(0, changed?.number as number).medianShiftUs).toBeCloseTo(300, -2)
    expect(() => responseTime.edgeEffect(0, 99)).toThrow('Category 0 has no edge class 99.')
  })

  test('of all testable categories in a table', () => {
    const table = responseTime.effectTable()
    expect(table.numRows()).toBe(2)
    expect(table.columnNames()).toContain('detectableShiftUs')
  })
})
