import { graphlib, layout } from '@dagrejs/dagre'

/** Shortest and longest edge, in pixels. The shortest has room for its label and for two bends. */
export const MIN_EDGE_LENGTH = 26
const MAX_EDGE_LENGTH = 156

/** A latency in the middle of the scale, as a power of ten of a microsecond: 1 ms. */
const MIDDLE = 3
/** How many powers of ten a step of the logistic function spans. */
const SPREAD = 1

/**
 * How long an edge is drawn, in pixels: a sigmoid of the latency's logarithm, so that microseconds
 * and seconds are both visible, and longer is always longer. The same for all flows.
 *
 * Source: Sambasivan et al. 2012, CMU-PDL-12-102, §3.5, which leaves the function open.
 *
 * @param latencyUs in µs; `null` where there is none
 */
export function edgeLength(latencyUs: number | null): number {
  if (latencyUs === null || !(latencyUs > 0)) return MIN_EDGE_LENGTH
  const share = 1 / (1 + Math.exp((MIDDLE - Math.log10(latencyUs)) / SPREAD))
  return MIN_EDGE_LENGTH + (MAX_EDGE_LENGTH - MIN_EDGE_LENGTH) * share
}

/** A line between two boxes, by their numbers; lines lead from lower to higher numbers. */
interface BoxLine {
  readonly from: number
  readonly to: number
}

/** Boxes that follow each other without a fork or a join stand below each other as one chain. */
interface Chains {
  /** Numbers of boxes from top to bottom, a list a chain. */
  readonly boxes: readonly (readonly number[])[]
  /** For each box, the number of its chain. */
  readonly chainOf: Uint32Array
  /** Numbers of the lines within chains, and of those between them. */
  readonly inner: readonly number[]
  readonly outer: readonly number[]
  /** For each box, how many lines enter and leave it. */
  readonly entering: Uint32Array
  readonly leaving: Uint32Array
}

/** Finds the chains of a graph; a chain is numbered by when its first box comes. */
export function findChains(size: number, lines: readonly BoxLine[]): Chains {
  const entering = new Uint32Array(size)
  const leaving = new Uint32Array(size)
  for (const { from, to } of lines) {
    entering[to] = (entering[to] as number) + 1
    leaving[from] = (leaving[from] as number) + 1
  }
  const inner: number[] = []
  const outer: number[] = []
  const above = new Int32Array(size).fill(-1)
  lines.forEach(({ from, to }, line) => {
    const isInner = leaving[from] === 1 && entering[to] === 1
    if (isInner) above[to] = from
    ;(isInner ? inner : outer).push(line)
  })
  const boxes: number[][] = []
  const chainOf = new Uint32Array(size)
  above.forEach((previous, box) => {
    if (previous < 0) chainOf[box] = boxes.push([box]) - 1
    else {
      chainOf[box] = chainOf[previous] as number
      boxes[chainOf[box] as number]?.push(box)
    }
  })
  return { boxes, chainOf, inner, outer, entering, leaving }
}

/** What is there of a graph at one moment, and how long its lines are, in pixels. */
export interface FlowMoment {
  /** By number of line; `null` for a line that is not there. */
  readonly lengths: readonly (number | null)[]
  /** By number of box. */
  readonly isThere: readonly boolean[]
}

/**
 * How far down each box begins, time running down: as soon as the last line into it has ended, as
 * joins wait for all they join. `NaN` for boxes that are not there.
 */
export function rowTops(
  { heights, lines }: { heights: readonly number[]; lines: readonly BoxLine[] },
  { lengths, isThere }: FlowMoment,
): Float64Array {
  const into: number[][] = heights.map(() => [])
  lines.forEach(({ to }, line) => {
    into[to]?.push(line)
  })
  const tops = new Float64Array(heights.length)
  heights.forEach((_, box) => {
    if (!isThere[box]) {
      tops[box] = Number.NaN
      return
    }
    for (const line of into[box] as readonly number[]) {
      const { from } = lines[line] as BoxLine
      const length = lengths[line] ?? null
      if (length === null) continue
      const end = (tops[from] as number) + (heights[from] as number) + length
      if (end > (tops[box] as number)) tops[box] = end
    }
  })
  return tops
}

