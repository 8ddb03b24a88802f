import { type BoxLine, type Chains, findChains } from './flow-chains.ts'
import { type Column, columnMiddles, type RowRange } from './flow-columns.ts'
import { type ColumnSize, wishedColumns } from './flow-order.ts'
import { type FlowMoment, rowTops } from './flow-rows.ts'

/** A graph to be placed; sizes in pixels. */
export interface PlacementInput {
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
