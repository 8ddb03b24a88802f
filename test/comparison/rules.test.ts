import { op } from 'arquero'
import { describe, expect, test } from 'vitest'
import { type ComparisonOptions, compare } from '../../src/comparison/comparison.ts'
import { headline } from '../../src/explain/headline.ts'
import { around, chains, type GraphSketch, makeGraphs } from '../make-traces.ts'

const HIT = ['READ', 'HIT', 'REPLY']
const MISS = ['READ', 'MISS', 'DISK', 'REPLY']
const MERGE = ['READ', 'MISS', 'MERGE', 'DISK', 'REPLY']
const WRITE = ['WRITE', 'REPLY']

function compared(
  before: readonly GraphSketch[],
  after: readonly GraphSketch[],
  options: Partial<ComparisonOptions> = {},
) {
  return compare(makeGraphs(before, 'before'), makeGraphs(after, 'after'), options)
}

test('edges that one period has alone say so', () => {
  const { responseTime } = compared(chains(HIT, around(100, 20)), chains(MISS, around(100, 20)))
  const directions = [0, 1].map((category) =>
    responseTime
      .edgeTable(category)
      .rollup({ all: op.array_agg_distinct('direction') })
      .get('all', 0),
  )
  expect(directions).toEqual([['only before'], ['only after']])
})

test('an edge that is slower in part, but faster on average, says so', () => {
  // All but a few take longer; those few take much less.
  const before = [...around(100, 60), ...around(2000, 20)]
  const after = [...around(130, 60), ...around(200, 20)]
  const { responseTime } = compared(chains(HIT, before), chains(HIT, after), {
    alternative: 'slower',
  })
  const rows = responseTime.edgeTable(0).objects() as Record<string, unknown>[]
  const changed = rows.filter((row) => row['changed'] === true)
  expect(changed.length).toBeGreaterThan(0)
  for (const row of changed) {
    expect(Number(row['shiftUs'])).toBeLessThan(0)
    expect(row['direction']).toBe('slower in part')
  }
  expect(responseTime.table().get('direction', 0)).toBe('slower in part')
})

describe('response-time mutations', () => {
  const faster = (n: number, m: number) =>
    compared(chains(HIT, around(100, n)), chains(HIT, around(10, m))).responseTime

  test.each([
    [8, 8, false],
    [9, 9, true],
    [5, 20, false],
    [5, 21, true],
    [0, 100, false],
  ])('%d against %d requests: enough to test: %s', (n, m, tested) => {
    expect(faster(n, m).test(0)).toMatchObject({ testable: tested, rejected: tested })
    expect(faster(n, m).mutations).toEqual(tested ? [0] : [])
    expect(faster(n, m).table().get('tested', 0)).toBe(tested)
  })

  test('an untestable category keeps its statistic, but has no q', () => {
    expect(faster(8, 8).test(0)).toMatchObject({ statistic: 1, q: Number.NaN, direction: 'faster' })
  })

  test('getting faster is a change unless only slower is asked for', () => {
    const comparison = compared(chains(HIT, around(100, 50)), chains(HIT, around(10, 50)))
    expect(comparison.responseTime.mutations).toEqual([0])
    expect(comparison.with({ alternative: 'slower' }).responseTime.mutations).toEqual([])
    expect(comparison.with({ alternative: 'faster' }).responseTime.mutations).toEqual([0])
    const told = (alternative: 'slower' | 'faster') => comparison.with({ alternative }).findings
    expect(told('faster').findings).toHaveLength(1)
    expect(told('slower').findings).toEqual([])
    expect(told('slower').text()).toBe(
      'No significant change. 1 finding in the other direction left out.',
    )
    const page = headline(comparison.with({ alternative: 'slower' }))
    expect(page.title).toMatch(/^Requests take .* less on average/)
    expect(page.sentences[1]).toBe('1 finding in the other direction left out.')
  })

  test('with bh, q counts the testable categories only', () => {
    const { responseTime } = compared(
      [...chains(HIT, around(100, 30)), ...chains(WRITE, around(100, 30)), ...chains(MISS, [1])],
      [...chains(HIT, around(108, 30)), ...chains(WRITE, around(100, 30)), ...chains(MISS, [9])],
      { correction: 'bh' },
    )
    const [hit, write, miss] = [0, 1, 2].map((category) => responseTime.test(category))
    expect(hit?.q).toBe((hit?.p ?? 0) * 2)
    expect(write).toMatchObject({ p: 1, q: 1 })
    expect(miss?.q).toBeNaN()
  })

  test('the edge that became slower is named, the others are not', () => {
    const disk = (latencyUs: number): GraphSketch[] =>
      around(latencyUs, 40).map((us, i) => ({
        labels: HIT,
        edges: [
          [0, 1],
          [1, 2],
        ],
        latencyUs: [50 + ((i * 7) % 13), us],
      }))
    const { responseTime } = compared(disk(100), disk(200))
    expect(
      responseTime.edges(0).map(({ edge, test }) => [edge.from, edge.to, test?.rejected]),
    ).toEqual([
      ['READ', 'HIT', false],
      ['HIT', 'REPLY', true],
    ])
    expect(responseTime.edgeTable(0).get('from', 0)).toBe('HIT')
  })

  test('edges into a join are judged by the requests in which they were waited for', () => {
    // The left branch is the slow one, and gets slower: right then waits longer, at no fault.
    const fork = (leftUs: number): GraphSketch[] =>
      around(leftUs, 40).map((us) => ({
        labels: ['CALL', 'LEFT', 'RIGHT', 'JOIN'],
        edges: [
          [0, 1],
          [0, 2],
          [1, 3],
          [2, 3],
        ],
        latencyUs: [us, 20, 5, us - 15],
      }))
    const { responseTime } = compared(fork(100), fork(200))
    expect(
      responseTime
        .edges(0)
        .map(({ edge, onCriticalPath, test }) => [
          edge.from,
          edge.to,
          onCriticalPath,
          test.rejected,
        ]),
    ).toEqual([
      ['CALL', 'LEFT', true, true],
      ['CALL', 'RIGHT', false, false],
      ['LEFT', 'JOIN', true, false],
      ['RIGHT', 'JOIN', false, false],
    ])
  })
})

