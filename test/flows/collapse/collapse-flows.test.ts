import { describe, expect, test } from 'vitest'
import { blockWrite } from '../../../datasets/hdfs-writes/block-write.ts'
import { hdfsTraces } from '../../../datasets/hdfs-writes/hdfs-traces.ts'
import { categorize } from '../../../src/categories/categorize.ts'
import { compare } from '../../../src/comparison.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { collapseFlows } from '../../../src/flows/collapse/collapse-flows.ts'
import type { CollapseOptions } from '../../../src/flows/collapse/collapsed-flows.ts'
import { collapsedSizes } from '../../../src/flows/collapse/collapsed-sizes.ts'
import { expandFlow } from '../../../src/flows/collapse/expand-flow.ts'
import { CriticalPathFinder } from '../../../src/flows/critical-path.ts'
import { NodeRecords } from '../../../src/flows/node-records.ts'
import { type GraphSketch, makeGraphs, makeSpans } from '../../make-traces.ts'

const collapsed = (graphs: readonly GraphSketch[], options: Partial<CollapseOptions> = {}) =>
  collapseFlows(buildFlows(makeGraphs(graphs)), options)

type Collapsed = ReturnType<typeof collapseFlows>

const labelsOf = (flows: Collapsed, request = 0) =>
  Array.from(flows.shapes.labels(flows.shapeOf[request] as number), (label) =>
    flows.labels.text(label),
  )

const edgesOf = (flows: Collapsed, request = 0) => {
  const shape = flows.shapeOf[request] as number
  const to = flows.shapes.to(shape)
  return Array.from(flows.shapes.from(shape), (from, edge) => `${from}-${to[edge]}`)
}

/** A root, then labels one after the other. */
const chain = (...labels: string[]): GraphSketch => ({
  labels,
  edges: labels.slice(1).map((_, i) => [i, i + 1] as const),
})

/** `count` steps with one label between call and reply, side by side. */
const fan = (count: number, latencyUs: readonly number[]): GraphSketch => ({
  labels: ['call', ...Array.from({ length: count }, () => 'disk'), 'reply'],
  edges: Array.from({ length: count }, (_, i) => [
    [0, i + 1] as const,
    [i + 1, count + 1] as const,
  ]).flat(),
  latencyUs,
})

describe('a loop', () => {
  const flows = collapsed([chain('call', 'a', 'b', 'a', 'b', 'a', 'b', 'reply')])

  test('is one round, and the root says how many', () => {
    expect(labelsOf(flows)).toEqual(['call ×3', 'a', 'b', 'reply'])
    expect(edgesOf(flows)).toEqual(['0-1', '1-2', '2-3'])
  })

  test('keeps what leads from round to round as a loop that is no edge of the shape', () => {
    expect(flows.logicalEdges(0).map(({ from, to, edge }) => [from, to, edge])).toEqual([
      [0, 1, 0],
      [1, 2, 1],
      [2, 3, 2],
      [2, 1, null],
    ])
  })

  test('has the time of all rounds on its edges, the way back with the step it leads to', () => {
    const timed = {
      ...chain('call', 'a', 'b', 'a', 'b', 'reply'),
      latencyUs: [1, 20, 300, 4000, 5],
    }
    const [request] = [collapsed([timed])]
    expect(Array.from(request.latencies(0))).toEqual([301, 4020, 5])
    expect(request.logicalEdges(0).map((_, edge) => [...request.samples(0, edge)])).toEqual([
      [1],
      [20, 4000],
      [5],
      [300],
    ])
  })

  test('may begin with the root', () => {
    expect(labelsOf(collapsed([chain('a', 'b', 'a', 'b', 'reply')]))).toEqual([
      'a ×2',
      'b',
      'reply',
    ])
  })

  test('may have the same label more than once in a round', () => {
    const rounds = ['a', 'b', 'a', 'c', 'a', 'b', 'a', 'c', 'a', 'b', 'a', 'c']
    expect(labelsOf(collapsed([chain('call', ...rounds, 'reply')]))).toEqual([
      'call ×3',
      'a',
      'b',
      'a',
      'c',
      'reply',
    ])
  })

  test('within a loop is folded, too, outer rounds named first', () => {
    const round = ['open', 'read', 'read', 'read', 'read', 'close']
    const nested = collapsed([chain('call', ...round, ...round, 'reply')])
    expect(labelsOf(nested)).toEqual(['call ×2 ×4', 'open', 'read', 'close', 'reply'])
    expect(expandFlow(nested, 0).labels).toHaveLength(14)
  })

  test('of rounds of different lengths is folded as far as rounds are alike', () => {
    const flows = collapsed([chain('call', 'open', 'read', 'read', 'open', 'read', 'read', 'read')])
    expect(expandFlow(flows, 0).labels).toHaveLength(8)
    expect(labelsOf(flows)).toEqual(['call ×2 ×2', 'open', 'read', 'read'])
  })
})

