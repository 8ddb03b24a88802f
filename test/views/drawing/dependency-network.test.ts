import { describe, expect, test } from 'vitest'
import type { AttentionEdge, AttentionGraph } from '../../../src/logs/attention/focus-attention.ts'
import {
  dependencyLayout,
  dependencyPicture,
  tellingVariables,
} from '../../../src/views/drawing/dependency-network.tsx'
import { drawingOf } from '../../../src/views/drawing/drawn-stages.tsx'
import { compareChainedLogs } from '../charts/logs-fixture.ts'

type Link = readonly [from: string, to: string]

/** A graph of tree edges towards the metric P, and further edges. */
function graphOf(tree: readonly Link[], further: readonly Link[] = []): AttentionGraph {
  const names = [...new Set([...tree, ...further].flat())].sort((a) => (a === 'P' ? -1 : 1))
  const edge =
    (inTree: boolean) =>
    ([from, to]: Link, i: number): AttentionEdge => ({
      from,
      to,
      inTree,
      weight: 1 - i / 10,
      r2: 0.5,
      directed: true,
    })
  return {
    kind: 'event',
    class: 'after',
    featureType: 'lastAbsolute',
    metric: 'P',
    score: 1,
    sharesDenominator: false,
    nodes: names.map((name, i) => ({
      name,
      t: 5,
      divergence: 1 / (i + 1),
      significant: true,
      term: name === 'P' ? 0 : 1 / i,
    })),
    edges: [...tree.map(edge(true)), ...further.map(edge(false))],
  }
}

const CHAIN: readonly Link[] = [
  ['A', 'P'],
  ['B', 'A'],
  ['C', 'B'],
]
const BESIDE: readonly Link[] = [
  ['C', 'A'],
  ['C', 'P'],
  ['B', 'P'],
]

describe('the dependency network', () => {
  test('stands the metric at the right end and every variable to the left of what it leads to', () => {
    const { variables } = dependencyLayout(graphOf(CHAIN, BESIDE), 16)
    const xOf = Object.fromEntries(variables.map(({ node, x }) => [node.name, x]))
    expect([...variables].sort((a, b) => a.x - b.x).map(({ node }) => node.name)).toEqual([
      'C',
      'B',
      'A',
      'P',
    ])
    expect(xOf['P']).toBe(Math.max(...variables.map(({ x }) => x)))
  })

  test('keeps lines clear of the names of the columns between', () => {
    const { variables, dependencies } = dependencyLayout(graphOf(CHAIN, BESIDE), 16)
    for (const { edge, points } of dependencies) {
      for (const { node, x, y, width, fontSize } of variables) {
        if ([edge.from, edge.to].includes(node.name)) continue
        const inTheWay = points.filter(
          (point) => Math.abs(point.x - x) <= width / 2 && Math.abs(point.y - y) < fontSize / 2,
        )
        expect(inTheWay).toEqual([])
      }
    }
  })

  test('lies within its drawing', () => {
    const further: Link[] = [
      ['A', 'B'],
      ['D', 'P'],
      ['C', 'P'],
    ]
    const { width, height, variables, dependencies } = dependencyLayout(
      graphOf(
        [
          ['A', 'P'],
          ['B', 'P'],
          ['C', 'B'],
          ['D', 'C'],
        ],
        further,
      ),
      16,
    )
    const points = dependencies.flatMap((each) => each.points)
    const ends = variables.flatMap(({ x, y, width: wide }) => [
      { x: x - wide / 2, y },
      { x: x + wide / 2, y },
    ])
    for (const { x, y } of [...points, ...ends]) {
      expect(x).toBeGreaterThanOrEqual(0)
      expect(x).toBeLessThanOrEqual(width)
      expect(y).toBeGreaterThanOrEqual(0)
      expect(y).toBeLessThanOrEqual(height)
    }
  })

  test('draws larger letters where a variable differs more', () => {
    const { variables } = dependencyLayout(
      graphOf([
        ['A', 'P'],
        ['B', 'P'],
      ]),
      16,
    )
    const sizes = variables.map(({ fontSize }) => fontSize)
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a))
    expect(new Set(sizes).size).toBe(3)
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
    expect(dependencyPicture(weak, 3).omissions).toEqual([
      '3 of 5 variables are drawn, those that add most to the score.',
    ])
  })

  test('is drawn for every feature of both classes of recorded logs', () => {
    const compared = compareChainedLogs()
    for (const logClass of ['before', 'after'] as const) {
      for (const minSplit of [0.1, 0.9]) {
        for (const graph of compared.with({ class: logClass, minSplit }).attention.graphs) {
          const svg = drawingOf(dependencyPicture(graph, 16)).svg()
          expect(svg).not.toMatch(/NaN|undefined|var\(--/)
          for (const { name } of graph.nodes.slice(0, 16)) expect(svg).toContain(`>${name}<`)
        }
      }
    }
  })

  test('takes names of object properties', () => {
    const { variables, dependencies } = dependencyLayout(graphOf([['__proto__', 'P']]), 16)
    expect(variables.map(({ node }) => node.name).sort()).toEqual(['P', '__proto__'])
    expect(dependencies).toHaveLength(1)
  })

  test('says so where performance depends on nothing', () => {
    const graph = graphOf([['A', 'P']])
    const lonely = { ...graph, edges: [], nodes: graph.nodes.slice(0, 1) }
    expect(dependencyPicture(lonely, 16).subtitle).toEqual([
      'In the after period it depends on no other logged variable.',
    ])
  })
})
