import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CriticalPathFinder } from '../../src/calls/critical-path.ts'
import { coveredNs, spanTimes } from '../../src/calls/span-times.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import type { Concurrency, FlowSet } from '../../src/flows/flow-set.ts'
import { spanTree } from '../../src/flows/span-tree.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'
import { describeWithShared, sharedFile } from '../shared.ts'

/** The spans of a request as the tree has them, with their labels. */
function spansOf(flows: FlowSet, request: number) {
  const shape = flows.shapeOf[request] as number
  const tree = spanTree(flows, shape)
  const labels = flows.shapes.labels(shape)
  const all = spanTimes(flows)
  const times = all.of(request)
  const isWaitedFor = all.waitedFor(request)
  const onPathNs = all.onPath(request)
  const spans = Array.from({ length: tree.size }, (_, span) => {
    const { service, operation } = flows.labels.get(labels[2 * span] as number)
    return {
      service,
      operation,
      span,
      parent: tree.parent[span] as number,
      startNs: times[2 * span] as number,
      endNs: times[2 * span + 1] as number,
      isWaitedFor: isWaitedFor[span] === 1,
      onPathNs: onPathNs[span] as number,
    }
  })
  return { tree, times, spans }
}

/**
 * A random tree, times in ns from the start of the root. No span starts before its caller; some
 * outlive it or start when it is over.
 */
const randomSpans = fc
  .array(fc.tuple(fc.nat(), fc.nat(1200), fc.nat(900)), { maxLength: 12 })
  .map((drawn) => {
    const spans = [{ name: 's0', parent: -1, startNs: 0, endNs: 1_000_000 }]
    for (const [parent, after, duration] of drawn) {
      const caller = parent % spans.length
      const startNs = (spans[caller]?.startNs as number) + after * 997
      spans.push({
        name: `s${spans.length}`,
        parent: caller,
        startNs,
        endNs: startNs + duration * 1009,
      })
    }
    return spans
  })

test.each(['observed', 'learned', 'none'] satisfies Concurrency[])(
  'callers and times of a tree are those of its trace, concurrency %s',
  (concurrency) => {
    fc.assert(
      fc.property(randomSpans, (spans) => {
        const sketches = spans.map(({ name, parent, startNs, endNs }): SpanSketch => {
          const times = { startUs: startNs / 1000, endUs: endNs / 1000 }
          return { id: name, parent: parent < 0 ? null : `s${parent}`, ...times }
        })
        const { tree, spans: found } = spansOf(buildFlows(makeSpans(sketches), { concurrency }), 0)
        const read = found.map(({ service, parent, startNs, endNs }) => {
          return { name: service, parent: found[parent]?.service, startNs, endNs }
        })
        const given = spans.map((span) => ({ ...span, parent: spans[span.parent]?.name }))
        const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
        expect(read.sort(byName)).toEqual(given.sort(byName))
        for (let span = 0; span < tree.size; span++) {
          const [first, end] = [
            tree.firstChild[span] as number,
            tree.firstChild[span + 1] as number,
          ]
          const children = Array.from({ length: end - first }, (_, i) => first + i)
          expect(children).toEqual([...tree.parent.keys()].filter((i) => tree.parent[i] === span))
        }
      }),
    )
  },
)

test('the time that spans cover is counted once and only between the two moments', () => {
  const times = Float64Array.from([0, 100, 50, 60, 10, 30, 20, 40, 90, 150, 5, 5])
  expect(coveredNs(times, [1, 2, 3, 4, 5], 0, 100)).toBe(10 + 30 + 10)
  expect(coveredNs(times, [2, 3], 15, 35)).toBe(20)
  expect(coveredNs(times, [3, 2], 40, 100)).toBe(0)
  expect(coveredNs(times, [], 0, 100)).toBe(0)
})

const FOLDER = 'fixtures/jaeger-criticalpath'
const FILES = [1, 2, 3, 5, 9, 10, 12, 15, 18, 23, 24, 25].map((n) => `crisp_${n}.json`)

// What Uber's CRISP says an operation spends on the critical path itself, in µs.
describeWithShared('times on the path are those of CRISP', () => {
  test.each(FILES)('%s', async (file) => {
    const path = sharedFile(`${FOLDER}/${file}`) as string
    const { testing } = JSON.parse(readFileSync(path, 'utf8'))
    const { spans } = spansOf(buildFlows(await loadTraces(path)), 0)
    const found: Record<string, number> = {}
    let overlapsNs = 0
    for (const { service, operation, onPathNs, isWaitedFor, startNs, endNs, span } of spans) {
      if (!isWaitedFor) continue
      const name = `[${service}] ${operation}`
      found[name] = (found[name] ?? 0) + onPathNs / 1000
      const below = spans.filter(({ parent, isWaitedFor }) => parent === span && isWaitedFor)
      const others = below.map((child) => Math.min(endNs, child.endNs) - child.startNs)
      const uncoveredNs = others.reduce((left, other) => left - other, endNs - startNs)
      overlapsNs += Math.abs(onPathNs - uncoveredNs)
    }
    const expected: Record<string, number> = Array.isArray(testing)
      ? testing[0]
      : testing.opTimeExclusive
    expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort())
    // CRISP counts overlaps of siblings twice; a path that adds up cannot.
    const mostUs = overlapsNs / 1000
    for (const name in expected) {
      expect(Math.abs((found[name] as number) - (expected[name] as number))).toBeLessThanOrEqual(
        mostUs,
      )
    }
  })
})

