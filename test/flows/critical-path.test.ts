import { describe, expect, test } from 'vitest'
import { CriticalPathFinder } from '../../src/calls/critical-path.ts'
import { buildFlows } from '../../src/flows/build-flows.ts'
import { type GraphSketch, makeGraphs, makeSpans } from '../make-traces.ts'

/** The path of each graph, as pairs of node numbers. */
function paths(...graphs: GraphSketch[]): string[] {
  const flows = buildFlows(makeGraphs(graphs))
  const finder = new CriticalPathFinder(flows)
  return graphs.map((_, request) => {
    const shape = flows.shapeOf[request] as number
    const [from, to] = [flows.shapes.from(shape), flows.shapes.to(shape)]
    return finder
      .edges(request)
      .map((edge) => `${from[edge]}-${to[edge]}`)
      .join(' ')
  })
}

const forkAndJoin = {
  labels: ['call', 'left', 'right', 'reply'],
  edges: [
    [0, 1],
    [0, 2],
    [1, 3],
    [2, 3],
  ],
} as const

describe('the critical path', () => {
  test('goes through the branch that the join waited for', () => {
    expect(
      paths(
        { ...forkAndJoin, latencyUs: [10, 10, 20, 30], responseTimeUs: 40 },
        { ...forkAndJoin, latencyUs: [10, 10, 30.5, 30], responseTimeUs: 40.5 },
      ),
    ).toEqual(['0-2 2-3', '0-1 1-3'])
  })

  test('goes through the later predecessor when both arrive at the same moment', () => {
    expect(paths({ ...forkAndJoin, latencyUs: [10, 12, 30, 28] })).toEqual(['0-2 2-3'])
  })

  test('takes arrivals less than a nanosecond apart for the same moment', () => {
    expect(paths({ ...forkAndJoin, latencyUs: [10, 12, 30.0005, 28] })).toEqual(['0-2 2-3'])
    expect(paths({ ...forkAndJoin, latencyUs: [10, 12, 30.002, 28] })).toEqual(['0-1 1-3'])
  })

  test('ends at the leaf that happened when the request was over', () => {
    const withBackgroundWork = {
      labels: ['call', 'background', 'reply'],
      edges: [
        [0, 1],
        [0, 2],
      ],
      latencyUs: [500, 40],
    } as const
    expect(
      paths(
        { ...withBackgroundWork, responseTimeUs: 40 },
        { ...withBackgroundWork, responseTimeUs: 500 },
      ),
    ).toEqual(['0-2', '0-1'])
  })

  test('of one node alone is empty', () => {
    expect(paths({ labels: ['only'], edges: [] })).toEqual([''])
  })

  test('passes over edges without latency', () => {
    expect(paths({ ...forkAndJoin, latencyUs: [0, 0, 0, 0] })).toEqual(['0-1 1-3'])
  })

  test('of shapes of different size can be asked for in any order', () => {
    const long: GraphSketch = {
      labels: Array.from({ length: 200 }, (_, i) => `p${i}`),
      edges: Array.from({ length: 199 }, (_, i) => [i, i + 1] as const),
    }
    const flows = buildFlows(makeGraphs([forkAndJoin, long, forkAndJoin]))
    const finder = new CriticalPathFinder(flows)
    expect([0, 1, 2].map((request) => finder.edges(request).length)).toEqual([2, 199, 2])
  })

  test('mark and edges agree', () => {
    const flows = buildFlows(makeGraphs([{ ...forkAndJoin, latencyUs: [10, 10, 20, 30] }]))
    const finder = new CriticalPathFinder(flows)
    const onPath = Uint8Array.of(1, 1, 1, 1)
    finder.mark(0, onPath)
    expect(Array.from(onPath)).toEqual([0, 1, 0, 1])
    expect(finder.edges(0)).toEqual([1, 3])
  })

  test('ends at the reply, not at background work that rounding puts at the same moment', () => {
    const flows = buildFlows(
      makeSpans([
        { id: 'r', startUs: 0.1, endUs: 100.3 },
        { id: 'a', parent: 'r', startUs: 0.2, endUs: 33.3 },
        { id: 'b', parent: 'r', startUs: 33.4, endUs: 90.7 },
        { id: 'z', parent: 'r', startUs: 70.7, endUs: 100.3, followsFrom: true },
      ]),
      { concurrency: 'observed' },
    )
    const [shape, path] = [flows.shapeOf[0] as number, new CriticalPathFinder(flows).edges(0)]
    const services = path.map((edge) => {
      const node = flows.shapes.to(shape)[edge] as number
      return flows.labels.get(flows.shapes.labels(shape)[node] as number).service
    })
    expect(services).toEqual(['a', 'a', 'b', 'b', 'r'])
  })
})
