import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { compareFlowGraphs } from '../../../src/explain/flow-pair/compare-flow-graphs.ts'
import type { FlowComparison } from '../../../src/explain/flow-pair/flow-comparison.ts'
import { coalesceFlow } from '../../../src/explain/flow-pair/flow-groups.ts'
import { loadTraces } from '../../../src/traces/load-traces.ts'

async function recorded(name: string) {
  const folder = fileURLToPath(
    new URL(`../../../datasets/storage-service/${name}/`, import.meta.url),
  )
  const before = await loadTraces(`${folder}before.jsonl.gz`)
  return compare(before, await loadTraces(`${folder}after.jsonl.gz`))
}

/** Of each structural mutation that has a precursor, in the order of the ranking. */
async function structuralComparisons(name: string): Promise<FlowComparison[]> {
  const { ranking, responseTime, precursors } = await recorded(name)
  return ranking.mutations
    .filter(({ kind, category }) => kind === 'structural' && precursors.of(category).length > 0)
    .map(({ category: mutation }) => compareFlowGraphs(responseTime, { mutation, precursors }))
}

function labelsOf({ nodes }: FlowComparison, side: 'added' | 'removed'): Set<string> {
  const wanted = nodes.filter(({ inBefore, inAfter }) => (side === 'added' ? !inBefore : !inAfter))
  return new Set(wanted.map(({ label }) => label))
}

describe('recorded structural changes', () => {
  test('mds-config: metadata moves from its own node to the data nodes', async () => {
    const all = await structuralComparisons('mds-config')
    expect(all.length).toBeGreaterThan(3)
    for (const flows of all) {
      const [added, removed] = [labelsOf(flows, 'added'), labelsOf(flows, 'removed')]
      expect([...added].some((label) => label.startsWith('storage-data-0 disk'))).toBe(true)
      expect([...removed].every((label) => label.startsWith('storage-meta-0'))).toBe(true)
      expect(flows.nodes[0]).toMatchObject({ inBefore: true, inAfter: true, certainty: 'sure' })
      expect(flows.droppedMatches).toBe(0)
    }
  })

  test('create-behaviour: every step stays, further reads and writes come in', async () => {
    const all = await structuralComparisons('create-behaviour')
    expect(all.length).toBeGreaterThan(1)
    for (const flows of all) {
      expect(flows.matches).toHaveLength(flows.before.nodes.length)
      expect(labelsOf(flows, 'removed').size).toBe(0)
      expect(labelsOf(flows, 'added')).toContain('storage-meta-0 SN READ call')
      expect(new Set(flows.differences.map(({ kind }) => kind))).toEqual(new Set(['added']))
    }
  })

  test('mds-prefetch: 136 steps of prefetching come in, which are drawn as few', async () => {
    const [flows] = await structuralComparisons('mds-prefetch')
    expect(flows?.confidenceText).toBe(
      '12 steps are in both flows, of 12 before and 148 after (structures 8 % similar).',
    )
    expect(labelsOf(flows as FlowComparison, 'added')).toContain('mds-0 prefetch call')
    const groups = [...(flows?.regions ?? []), ...(flows?.differences ?? [])]
    const drawn = coalesceFlow(flows as FlowComparison, { groups })
    expect(drawn.nodes.length).toBeLessThan(15)
    expect(drawn.nodes.map(({ name }) => name)).toContain('136 added steps')
  })
})

test('the parts of the edges of every recorded category add up to its mean response time', async () => {
  const { responseTime, categories } = await recorded('delay-1ms')
  for (let category = 0; category < categories.size; category++) {
    const { before, after } = compareFlowGraphs(responseTime, { category })
    for (const { meanUs, edges } of [before, after]) {
      const sum = edges.reduce((total, { latencies }) => total + latencies.criticalUs, 0)
      expect(Math.abs(sum - (meanUs ?? 0))).toBeLessThan(1e-6 * (meanUs ?? 1) + 1)
    }
  }
})

test('a category that is no structural mutation has no precursor to compare with', async () => {
  const { responseTime, precursors } = await recorded('delay-1ms')
  expect(() => compareFlowGraphs(responseTime, { mutation: 0, precursors })).toThrow(
    'Category 0 has no precursor: it is no structural mutation, or no category of its type lost ' +
      'enough requests. Compare it with itself by { category }',
  )
  expect(() => compareFlowGraphs(responseTime, { category: 9999 })).toThrow(
    'There is no category 9999',
  )
})