describe('equal branches', () => {
  test('are one, with the times of the one that was waited for', () => {
    const flows = collapsed([fan(3, [10, 5, 30, 40, 20, 8])])
    expect(labelsOf(flows)).toEqual(['call ×3', 'disk', 'reply'])
    expect(Array.from(flows.latencies(0))).toEqual([30, 40])
    expect(Array.from(flows.samples(0, 0))).toEqual([10, 30, 20])
  })

  test('stay apart where what follows them differs', () => {
    const uneven: GraphSketch = {
      labels: ['call', 'disk', 'disk', 'check', 'reply'],
      edges: [
        [0, 1],
        [0, 2],
        [2, 3],
        [1, 4],
        [3, 4],
      ],
    }
    expect(labelsOf(collapsed([uneven]))).toEqual(uneven.labels)
  })

  test('fewer than `least` stay as they are', () => {
    const branches = [fan(2, [1, 1, 1, 1])]
    expect(labelsOf(collapsed(branches, { least: 3 }))).toHaveLength(4)
    expect(labelsOf(collapsed(branches, { least: 2 }))).toHaveLength(3)
  })
})

describe('two steps that happen to have one label', () => {
  test('are no repetition when they are not neighbours', () => {
    const labels = ['call', 'check', 'disk', 'check', 'reply']
    expect(labelsOf(collapsed([chain(...labels)]))).toEqual(labels)
  })
})

