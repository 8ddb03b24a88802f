import { describe, expect, test } from 'vitest'
import { categorize } from '../../../src/compare/categories/categorize.ts'
import { buildFlows } from '../../../src/flows/build-flows.ts'
import { type GraphSketch, makeGraphs, makeSpans } from '../../make-traces.ts'

/** The same graph, its nodes and edges recorded back to front. */
function backToFront(graph: GraphSketch): GraphSketch {
  const { labels, edges } = graph
  const last = labels.length - 1
  return {
    ...graph,
    labels: labels.toReversed(),
    edges: edges.map(([from, to]) => [last - from, last - to] as const).toReversed(),
  }
}

function chain(nodes: number): GraphSketch {
  return {
    labels: Array.from({ length: nodes }, (_, node) => `point ${node % 7}`),
    edges: Array.from({ length: nodes - 1 }, (_, edge) => [edge, edge + 1] as const),
    responseTimeUs: nodes - 1,
  }
}

/** A root that starts `width` equal branches of two points each, and a join. */
function fan(width: number): GraphSketch {
  const branches = Array.from({ length: width }, (_, branch) => 1 + 2 * branch)
  return {
    labels: ['root', ...branches.flatMap(() => ['x', 'y']), 'join'],
    edges: branches.flatMap((x) => [
      [0, x],
      [x, x + 1],
      [x + 1, 2 * width + 1],
    ]),
    responseTimeUs: 3,
  }
}

/** A root that leads to a ring of sources and targets, or to two rings of half the size. */
function rings(count: 1 | 2, size: number): GraphSketch {
  const ringSize = size / count
  const source = (i: number) => 1 + i
  const target = (i: number) => 1 + size + i
  const next = (i: number) => (i % ringSize === ringSize - 1 ? i - ringSize + 1 : i + 1)
  const all = Array.from({ length: size }, (_, i) => i)
  return {
    labels: ['root', ...all.map(() => 's'), ...all.map(() => 't')],
    edges: all.flatMap((i) => [
      [0, source(i)],
      [source(i), target(i)],
      [source(i), target(next(i))],
    ]),
  }
}

describe('categorize', () => {
  test('a ring of 200 sources and targets is itself in any order, and not two rings of 100', {
    tags: 'full',
  }, () => {
    const graphs = [rings(1, 200), backToFront(rings(1, 200)), rings(2, 200)]
    const categories = categorize(buildFlows(makeGraphs(graphs)))
    expect(Array.from(categories.categoryOf)).toEqual([0, 0, 1])
    expect(categories.undecided).toBe(0)
  })

  test('chains of 20,000 nodes overflow no stack', () => {
    const flows = buildFlows(makeGraphs([chain(20_000), backToFront(chain(20_000)), chain(19_999)]))
    const categories = categorize(flows)
    expect(Array.from(categories.categoryOf)).toEqual([0, 0, 1])
    expect(categories.structure(0).preorder).toHaveLength(20_000)
    expect(categories.edgeSamples(0)[0]?.before.latencyUs).toEqual(Float64Array.of(1, 1))
  })

  test('2,000 equal branches are decided', () => {
    const flows = buildFlows(makeGraphs([fan(2000), backToFront(fan(2000))]))
    const categories = categorize(flows)
    expect(Array.from(categories.categoryOf)).toEqual([0, 0])
    expect(categories.undecided).toBe(0)
    expect(categories.structure(0).edgeClasses).toHaveLength(3)
  })

  test('a fan-out to 200,000 points overflows no stack', { tags: ['full'] }, () => {
    const width = 200_000
    const flows = buildFlows(
      makeGraphs([
        {
          labels: Array.from({ length: width + 1 }, (_, node) => `point ${node % 3}`),
          edges: Array.from({ length: width }, (_, edge) => [0, edge + 1] as const),
          responseTimeUs: 1,
        },
      ]),
    )
    expect(categorize(flows).structure(0).preorder).toHaveLength(width + 1)
  })

  test('two edges between the same points are another structure than one', () => {
    const flows = buildFlows(
      makeGraphs([
        { labels: ['a', 'b'], edges: [[0, 1]] },
        {
          labels: ['a', 'b'],
          edges: [
            [0, 1],
            [0, 1],
          ],
        },
      ]),
    )
    expect(Array.from(categorize(flows).categoryOf)).toEqual([0, 1])
  })

  test('categories are numbered in the order of their first request', () => {
    const [short, long] = [chain(2), chain(3)]
    const flows = buildFlows([makeGraphs([long, short, long]), makeGraphs([chain(4), short])])
    const categories = categorize(flows)
    expect(Array.from(categories.categoryOf)).toEqual([0, 1, 0, 2, 1])
    expect(Array.from(categories.members(0, 0))).toEqual([0, 2])
    expect(Array.from(categories.members(1, 1))).toEqual([4])
    expect(categories.count(2, 0)).toBe(0)
  })

  test('a graph of one node is a category', () => {
    const categories = categorize(buildFlows(makeGraphs([{ labels: ['only'], edges: [] }])))
    expect(categories.structure(0)).toMatchObject({ root: 'only', edgeClasses: [] })
  })

  test('no requests give no categories', () => {
    const categories = categorize(buildFlows(makeGraphs([])))
    expect(categories.size).toBe(0)
    expect(() => categories.structure(0)).toThrow('There is no category 0; there are none.')
  })
})

describe('labels', () => {
  const onHost = (id: string, host: string) => [
    { trace: id, id: 'web', service: 'web', host, startUs: 0, endUs: 10 },
  ]
  const flows = buildFlows(makeSpans([...onHost('a', 'web-1'), ...onHost('b', 'web-2')]))

  test('hosts make structures differ', () => {
    const categories = categorize(flows)
    expect(Array.from(categories.categoryOf)).toEqual([0, 1])
    expect(categories.structure(0).root).toBe('web-1 call call')
  })

  test('omitHosts makes requests that differ only in hosts fall together', () => {
    const categories = categorize(flows, { omitHosts: true })
    expect(Array.from(categories.categoryOf)).toEqual([0, 0])
    expect(categories.structure(0).root).toBe('web call call')
  })

  test('of trace points lose machine and thread', () => {
    const points = makeGraphs([
      { labels: ['e1__t3__CALL', 'e1__t3__REPLY'], edges: [[0, 1]] },
      { labels: ['e2__t4__CALL', 'e2__t4__REPLY'], edges: [[0, 1]] },
    ])
    expect(categorize(buildFlows(points)).size).toBe(2)
    const categories = categorize(buildFlows(points), { omitHosts: true })
    expect(categories.size).toBe(1)
    expect(categories.structure(0).root).toBe('CALL')
  })

  test('a rule of your own gets service, operation, host and phase', () => {
    const categories = categorize(flows, {
      label: ({ service, host, phase }) => `${service} ${host.slice(0, 3)} ${phase}`,
    })
    expect(categories.size).toBe(1)
    expect(categories.structure(0).labels).toEqual(['web web call', 'web web reply'])
  })

  test('a rule that gives no string is refused, naming the label', () => {
    const label = (() => undefined) as unknown as () => string
    expect(() => categorize(flows, { label })).toThrow(
      'Option label is "a function that gives undefined for web-1 call call". ' +
        'Give a function that gives a string for every node.',
    )
  })
})
