import { describe, expect, test } from 'vitest'
import { type Comparison, type ComparisonOptions, compare } from '../../src/comparison.ts'
import { comparisonWarnings } from '../../src/comparison-warnings.ts'
import { QualityLog } from '../../src/traces/quality.ts'
import { around, chains, makeGraphs, makeSpans, type SpanSketch } from '../make-traces.ts'

const HIT = ['READ', 'HIT', 'REPLY']

function load(before: number, after: number, options: Partial<ComparisonOptions> = {}) {
  const requests = (count: number) => makeGraphs(chains(HIT, around(1, count)))
  return compare(requests(before), requests(after), options).warnings()
}

/** One request of `web`, which calls `db`, on these hosts. */
function served(webHost: string, dbHost: string): SpanSketch[] {
  return [
    { id: 'web', host: webHost, startUs: 0, endUs: 10 },
    { id: 'db', host: dbHost, parent: 'web', startUs: 1, endUs: 9 },
  ]
}

/** The warnings with one code. */
function coded(comparison: Comparison, code: string) {
  return comparison.warnings().filter((warning) => warning.code === code)
}

describe('warnings', () => {
  test('there are none about periods that are alike', () => {
    expect(load(100, 110)).toEqual([])
    expect(load(110, 100)).toEqual([])
  })

  test('of unequal load: requests differ by more than a tenth', () => {
    expect(load(100, 111)).toEqual([
      {
        code: 'unequal-load',
        message:
          'There are 100 requests before and 111 after. Every category then gains or loses ' +
          'requests, and more of them look like structural mutations. Compare periods of equal ' +
          "load, or scale counts with `counts: 'scaled'` (--scale-counts).",
      },
    ])
    expect(load(111, 100)).toHaveLength(1)
  })

  test('none of unequal load with scaled counts', () => {
    expect(load(100, 200, { counts: 'scaled' })).toEqual([])
  })

  test('of periods too small to find anything in', () => {
    const comparison = compare(makeGraphs(chains(HIT, [1])), makeGraphs(chains(HIT, [5])))
    expect(coded(comparison, 'small-periods')).toEqual([
      {
        code: 'small-periods',
        message:
          'With 1 requests before and 1 after, no category has enough requests in both periods to ' +
          'test its times, and no category can change by more than SM_P_THRESHOLD (50) requests: ' +
          'no finding does not mean no change. Load longer periods, or lower `smPThreshold` ' +
          '(--sm-p-threshold).',
      },
    ])
    expect(load(51, 51)).toEqual([])
  })

  test('of periods with no category in common', () => {
    const other = makeGraphs(chains(['READ', 'MISS', 'REPLY'], around(1, 60)))
    const comparison = compare(makeGraphs(chains(HIT, around(1, 60))), other)
    expect(coded(comparison, 'nothing-in-common')[0]?.message).toMatch(
      /^None of the 2 categories has requests in both periods: every request took another structure\./,
    )
  })

  test('of hosts that differ, naming only the services none of whose hosts stayed', () => {
    const comparison = compare(
      makeSpans(served('web-1', 'db-1')),
      makeSpans(served('web-1', 'db-7')),
    )
    expect(coded(comparison, 'hosts-differ')).toEqual([
      {
        code: 'hosts-differ',
        message:
          'db: no host of the before period serves in the after period, so every request through ' +
          'them looks like a new structure. Leave hosts out of labels with `omitHosts: true` ' +
          '(--omit-hosts).',
      },
    ])
    expect(coded(comparison.with({ omitHosts: true }), 'hosts-differ')).toEqual([])
  })

  test('none of hosts when a service keeps one of them', () => {
    const before = [...served('web-1', 'db-1'), ...served('web-1', 'db-2')].map((span, i) => ({
      ...span,
      trace: `t${i >> 1}`,
    }))
    const after = makeSpans(served('web-1', 'db-2'))
    expect(coded(compare(makeSpans(before), after), 'hosts-differ')).toEqual([])
  })

  test('of skipped traces, by period', () => {
    const quality = new QualityLog()
    for (const line of [3, 9]) {
      quality.note(
        { code: 'cyclic-graph', effect: 'trace skipped', place: { line }, message: 'A cycle' },
        '',
      )
    }
    const comparison = compare(
      makeGraphs(chains(HIT, [1]), 'monday'),
      makeGraphs(chains(HIT, [1]), 'tuesday', quality),
    )
    expect(coded(comparison, 'skipped-traces')).toEqual([
      {
        code: 'skipped-traces',
        message:
          'tuesday: 2 trace(s) could not be used and are left out: 2 × cyclic-graph (A cycle). ' +
          'All of it: `traces.quality().issues`.',
      },
    ])
  })

  test('of structures too symmetric to compare', () => {
    const { before, after, flows, options } = compare(
      makeGraphs(chains(HIT, [1])),
      makeGraphs(chains(HIT, [1])),
    )
    const categories = { undecided: 1, size: 1, count: () => 100 }
    const warnings = comparisonWarnings({ before, after, flows, categories, options })
    const warning = warnings.find(({ code }) => code === 'undecided-structures')
    expect(warning?.message).toMatch(
      /^1 pair\(s\) of flows are too symmetric to compare within the step budget and count as different structures\./,
    )
  })
})