/** From how far down to how far down something reaches; `null` where it is not there. */
type RowRange = readonly [top: number, bottom: number] | null

/** Something that stands in one place from left to right, at one moment or at several. */
interface Column extends ColumnSize {
  /** Where its middle would like to be. */
  readonly wish: number
  /** One a moment. */
  readonly rows: readonly RowRange[]
}

const GAP = 14

/**
 * The middles of columns, as near to where they would like to be as they can without overlapping:
 * columns that are beside each other at any moment keep their order and a gap. The leftmost begins
 * at 0.
 */
export function columnMiddles(columns: readonly Column[]): number[] {
  const order = columns
    .map((_, number) => number)
    .sort((a, b) => (columns[a] as Column).wish - (columns[b] as Column).wish || a - b)
  const middles = columns.map(({ wish }) => wish)
  const placed: number[] = []
  for (const number of order) {
    const column = columns[number] as Column
    let middle = column.wish
    for (const other of placed) {
      const least =
        (middles[other] as number) + (columns[other] as Column).right + GAP + column.left
      if (least > middle && areBeside(columns[other] as Column, column)) middle = least
    }
    middles[number] = middle
    placed.push(number)
  }
  const start = columns.reduce(
    (least, { left }, number) => Math.min(least, (middles[number] as number) - left),
    Number.POSITIVE_INFINITY,
  )
  return middles.map((middle) => middle - start)
}

function areBeside(a: Column, b: Column): boolean {
  return a.rows.some((range, moment) => {
    const other = b.rows[moment] ?? null
    return range !== null && other !== null && range[0] < other[1] && other[0] < range[1]
  })
}

/** Something with a place from left to right and room on both sides of its middle. */
interface ColumnSize {
  readonly left: number
  readonly right: number
}

/** Dagre's time grows faster than the graph: larger ones are ordered in one pass. */
const MAX_FOR_DAGRE = 250

const ORDER_GAP = 18

/** Wished-for middles, in pixels. */
interface WishedColumns {
  readonly nodes: readonly number[]
  readonly edges: readonly number[]
}

/**
 * Where nodes and edges would like to stand from left to right, so that few edges cross.
 *
 * Source: Gansner et al. 1993, "A technique for drawing directed graphs", as in dagre; for large
 * graphs one pass of the barycentre method (Sugiyama et al. 1981), from top to bottom.
 */
function wishedColumns(
  nodes: readonly ColumnSize[],
  edges: readonly (BoxLine & ColumnSize)[],
): WishedColumns {
  return nodes.length + edges.length > MAX_FOR_DAGRE
    ? rankedColumns(nodes, edges)
    : layeredColumns(nodes, edges)
}

function layeredColumns(
  nodes: readonly ColumnSize[],
  edges: readonly (BoxLine & ColumnSize)[],
): WishedColumns {
  const graph = new graphlib.Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'TB', nodesep: ORDER_GAP, edgesep: ORDER_GAP, ranksep: 20 })
  nodes.forEach(({ left, right }, node) => {
    graph.setNode(String(node), { width: 2 * Math.max(left, right), height: 20 })
  })
  edges.forEach(({ from, to, left, right }, edge) => {
    // Dagre gives labels without any size no place.
    const label = { width: Math.max(1, left + right), height: 1, labelpos: 'c' }
    graph.setEdge(String(from), String(to), label, String(edge))
  })
  layout(graph)
  return {
    nodes: nodes.map((_, node) => (graph.node(String(node)) as { x: number }).x),
    edges: edges.map(({ from, to, left, right }, edge) => {
      const { x } = graph.edge(String(from), String(to), String(edge)) as unknown as { x: number }
      return x - (left + right) / 2 + left
    }),
  }
}