describe('what tells structures apart', () => {
  test('two ways from round to round are two categories, though both are ×2 with the same steps', () => {
    const lanes = (handOver: readonly [number, number]): GraphSketch => ({
      labels: ['call', 'send', 'write', 'send', 'write', 'reply'],
      edges: [[0, 1], [0, 3], [1, 2], [3, 4], [2, 5], [4, 5], handOver],
    })
    const flows = collapsed([lanes([1, 3]), lanes([2, 4]), lanes([2, 4])])
    expect(edgesOf(flows, 0)).toEqual(edgesOf(flows, 1))
    expect(labelsOf(flows, 0)[0]).toMatch(/^call ×2 #\w+$/)
    expect(Array.from(categorize(flows).categoryOf)).toEqual([0, 1, 1])
  })

  test('with log2, sizes from one power of two to the next are one category', () => {
    const flows = collapsed(
      [2, 3, 4, 7, 8].map((count) => fan(count, Array(2 * count).fill(1))),
      { log2: true },
    )
    expect(flows.ids.map((_, request) => labelsOf(flows, request)[0])).toEqual([
      'call ×2–3',
      'call ×2–3',
      'call ×4–7',
      'call ×4–7',
      'call ×8–15',
    ])
    expect(Array.from(categorize(flows).categoryOf)).toEqual([0, 0, 1, 1, 2])
  })

  test('a parameter of the root can say the size', () => {
    const flows = buildFlows(hdfsTraces({ writes: 2, portions: 5 }))
    const sized = collapseFlows(flows, { sizeAttribute: 'size' })
    expect(labelsOf(sized)[0]).toMatch(/NEW_BLOCK_CALL size=320KB$/)
    const plain = collapseFlows(flows, { sizeAttribute: 'size', sizeUnit: null, log2: true })
    expect(labelsOf(plain)[0]).toMatch(/NEW_BLOCK_CALL size=262144–524288$/)
    expect(labelsOf(collapseFlows(flows, { sizeAttribute: 'bytes' }))[0]).toMatch(/ ×5$/)
  })

  test('rounds on different hosts are one loop without hosts', () => {
    const rounds = chain('m1__t__CALL', 'm1__t__READ', 'm2__t__READ', 'm3__t__READ')
    expect(labelsOf(collapsed([rounds]))).toHaveLength(4)
    expect(labelsOf(collapsed([rounds], { omitHosts: true }))).toEqual(['CALL ×3', 'READ'])
  })
})

describe('a collapsed flow goes wherever flows go', () => {
  const flows = collapseFlows(buildFlows(hdfsTraces({ writes: 6, portions: 20 })))

  test('its parameters are those of the first lane', () => {
    const [record] = [new NodeRecords(flows).of(2, 0)]
    expect(record).toEqual([['size', 20 * 65536]])
    expect(new NodeRecords(flows).of(2, 5)).toEqual([])
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
    expect(flows.uncollapsed.shapes.nodeCount(0)).toBe(26 + 20 * 15)
    expect(flows.table().numRows()).toBe(6)
    expect(flows.unfinished).toBe(0)
  })

  test('nodes from spans keep their spans', () => {
    const span = { trace: 't', service: 'disk', parent: 'root' }
    const spans = makeSpans([
      { id: 'root', trace: 't', service: 'web', startUs: 0, endUs: 100 },
      { ...span, id: 'one', startUs: 10, endUs: 20, attributes: { block: 1 } },
      { ...span, id: 'two', startUs: 30, endUs: 50, attributes: { block: 2 } },
    ])
    const loop = collapseFlows(buildFlows(spans))
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
        ...{ writes: 60, portions: 30, datanodes: 3, seed },
        slow: { datanode: 1, factor },
      })
    const both = collapseFlows(buildFlows([period(1, 1), period(2, 3)]), { omitHosts: false })
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
  const flows = collapseFlows(buildFlows(traces))

  test('recorded and collapsed, by category', () => {
    const sizes = collapsedSizes(flows, categorize(flows).categoryOf)
    expect(sizes.objects()).toEqual([
      {
        ...{ group: 0, root: 'a__client__NEW_BLOCK_CALL ×5', requests: 2 },
        ...{ nodesMean: 101, nodesSd: 0, collapsedMean: 41, collapsedSd: 0 },
      },
      {
        ...{ group: 1, root: 'a__client__NEW_BLOCK_CALL ×20', requests: 1 },
        ...{ nodesMean: 326, nodesSd: Number.NaN, collapsedMean: 41, collapsedSd: Number.NaN },
      },
    ])
  })

  test('want a group for every request', () => {
    expect(() => collapsedSizes(flows, [0])).toThrow(
      'Option groupOf is "1 numbers". Give one a request: 3.',
    )
  })
})

describe('wrong options', () => {
  const flows = buildFlows(makeGraphs([chain('call', 'reply')]))
  const wrong: [string, object, string][] = [
    ['a misspelt name', { leest: 3 }, 'There is no option leest.'],
    ['repetitions of one', { least: 1 }, 'Option least is 1. Give a whole number, 2 or more.'],
    [
      'an unknown unit',
      { sizeUnit: 'miles' },
      'Option sizeUnit is "miles". Give \'bytes\' or null.',
    ],
    ['a parameter that is no name', { sizeAttribute: 4 }, 'Option sizeAttribute is 4.'],
  ]
  test.each(wrong)('%s', (_, options, message) => {
    expect(() => collapseFlows(flows, options)).toThrow(message)
  })
})

test('flows without repetitions, and no flows at all, stay as they are', () => {
  const flows = collapsed([chain('call', 'a', 'reply')])
  expect(labelsOf(flows)).toEqual(['call', 'a', 'reply'])
  expect(flows.folded(0)).toBeUndefined()
  expect(expandFlow(flows, 0).edges).toEqual([
    [0, 1],
    [1, 2],
  ])
  expect(collapsed([]).size).toBe(0)
})

test('a loop of 15,000 rounds overflows no stack, nor does one round of 15,000 steps, twice', () => {
  const rounds = collapsed([chain('call', ...Array(15_000).fill('disk'), 'reply')])
  expect(labelsOf(rounds)).toEqual(['call ×15000', 'disk', 'reply'])
  const steps = Array.from({ length: 15_000 }, (_, i) => `step ${i}`)
  const long = collapsed([chain('call', ...steps, ...steps, 'reply')])
  expect(labelsOf(long)).toHaveLength(15_002)
  expect(expandFlow(long, 0).labels).toHaveLength(30_002)
})

test('a comparison can be made of collapsed flows', () => {
  const traces = hdfsTraces({ writes: 3, portions: 3 })
  expect(compare(traces, traces).flows.size).toBe(6)
  expect(collapseFlows(compare(traces, traces).flows).count(0)).toBe(3)
})
