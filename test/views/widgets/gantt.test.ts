import { range } from 'd3-array'
import { describe, expect, test } from 'vitest'
import { CriticalPathFinder } from '../../../src/calls/critical-path.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { lengthUs, uncovered } from '../../../src/views/drawing/time-range.tsx'
import { explore } from '../../../src/views/explore.ts'
import { exploreCode } from '../../../src/views/widgets/define-widget.ts'
import {
  foldedTo,
  GANTT_OPTIONS,
  type GanttCall,
  type GanttData,
  ganttCalls,
  ganttRows,
  uncriticalCalls,
} from '../../../src/views/widgets/gantt/gantt-model.ts'
import { shopPeriod } from '../../compare/findings/fixture.ts'
import { chains, makeGraphs, makeSpans } from '../../make-traces.ts'
import { comparison, flows, large, largeId } from './gantt-fixture.ts'

const small = makeSpans([
  { id: 'web', operation: 'GET', host: 'web-1', startUs: 0, endUs: 100 },
  { id: 'a', parent: 'web', operation: 'A', startUs: 10, endUs: 40 },
  { id: 'b', parent: 'web', operation: 'B', startUs: 20, endUs: 80 },
  { id: 'c', parent: 'b', operation: 'C', startUs: 30, endUs: 60 },
])

const visibleCalls = (calls: readonly GanttCall[], collapsed: readonly number[]) =>
  ganttRows(calls, collapsed).map(({ number }) => number)
const ascending = (a: number, b: number) => a - b

describe('the critical path', () => {
  test('is that of the analysis, stretch by stretch, in every request', () => {
    const finder = new CriticalPathFinder(flows)
    for (let request = 0; request < flows.size; request += 37) {
      const drawn = ganttCalls(flows, [request])
        .flatMap(({ critical }) => critical)
        .sort((a, b) => a[0] - b[0])
      const latencyUs = flows.latencies(request)
      let at = 0
      const expected = finder
        .edges(request)
        .map((edge) => {
          const from = at
          at += latencyUs[edge] as number
          return [from, at] as const
        })
        .filter(([from, to]) => to > from)
      expect(drawn).toHaveLength(expected.length)
      for (const [i, [from, to]] of drawn.entries()) {
        expect(from).toBeCloseTo(expected[i]?.[0] ?? Number.NaN, 4)
        expect(to).toBeCloseTo(expected[i]?.[1] ?? Number.NaN, 4)
      }
      expect(lengthUs(drawn)).toBeCloseTo(flows.responseTimeUs[request] as number, 4)
    }
  })

  test('lies in the calls whose work was waited for', () => {
    const calls = ganttCalls(buildFlows(small, { concurrency: 'observed' }), [0])
    expect(calls.map(({ name, critical }) => [name, critical])).toEqual([
      [
        'GET',
        [
          [0, 20],
          [80, 100],
        ],
      ],
      ['A', []],
      [
        'B',
        [
          [20, 30],
          [60, 80],
        ],
      ],
      ['C', [[30, 60]]],
    ])
  })
})

