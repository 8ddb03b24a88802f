import { describe, expect, test } from 'vitest'
import { compare } from '../../src/comparison/comparison.ts'
import { randomSource } from '../../src/stats/random.ts'
import { compareShops, shopPeriod } from '../compare/findings/fixture.ts'
import { falseAlarms } from './runs-level.ts'
import { everything, restored } from './same-results.ts'

describe('several runs before', () => {
  const random = randomSource(5)
  const level = () => 0.95 + 0.1 * random.next()
  const run = (seed: number, requests = 300, slower = 1) =>
    shopPeriod({ seed, requests, stockUs: 1000 * level() * slower, payUs: 2000 * level() })
  const runs = [run(11), run(12, 200), run(13, 400), run(14), run(15)]
  const after = run(16, 300, 2)
  const comparison = compare(runs, after)

  test('a service that takes twice as long in the run after is found', () => {
    expect(comparison.findings.findings.map(({ services }) => services[0])).toEqual(['stock'])
    expect(comparison.findings.text()).toContain('Tested against the differences between 5 runs.')
  })

  test('a run as far from the others as they are from each other is no finding', () => {
    expect(compare(runs, run(17)).findings.findings).toEqual([])
  })

  test('one run in an array is that run', () => {
    const [first] = runs
    if (first === undefined) throw new Error('no run')
    expect(everything(compare([first], after))).toEqual(everything(compare(first, after)))
    expect(compare(first, after).findings.text()).toContain(
      'Differences between runs are unknown with only one run before.',
    )
  })

  test('the order of runs does not matter', () => {
    const told = ({ findings }: typeof comparison) =>
      findings.findings.map(({ id, title, facts, contributionUs }) => ({
        id,
        title,
        facts,
        contributionUs: Math.round(contributionUs),
      }))
    expect(told(compare(runs.toReversed(), after))).toEqual(told(comparison))
  })

  test('a page gives the same results', () => {
    expect(everything(restored(comparison))).toEqual(everything(comparison))
  })

  test('a run with few requests of a step neither breaks nor hides a change', () => {
    const few = [...runs, shopPeriod({ seed: 18, requests: 2, payEvery: 1 })]
    expect(compare(few, after).findings.findings.map(({ services }) => services[0])).toEqual([
      'stock',
    ])
  })

  test('runs are one at least, and none twice', () => {
    expect(() => compare([], after)).toThrow('got 0 runs for before. Give 1 to 100.')
    const [first] = runs
    if (first === undefined) throw new Error('no run')
    expect(() => compare([first, first], after)).toThrow('the same traces for runs 1 and 2')
  })

  test('warnings say which run they are about', () => {
    const long = compare([...runs, run(19, 1000)], after).warnings()
    expect(long.map(({ message }) => message).join()).toMatch(/Run \d before: There are/)
  })
})

test('services with another level in each run are found in at most 5 % of comparisons', {
  tags: 'full',
}, () => {
  expect(falseAlarms({ runs: 3, comparisons: 40, seed: 1 })).toBeLessThanOrEqual(4)
})

test('one run is found to differ where its level is its own', () => {
  const one = compareShops({ stockUs: 1000 }, { stockUs: 1100 })
  expect(one.findings.findings.length).toBeGreaterThan(0)
})

test.each([3, 5])(
  'with %i runs before, at most one comparison in twenty reports what is not there',
  { tags: 'full' },
  (runs) => {
    // Of 150 comparisons at 5 %, 13 or more report something in 1 of 50 series.
    expect(falseAlarms({ runs, comparisons: 150, seed: 3 })).toBeLessThanOrEqual(12)
    expect(falseAlarms({ runs, comparisons: 60, seed: 5, factor: 3 })).toBeGreaterThanOrEqual(50)
    // Half as long again is four times what runs differ by: three runs hardly show it.
    const half = falseAlarms({ runs, comparisons: 60, seed: 4, factor: 1.5 })
    expect(half).toBeGreaterThanOrEqual(runs === 3 ? 15 : 30)
  },
)
