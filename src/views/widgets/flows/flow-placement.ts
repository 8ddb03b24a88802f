import { group, sum } from 'd3-array'
import { flowLayout } from '../../drawing/flow-layout.ts'

export const MIN_EDGE_LENGTH = 26
const MAX_EDGE_LENGTH = 156
/** A latency in the middle of the scale, as a power of ten of a microsecond: 1 ms. */
const MIDDLE = 3

/**
 * Returns the drawn length of an edge: a sigmoid of the latency's logarithm, so that µs and seconds are both visible.
 * Source: Sambasivan et al. 2012, CMU-PDL-12-102, §3.5, which leaves the function open.
 */
export function edgeLength(latencyUs: number | null): number {
  if (latencyUs === null || !(latencyUs > 0)) return MIN_EDGE_LENGTH
  const share = 1 / (1 + Math.exp(MIDDLE - Math.log10(latencyUs)))
  return MIN_EDGE_LENGTH + (MAX_EDGE_LENGTH - MIN_EDGE_LENGTH) * share
}

interface BoxLine {
  readonly from: number
  readonly to: number
}

/** Visible parts of a graph at one moment, and the lengths of its lines, in pixels. */
export interface FlowMoment {
  readonly lengths: readonly (number | null)[]
  readonly isThere: readonly boolean[]
  /** Smallest distances of boxes from the top, in pixels; 0 without. */
  readonly least?: readonly number[]
}

interface PlacementInput {
  readonly boxes: readonly { readonly width: number; readonly height: number }[]
  /** Lines in ascending order of `from`; `labelWidth` is the width of the text to their right. */
  readonly lines: readonly (BoxLine & { readonly labelWidth: number })[]
}

export type Placement = ReturnType<typeof placeFlow>

export const BEND = 13
export const LABEL_GAP = 9
const AROUND_LABEL = 4
const HALF_LINE = 8
const GAP = 14
/** Nodes, and layers that lines pass, up to which dagre is fast; larger graphs stand at the left. */
const MAX_FOR_DAGRE = 700

/**
 * Places a graph, time running down: a box begins where the last line into it ends; chains stand straight below each
 * other. Nothing overlaps at any moment, and columns stay. Mirrored, left and right are exchanged.
 */
export function placeFlow(
  input: PlacementInput,
  moments: readonly FlowMoment[],
  { isMirrored = false }: { readonly isMirrored?: boolean } = {},
) {
  const { boxes, lines } = input
  const tops = moments.map((moment) => topsAt(input, moment))
  const columns = columnsOf(input)
  const { columnOf, lineColumns, sizes } = columns
  const rows = tops.map((top) => {
    const ranges: (RowRange | null)[] = sizes.map(() => null)
    const cover = (column: number, from: number, to: number) => {
      if (Number.isNaN(from) || Number.isNaN(to)) return
      const [least, most] = ranges[column] ?? [from, to]
      ranges[column] = [Math.min(least, from), Math.max(most, to)]
    }
    const bottom = (box: number) => (top[box] as number) + (boxes[box]?.height ?? 0)
    boxes.forEach((_, box) => {
      cover(columnOf[box] as number, top[box] as number, bottom(box))
    })
    lines.forEach(({ from, to }, line) => {
      const column = lineColumns[line] as number
      const start = bottom(from) + (columnOf[from] === column ? 0 : BEND)
      cover(column, start, (top[to] as number) - (columnOf[to] === column ? 0 : BEND))
    })
    return ranges
  })
  const wishes = wishedMiddles(input, columns)
  const middles = columnMiddles(
    sizes.map((size, i) => ({
      ...size,
      wish: (isMirrored ? -1 : 1) * (wishes[i] ?? 0),
      rows: rows.map((ranges) => ranges[i] ?? null),
    })),
  )
  const ends = (top: readonly number[]) =>
    top.map((y, box) => (Number.isNaN(y) ? 0 : y + (boxes[box]?.height ?? 0)))
  return {
    width: Math.max(0, ...sizes.map(({ right }, i) => (middles[i] as number) + right)),
    heights: tops.map((top) => Math.max(0, ...ends(top))),
    middles: columnOf.map((column) => middles[column] as number),
    /** Upper ends of boxes, a list a moment; `NaN` for boxes that are not there. */
    tops,
    lineMiddles: lineColumns.map((column) => middles[column] as number),
  }
}

/** Returns the top of each box: the end of the last line into it. */
export function topsAt(
  { boxes, lines }: PlacementInput,
  { lengths, isThere, least = [] }: FlowMoment,
): number[] {
  const tops = boxes.map((_, box) => (isThere[box] ? (least[box] ?? 0) : Number.NaN))
  // Lines are in order of where they start: what leads to a start has been seen.
  lines.forEach(({ from, to }, line) => {
    const length = lengths[line] ?? null
    if (length === null) return
    const end = (tops[from] as number) + (boxes[from]?.height ?? 0) + length
    if (end > (tops[to] as number)) tops[to] = end
  })
  return tops
}

