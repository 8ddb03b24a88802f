import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { AFTER, BEFORE, countText } from '../../../src/flows/flow-set.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'
import { QualityLog } from '../../../src/traces/quality.ts'
import {
  chains,
  every,
  makeGraphs,
  makeSpans,
  NOON_US,
  requestsAt,
  type SpanSketch,
} from '../../make-traces.ts'
import { coded } from './coded.ts'

/** Requests of `web` with five calls of `db` each; `change` alters the spans of one request. */
function requests(
  count: number,
  { trace = 'request', change = (spans: SpanSketch[], _request: number) => spans } = {},
): SpanSketch[] {
  return every(1e6, count).flatMap((startUs, i) =>
    change(
      requestsAt([startUs, ...every(1000, 5, startUs)], { host: 'a' }).map((span, call) => ({
        ...span,
        trace: `${trace}-${String(i).padStart(6, '0')}`,
        ...(call === 0
          ? { endUs: startUs + 10_000 }
          : { id: `db${call}`, parent: 'web', service: 'db', host: 'b' }),
      })),
      i,
    ),
  )
}

const before = requests(400, { trace: 'before' })

describe('clock-skew', () => {
  const later = (span: SpanSketch, us: number) =>
    span.id === 'db5' ? { ...span, startUs: span.startUs + us, endUs: span.endUs + us } : span
  const skewed = (share: number) =>
    requests(400, {
      change: (spans, i) => spans.map((span) => later(span, i < 400 * share ? 20_000 : 0)),
    })

  test('of shares that differ, which may be the change itself', () => {
    const [found] = coded('clock-skew', before, skewed(0.1))
    expect(found?.finding).toBe(
      '0 of 400 (0 %) traces before and 40 of 400 (10 %) after have spans that begin before or end after their parent on another host.',
    )
    expect(found?.effect).toContain('which may be the change itself')
    expect(found?.answer).toContain('`traces.quality().issues`')
  })

  test('of chosen traces, those among them are counted', () => {
    const chosen = (spans: SpanSketch[]) => makeSpans(spans).between('0s', '19.5s')
    const [found] = coded('clock-skew', chosen(before), chosen(skewed(0.1)))
    expect(found?.finding).toContain('20 of 20 (100 %) after')
  })

  test('equal shares of both periods touch no finding', () => {
    expect(coded('clock-skew', skewed(0.1), skewed(0.1))).toEqual([])
    expect(coded('data-quality', skewed(0.1), skewed(0.1))).toEqual([])
  })

  const ahead = (count: number, aheadUs: number) =>
    requests(400, {
      change: (spans, i) =>
        spans
          .map((span) => (span.host === 'b' ? { ...span, startUs: span.startUs + aheadUs } : span))
          .map((span) => later(span, i < count ? 20_000 : 0)),
    })

  test('silent where correcting clocks brings all spans into their parents', () => {
    expect(coded('clock-skew', before, ahead(0, -3_000))).toEqual([])
  })

  test('says by how much clocks were corrected where spans stay outside', () => {
    const [found] = coded('clock-skew', before, ahead(40, -3_000))
    expect(found?.finding).toContain('Clocks are already corrected: b is ')
    expect(found?.finding).toContain(' behind a')
  })

  test('silent where what outlives its parent is longer: no clock makes it fit, the parent gave up', () => {
    const givenUp = requests(400, {
      change: (spans, i) =>
        spans.map((span) =>
          span.id === 'db5' && i < 40 ? { ...span, endUs: span.endUs + 20_000 } : span,
        ),
    })
    expect(coded('clock-skew', before, givenUp)).toEqual([])
  })

  test('silent where a parent that fails ends before what it called, which does not fail: it gave up', () => {
    const late = skewed(0.1)
    const callers = new Set(
      late.flatMap(({ trace, host, parent }) => (host === 'b' ? `${trace} ${parent}` : [])),
    )
    const givenUp = late.map((span) =>
      callers.has(`${span.trace} ${span.id}`) ? { ...span, status: 'error' as const } : span,
    )
    expect(coded('clock-skew', before, late)).toHaveLength(1)
    expect(coded('clock-skew', before, givenUp)).toEqual([])
  })

  test('silent when the spans reach out of a parent on their own host', () => {
    const local = skewed(0.1).map((span) => ({ ...span, host: 'a' }))
    expect(coded('clock-skew', before, local)).toEqual([])
  })
})