describe('structural mutations', () => {
  const counts = (before: number, after: number, smPThreshold: number) =>
    compared(chains(HIT, around(100, before)), chains(HIT, around(100, after)), { smPThreshold })

  test('exactly the threshold is no change, one more is', () => {
    expect(counts(10, 60, 50).structural.label(0)).toBe('unchanged')
    expect(counts(10, 61, 50).structural.label(0)).toBe('structural-mutation')
    expect(counts(60, 10, 50).structural.label(0)).toBe('unchanged')
    expect(counts(61, 10, 50).structural.label(0)).toBe('precursor')
  })

  test('scaled counts compare shares: twice the load changes nothing', () => {
    const comparison = compared(
      [...chains(HIT, around(100, 50)), ...chains(WRITE, around(100, 50))],
      [...chains(HIT, around(100, 100)), ...chains(WRITE, around(100, 100))],
      { smPThreshold: 10 },
    )
    expect(comparison.structural.mutations).toEqual([0, 1])
    const scaled = comparison.with({ counts: 'scaled' }).structural
    expect(Array.from(scaled.changes)).toEqual([0, 0])
    expect(scaled.mutations).toEqual([])
  })

  test('scaled counts against no request after are counts as they are', () => {
    const { structural } = compared(chains(HIT, around(1, 9)), [], { counts: 'scaled' })
    expect(Array.from(structural.changes)).toEqual([-9])
  })
})

describe('precursors', () => {
  const before = [...chains(HIT, around(100, 100)), ...chains(MERGE, around(900, 60))]
  const after = [...chains(MISS, around(1000, 80)), ...chains(WRITE, around(10, 80))]
  const comparison = compared(before, after)

  test('one that lost fewer requests than the mutation gained is out', () => {
    expect(comparison.precursors.of(2)).toMatchObject([{ category: 0, weight: 1 }])
  })

  test('unless the 1:N rule is off: then both are in, the more alike first', () => {
    const found = comparison.with({ oneToN: false }).precursors.of(2)
    // READ MISS DISK REPLY to READ MISS MERGE DISK REPLY: 1 of 5; to READ HIT REPLY: 2 of 4.
    expect(found.map(({ category, nsed }) => [category, nsed])).toEqual([
      [1, 0.2],
      [0, 0.5],
    ])
    expect(found[0]?.weight).toBeCloseTo(5 / 7, 12)
    expect(found[1]?.weight).toBeCloseTo(2 / 7, 12)
  })

  test('exactly as many lost as gained is in', () => {
    const { precursors } = compared(chains(HIT, around(1, 60)), chains(MISS, around(1, 60)))
    expect(precursors.of(1)).toMatchObject([{ category: 0 }])
  })

  test('of another root are no precursors: the mutation has none and contributes nothing', () => {
    expect(comparison.precursors.of(3)).toEqual([])
    const { mutations } = comparison.ranking
    expect(mutations.at(-1)).toMatchObject({ category: 3, requests: 80, contributionUs: 0 })
  })

  test('with no request after count with their mean before', () => {
    // 80 × (1000 − 100).
    expect(comparison.ranking.mutations[0]?.contributionUs).toBeCloseTo(72_000, 6)
  })

  test('with requests after count with their mean after', () => {
    const { ranking } = compared(chains(HIT, around(100, 100)), [
      ...chains(HIT, around(300, 4)),
      ...chains(MISS, around(1000, 60)),
    ])
    expect(ranking.mutations[0]?.contributionUs).toBeCloseTo(60 * 700, 6)
  })

  test('several share the blame by weight', () => {
    const { ranking } = comparison.with({ oneToN: false })
    expect(ranking.mutations[0]?.contributionUs).toBeCloseTo(
      80 * (1000 - (900 * 5 + 100 * 2) / 7),
      6,
    )
  })
})

