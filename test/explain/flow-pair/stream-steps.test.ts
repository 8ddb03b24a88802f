import { sum } from 'd3-array'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { compareFlowGraphs } from '../../../src/explain/flow-pair/compare-flow-graphs.ts'
import { toDot } from '../../../src/views/to-dot.ts'
import { randomPeriods } from '../../comparison/random-periods.ts'
import { around, chains, makeGraphs } from '../../make-traces.ts'

test('steps of a stream add up to what it adds', () => {
  fc.assert(
    fc.property(randomPeriods, ({ before, after, smPThreshold }) => {
      fc.pre(before.length > 0 && after.length > 0)
      const comparison = compare(makeGraphs(before), makeGraphs(after), {
        findingsThreshold: smPThreshold,
      })
      for (const stream of comparison.moves.streams) {
        if (stream.from === null || stream.to === null) continue
        if (stream.kind !== 'moves' && stream.kind !== 'stays') continue
        const { differences, rest } = compareFlowGraphs(comparison.responseTime, stream).ranked
        const eachUs = sum(differences, ({ changeUs }) => changeUs) + rest.changeUs
        expect(stream.requests * eachUs).toBeCloseTo(stream.addedUs, 3)
      }
    }),
    { numRuns: 40 },
  )
})

const hits = (count: number) => chains(['GET', 'HIT', 'DONE'], around(100, count))
const misses = (count: number) => chains(['GET', 'MISS', 'DISK', 'DONE'], around(900, count))
const comparison = compare(
  makeGraphs([...hits(800), ...misses(200)]),
  makeGraphs([...hits(500), ...misses(500)]),
)

test('a stream that moved says which steps came instead of which', () => {
  const stream = comparison.moves.streams.find(({ kind }) => kind === 'moves')
  if (stream === undefined) throw new Error('There is no stream.')
  const { ranked } = compareFlowGraphs(comparison.responseTime, stream)
  expect(ranked.differences[0]).toMatchObject({ kind: 'replaced' })
  expect(ranked.totalUs).toBeCloseTo(stream.addedUs / stream.requests, 6)
  expect(toDot(comparison, stream)).toContain('label="DISK", change="added"')
})

test('requests that come from nowhere have no flow before', () => {
  expect(() => compareFlowGraphs(comparison.responseTime, { from: null, to: 0 })).toThrow(
    'only requests that stay or move have flows to compare',
  )
})