describe('calls in time', () => {
  test('work when nothing they called is under way', () => {
    const calls = ganttCalls(buildFlows(small, { concurrency: 'observed' }), [0])
    expect(calls.map(({ name, parent, depth, work }) => [name, parent, depth, work])).toEqual([
      [
        'GET',
        -1,
        0,
        [
          [0, 10],
          [80, 100],
        ],
      ],
      ['A', 0, 1, [[10, 40]]],
      [
        'B',
        0,
        1,
        [
          [20, 30],
          [60, 80],
        ],
      ],
      ['C', 2, 2, [[30, 60]]],
    ])
  })

  test('show what the server does not account for as the way there and back', () => {
    const spans = makeSpans([
      { id: 'web', service: 'web', operation: 'GET', kind: 'server', startUs: 0, endUs: 100 },
      {
        id: 'out',
        parent: 'web',
        service: 'web',
        operation: 'call',
        kind: 'client',
        startUs: 10,
        endUs: 70,
      },
      {
        id: 'in',
        parent: 'out',
        service: 'db',
        operation: 'call',
        kind: 'server',
        startUs: 25,
        endUs: 60,
      },
      {
        id: 'cache',
        parent: 'web',
        service: 'web',
        operation: 'get',
        kind: 'client',
        startUs: 75,
        endUs: 90,
      },
    ])
    const calls = ganttCalls(buildFlows(spans), [0])
    const ways = calls.filter(({ isOnTheWay }) => isOnTheWay)
    // Of the call to the cache, the server's side was not recorded.
    expect(ways.map(({ service, name, work }) => [service, name, work])).toEqual([
      [
        'web',
        'call',
        [
          [10, 25],
          [60, 70],
        ],
      ],
    ])
    const points = ['a__t__R_CALL', 'b__t__R_CALL', 'b__t__R_REPLY', 'a__t__R_REPLY']
    const graphs = makeGraphs(chains(points, [100]))
    const drawn = ganttCalls(buildFlows(graphs), [0])
    expect(drawn.map(({ host, isOnTheWay }) => [host, isOnTheWay])).toEqual([
      ['a__t', true],
      ['b__t', false],
    ])
    const svg = explore(spans, 'trace').svg()
    expect(svg).toContain('on the way to what it calls and back: network, queues')
    expect(explore(small, 'trace').svg()).not.toContain('network, queues')
  })

  test('are those of the spans, in every request', () => {
    const traces = flows.periods[0]
    if (traces?.kind !== 'spans') throw new Error('not spans')
    for (let request = 0; request < 200; request++) {
      const trace = flows.traceOf[request] as number
      const calls = ganttCalls(flows, [request])
      const first = traces.spanOffsets[trace] as number
      const rows = calls.map((_, i) => first + i)
      expect(traces.spanOffsets[trace + 1]).toBe(first + calls.length)
      const recorded = rows.map((row) => traces.spans.durationUs[row] as number).sort(ascending)
      const drawn = calls.map(({ startUs, endUs }) => endUs - startUs).sort(ascending)
      for (const [i, us] of drawn.entries()) expect(us).toBeCloseTo(recorded[i] as number, 4)
    }
  })

  test('know what was recorded of them', () => {
    const calls = ganttCalls(flows, [large])
    const [root] = calls
    expect(Object.fromEntries(root?.facts ?? [])).toMatchObject({ kind: 'server' })
    for (const { name, facts } of calls.filter((call) => call.name.startsWith('SN '))) {
      expect([name, ['client', 'server'].includes(String(facts[0]?.[1]))]).toEqual([name, true])
    }
  })

  test('of trace points are pairs and steps', () => {
    const graphs = makeGraphs(chains(['m__t__R_CALL', 'm__t__X', 'm__t__R_REPLY'], [100]))
    const calls = ganttCalls(buildFlows(graphs), [0])
    expect(calls.map(({ name, startUs, endUs }) => [name, startUs, endUs])).toEqual([
      ['R', 0, 100],
      ['R_CALL → X', 0, 50],
      ['X → R_REPLY', 50, 100],
    ])
  })

  test('of a trace with two roots stand in one chart', () => {
    const traces = makeSpans([
      { id: '1', operation: 'one', startUs: 100, endUs: 200 },
      { id: '2', operation: 'two', startUs: 150, endUs: 400 },
      { id: '3', parent: '2', operation: 'three', startUs: 160, endUs: 170 },
    ])
    const { calls, lengthUs: length } = (
      explore(traces, 'trace', { id: 't' }).data as { data: GanttData }
    ).data
    expect(calls.map(({ name, parent, startUs }) => [name, parent, startUs])).toEqual([
      ['one', -1, 0],
      ['two', -1, 50],
      ['three', 1, 60],
    ])
    expect(length).toBe(300)
  })
})