test('times on the path add up to the response time', () => {
  fc.assert(
    fc.property(randomSpans, (spans) => {
      const sketches = spans.map(({ name, parent, startNs, endNs }): SpanSketch => {
        const times = { startUs: startNs / 1000, endUs: endNs / 1000 }
        return { id: name, parent: parent < 0 ? null : `s${parent}`, ...times }
      })
      const flows = buildFlows(makeSpans(sketches))
      const onPathNs = spanTimes(flows).onPath(0)
      expect(onPathNs.reduce((sum, ns) => sum + ns, 0)).toBe(1_000_000)
      expect(Math.min(...onPathNs)).toBeGreaterThanOrEqual(0)
      const path = new CriticalPathFinder(flows).path(0)
      let reachedNs = 0
      const ends = new Map(spans.map(({ name, endNs }) => [name, endNs]))
      const isOnOneClock = spans.every(
        ({ parent, startNs }) => parent < 0 || startNs < (ends.get(`s${parent}`) as number),
      )
      for (const { startUs, us } of path) {
        if (isOnOneClock) expect(Math.round(startUs * 1000)).toBe(reachedNs)
        reachedNs += Math.round(us * 1000)
      }
      expect(reachedNs).toBe(1_000_000)
    }),
  )
})

describe('a request waited', () => {
  const waitedFor = (...children: SpanSketch[]) => {
    const root = { id: 'r', startUs: 0, endUs: 100 }
    const { spans } = spansOf(buildFlows(makeSpans([root, ...children])), 0)
    return spans.flatMap(({ service, isWaitedFor }) => (isWaitedFor ? [service] : [])).sort()
  }
  const child = (id: string, startUs: number, endUs: number, parent = 'r') => ({
    id,
    parent,
    startUs,
    endUs,
  })

  //  r ├──────────────────────────────┤
  //  a    ├────────┤
  //  b                ├────────┤
  test('for both of two calls one after the other', () => {
    expect(waitedFor(child('a', 10, 40), child('b', 50, 80))).toEqual(['a', 'b', 'r'])
  })

  //  r ├──────────────────────────────┤
  //  a    ├────────┤
  //  b      ├──────────────┤
  //  c         ├──┤                      under a
  test('for the longer of two concurrent calls, not for the other one nor what that calls', () => {
    expect(waitedFor(child('a', 10, 40), child('b', 20, 80), child('c', 25, 35, 'a'))).toEqual([
      'b',
      'r',
    ])
  })

  //  r ├──────────────────────────────┤
  //  a  ├──┤
  //  b      ├─────────────────┤
  //  c      ├──────┤
  test('for what came before concurrent calls', () => {
    expect(waitedFor(child('a', 2, 10), child('b', 20, 80), child('c', 20, 50))).toEqual([
      'a',
      'b',
      'r',
    ])
  })

  //  r ├───────────────┤
  //  a           ├────────────┤
  test('for a call that ends a little after its caller, up to the end', () => {
    expect(waitedFor(child('a', 60, 130))).toEqual(['a', 'r'])
  })

  //  r ├───────────────┤
  //  a         ├────────────────────────────┤
  test('not for a call that mostly runs when its caller is over', () => {
    expect(waitedFor(child('a', 60, 150))).toEqual(['r'])
  })

  //  r ├───────┤
  //  a           ├──────────────┤
  test('not for a call that starts when the caller has replied', () => {
    expect(waitedFor(child('a', 120, 250))).toEqual(['r'])
  })

  //  r ├──────────────────────────────┤
  //  a    ├─────────┤                     the client's side
  //  b                  ├──────┤          the server, by a clock that is ahead
  //  c                    ├──┤            under b
  test('for a server whose clock is ahead, and for what it calls', () => {
    const spans = [child('a', 10, 40), child('b', 50, 75, 'a'), child('c', 55, 65, 'b')]
    expect(waitedFor(...spans)).toEqual(['a', 'b', 'c', 'r'])
  })

  test('for both of two calls that overlap by 1 µs, but not by 2 µs', () => {
    expect(waitedFor(child('a', 10, 41), child('b', 40, 80))).toEqual(['a', 'b', 'r'])
    expect(waitedFor(child('a', 10, 42), child('b', 40, 80))).toEqual(['b', 'r'])
  })

  //  r ├───────────────┤
  //  a    ├─────┤
  //  b                    ├───────┤
  test('for calls before the reply though another starts after it', () => {
    expect(waitedFor(child('a', 10, 60), child('b', 120, 150))).toEqual(['a', 'r'])
  })

  //  r ├──────────────────────────────┤
  //  a    ├──────────────┤                the client's side, which gives up
  //  b      ├─────────────────────────────────┤
  //  c                ├────────────┤      under b
  //  d                        ├──┤        under b, when the client had given up
  test('for the server behind a client that times out, but not for what it does then', () => {
    const spans = [
      { ...child('a', 10, 60), status: 'error' as const },
      child('b', 15, 140, 'a'),
      child('c', 30, 50, 'b'),
      child('d', 70, 90, 'b'),
    ]
    expect(waitedFor(...spans)).toEqual(['a', 'b', 'c', 'r'])
  })
})