interface ColumnSize {
  readonly left: number
  readonly right: number
}

/** Gives chains of boxes one column; a line runs in that of the box it alone enters or leaves. */
function columnsOf({ boxes, lines }: PlacementInput) {
  const [entering, leaving] = [group(lines, ({ to }) => to), group(lines, ({ from }) => from)]
  const isEntered = (box: number) => entering.get(box)?.length === 1
  const isLeft = (box: number) => leaving.get(box)?.length === 1
  const isAlone = ({ from, to }: BoxLine) => isLeft(from) && isEntered(to)
  const above = new Map(lines.filter(isAlone).map(({ from, to }) => [to, from]))
  const sizes: ColumnSize[] = []
  const columnOf: number[] = []
  boxes.forEach(({ width }, box) => {
    const upper = above.get(box)
    const column =
      upper === undefined ? sizes.push({ left: 0, right: 0 }) - 1 : (columnOf[upper] as number)
    const size = sizes[column] as ColumnSize
    sizes[column] = { left: Math.max(size.left, width / 2), right: Math.max(size.right, width / 2) }
    columnOf.push(column)
  })
  const chains = sizes.length
  const lineColumns = lines.map(({ from, to, labelWidth }) => {
    const right = LABEL_GAP + labelWidth + AROUND_LABEL
    if (!isEntered(to) && !isLeft(from)) return sizes.push({ left: HALF_LINE, right }) - 1
    const column = columnOf[isEntered(to) ? to : from] as number
    const size = sizes[column] as ColumnSize
    sizes[column] = { ...size, right: Math.max(size.right, right) }
    return column
  })
  return {
    columnOf,
    lineColumns,
    sizes,
    chains,
  }
}

/** Returns the wished places of columns, with few crossings of lines; in large graphs all at the left. */
function wishedMiddles(
  { lines }: PlacementInput,
  { columnOf, lineColumns, sizes, chains }: ReturnType<typeof columnsOf>,
): number[] {
  const outer = lines
    .map(({ from, to }, line) => ({
      from: columnOf[from] as number,
      to: columnOf[to] as number,
      column: lineColumns[line] as number,
    }))
    .filter(({ from, to }) => from !== to)
  const layers = new Uint32Array(chains)
  for (const { from, to } of outer) {
    layers[to] = Math.max(layers[to] as number, (layers[from] as number) + 1)
  }
  const passed = sum(outer, ({ from, to }) => (layers[to] as number) - (layers[from] as number))
  if (chains + passed > MAX_FOR_DAGRE) return sizes.map(() => 0)
  const { nodes, edges } = flowLayout({
    nodes: sizes.slice(0, chains).map(({ left, right }) => ({
      width: 2 * Math.max(left, right),
      height: 20,
    })),
    edges: outer.map(({ from, to, column }) => ({
      from,
      to,
      labelHeight: 1,
      // Dagre gives labels without any size no place.
      labelWidth: column < chains ? 1 : HALF_LINE + (sizes[column]?.right ?? 0),
    })),
  })
  const wishes = nodes.map(({ x }) => x)
  outer.forEach(({ column }, i) => {
    if (column >= chains) wishes[column] = (edges[i]?.label.x ?? 0) + HALF_LINE
  })
  return wishes
}

type RowRange = readonly [top: number, bottom: number]

/** Something that stands in one place from left to right, at one moment or at several. */
interface Column extends ColumnSize {
  readonly wish: number
  readonly rows: readonly (RowRange | null)[]
}

/** Middles of columns, near to their wishes without overlap; neighbors keep order and a gap. */
export function columnMiddles(columns: readonly Column[]): number[] {
  const order = [...columns.entries()].sort(
    ([a, one], [b, other]) => one.wish - other.wish || a - b,
  )
  const middles: number[] = []
  order.forEach(([number, column], i) => {
    const least = order
      .slice(0, i)
      .filter(([, other]) => areBeside(other, column))
      .map(([before, { right }]) => (middles[before] as number) + right + GAP + column.left)
    middles[number] = Math.max(column.wish, ...least)
  })
  const start = Math.min(...columns.map(({ left }, number) => (middles[number] as number) - left))
  return middles.map((middle) => middle - start)
}

function areBeside(a: Column, b: Column): boolean {
  return a.rows.some((range, moment) => {
    const other = b.rows[moment] ?? null
    return range !== null && other !== null && range[0] < other[1] && other[0] < range[1]
  })
}
