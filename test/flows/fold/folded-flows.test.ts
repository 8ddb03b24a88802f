import { describe, expect, test } from 'vitest'
import { blockWrite } from '../../../datasets/hdfs-writes/block-write.ts'
import { hdfsTraces } from '../../../datasets/hdfs-writes/hdfs-traces.ts'
import { CriticalPathFinder } from '../../../src/calls/critical-path.ts'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { explainMutation } from '../../../src/explain/parameters/explain.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { foldFlows } from '../../../src/flows/fold/fold-flows.ts'
import { FoldedFlows, foldedSizes } from '../../../src/flows/fold/folded-flows.ts'
import { NodeRecords } from '../../../src/flows/node-records.ts'
import { selectRequests } from '../../../src/flows/select-requests.ts'
import { makeGraphs, makeSpans, type SpanSketch } from '../../make-traces.ts'
import { labelsOf, recordedSamples } from './fold-fixture.ts'

describe('a folded flow goes wherever flows go', () => {
  const flows = foldFlows(buildFlows(hdfsTraces({ writes: 6, portions: 20 })))

  test('its parameters are those of the first lane', () => {
    const [record] = [new NodeRecords(flows).of(2, 0)]
    expect(record).toEqual([
      ['host', 'dn02'],
      ['size', 20 * 65536],
    ])
    expect(new NodeRecords(flows).of(2, 5).map(([key]) => key)).toEqual(['host'])
  })

  test('the critical path adds up to the response time', () => {
    const finder = new CriticalPathFinder(flows)
    flows.ids.forEach((_, request) => {
      const sum = finder
        .edges(request)
        .reduce((us, edge) => us + Number(flows.latencies(request)[edge]), 0)
      expect(sum).toBeCloseTo(flows.responseTimeUs[request] as number, 6)
    })
  })

  test('the recorded flows stay', () => {
    expect(flows.unfolded.shapes.nodeCount(0)).toBe(26 + 20 * 15)
    expect(flows.table().numRows()).toBe(6)
  })

  test('nodes from spans keep their spans', () => {
    const span = { trace: 't', service: 'disk', parent: 'root' }
    const spans = makeSpans([
      { id: 'root', trace: 't', service: 'web', startUs: 0, endUs: 100 },
      { ...span, id: 'one', startUs: 10, endUs: 20, attributes: { block: 1 } },
      { ...span, id: 'two', startUs: 30, endUs: 50, attributes: { block: 2 } },
    ])
    const loop = foldFlows(buildFlows(spans))
    expect(labelsOf(loop)).toEqual([
      'web call ×2 call',
      'web call reply',
      'disk call call',
      'disk call reply',
    ])
    expect(new NodeRecords(loop).of(0, 2)).toEqual([['block', 1]])
  })

  test('a slower disk in the pipeline is found on its edge, not on others', () => {
    const period = (seed: number, factor: number) =>
      hdfsTraces({
        writes: 60,
        portions: 30,
        datanodes: 3,
        seed,
        slow: { datanode: 1, factor },
      })
    const both = foldFlows(buildFlows([period(1, 1), period(2, 3)]), { omitHosts: false })
    const categories = categorize(both)
    const shifts = categories.edgeSamples(0).map(({ before, after }, edge) => {
      const mean = (us: Float64Array) => us.reduce((sum, x) => sum + x, 0) / us.length
      return { edge, us: mean(after.latencyUs) - mean(before.latencyUs) }
    })
    const slowest = shifts.reduce((a, b) => (b.us > a.us ? b : a))
    expect(categories.structure(0).edgeClasses[slowest.edge]?.to).toBe(
      'dn01__datanode__WRITE_PORTION',
    )
  })
})