describe('orphans', () => {
  const orphaned = (count: number) =>
    requests(400, {
      change: (spans, i) =>
        i < count
          ? spans.map((span) => (span.id === 'db1' ? { ...span, parent: 'lost' } : span))
          : spans,
    })

  test('says how many parts they leave', () => {
    const [found] = coded('orphans', before, orphaned(12))
    expect(found?.finding).toBe(
      '0 of 400 (0 %) traces before and 12 of 400 (3 %) after have spans whose parent is not in the files.',
    )
    expect(found?.effect).toContain('a fragment (0 before, 12 after)')
    expect(coded('data-quality', before, orphaned(12))).toEqual([])
  })

  test('counts of requests leave out parts of others, and say how many there are', () => {
    const { flows } = compare(makeSpans(orphaned(12)), makeSpans(before))
    expect([BEFORE, AFTER].map((period) => countText(flows, period))).toEqual([
      '400 (and 12 fragments)',
      '400',
    ])
  })

  test('2 of 400 traces, half a percent, are told under data-quality only', () => {
    expect(coded('orphans', before, orphaned(2))).toEqual([])
    expect(coded('data-quality', before, orphaned(2))[0]?.finding).toContain('2 × orphan-span')
  })
})

describe('truncated-traces', () => {
  const rootless = (count: number) =>
    requests(400, { change: (spans, i) => (i < count ? spans.slice(1) : spans) })

  test('of traces without a root', () => {
    const [found] = coded('truncated-traces', before, rootless(12))
    expect(found?.finding).toMatch(
      /^0 of 400 \(0 %\) traces before and 12 of 400 \(3 %\) after are cut: 12 have no root\.$/,
    )
    expect(coded('orphans', before, rootless(12))).toEqual([])
  })

  test('silent about 2 of 400', () => {
    expect(coded('truncated-traces', before, rootless(2))).toEqual([])
  })

  test('silent when no trace of either period has a root: the callers are not traced', () => {
    expect(coded('truncated-traces', rootless(400), rootless(400))).toEqual([])
  })

  /** Requests of four seconds, one a second: four are under way at any time. */
  const long = (isShort: (request: number) => boolean) =>
    requests(400, {
      change: (spans, i) =>
        (isShort(i) ? spans.slice(0, 2) : spans).map((span) =>
          span.id === 'web' ? { ...span, endUs: span.startUs + 4e6 } : span,
        ),
    })

  test('of traces that lost spans at a border of the period', () => {
    const [found] = coded(
      'truncated-traces',
      before,
      long((i) => i < 3 || i >= 397),
    )
    expect(found?.finding).toContain(
      'are cut: 6 were running at the start or end of the period and have',
    )
  })

  test('silent when small traces are as frequent everywhere', () => {
    expect(
      coded(
        'truncated-traces',
        before,
        long((i) => i % 3 === 0),
      ),
    ).toEqual([])
    expect(
      coded(
        'truncated-traces',
        before,
        long((i) => i > 200 && i < 210),
      ),
    ).toEqual([])
  })
})