/** Layer by layer, each node near the middle of what leads to it. */
function rankedColumns(
  nodes: readonly ColumnSize[],
  edges: readonly (BoxLine & ColumnSize)[],
): WishedColumns {
  const above: number[][] = nodes.map(() => [])
  for (const { from, to } of edges) above[to]?.push(from)
  const middles = new Float64Array(nodes.length)
  for (const layer of layersOf(nodes.length, edges)) {
    const wished = layer
      .map((node) => ({ node, wish: meanOf(above[node] as readonly number[], middles) }))
      .sort((a, b) => a.wish - b.wish || a.node - b.node)
    const width = wished.reduce((sum, { node }) => sum + widthOf(nodes[node]), 0)
    let edge = wished.reduce((sum, { wish }) => sum + wish, 0) / wished.length - width / 2
    for (const { node } of wished) {
      middles[node] = edge + (nodes[node]?.left ?? 0)
      edge += widthOf(nodes[node])
    }
  }
  return {
    nodes: Array.from(middles),
    edges: edges.map(({ from, to }) => meanOf([from, to], middles)),
  }
}

/** Nodes by how many edges are on the longest way to them. */
function layersOf(size: number, edges: readonly BoxLine[]): number[][] {
  const depths = new Uint32Array(size)
  for (const { from, to } of edges.toSorted((a, b) => a.from - b.from)) {
    depths[to] = Math.max(depths[to] as number, (depths[from] as number) + 1)
  }
  const layers: number[][] = []
  depths.forEach((depth, node) => {
    layers[depth] = [...(layers[depth] ?? []), node]
  })
  return layers
}

function widthOf(size: ColumnSize | undefined): number {
  return (size?.left ?? 0) + (size?.right ?? 0) + ORDER_GAP
}

function meanOf(nodes: readonly number[], middles: Float64Array): number {
  if (nodes.length === 0) return 0
  return nodes.reduce((sum, node) => sum + (middles[node] as number), 0) / nodes.length
}

/** A graph to be placed; sizes in pixels. */
interface PlacementInput {
  readonly boxes: readonly { readonly width: number; readonly height: number }[]
  /** In ascending order of `from`; `labelWidth` is that of what stands to their right. */
  readonly lines: readonly (BoxLine & { readonly labelWidth: number })[]
}

/** Where everything stands, in pixels from the top left corner. */
export interface Placement {
  readonly width: number
  /** One a moment. */
  readonly heights: readonly number[]
  /** Middles of boxes. */
  readonly middles: readonly number[]
  /** Upper ends of boxes, a list a moment; `NaN` for boxes that are not there. */
  readonly tops: readonly Float64Array[]
  /** Where each line runs straight down. */
  readonly lineMiddles: readonly number[]
}

/** How high a bend is. */
export const BEND = 13
/** From the middle of a line to its label, and from there on. */
export const LABEL_GAP = 9
const AROUND_LABEL = 4
const HALF_LINE = 8

/**
 * Places a graph in layers, time running down: a box begins where the last line into it ends, and
 * lines are as long as they are asked to be, or longer where their end waits for another. What
 * follows each other without fork or join stands straight below each other. Boxes and the straight
 * parts of lines overlap at no moment, and stay in their columns from moment to moment.
 */
