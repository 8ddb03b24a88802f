import { describe, expect, test } from 'vitest'
import { hdfsTraces } from '../../../datasets/hdfs-writes/hdfs-traces.ts'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { compareFlowGraphs } from '../../../src/explain/flow-pair/compare-flow-graphs.ts'
import { explainEdge } from '../../../src/explain/parameters/explain.ts'
import { findVariance } from '../../../src/explain/variance/find-variance.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { foldFlows } from '../../../src/flows/fold/fold-flows.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { plot } from '../../../src/views/plot.ts'
import { type GraphSketch, makeGraphs } from '../../make-traces.ts'

/** Six rounds of X and Y; `backUs` is what it takes from one round to the next, give or take. */
function rounds(backUs: number, { entryUs = 5, seed = 1 } = {}): GraphSketch[] {
  const random = randomSource(seed)
  return Array.from({ length: 60 }, () => {
    const labels = ['ROOT', ...Array.from({ length: 6 }, () => ['X', 'Y']).flat(), 'END']
    const back = () => backUs * (0.5 + random.next())
    const latencyUs = labels.slice(1).map((label, i) => {
      if (i === 0) return entryUs
      if (label === 'END') return 2
      return label === 'Y' ? 1 : back()
    })
    return { labels, edges: latencyUs.map((_, i) => [i, i + 1] as const), latencyUs }
  })
}

const fold = 'exact' as const
const changed = (before: GraphSketch[], after: GraphSketch[], folded = true) =>
  compare(makeGraphs(before, 'before'), makeGraphs(after, 'after'), folded ? { fold } : {})

describe('a slower step from one round to the next', () => {
  const [before, after] = [rounds(20), rounds(100, { seed: 2 })]
  const folded = changed(before, after)
  const [finding] = folded.findings.findings

  test('is blamed instead of the step into the first round', () => {
    expect(folded.findings.findings.length).toBe(1)
    expect(finding?.title).toBe('Y of the previous round → X: takes 80.1 µs longer')
    const table = folded.responseTime.edgeTable(0)
    expect(table.array('from')).toEqual(['Y', 'ROOT ×6', 'X', 'Y'])
    expect(table.array('changed')).toEqual([true, false, false, false])
    const entry = folded.edges.edges.find(({ from }) => from === 'ROOT')
    expect(entry?.shiftUs).toBe(0)
  })

  test('counts as often as there are rounds, at what one of them takes, as unfolded', () => {
    const plain = changed(before, after, false).findings.findings[0]
    const [edge] = finding?.changedEdges ?? []
    expect(edge?.shiftUs).toBeGreaterThan(70)
    expect(edge?.shiftUs).toBeLessThan(90)
    expect(edge?.shiftUs).toBeCloseTo(plain?.changedEdges[0]?.shiftUs as number, 9)
    expect(finding?.contributionUs).toBeCloseTo(plain?.contributionUs as number, 6)
    expect(finding?.contributionUs).toBeCloseTo(60 * 5 * (edge?.shiftUs as number), 6)
  })

  test('is found in recorded calls when it is asked why', () => {
    const explanation = explainEdge(folded, finding?.changedEdges[0] as never)
    expect(explanation.text()).toContain('Calls of')
  })

  test('is drawn, with the steps of every round as one', () => {
    const svg = plot(folded, 'flow', { category: 0 }).svg()
    expect(svg).toContain('X, every round')
  })

  test('is part of the whole edge where edges add up to the response time', () => {
    const flows = compareFlowGraphs(folded.responseTime, { category: 0 })
    const sum = flows.after.edges.reduce((us, { latencies }) => us + latencies.criticalUs, 0)
    expect(sum).toBeCloseTo(flows.after.meanUs as number, 6)
    expect(flows.nodes.map(({ name }) => name)).toContain('X, every round')
  })
})

test('a slower step into the first round is blamed itself', () => {
  const found = changed(rounds(20), rounds(20, { entryUs: 60 })).findings.findings
  expect(found.map(({ title }) => title)).toEqual(['ROOT → X: takes 55 µs longer'])
})

describe('variance', () => {
  const flows = buildFlows(makeGraphs(rounds(100)))
  const folded = findVariance(categorize(foldFlows(flows)))

  test('is where it is without folding', () => {
    const { edges, note } = folded.category(0)
    expect(note).toBe('Shares of all parts add up to 100 %.')
    expect(edges.map(({ from, to, fromRoundBefore }) => [from, to, fromRoundBefore])).toEqual([
      ['Y', 'X', true],
      ['ROOT ×6', 'X', undefined],
      ['X', 'Y', undefined],
      ['Y', 'END', undefined],
    ])
    expect(edges[0]?.share).toBeCloseTo(1, 9)
    const plain = findVariance(categorize(flows)).category(0)
    const back = plain.edges.filter(({ from, to }) => from === 'Y' && to === 'X')
    expect(back.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9)
  })

  test('is drawn where it is', () => {
    const chart = JSON.stringify(plot(folded, 'waterfall', { category: 0 }).spec)
    expect(chart).toContain('Y → X of the next round')
  })
})

test('edges of folded writes take what they take as recorded, each pair of labels', () => {
  const flows = buildFlows(hdfsTraces({ writes: 40, portions: 6, datanodes: 3 }))
  const omitHosts = { omitHosts: true }
  const byPair = (found: ReturnType<typeof findVariance>) => {
    const sums = new Map<string, number>()
    for (const { from, to, share } of found.category(0).edges) {
      const pair = `${from.replace(/ ×.*/, '')} → ${to}`
      sums.set(pair, (sums.get(pair) ?? 0) + share)
    }
    return sums
  }
  const folded = byPair(findVariance(categorize(foldFlows(flows, omitHosts), omitHosts)))
  for (const [pair, share] of byPair(findVariance(categorize(flows, omitHosts)))) {
    expect(folded.get(pair) ?? 0, pair).toBeCloseTo(share, 9)
  }
})