describe('duplicate-traces', () => {
  test('of traces that are in both periods', () => {
    const after = [...requests(380, { trace: 'after' }), ...before.slice(0, 20 * 6)]
    expect(coded('duplicate-traces', before, after)[0]?.finding).toBe(
      '20 of 400 (5 %) traces before and 20 of 400 (5 %) after have ids that occur in both periods.',
    )
  })

  test('says so where both periods are the same traces', () => {
    expect(coded('duplicate-traces', before, before)[0]?.finding).toBe(
      'Both periods are the same 400 traces. Was one file given twice?',
    )
  })

  test('of traces that are there twice in one period', () => {
    const after = requests(400, { trace: 'after' })
    const found = coded('duplicate-traces', before, [...after, ...after.slice(0, 10 * 6)])
    expect(found.map(({ finding }) => finding)).toEqual([
      '0 of 400 (0 %) traces before and 10 of 400 (2.5 %) after occur twice within their period.',
    ])
    expect(coded('data-quality', before, [...after, ...after.slice(0, 10 * 6)])).toEqual([])
  })

  test('of more copies than quality lists, all traces count', () => {
    const after = requests(400, { trace: 'after' })
    const [found] = coded('duplicate-traces', before, [...after, ...after])
    expect(found?.finding).toBe(
      '0 of 400 (0 %) traces before and 400 of 400 (100 %) after occur twice within their period.',
    )
    const some = makeSpans([...after, ...after]).between('300s', '399.5s')
    expect(coded('duplicate-traces', before, some)[0]?.finding).toContain(
      '100 of 100 (100 %) after',
    )
  })

  test('of graphs by their ids', () => {
    const graphs = (name: string) =>
      makeGraphs(
        chains(['A', 'B'], new Array(100).fill(1)).map((graph, i) => ({
          ...graph,
          id: `${name}-trace-${i < 90 ? i : 0}`,
        })),
      )
    const [found] = coded('duplicate-traces', graphs('x'), graphs('y'))
    expect(found?.finding).toContain('10 of 100 (10 %) traces before')
  })

  test('silent about one trace in 400, and about numbers that are no ids', () => {
    const after = [...requests(399, { trace: 'after' }), ...before.slice(0, 6)]
    expect(coded('duplicate-traces', before, after)).toEqual([])
    const numbered = (stepUs: number) =>
      requestsAt(every(stepUs, 100)).map((span, i) => ({ ...span, trace: `${i}` }))
    expect(coded('duplicate-traces', numbered(1e6), numbered(2e6))).toEqual([])
  })

  test('of one file given twice, where ids only number traces', () => {
    const graphs = makeGraphs(chains(['A', 'B'], [1, 2, 3]))
    const found = coded('duplicate-traces', graphs, graphs)
    expect(found[0]?.finding).toBe('Both periods are the same 3 traces. Was one file given twice?')
    const others = makeGraphs(chains(['A', 'B'], [1, 2, 4]))
    expect(coded('duplicate-traces', graphs, others)).toEqual([])
  })
})

describe('skipped-traces', () => {
  test('by period, with their share and the first of each kind', () => {
    const quality = new QualityLog()
    for (const line of [3, 9]) {
      quality.skip({
        code: 'cyclic-graph',
        effect: 'trace skipped',
        place: { line },
        message: 'A cycle',
        next: '',
      })
    }
    const monday = makeGraphs(chains(['A', 'B'], [1]), 'monday')
    const tuesday = makeGraphs(chains(['A', 'B'], [1]), 'tuesday', quality)
    const found = coded('skipped-traces', monday, tuesday)
    expect(found).toHaveLength(1)
    const [ofSome] = coded('skipped-traces', monday, tuesday.where('duration > 0us'))
    expect(ofSome?.finding).toContain('tuesday, before selecting: 2 of 3 (67 %) traces')
    expect(found[0]?.finding).toBe(
      'tuesday: 2 of 3 (67 %) traces could not be used: 2 × cyclic-graph (A cycle).',
    )
  })

  test('of a file that ends in the middle, nobody knows how many traces are missing', async () => {
    const spans = [1, 2].map((id) => ({
      traceId: 'a',
      id: `${id}`,
      timestamp: NOON_US,
      duration: 500,
      localEndpoint: { serviceName: 'web' },
    }))
    const bytes = JSON.stringify(spans).slice(0, -20)
    const cut = await loadTraces({ name: 'cut.json', bytes })
    const [found] = coded('missing-traces', cut, before)
    expect(found?.finding).toBe(
      'cut.json: 1 file is cut off in the middle, so an unknown number of traces is missing: cut.json:1: The file ends before what starts on line 1 does.',
    )
    expect(coded('skipped-traces', cut, before)).toEqual([])
    expect(coded('data-quality', cut, before)).toEqual([])
  })

  test('silent when all of it could be used', () => {
    expect(coded('skipped-traces', makeSpans(before), makeSpans(before))).toEqual([])
  })
})
