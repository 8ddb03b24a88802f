import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compare } from '../../src/comparison/comparison.ts'
import { compareFlowGraphs } from '../../src/explain/flow-pair/compare-flow-graphs.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { AFTER, BEFORE, type FlowSet } from '../../src/flows/flow-set.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import { toDot } from '../../src/views/to-dot.ts'
import { every, makeGraphs, makeSpans, requestsAt } from '../make-traces.ts'

const loaded = async (dot: string) =>
  buildFlows(await loadTraces({ name: 'flow.dot', bytes: dot }, { strict: true }))

/** Edges of a request by the labels of their ends, with their latencies. */
function edgesOf({ shapes, shapeOf, labels, latencyUs, latencyOffsets }: FlowSet, request: number) {
  const shape = shapeOf[request] as number
  const texts = Array.from(shapes.labels(shape), (label) => labels.text(label))
  return Array.from(shapes.from(shape), (from, edge) => [
    texts[from],
    texts[shapes.to(shape)[edge] as number],
    latencyUs[(latencyOffsets[request] as number) + edge],
  ]).sort()
}

test('a request is read back as it was, whatever its labels say', async () => {
  const label = fc
    .string({ unit: fc.constantFrom('a', '"', '\\', '{', '}', '#', '→', '<', ';', 'N', '[') })
    .map((text) => `x${text}`)
  await fc.assert(
    fc.asyncProperty(fc.tuple(label, label, label), async ([a, b, c]) => {
      const flows = buildFlows(
        makeGraphs([
          {
            labels: [`1${a}`, `2${b}`, `3${c}`],
            edges: [
              [0, 1],
              [0, 2],
              [1, 2],
            ],
            latencyUs: [1.5, 20, 18.25],
            id: 'trace-1',
            startUs: 7,
          },
        ]),
      )
      const again = await loaded(toDot(flows, 0))
      expect(again.ids).toEqual(['trace-1'])
      expect([again.responseTimeUs[0], again.startUs[0]]).toEqual([flows.responseTimeUs[0], 7])
      expect(edgesOf(again, 0)).toEqual(edgesOf(flows, 0))
    }),
    { numRuns: 50 },
  )
})

test('requests of spans are read back as trace points', async () => {
  const flows = buildFlows(makeSpans(requestsAt(every(1000, 3))))
  const again = await loaded([0, 1, 2].map((request) => toDot(flows, request)).join(''))
  for (const request of [0, 1, 2]) expect(edgesOf(again, request)).toEqual(edgesOf(flows, request))
})

/** 30 requests a period; after, they log, and the second edge takes 50 µs more. */
const period = (isAfter: boolean) =>
  makeGraphs(
    Array.from({ length: 30 }, (_, i) => ({
      labels: isAfter ? ['in "x"', 'work', 'log', 'out'] : ['in "x"', 'work', 'out'],
      edges: isAfter
        ? [[0, 1] as const, [1, 2] as const, [2, 3] as const]
        : [[0, 1] as const, [1, 2] as const],
      latencyUs: isAfter ? [60 + (i % 7), 5, 20] : [10 + (i % 7), 20],
    })),
  )

test('a difference has both times on its edges, and marks what came, went and changed', () => {
  const comparison = compare(period(false), period(true))
  const [before, after] = [BEFORE, AFTER].map((one) => ({ category: one, period: one })) as [
    { category: 0; period: 0 },
    { category: 1; period: 1 },
  ]
  const flows = compareFlowGraphs(comparison.responseTime, { before, after })
  const dot = toDot(comparison, { before, after })
  expect(dot).toContain('category 0 before: 30 requests')
  expect(dot).toContain('[label="in \\"x\\""]')
  const lines = dot.split('\n')
  for (const { id, from, to, inBefore, inAfter } of flows.edges) {
    const line = lines.find((one) => one.trim().startsWith(`${from} -> ${to} [`))
    const change = inBefore && inAfter ? undefined : inAfter ? 'added' : 'removed'
    if (change !== undefined) expect(line, `${id}`).toContain(`change="${change}"`)
  }
  expect(lines.find((line) => line.includes(' -> ') && line.includes('slower'))).toMatch(
    /label="1[23](\.\d)? µs → 6[23](\.\d)? µs", change="slower".* style="bold"/,
  )
  expect(lines.filter((line) => line.includes('->'))).toHaveLength(flows.edges.length)
  expect(lines.filter((line) => /^ *\d+ \[/.test(line))).toHaveLength(flows.nodes.length)
})

test('a category stands beside itself', () => {
  const comparison = compare(period(false), period(false))
  expect(toDot(comparison, { category: 0 })).not.toContain('change=')
})

test('a request or a category that there is not is refused', () => {
  const comparison = compare(period(false), period(true))
  expect(() => toDot(comparison.flows, 60)).toThrow(
    'Option request is 60. Give a row from 0 to 59.',
  )
  expect(() => toDot(comparison, 2)).toThrow('Give a category from 0 to 1.')
})