describe('the parts', () => {
  const calls = ganttCalls(flows, [large])

  test('what is uncovered is what none of the others covers', () => {
    expect(uncovered([0, 10], [])).toEqual([[0, 10]])
    expect(
      uncovered(
        [0, 10],
        [
          [2, 4],
          [3, 5],
          [8, 12],
        ],
      ),
    ).toEqual([
      [0, 2],
      [5, 8],
    ])
    expect(uncovered([0, 10], [[-5, 20]])).toEqual([])
    expect(uncovered([5, 5], [])).toEqual([[5, 5]])
  })

  test('folding leaves as many rows as there is room for', () => {
    for (const rows of [1, 5, 12, 60, 1000]) {
      const left = visibleCalls(calls, foldedTo(calls, rows))
      expect(left.length).toBeLessThanOrEqual(rows)
    }
    expect(foldedTo(calls, 1000)).toEqual([])
    expect(visibleCalls(calls, foldedTo(calls, 1))).toEqual([0])
  })

  test('folding the uncritical hides no critical call', () => {
    const left = new Set(visibleCalls(calls, uncriticalCalls(calls)))
    for (const [number, { critical }] of calls.entries()) {
      if (critical.length > 0) expect(left.has(number)).toBe(true)
    }
    const own = ganttCalls(buildFlows(small, { concurrency: 'observed' }), [0])
    expect(visibleCalls(own, uncriticalCalls(own))).toEqual([0, 1, 2, 3])
  })

  test('code names what is not as usual', () => {
    const code = (options: object) =>
      exploreCode(GANTT_OPTIONS, { id: largeId, ...options }, { name: 'mine', kind: 'trace' })
    expect(code({})).toBe(`explore(mine, 'trace', { id: '${largeId}' })`)
    expect(code({ collapsed: [], range: [1, 2.5], search: 'x' })).toBe(
      `explore(mine, 'trace', { id: '${largeId}', collapsed: [], range: [1, 2.5], search: 'x' })`,
    )
  })

  test('options and ids are checked', () => {
    expect(() => explore(comparison, 'trace', { id: 'none' })).toThrow('Option id is "none".')
    expect(() => explore(comparison, 'trace', { id: largeId, period: 'before' })).toThrow(
      'Option id',
    )
    expect(() => explore(small, 'trace', { id: 't', period: 'before' })).toThrow('Option period')
    expect(() => explore(small, 'trace', { id: 't', range: [5, 5] })).toThrow('Option range')
    expect(() => explore(small, 'trace', { id: 't', collapsed: [4] })).toThrow(
      'Option collapsed is 4.',
    )
    expect(() => explore(small, 'trace', { id: 't', rows: 4 } as never)).toThrow('no option rows')
  })
})

test('without an id, it begins with a trace of the first finding', () => {
  const [first] = comparison.findings.findings
  const shown = (options: { period?: 'before' | 'after' }) =>
    (explore(comparison, 'trace', options).data as { data: GanttData }).data.traceId
  expect(shown({})).toBe(first?.exemplars.after[0])
  expect(shown({ period: 'before' })).toBe(first?.exemplars.before[0])
})

describe('without scripts', () => {
  test('names stay readable however deep calls are', () => {
    const deep = makeSpans(
      range(20).map((depth) => ({
        id: `s${depth}`,
        ...(depth > 0 && { parent: `s${depth - 1}` }),
        service: `service-${depth}`,
        operation: 'GET',
        startUs: depth,
        endUs: 100 - depth,
      })),
    )
    const names = explore(deep)
      .svg()
      .match(/service-\d+ GET/g)
    expect(names).toHaveLength(20)
  })

  test('it is a picture with every row and its legend', () => {
    const svg = explore(comparison, 'trace', { id: largeId }).svg()
    expect(svg).toContain('on the critical path')
    expect(svg).toMatch(/\u00a0prefetch \+67</)
    expect(svg).not.toMatch(/NaN|undefined|var\(/)
  })

  test('a trace that took no time can be shown', () => {
    const none = makeSpans([{ id: 'r', startUs: 5, endUs: 5 }])
    expect(explore(none, 'trace', { id: 't' }).svg()).not.toMatch(/NaN|Infinity/)
  })
})

test('the traces of one period are enough', () => {
  const widget = explore(shopPeriod({ requests: 3 }), 'trace', { id: 't1-0' })
  expect(widget.description).toMatch(
    /^Trace t1-0 took 3\.89 ms in 5 calls\. The largest part of its critical path is pay CHARGE/,
  )
  expect(widget.svg()).toContain('pay CHARGE')
})
