import { describe, expect, test } from 'vitest'
import { CriticalPathFinder } from '../../src/calls/critical-path.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import type { FlowSet } from '../../src/flows/flow-set.ts'
import { makeSpans, type SpanSketch } from '../make-traces.ts'
import { describeWithShared, sharedJson } from '../shared.ts'

interface Case {
  name: string
  slack: number
  spans: { id: string; p: string | null; s: number; e: number }[]
  edges: [string, string][]
  criticalPath: [string, string, number][]
  warnings: string[]
}

/** Edges of one request as the oracle writes them: `a.S` is the call node of span a. */
function readable(flows: FlowSet, request: number) {
  const shape = flows.shapeOf[request] as number
  const nodes = Array.from(flows.shapes.labels(shape), (code) => {
    const { service, phase } = flows.labels.get(code)
    return `${service}.${phase === 'call' ? 'S' : 'E'}`
  })
  const edges = Array.from(flows.shapes.from(shape), (from, edge): [string, string] => [
    nodes[from] as string,
    nodes[flows.shapes.to(shape)[edge] as number] as string,
  ])
  const path = new CriticalPathFinder(flows)
    .edges(request)
    .map((edge) => [...(edges[edge] as [string, string]), flows.latencies(request)[edge] as number])
  return { edges: edges.sort(), path }
}

function observed(spans: readonly SpanSketch[], slackUs = 0): FlowSet {
  return buildFlows(makeSpans(spans), { concurrency: 'observed', slackUs })
}

describeWithShared('flows from spans, as observed', () => {
  const { cases } = sharedJson<{ cases: Case[] }>('oracles/spans.json')

  test('there are 15 cases', () => {
    expect(cases).toHaveLength(15)
  })

  test.each(cases)('$name, slack $slack', ({ spans, slack, edges, criticalPath, warnings }) => {
    const flows = observed(
      spans.map(({ id, p, s, e }) => ({ id, parent: p, startUs: s, endUs: e })),
      slack,
    )
    const found = readable(flows, 0)
    expect(flows.size).toBe(1)
    expect(found.edges).toEqual(edges)
    expect(found.path).toEqual(criticalPath)
    expect(flows.report.counts.clampedStarts).toBe(warnings.length)
  })

  test.each(cases)('$name: the critical path adds up to the response time', ({ spans, slack }) => {
    const flows = observed(
      spans.map(({ id, p, s, e }) => ({ id, parent: p, startUs: s, endUs: e })),
      slack,
    )
    const latencies = flows.latencies(0)
    const sum = new CriticalPathFinder(flows)
      .edges(0)
      .reduce((total, edge) => total + (latencies[edge] as number), 0)
    expect(sum).toBe(flows.responseTimeUs[0])
    expect(sum).toBe(100)
  })
})

describe('spans that reach outside their parent', () => {
  const parent = { id: 'r', startUs: 0, endUs: 100 }

  test('wholly after it: asynchronous, and reported as outside', () => {
    const flows = observed([parent, { id: 'z', parent: 'r', startUs: 120, endUs: 150 }])
    expect(readable(flows, 0).edges).toEqual([
      ['r.S', 'r.E'],
      ['r.S', 'z.S'],
      ['z.S', 'z.E'],
    ])
    expect(flows.report.counts).toMatchObject({ outsideParent: 1, asynchronousSpans: 1 })
  })

  test('wholly before it: moved to its start with its own duration, asynchronous', () => {
    const flows = observed([parent, { id: 'z', parent: 'r', startUs: -50, endUs: -20 }])
    expect(readable(flows, 0).path).toEqual([['r.S', 'r.E', 100]])
    expect(Array.from(flows.latencies(0)).sort((a, b) => a - b)).toEqual([0, 30, 100])
    expect(flows.report.counts).toMatchObject({ outsideParent: 1, clampedStarts: 1 })
  })

  test('an asynchronous span that ends with its parent is still not on the critical path', () => {
    const flows = observed([
      parent,
      { id: 'z', parent: 'r', startUs: 50, endUs: 100, followsFrom: true },
    ])
    expect(readable(flows, 0).path).toEqual([['r.S', 'r.E', 100]])
  })

  test.each(['producer', 'consumer'] as const)('a %s inside its parent is asynchronous', (kind) => {
    const flows = observed([parent, { id: 'z', parent: 'r', startUs: 10, endUs: 20, kind }])
    expect(readable(flows, 0).edges).toEqual([
      ['r.S', 'r.E'],
      ['r.S', 'z.S'],
      ['z.S', 'z.E'],
    ])
  })

  test('a span whose parent is not in the files is a request of its own', () => {
    const flows = observed([parent, { id: 'z', parent: 'gone', startUs: 10, endUs: 20 }])
    expect(flows.ids).toEqual(['t', 't'])
    expect(Array.from(flows.responseTimeUs)).toEqual([100, 10])
  })
})

describe('buildFlows', () => {
  test('an unknown concurrency is refused', () => {
    expect(() => buildFlows(makeSpans([]), { concurrency: 'guessed' as 'learned' })).toThrow(
      "Option concurrency is \"guessed\". Give 'learned', 'observed' or 'none'.",
    )
  })

  test('negative slack is refused', () => {
    expect(() => buildFlows(makeSpans([]), { slackUs: -1 })).toThrow(
      'Option slackUs is -1. Give a number of µs, 0 or more.',
    )
  })

  test('no traces give no flows', () => {
    expect(buildFlows(makeSpans([])).size).toBe(0)
  })
})
