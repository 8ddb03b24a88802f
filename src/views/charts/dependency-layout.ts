import { shortText } from '../../core/shown-text.ts'
import {
  type AttentionEdge,
  type AttentionGraph,
  type AttentionNode,
  type AttentionTree,
  attentionTree,
} from '../../logs/attention/attention.ts'
import { type DependencyRoute, dependencyRoutes } from './dependency-routes.ts'
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
  /** Dependencies between it and the metric: 0 for the metric itself, which stands at the right. */
  readonly depth: number
}

/** A dependency as a line. */
export interface DrawnDependency extends DependencyRoute {
  readonly edge: AttentionEdge
  readonly strokeWidth: number
}

/** A graph of dependencies with everything in its place. */
export interface DependencyLayout {
  readonly width: number
  readonly height: number
  readonly variables: readonly DrawnVariable[]
  /** Those that are to lie below others first. */
  readonly dependencies: readonly DrawnDependency[]
}

const FONT = { least: 11, most: 19 } as const
const STROKE = { least: 1.2, most: 5.5 } as const
const LONGEST_NAME = 44
const COLUMN_GAP = 72
const ROW = 34
const MARGIN = 12

/**
 * Lays the spanning tree of a graph out from left to right: the metric at the right end, what it
 * depends on to its left, column by column. Other dependencies are drawn as lines between.
 *
 * @param kept names of the nodes to draw; with each, the nodes that lead it to the metric
 */
export function dependencyLayout(
  graph: AttentionGraph,
  kept: ReadonlySet<string>,
): DependencyLayout {
  const nodes = graph.nodes.filter(({ name }) => kept.has(name))
  const edges = graph.edges.filter(({ from, to }) => kept.has(from) && kept.has(to))
  const tree = attentionTree({ ...graph, nodes, edges })
  const { variables, right } = placed(nodes, tree)
  const placeOf = new Map(variables.map((variable) => [variable.node.name, variable]))
  const strongest = edges.reduce((most, { weight }) => Math.max(most, weight), 0)
  // What only adds to the tree lies below it.
  const drawn = [...edges].sort((a, b) => Number(a.inTree) - Number(b.inTree))
  const routes = dependencyRoutes(
    drawn.map((edge) => ({
      edge,
      from: placeOf.get(edge.from) as DrawnVariable,
      to: placeOf.get(edge.to) as DrawnVariable,
    })),
    { variables, row: ROW },
  )
  const dependencies = routes.map((route, i): DrawnDependency => {
    const edge = drawn[i] as AttentionEdge
    const strokeWidth = STROKE.least + ((STROKE.most - STROKE.least) * edge.weight) / strongest
    return { ...route, edge, strokeWidth }
  })
  return framed({ variables, dependencies, right })
}

/** Where each variable stands, and where the rightmost column ends. */
function placed(
  nodes: readonly AttentionNode[],
  tree: AttentionTree,
): { readonly variables: readonly DrawnVariable[]; readonly right: number } {
  const rows = rowsOf(tree)
  const drawn = nodes.map((node) => {
    const fontSize = FONT.least + (FONT.most - FONT.least) * Math.min(1, node.divergence)
    const label = shortText(node.name, LONGEST_NAME)
    const depth = tree.depth.get(node.name) ?? 0
    return { node, fontSize, label, depth, width: textWidth(label, fontSize) }
  })
  const widths: number[] = []
  for (const { depth, width } of drawn) widths[depth] = Math.max(widths[depth] ?? 0, width)
  const rightOf: number[] = []
  let x = MARGIN
  for (let depth = widths.length - 1; depth >= 0; depth--) {
    x += widths[depth] as number
    rightOf[depth] = x
    x += COLUMN_GAP
  }
  const variables = drawn.map(({ width, ...variable }): DrawnVariable => {
    const right = rightOf[variable.depth] as number
    const y = ROW * (rows.get(variable.node.name) ?? 0)
    return { ...variable, left: right - width, right, y }
  })
  return { variables, right: rightOf[0] ?? 0 }
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

/** Moved into a drawing that holds all of it, lines that swing out included. */
function framed({
  variables,
  dependencies,
  right,
}: Pick<DependencyLayout, 'variables' | 'dependencies'> & {
  readonly right: number
}): DependencyLayout {
  const points = dependencies.flatMap((each) => each.points)
  const least = (values: readonly number[]) => values.reduce((low, v) => Math.min(low, v), 0)
  const dx = Math.max(0, MARGIN - least(points.map(([x]) => x - MARGIN)) - MARGIN)
  const ys = points.map(([, y]) => y)
  const dy = MARGIN - Math.min(-ROW / 2, least(ys) - MARGIN)
  const lowest = variables.reduce((low, { y }) => Math.max(low, y), 0)
  const bottom = ys.reduce((low, y) => Math.max(low, y + MARGIN), lowest + ROW / 2)
  return {
    width: right + dx + MARGIN,
    height: bottom + dy + MARGIN,
    variables: variables.map((variable) => ({
      ...variable,
      left: variable.left + dx,
      right: variable.right + dx,
      y: variable.y + dy,
    })),
    dependencies: dependencies.map((each) => ({
      ...each,
      points: each.points.map(([x, y]) => [x + dx, y + dy] as const),
      arrow: each.arrow && { ...each.arrow, x: each.arrow.x + dx, y: each.arrow.y + dy },
    })),
  }
}
