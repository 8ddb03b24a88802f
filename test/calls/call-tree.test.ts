import { describe, expect, test } from 'vitest'
import { callTree } from '../../src/calls/call-tree.ts'
import { CriticalPathFinder } from '../../src/calls/critical-path.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import type { FlowSet } from '../../src/flows/flow-set.ts'
import { chains, makeGraphs, makeSpans, type SpanSketch } from '../make-traces.ts'

/** Calls as `name(what it calls)`. */
function nested(flows: FlowSet, shape = 0): string {
  const { calls } = callTree(flows, shape)
  const text = (call: number): string => {
    const inner = calls.flatMap(({ parent }, i) => (parent === call ? [text(i)] : []))
    const name = calls[call]?.name ?? ''
    return inner.length === 0 ? name : `${name}(${inner.join(' ')})`
  }
  return text(0)
}

const points = (...names: string[]) => buildFlows(makeGraphs(chains(names, [100])))

const SPANS: readonly SpanSketch[] = [
  { id: 'r', operation: 'r', startUs: 0, endUs: 100 },
  { id: 'a', parent: 'r', operation: 'a', startUs: 10, endUs: 30 },
  { id: 'b', parent: 'r', operation: 'b', startUs: 12, endUs: 60 },
  { id: 'c', parent: 'b', operation: 'c', startUs: 20, endUs: 50 },
  { id: 'd', parent: 'r', operation: 'd', startUs: 70, endUs: 90 },
]

describe('the calls of spans', () => {
  test('are the spans, however siblings are ordered', () => {
    for (const concurrency of ['learned', 'observed', 'none'] as const) {
      const flows = buildFlows(makeSpans(SPANS), { concurrency })
      expect(nested(flows)).toBe('r(a b(c) d)')
    }
  })

  test('happen when the spans did', () => {
    const flows = buildFlows(makeSpans(SPANS), { concurrency: 'observed' })
    const timeUs = new CriticalPathFinder(flows).nodeTimes(0)
    const { calls } = callTree(flows, 0)
    const times = calls.map(({ name, start, end }) => [name, timeUs[start], timeUs[end]])
    expect(new Set(times)).toEqual(
      new Set(SPANS.map(({ operation, startUs, endUs }) => [operation, startUs, endUs])),
    )
  })

  test('of the same name can be nested', () => {
    const flows = buildFlows(
      makeSpans([
        { id: '1', service: 's', operation: 'x', startUs: 0, endUs: 100 },
        { id: '2', parent: '1', service: 's', operation: 'x', startUs: 10, endUs: 90 },
        { id: '3', parent: '2', service: 's', operation: 'x', startUs: 20, endUs: 80 },
      ]),
    )
    expect(nested(flows)).toBe('x(x(x))')
  })

  test('own the edges between those they make', () => {
    const flows = buildFlows(makeSpans(SPANS), { concurrency: 'observed' })
    const { calls, callOfEdge } = callTree(flows, 0)
    const [labels, from, to] = [
      flows.shapes.labels(0),
      flows.shapes.from(0),
      flows.shapes.to(0),
    ] as const
    const name = (node: number) => {
      const { operation, phase } = flows.labels.get(labels[node] as number)
      return `${operation} ${phase}`
    }
    const owners = Array.from(
      callOfEdge,
      (call, edge) =>
        `${name(from[edge] as number)} to ${name(to[edge] as number)}: ${calls[call]?.name}`,
    )
    expect(owners.sort()).toEqual([
      'a call to a reply: a',
      'a reply to d call: r',
      'b call to c call: b',
      'b reply to d call: r',
      'c call to c reply: c',
      'c reply to b reply: b',
      'd call to d reply: d',
      'd reply to r reply: r',
      'r call to a call: r',
      'r call to b call: r',
    ])
  })
})

describe('the calls of trace points', () => {
  test('are points that call and reply', () => {
    const flows = points(
      'm1__t1__NFS3_READ_CALL_TYPE\nDEFAULT',
      'm1__t2__CACHE_CALL',
      'm1__t2__CACHE_REPLY\nHIT',
      'm1__t1__NFS3_READ_REPLY_TYPE\nDEFAULT',
    )
    expect(nested(flows)).toBe('NFS3_READ(CACHE)')
  })

  test('need no word for where they begin', () => {
    expect(nested(points('m__t__READ', 'm__t__DISK', 'm__t__DISK_END', 'm__t__READ_REPLY'))).toBe(
      'READ(DISK)',
    )
  })

  test('leave steps between points of no call', () => {
    expect(nested(points('m__t__READ', 'm__t__MISS', 'm__t__READ_REPLY'))).toBe(
      'READ(READ → MISS MISS → READ_REPLY)',
    )
  })

  test('are steps where nothing replies', () => {
    expect(nested(points('m__t__A', 'm__t__B', 'm__t__C'))).toBe('A(A → B B → C)')
  })

  test('that never end are points', () => {
    expect(nested(points('m__t__X_CALL', 'm__t__Y_CALL', 'm__t__X_REPLY', 'm__t__Y_REPLY'))).toBe(
      'X(X_CALL → Y_CALL Y_CALL → X_REPLY X_REPLY → Y_REPLY)',
    )
  })

  test('end on the machine where they began', () => {
    expect(
      nested(points('m1__t__X_CALL', 'm2__t__X_CALL', 'm2__t__X_REPLY', 'm1__t__X_REPLY')),
    ).toBe('X(X)')
  })

  test('fork and join', () => {
    const flows = buildFlows(
      makeGraphs([
        {
          labels: ['R', 'A_CALL', 'A_REPLY', 'B_CALL', 'B_REPLY', 'R_REPLY'].map(
            (name) => `m__t__${name}`,
          ),
          edges: [
            [0, 1],
            [0, 3],
            [1, 2],
            [3, 4],
            [2, 5],
            [4, 5],
          ],
        },
      ]),
    )
    expect(nested(flows)).toBe('R(A B)')
  })

  test('one node alone is a request', () => {
    const flows = buildFlows(makeGraphs([{ labels: ['only'], edges: [], responseTimeUs: 5 }]))
    expect(callTree(flows, 0)).toMatchObject({ calls: [{ name: 'only', end: -1 }] })
    expect(Array.from(new CriticalPathFinder(flows).nodeTimes(0))).toEqual([0])
  })
})
