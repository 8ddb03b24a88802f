import { describe, expect, test } from 'vitest'
import type { AttentionEdge, AttentionGraph } from '../../../src/logs/attention/attention.ts'
import { dependencyLayout } from '../../../src/views/charts/dependency-layout.ts'
import { plotDependencies } from '../../../src/views/charts/plot-dependencies.ts'
import { tellingVariables } from '../../../src/views/charts/telling-variables.ts'
import { dataOf, expectDrawable, pick } from './fixture.ts'
import { compareChainedLogs } from './logs-fixture.ts'

const compared = compareChainedLogs()

/** A graph of a chain, `links` away from the metric P, and further edges. */
function graphOf(
  tree: readonly (readonly [string, string])[],
  further: readonly (readonly [string, string])[] = [],
): AttentionGraph {
  const names = [...new Set([...tree, ...further].flat())].sort((a) => (a === 'P' ? -1 : 1))
  const edge =
    (inTree: boolean) =>
    ([from, to]: readonly [string, string], i: number): AttentionEdge => ({
      ...{ from, to, inTree, weight: 1 - i / 10, r2: 0.5, directed: true },
    })
  return {
    ...{ kind: 'event', class: 'after', featureType: 'lastAbsolute', metric: 'P', score: 1 },
    sharesDenominator: false,
    nodes: names.map((name, i) => ({
      ...{ name, t: 5, divergence: 1 / (i + 1), significant: true },
      term: name === 'P' ? 0 : 1 / i,
    })),
    edges: [...tree.map(edge(true)), ...further.map(edge(false))],
  }
}

const layoutOf = (graph: AttentionGraph) => dependencyLayout(graph, tellingVariables(graph, 16))

describe('a graph of dependencies', () => {
  test('has a name for each variable, the metric coloured, and a line for each dependency', () => {
    const graph = compared.with({ minSplit: 0.3 }).attention.best('event') as AttentionGraph
    const chart = plotDependencies(graph)
    const [lines, ...others] = dataOf(chart)
    const names = others.at(-1) ?? []
    expect(names.map(({ name }) => name)).toEqual(graph.nodes.map(({ name }) => name))
    expect(pick(names.slice(0, 1), 'name', 'colour', 'weight')).toEqual([
      ['finish', '#D55E00', 'bold'],
    ])
    expect(new Set(lines?.map(({ number }) => number)).size).toBe(graph.edges.length)
    expect(chart.title).toMatch(/^What finish depends on: events by /)
    expectDrawable(chart)
  })

  test('of every feature and both classes can be drawn', () => {
    for (const logClass of ['before', 'after'] as const) {
      for (const minSplit of [0.1, 0.9]) {
        const { graphs } = compared.with({ class: logClass, minSplit }).attention
        for (const graph of graphs) expectDrawable(plotDependencies(graph))
      }
    }
  })

  test('says so where performance depends on nothing', () => {
    const lonely = { ...graphOf([['A', 'P']]), edges: [] }
    const chart = plotDependencies({ ...lonely, nodes: lonely.nodes.slice(0, 1) })
    expect(chart.description).toBe('In the after period it depends on no other logged variable.')
    expectDrawable(chart)
  })

  test('leaves out what adds least, never what leads others to the metric', () => {
    const graph = graphOf([
      ['A', 'P'],
      ['B', 'A'],
      ['C', 'B'],
      ['D', 'P'],
    ])
    const weak = {
      ...graph,
      nodes: graph.nodes.map((node) => (node.name === 'A' ? { ...node, term: 0 } : node)),
    }
    expect([...tellingVariables(weak, 3)].sort()).toEqual(['A', 'B', 'P'])
    expect(plotDependencies(weak, { limit: 3 }).description).toContain(
      '3 of 5 variables are drawn, those that add most to the score.',
    )
  })

  test('draws larger letters where a variable differs more', () => {
    const twoCauses = [['A', 'P'] as const, ['B', 'P'] as const]
    const { variables } = layoutOf(graphOf(twoCauses))
    const sizes = variables.map(({ fontSize }) => fontSize)
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a))
  })

  test('keeps lines clear of the names of columns between', () => {
    const { variables, dependencies } = layoutOf(
      graphOf(
        [
          ['A', 'P'],
          ['B', 'A'],
          ['C', 'B'],
        ],
        [
          ['C', 'A'],
          ['C', 'P'],
          ['B', 'P'],
        ],
      ),
    )
    for (const { edge, points } of dependencies) {
      const others = variables.filter(({ node }) => ![edge.from, edge.to].includes(node.name))
      for (const { left, right, y, fontSize } of others) {
        const inTheWay = points.filter(
          ([px, py]) => px > left && px < right && Math.abs(py - y) < fontSize / 2,
        )
        expect(inTheWay).toEqual([])
      }
    }
  })

  test('lies within its drawing', () => {
    const { width, height, variables, dependencies } = layoutOf(
      graphOf(
        [
          ['A', 'P'],
          ['B', 'P'],
          ['C', 'B'],
          ['D', 'C'],
        ],
        [
          ['A', 'B'],
          ['D', 'P'],
          ['C', 'P'],
          ['D', 'B'],
        ],
      ),
    )
    const xs = variables.flatMap(({ left, right }) => [left, right])
    const points = dependencies.flatMap((each) => each.points)
    for (const x of [...xs, ...points.map(([px]) => px)]) {
      expect(x).toBeGreaterThanOrEqual(0)
      expect(x).toBeLessThanOrEqual(width)
    }
    for (const y of [...variables.map((each) => each.y), ...points.map(([, py]) => py)]) {
      expect(y).toBeGreaterThanOrEqual(0)
      expect(y).toBeLessThanOrEqual(height)
    }
  })

  test('checks its options', () => {
    const graph = graphOf([['A', 'P']])
    expect(() => plotDependencies(graph, { limit: 0 })).toThrow('Option limit is 0.')
    expect(() => plotDependencies(graph, { top: 3 } as never)).toThrow('no option top')
  })
})

test('logs without variables of a kind have no graph to draw, and the error says so', () => {
  expect(() => plotDependencies(undefined)).toThrow('no variable of that kind')
})
