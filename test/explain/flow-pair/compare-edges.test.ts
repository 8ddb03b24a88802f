import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { compareFlowGraphs } from '../../../src/explain/flow-pair/compare-flow-graphs.ts'
import { makeGraphs } from '../../make-traces.ts'
import { compareFlows, compareTexts, edgeOf, flow } from './fixture.ts'

describe('a category before and after', () => {
  const { responseTime } = compare(
    makeGraphs(flow({ edges: 'A>B B>C C>D', latencyUs: { 'B>C': 400 } })),
    makeGraphs(flow({ edges: 'A>B B>C C>D', latencyUs: { 'B>C': 900 } }, { seed: 2 })),
  )

  test('the edges’ tests are those of responseTime.edges', () => {
    const flows = compareFlowGraphs(responseTime, { category: 0 })
    const tests = responseTime.edges(0).map(({ test }) => test)
    expect(flows.edges.map(({ p }) => p)).toEqual(tests.map((test) => test?.p))
    expect(flows.edges.map(({ verdict }) => verdict)).toEqual(['unchanged', 'changed', 'unchanged'])
    const edge = edgeOf(flows, 'B>C')
    expect(edge).toMatchObject({ direction: 'slower', large: true, reason: null })
    expect(edge.shiftUs).toBeCloseTo(500, -2)
    expect(edge.before).toMatchObject({ requests: 40, criticalShare: 1, mostlyWaiting: false })
  })

  test('the parts of the edges add up to the mean response time', () => {
    const { before, after } = compareFlowGraphs(responseTime, { category: 0 })
    for (const { meanUs, edges } of [before, after]) {
      const sum = edges.reduce((total, { latencies }) => total + latencies.criticalUs, 0)
      expect(sum).toBeCloseTo(meanUs as number, 6)
    }
  })

  test('names given stand beside labels; a name of every object is no name', () => {
    const named = compareFlowGraphs(responseTime, { category: 0 }, { names: { A: 'Start' } })
    expect(named.nodes.map(({ label, name }) => [label, name])).toEqual([
      ['A', 'Start'],
      ['B', 'B'],
      ['C', 'C'],
      ['D', 'D'],
    ])
    const lower = (label: string) => label.toLowerCase()
    const all = compareFlowGraphs(responseTime, { category: 0 }, { names: lower })
    expect(all.before.nodes.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd'])
    const odd = compareTexts('A>constructor', 'A>constructor', { names: {} })
    expect(odd.nodes.map(({ name }) => name)).toEqual(['A', 'constructor'])
  })

  test('a largeShift that is no share is refused', () => {
    expect(() => compareFlowGraphs(responseTime, { category: 0 }, { largeShift: 3 })).toThrow(
      'Option largeShift is 3. Give a share from 0 to 1.',
    )
  })
})

describe('two categories', () => {
  test('edges that both have are tested by the same test and options', () => {
    const before = { edges: 'A>B B>C C>D', latencyUs: { 'A>B': 300 } }
    const after = { edges: 'A>B B>X X>C C>D', latencyUs: { 'A>B': 800 } }
    const flows = compareTexts(before, after)
    expect(edgeOf(flows, 'A>B')).toMatchObject({ verdict: 'changed', direction: 'slower' })
    expect(edgeOf(flows, 'C>D').verdict).toBe('unchanged')
    expect(edgeOf(flows, 'B>C')).toMatchObject({
      inAfter: false,
      verdict: 'untested',
      p: null,
      after: null,
      shiftUs: null,
    })
    const faster = compareTexts(before, after, { stages: { alternative: 'faster' } })
    expect(edgeOf(faster, 'A>B').verdict).toBe('unchanged')
  })

  test('with a correction, the shared edges are the family', () => {
    const flows = compareTexts('A>B B>C C>D', 'A>B B>X X>C C>D', { stages: { correction: 'bh' } })
    const [first, second] = [edgeOf(flows, 'A>B'), edgeOf(flows, 'C>D')]
    const ps = [first.p as number, second.p as number]
    expect(Math.max(first.q as number, second.q as number)).toBeCloseTo(Math.max(...ps), 12)
    expect(Math.min(first.q as number, second.q as number)).toBeCloseTo(
      Math.min(2 * Math.min(...ps), Math.max(...ps)),
      12,
    )
  })
})

describe('an edge counts as changed', () => {
  const chain = (us: number, others = {}) => ({
    edges: 'A>B B>C C>D D>E',
    latencyUs: { 'A>B': us, 'B>C': 5000, ...others },
    spread: 0.001,
  })

  test('when its shift matters beside the response time, however small its p', () => {
    const small = edgeOf(compareTexts(chain(100), chain(140)), 'A>B')
    expect(small).toMatchObject({ verdict: 'unchanged', large: false, reason: null })
    expect(small.q).toBeLessThan(1e-6)
    const large = edgeOf(compareTexts(chain(100), chain(160)), 'A>B')
    expect(large).toMatchObject({ verdict: 'changed', large: true })
  })

  test('when p is small for as many edges as are tested', () => {
    const letters = Array.from({ length: 30 }, (_, i) => `N${i}`)
    const edges = letters.flatMap((name, i) => (i === 0 ? [] : [`${letters[i - 1]}>${name}`]))
    const wild = { edges: edges.join(' '), spread: 0.9, requests: 20 }
    const found = [1, 2, 3, 4, 5, 6].flatMap(
      (seed) => compareFlows(flow(wild, { seed }), flow(wild, { seed: seed + 10 })).edges,
    )
    // Nothing changed: of so many edges, some have a small p all the same.
    expect(found.filter(({ p, large }) => large && (p ?? 1) < 0.05).length).toBeGreaterThan(0)
    expect(found.filter(({ verdict }) => verdict === 'changed')).toEqual([])
  })
})

describe('why a large change is not significant', () => {
  test('it varies too much', () => {
    const wild = (us: number) => ({
      edges: 'A>B B>C',
      latencyUs: { 'A>B': us },
      spread: 0.99,
      requests: 12,
    })
    const edge = edgeOf(compareTexts(wild(1000), wild(1300)), 'A>B')
    expect(edge).toMatchObject({ verdict: 'unchanged', large: true, reason: 'variance' })
  })

  test('there are too few requests: 8 against 8', () => {
    const few = (us: number) => ({ edges: 'A>B', latencyUs: { 'A>B': us }, requests: 8 })
    const edge = edgeOf(compareTexts(few(100), few(900)), 'A>B')
    expect(edge).toMatchObject({ verdict: 'untested', reason: 'too few requests' })
    expect(edge.p as number).toBeLessThan(0.01)
  })

  test('an edge beside the critical path is tested like any other', () => {
    const fork = (us: number) => ({
      edges: 'A>B A>C B>D C>D',
      latencyUs: { 'A>B': us, 'A>C': 5000 },
    })
    const edge = edgeOf(compareTexts(fork(100), fork(2000)), 'A>B')
    expect(edge).toMatchObject({ verdict: 'changed', reason: null })
    expect(edge.p as number).toBeLessThan(0.01)
  })

  test('a small change needs no reason', () => {
    const edges = compareTexts('A>B B>C', 'A>B B>C').edges
    expect(edges.map(({ large, reason }) => [large, reason])).toEqual([
      [false, null],
      [false, null],
    ])
  })
})

describe('waiting at joins', () => {
  const fork = (us: number) => ({
    edges: 'A>B A>C B>D C>D',
    latencyUs: { 'A>C': 1000, 'B>D': us },
    spread: 0,
  })
  const flows = compareTexts(fork(950), fork(950))

  test('is told from work: no latency counts where the join waited for another edge', () => {
    expect(edgeOf(flows, 'B>D').before).toEqual({
      edgeClass: 2,
      requests: 0,
      meanUs: null,
      medianUs: null,
      sdUs: null,
      criticalShare: 0,
      criticalUs: 0,
      waitUs: 950,
      mostlyWaiting: true,
    })
    expect(edgeOf(flows, 'C>D').before).toMatchObject({
      meanUs: 100,
      criticalShare: 1,
      waitUs: null,
      mostlyWaiting: false,
    })
    expect(edgeOf(flows, 'B>D').intoJoin).toBe(true)
    expect(edgeOf(flows, 'A>B').intoJoin).toBe(false)
  })

  test('an edge that is never waited for shifts by its waiting', () => {
    const edge = edgeOf(compareTexts(fork(500), fork(900)), 'B>D')
    expect(edge).toMatchObject({ shiftUs: 400, reason: 'never waited for' })
  })
})