describe('sizes of flows', () => {
  const portions = [5, 5, 20]
  const traces = makeGraphs(
    portions.map((count) => {
      const { labels, from, to } = blockWrite({ pipeline: ['a', 'b', 'c'], portions: count })
      return { labels, edges: Array.from(from, (source, i) => [source, to[i] as number] as const) }
    }),
  )
  const flows = foldFlows(buildFlows(traces))

  test('recorded and folded, by category', () => {
    const sizes = foldedSizes(flows, categorize(flows).categoryOf)
    expect(sizes.objects()).toEqual([
      {
        group: 0,
        root: 'a__client__NEW_BLOCK_CALL ×5',
        requests: 2,
        nodesMean: 101,
        nodesSd: 0,
        foldedMean: 41,
        foldedSd: 0,
      },
      {
        group: 1,
        root: 'a__client__NEW_BLOCK_CALL ×20',
        requests: 1,
        nodesMean: 326,
        nodesSd: Number.NaN,
        foldedMean: 41,
        foldedSd: Number.NaN,
      },
    ])
  })

  test('want a group for every request', () => {
    expect(() => foldedSizes(flows, [0])).toThrow(
      'Option groupOf is "1 numbers". Give one a request: 3.',
    )
  })
})

test('a comparison can be made of folded flows', () => {
  const traces = hdfsTraces({ writes: 3, portions: 3 })
  expect(compare(traces, traces).flows.size).toBe(6)
  expect(foldFlows(compare(traces, traces).flows).count(0)).toBe(3)
})

describe('a selection of folded flows', () => {
  const flows = foldFlows(buildFlows(hdfsTraces({ writes: 6, portions: 20 })))
  const selected = selectRequests(flows, { before: [4, 1], after: [2] })

  test('stays folded, and has what was recorded of the same requests', () => {
    expect(selected).toBeInstanceOf(FoldedFlows)
    expect(selected.ids).toEqual([4, 1, 2].map((request) => flows.ids[request]))
    expect(selected.unfolded.ids).toEqual(selected.ids)
    expect(selected.unfolded.count(0)).toBe(2)
    expect(selected.folding).toEqual(flows.folding)
    expect(selected.folded(0)).toBe(flows.folded(4))
    expect(foldedSizes(selected, selected.period).objects()).toMatchObject([
      { requests: 2, nodesMean: 326, foldedMean: 41 },
      { requests: 1, nodesMean: 326, foldedMean: 41 },
    ])
  })

  test('has their samples, edge by edge', () => {
    expect(selected.folded(2)).toBe(flows.folded(2))
    const edges = Array.from(flows.folded(2)?.from ?? [])
    const inLanes = edges.findIndex((_, edge) => recordedSamples(flows, 2, edge).length === 20)
    expect(recordedSamples(selected, 2, inLanes)).toEqual(recordedSamples(flows, 2, inLanes))
    expect(recordedSamples(selected, 0, inLanes)).not.toEqual(recordedSamples(flows, 2, inLanes))
  })

  test('can be cut again', () => {
    const again = selectRequests(selected, { before: [2], after: [] })
    expect([again.ids, again.unfolded.ids]).toEqual([[flows.ids[2]], [flows.ids[2]]])
  })
})

describe('explaining folded flows', () => {
  /** Rounds of a loop read blocks; the later their period, the larger the last, and the slower. */
  const period = (late: number) =>
    makeSpans(
      Array.from({ length: 60 }, (_, i): SpanSketch[] => {
        const [trace, root] = [`t${late}-${i}`, `w${late}-${i}`]
        const lastUs = 90 + 500 * late + (i % 7)
        return [
          { trace, id: root, service: 'web', startUs: 0, endUs: 210 + lastUs },
          ...[0, 1, 2].map((round) => ({
            trace,
            id: `${root}.${round}`,
            parent: root,
            service: 'disk',
            attributes: { size: round < 2 ? 10 : 20 + 1000 * late, round },
            startUs: 10 + 100 * round,
            endUs: 10 + 100 * round + (round < 2 ? 90 : lastUs),
          })),
        ]
      }).flat(),
    )
  const comparison = compare(period(0), period(1), { fold: 'exact' })
  const columnsOf = (of: typeof comparison) =>
    explainMutation(of, 0, { sample: 'all' }).differences.map(({ column }) => column)

  test('takes the parameters of the first round; those of all are there without folding', () => {
    const { categories } = comparison
    const preorder = categories.structure(0).preorder
    expect(preorder.length).toBe(4)
    const disk = new NodeRecords(comparison.flows).of(0, 2)
    expect(disk).toEqual([
      ['size', 10],
      ['round', 0],
    ])
    expect(columnsOf(comparison).filter((column) => column.includes('size'))).toEqual([])
    expect(columnsOf(comparison.with({ fold: 'none' }))[0]).toMatch(/^disk.*#3 · size$/)
  })
})
