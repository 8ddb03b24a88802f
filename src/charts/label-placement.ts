import { textWidth } from './text-width.ts'

/** A text that wants to stand beside a point; pixels, y down. */
export interface WantedLabel {
  readonly x: number
  readonly y: number
  readonly text: string
}

/** How a label stands to its point, as properties of Vega-Lite's text mark. */
export interface Stand {
  readonly align: 'left' | 'center' | 'right'
  readonly dx: number
  readonly dy: number
}

/** Where it fits. */
export interface PlacedLabel extends WantedLabel {
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
  for (const label of wanted) {
    const stand = STANDS.find((each) => {
      const box = boxOf(label, each)
      const isInside =
        box.left >= 0 && box.right <= width && box.top >= -HALF_LINE && box.bottom <= height
      return isInside && !taken.some((other) => overlap(box, other))
    })
    if (stand === undefined) continue
    taken.push(boxOf(label, stand))
    placed.push({ ...label, stand })
  }
  return placed
}

function boxOf({ x, y, text }: WantedLabel, { align, dx, dy }: Stand): Box {
  const width = textWidth(text, LABEL_SIZE)
  const share = align === 'left' ? 0 : align === 'center' ? 0.5 : 1
  const left = x + dx - share * width
  return { left, right: left + width, top: y + dy - HALF_LINE, bottom: y + dy + HALF_LINE }
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}
