import { sum } from 'd3-array'
import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { type GraphSketch, makeGraphs } from '../../make-traces.ts'

/** The join waits for the slowest shard; replies of the others wait for it. */
function latenciesOf(work: readonly number[]) {
  const slowest = Math.max(...work)
  return {
    latencyUs: [...work, ...work.map((own) => slowest - own + 10)],
    responseTimeUs: slowest + 10,
  }
}

/*
 *  S ──▶ WORK of each shard, side by side ──▶ E
 */
function fanOuts(name: string, { shards, us, seed }: { shards: number; us: number; seed: number }) {
  const random = randomSource(seed)
  const nodes = Array.from({ length: shards }, (_, shard) => shard + 1)
  const sketch = (): GraphSketch => ({
    labels: ['fe__t__S', ...nodes.map((shard) => `shard${shard}__t__WORK`), 'fe__t__E'],
    edges: [
      ...nodes.map((shard) => [0, shard] as const),
      ...nodes.map((shard) => [shard, shards + 1] as const),
    ],
    ...latenciesOf(nodes.map(() => us + 20 * random.next())),
  })
  return makeGraphs(Array.from({ length: 200 }, sketch), name)
}

test.each([
  { shards: 3, from: 100, to: 150 },
  { shards: 4, from: 300, to: 360 },
  { shards: 8, from: 50, to: 90 },
])('$shards balanced branches that take longer are each named, not all steps', (world) => {
  const { shards, from, to } = world
  const comparison = compare(
    fanOuts('before', { shards, us: from, seed: 1 }),
    fanOuts('after', { shards, us: to, seed: 2 }),
  )
  const { findings } = comparison.findings
  expect(new Set(findings.map(({ kind }) => kind))).toEqual(new Set(['latency']))
  const named = findings.flatMap(({ changedEdges }) => changedEdges.map(({ to }) => to))
  expect(named.sort()).toEqual(Array.from({ length: shards }, (_, i) => `shard${i + 1}__t__WORK`))
  expect(sum(findings, ({ shareOfChange }) => shareOfChange)).toBeCloseTo(1, 1)
  const branches = comparison.responseTime
    .edges(0)
    .filter(({ edge }) => edge.from.includes('fe__t__S'))
  expect(branches.every(({ test }) => test.rejected)).toBe(true)
})
