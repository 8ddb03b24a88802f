import type { AttentionEdge, AttentionGraph, AttentionNode } from '../logs/attention.ts'
import { type AttentionTree, attentionTree } from '../logs/attention-tree.ts'
import { shortText } from '../shown-text.ts'
import { NARROWEST_CHART } from './chart-frame.ts'
import { textWidth } from './text-width.ts'

/** A variable in its place; pixels, y down. */
export interface DrawnVariable {
  readonly node: AttentionNode
  /** As much of the name as is drawn. */
  readonly label: string
  readonly fontSize: number
  readonly left: number
  readonly right: number
  readonly y: number
}

/** A dependency as a line. */
export interface DrawnDependency {
  readonly edge: AttentionEdge
  readonly points: readonly (readonly [x: number, y: number])[]
  readonly strokeWidth: number
  /** Where its arrow ends and whether it points right; `null` where the order is not known. */
  readonly arrow: { readonly x: number; readonly y: number; readonly right: boolean } | null
}

/** A graph of dependencies with everything in its place. */
export interface DependencyLayout {
  readonly width: number
  readonly height: number
  readonly variables: readonly DrawnVariable[]
  readonly dependencies: readonly DrawnDependency[]
}

const FONT = { least: 11, most: 19 } as const
const STROKE = { least: 1.2, most: 6 } as const
const LONGEST_NAME = 44
const COLUMN_GAP = 70
const ROW = 34
const MARGIN = 12
/** Room between a name and the lines that reach it. */
const NEAR = 6
const ARROW = 9
const STEPS = 16

/**
 * Lays the spanning tree of a graph out from left to right: the metric at the right end, what it
 * depends on to its left, column by column. Other dependencies are drawn as lines between.
 *
 * @param kept numbers of the nodes to draw; with each, the nodes that lead it to the metric
 */
export function dependencyLayout(
  graph: AttentionGraph,
  kept: ReadonlySet<string>,
): DependencyLayout {
  const nodes = graph.nodes.filter(({ name }) => kept.has(name))
  const edges = graph.edges.filter(({ from, to }) => kept.has(from) && kept.has(to))
  const tree = attentionTree({ ...graph, nodes, edges })
  const rows = rowsOf(tree)
  const depthOf = (name: string) => tree.depth.get(name) ?? 0
  const deepest = nodes.reduce((most, { name }) => Math.max(most, depthOf(name)), 0)
  const drawn = nodes.map((node) => {
    const fontSize = FONT.least + (FONT.most - FONT.least) * Math.min(1, node.divergence)
    const label = shortText(node.name, LONGEST_NAME)
    return { node, fontSize, label, width: textWidth(label, fontSize) }
  })
  const widths = Array.from({ length: deepest + 1 }, (_, depth) =>
    drawn.reduce(
      (most, { node, width }) => (depthOf(node.name) === depth ? Math.max(most, width) : most),
      0,
    ),
  )
  const leftOf = new Float64Array(deepest + 1)
  let x = MARGIN
  for (let depth = deepest; depth >= 0; depth--) {
    leftOf[depth] = x
    x += (widths[depth] as number) + COLUMN_GAP
  }
  const variables = drawn.map(({ node, fontSize, label, width }): DrawnVariable => {
    const depth = depthOf(node.name)
    const left = (leftOf[depth] as number) + (widths[depth] as number) - width
    const y = MARGIN + ROW / 2 + ROW * (rows.get(node.name) ?? 0)
    return { node, label, fontSize, left, right: left + width, y }
  })
  const placeOf = new Map(variables.map((variable) => [variable.node.name, variable]))
  const strongest = edges.reduce((most, { weight }) => Math.max(most, weight), 0)
  const count = 1 + Math.max(0, ...variables.map(({ node }) => rows.get(node.name) ?? 0))
  return {
    width: Math.max(NARROWEST_CHART, x - COLUMN_GAP + MARGIN),
    height: 2 * MARGIN + ROW * Math.ceil(count),
    variables,
    dependencies: edges.map((edge) => {
      const from = placeOf.get(edge.from) as DrawnVariable
      const to = placeOf.get(edge.to) as DrawnVariable
      return drawnDependency(edge, { from, to, share: edge.weight / strongest })
    }),
  }
}

/** A row for each node: leaves one below the other, others in the middle of what leads to them. */
function rowsOf({ order, children }: AttentionTree): ReadonlyMap<string, number> {
  const rows = new Map<string, number>()
  let next = 0
  for (const name of order) if ((children.get(name) ?? []).length === 0) rows.set(name, next++)
  for (const name of order.toReversed()) {
    const below = children.get(name) ?? []
    if (below.length === 0) continue
    const places = below.map((child) => rows.get(child) as number)
    rows.set(name, (Math.min(...places) + Math.max(...places)) / 2)
  }
  return rows
}

function drawnDependency(
  edge: AttentionEdge,
  { from, to, share }: { from: DrawnVariable; to: DrawnVariable; share: number },
): DrawnDependency {
  const strokeWidth = STROKE.least + (STROKE.most - STROKE.least) * share
  const isRight = from.right < to.left
  const isLeft = to.right < from.left
  const [start, end] = isRight
    ? [from.right + NEAR, to.left - NEAR]
    : isLeft
      ? [from.left - NEAR, to.right + NEAR]
      : [from.left - NEAR, to.left - NEAR]
  const tip = edge.directed ? end + (isRight ? -ARROW : ARROW) * (isRight || isLeft ? 1 : -1) : end
  // Between names of one column the line swings out to their left.
  const [bendStart, bendEnd] =
    isRight || isLeft
      ? [(start + tip) / 2, (start + tip) / 2]
      : [Math.min(start, tip) - COLUMN_GAP / 2, Math.min(start, tip) - COLUMN_GAP / 2]
  const points = Array.from({ length: STEPS + 1 }, (_, step): [number, number] => {
    const t = step / STEPS
    return [cubic(t, [start, bendStart, bendEnd, tip]), cubic(t, [from.y, from.y, to.y, to.y])]
  })
  const right = !isLeft
  return { edge, points, strokeWidth, arrow: edge.directed ? { x: end, y: to.y, right } : null }
}

/** A point of a cubic Bézier curve, in one dimension. */
function cubic(t: number, [a, b, c, d]: readonly [number, number, number, number]): number {
  const u = 1 - t
  return u * u * u * a + 3 * u * u * t * b + 3 * u * t * t * c + t * t * t * d
}
