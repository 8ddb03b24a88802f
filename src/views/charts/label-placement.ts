import { textWidth } from './text-width.ts'

/** A text that wants to stand beside a point; pixels, y down. */
export interface WantedLabel {
  readonly x: number
  readonly y: number
  /** What to write, and what to write instead where there is no room for it. */
  readonly texts: readonly string[]
}

/** How a label stands to its point, as properties of Vega-Lite's text mark. */
export interface Stand {
  readonly align: 'left' | 'center' | 'right'
  readonly dx: number
  readonly dy: number
}

/** Where it fits. */
export interface PlacedLabel {
  readonly x: number
  readonly y: number
  readonly text: string
  readonly stand: Stand
}

interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** Where a label can stand, the best first: beside its point, above or below it. */
export const STANDS: readonly Stand[] = [
  { align: 'left', dx: 9, dy: 0 },
  { align: 'right', dx: -9, dy: 0 },
  { align: 'center', dx: 0, dy: -15 },
  { align: 'center', dx: 0, dy: 15 },
  { align: 'right', dx: 9, dy: -15 },
  { align: 'left', dx: -9, dy: -15 },
  { align: 'right', dx: 9, dy: 15 },
  { align: 'left', dx: -9, dy: 15 },
]

/** Size of the letters of labels. */
export const LABEL_SIZE = 11
const HALF_LINE = 7
const POINT = 6

/**
 * Chooses which labels to write so that none covers another, a point, or the edge of the chart:
 * in the order given, each at the first of `STANDS` that is free, or not at all.
 */
export function placedLabels(
  wanted: readonly WantedLabel[],
  points: readonly { readonly x: number; readonly y: number }[],
  { width, height }: { width: number; height: number },
): PlacedLabel[] {
  const taken: Box[] = points.map(({ x, y }) => ({
    ...{ left: x - POINT, right: x + POINT, top: y - POINT, bottom: y + POINT },
  }))
  const placed: PlacedLabel[] = []
  const isFree = (box: Box) =>
    box.left >= 0 &&
    box.right <= width &&
    box.top >= -HALF_LINE &&
    box.bottom <= height &&
    !taken.some((other) => overlap(box, other))
  for (const { x, y, texts } of wanted) {
    const options = texts.flatMap((text) => STANDS.map((stand) => ({ x, y, text, stand })))
    const fitting = options.find((option) => isFree(boxOf(option)))
    if (fitting === undefined) continue
    taken.push(boxOf(fitting))
    placed.push(fitting)
  }
  return placed
}

function boxOf({ x, y, text, stand: { align, dx, dy } }: PlacedLabel): Box {
  const width = textWidth(text, LABEL_SIZE)
  const share = align === 'left' ? 0 : align === 'center' ? 0.5 : 1
  const left = x + dx - share * width
  return { left, right: left + width, top: y + dy - HALF_LINE, bottom: y + dy + HALF_LINE }
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}
