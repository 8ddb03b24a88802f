/** What is seen of a drawing: how much enlarged, and moved by how many pixels. */
export interface FlowSight {
  readonly k: number
  readonly x: number
  readonly y: number
}

/** The window a drawing is seen through, and the drawing, in pixels. */
export interface FlowWindow {
  readonly width: number
  readonly height: number
  readonly contentWidth: number
  readonly contentHeight: number
}

/** Room left around the drawing. */
export const PAD = 24
const LARGEST = 3
/** Never so small at first that letters cannot be read. */
const READABLE = 0.62
/** To have two flows in sight, letters may be as small as 6 pixels. */
const READABLE_BESIDE = 0.58
/** How far beyond its bounds a drawing can be pulled at most. */
const STRETCH = 70

/** The smallest and the largest scale: all of the drawing, or large letters. */
export function scaleBounds({
  width,
  height,
  contentWidth,
  contentHeight,
}: FlowWindow): [least: number, most: number] {
  const whole = Math.min(
    (width - 2 * PAD) / Math.max(1, contentWidth),
    (height - 2 * PAD) / Math.max(1, contentHeight),
  )
  return [Math.max(0.02, Math.min(1, whole)), LARGEST]
}

/**
 * What is seen at first: the whole width if letters stay readable, from the top.
 *
 * @param options `rootX`: where the drawing begins, in the middle where not all of the width is
 *   seen; `isBeside`: two flows stand beside each other, and both are to be in sight if they can
 */
export function firstSight(
  window: FlowWindow,
  {
    rootX = window.contentWidth / 2,
    isBeside = false,
  }: { rootX?: number; isBeside?: boolean } = {},
): FlowSight {
  const wide = (window.width - 2 * PAD) / Math.max(1, window.contentWidth)
  const least = isBeside && wide >= READABLE_BESIDE ? READABLE_BESIDE : READABLE
  const k = Math.min(1, Math.max(least, wide))
  const x = wide >= k ? (window.width - k * window.contentWidth) / 2 : window.width / 2 - k * rootX
  return boundedSight({ k, x, y: PAD }, window)
}

/** All of the drawing. */
export function wholeSight(window: FlowWindow): FlowSight {
  const [k] = scaleBounds(window)
  const { width, contentWidth } = window
  return boundedSight({ k, x: (width - k * contentWidth) / 2, y: PAD }, window)
}

/** The nearest sight that keeps the drawing in its window; the middle of the window stays. */
export function boundedSight(sight: FlowSight, window: FlowWindow): FlowSight {
  const [least, most] = scaleBounds(window)
  const k = Math.min(most, Math.max(least, sight.k))
  const { width, height } = window
  const x = width / 2 - ((width / 2 - sight.x) / sight.k) * k
  const y = height / 2 - ((height / 2 - sight.y) / sight.k) * k
  const { fromX, toX, fromY, toY } = moveBounds(k, window)
  return { k, x: Math.min(toX, Math.max(fromX, x)), y: Math.min(toY, Math.max(fromY, y)) }
}

/** A sight that can be pulled beyond its bounds, the harder the farther, like a rubber band. */
export function stretchedSight({ k, x, y }: FlowSight, window: FlowWindow): FlowSight {
  const { fromX, toX, fromY, toY } = moveBounds(k, window)
  return { k, x: stretched(x, fromX, toX), y: stretched(y, fromY, toY) }
}

function moveBounds(k: number, { width, height, contentWidth, contentHeight }: FlowWindow) {
  const [spareX, spareY] = [width - k * contentWidth - PAD, height - k * contentHeight - PAD]
  return {
    ...{ fromX: Math.min(PAD, spareX), toX: Math.max(PAD, spareX) },
    ...{ fromY: Math.min(PAD, spareY), toY: Math.max(PAD, spareY) },
  }
}

function stretched(value: number, from: number, to: number): number {
  const beyond = value < from ? value - from : value > to ? value - to : 0
  const pulled = (STRETCH * Math.abs(beyond)) / (Math.abs(beyond) + STRETCH)
  return beyond === 0 ? value : beyond < 0 ? from - pulled : to + pulled
}