describe('ranking', () => {
  test('a category that changed in both ways is two virtual ones', () => {
    const { ranking } = compared(
      [...chains(HIT, around(100, 100)), ...chains(MISS, around(1000, 20))],
      [...chains(HIT, around(100, 30)), ...chains(MISS, around(2000, 80))],
    )
    const [structural, timed] = ranking.mutations
    expect(ranking.mutations).toHaveLength(2)
    expect(structural).toMatchObject({ rank: 1, category: 1, kind: 'structural', requests: 60 })
    expect(structural?.contributionUs).toBeCloseTo(60 * 1900, 6)
    expect(timed).toMatchObject({ rank: 2, category: 1, kind: 'response-time', requests: 20 })
    expect(timed?.contributionUs).toBeCloseTo(20 * 1000, 6)
  })

  const both = () =>
    compared(
      [...chains(HIT, around(100, 100)), ...chains(MISS, around(1000, 20))],
      [...chains(HIT, around(400, 40)), ...chains(MISS, around(2000, 80))],
    )

  test('once a slower precursor is repaired, its mutation has more left to contribute', () => {
    const left = both().ranking.mutations.map(({ kind, category, contributionUs, remainingUs }) => [
      `${kind} ${category}`,
      Math.round(contributionUs),
      Math.round(remainingUs),
    ])
    expect(left).toEqual([
      ['structural 1', 60 * (2000 - 400), 60 * (2000 - 400)],
      ['response-time 0', 100 * 300, 100 * 300],
      ['response-time 1', 20 * 1000, 20 * 1000],
    ])
    // The same change, its precursor's slowdown first: 60 × (2000 − 100) are left.
    const slowed = compared(
      [...chains(HIT, around(100, 100)), ...chains(MISS, around(110, 20))],
      [...chains(HIT, around(400, 40)), ...chains(MISS, around(500, 80))],
    ).ranking.mutations
    expect(slowed.map(({ kind, category }) => `${kind} ${category}`)).toEqual([
      'response-time 0',
      'response-time 1',
      'structural 1',
    ])
    expect(slowed[2]?.contributionUs).toBeCloseTo(60 * (500 - 400), 6)
    expect(slowed[2]?.remainingUs).toBeCloseTo(60 * (110 - 100), 6)
  })

  test('by category, both mutations of one stand together', () => {
    const { ranking } = both().with({ rankBy: 'category' })
    expect(ranking.mutations.map(({ kind, category }) => `${kind} ${category}`)).toEqual([
      'structural 1',
      'response-time 1',
      'response-time 0',
    ])
    const [{ combinedUs } = expect.fail()] = ranking.mutations
    expect(combinedUs).toBeCloseTo(60 * 1600 + 20 * 1000, 6)
  })

  test('what saves time stands at the end, with a negative contribution', () => {
    const { ranking } = compared(
      [...chains(WRITE, around(1000, 50)), ...chains(HIT, around(10, 50))],
      [...chains(WRITE, around(200, 50)), ...chains(HIT, around(20, 50))],
    )
    expect(ranking.mutations.map(({ rank, category }) => [rank, category])).toEqual([
      [1, 1],
      [2, 0],
    ])
    expect(ranking.mutations[1]?.contributionUs).toBeCloseTo(-40_000, 6)
  })

  test('its table shows precursors with their weights', () => {
    const table = compared(chains(HIT, around(1, 60)), chains(MISS, around(1, 60))).table()
    expect(table.objects()).toMatchObject([
      { rank: 1, kind: 'structural', category: 1, root: 'READ', precursors: '0 (100 %)' },
    ])
  })
})