export function placeFlow(input: PlacementInput, moments: readonly FlowMoment[]): Placement {
  const { boxes, lines } = input
  const chains = findChains(boxes.length, lines)
  const heights = boxes.map(({ height }) => height)
  const tops = moments.map((moment) => rowTops({ heights, lines }, moment))
  const sizes = chainSizes(input, chains)
  const edges = chains.outer.map((line) => outerEdge(input, chains, line))
  const wish = wishedColumns(sizes, edges)
  const rows = tops.map((top) => rowRanges(input, chains, top))
  const columns: Column[] = [
    ...sizes.map((size, chain) => ({
      ...{ ...size, wish: wish.nodes[chain] as number },
      rows: rows.map(({ chainRows }) => chainRows[chain] ?? null),
    })),
    ...edges.map((edge, i) => ({
      ...{ ...edge, wish: wish.edges[i] as number },
      rows: rows.map(({ lineRows }) => lineRows[i] ?? null),
    })),
  ]
  const middles = columnMiddles(columns)
  const chainMiddle = (box: number) => middles[chains.chainOf[box] as number] as number
  const lineMiddles = lines.map(({ to }) => chainMiddle(to))
  chains.outer.forEach((line, i) => {
    const { from, to } = lines[line] as BoxLine
    const column = columnOf(chains, { from, to })
    lineMiddles[line] =
      column === 'own' ? (middles[sizes.length + i] as number) : chainMiddle(column)
  })
  return {
    ...{ middles: boxes.map((_, box) => chainMiddle(box)), tops, lineMiddles },
    width: columns.reduce(
      (most, { right }, i) => Math.max(most, (middles[i] as number) + right),
      0,
    ),
    heights: tops.map((top) =>
      top.reduce(
        (most, y, box) => (Number.isNaN(y) ? most : Math.max(most, y + (heights[box] as number))),
        0,
      ),
    ),
  }
}

/** In whose column a line between chains runs: of the box it alone enters or leaves, or its own. */
function columnOf({ entering, leaving }: Chains, { from, to }: BoxLine): number | 'own' {
  return entering[to] === 1 ? to : leaving[from] === 1 ? from : 'own'
}

/** How wide chains are: as their widest box, or as labels beside the lines in their column ask. */
function chainSizes({ boxes, lines }: PlacementInput, chains: Chains): ColumnSize[] {
  const labels = new Float64Array(chains.boxes.length)
  for (const { from, to, labelWidth } of lines) {
    const column = columnOf(chains, { from, to })
    if (column === 'own') continue
    const chain = chains.chainOf[column] as number
    labels[chain] = Math.max(labels[chain] as number, labelWidth)
  }
  return chains.boxes.map((members, chain) => {
    const half = members.reduce((most, box) => Math.max(most, (boxes[box]?.width ?? 0) / 2), 0)
    const label = LABEL_GAP + (labels[chain] as number) + AROUND_LABEL
    return { left: half, right: Math.max(half, label) }
  })
}

function outerEdge({ lines }: PlacementInput, chains: Chains, line: number): BoxLine & ColumnSize {
  const { from, to, labelWidth } = lines[line] as PlacementInput['lines'][number]
  const isOwn = columnOf(chains, { from, to }) === 'own'
  return {
    from: chains.chainOf[from] as number,
    to: chains.chainOf[to] as number,
    left: isOwn ? HALF_LINE : 0,
    right: isOwn ? LABEL_GAP + labelWidth + AROUND_LABEL : 0,
  }
}

/** Where chains, with the lines in their columns, and lines with a column of their own reach. */
function rowRanges(
  { boxes, lines }: PlacementInput,
  chains: Chains,
  tops: Float64Array,
): { chainRows: RowRange[]; lineRows: RowRange[] } {
  const bottom = (box: number) => (tops[box] as number) + (boxes[box]?.height ?? 0)
  const chainRows = chains.boxes.map((members): RowRange => {
    const there = members.filter((box) => !Number.isNaN(tops[box]))
    const [first, last] = [there[0], there.at(-1)]
    if (first === undefined || last === undefined) return null
    return [tops[first] as number, bottom(last)]
  })
  const lineRows = chains.outer.map((line): RowRange => {
    const { from, to } = lines[line] as BoxLine
    const [start, end] = [bottom(from), tops[to] as number]
    if (Number.isNaN(start) || Number.isNaN(end)) return null
    const column = columnOf(chains, { from, to })
    if (column === 'own') return [start + BEND, end - BEND]
    const chain = chains.chainOf[column] as number
    const [top, low] = chainRows[chain] ?? [end, start]
    chainRows[chain] = [
      column === to ? Math.min(top, start + BEND) : top,
      column === to ? low : Math.max(low, end - BEND),
    ]
    return null
  })
  return { chainRows, lineRows }
}
