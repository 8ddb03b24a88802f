import { useEffect, useState } from 'preact/hooks'
import { boundedSight, type FlowSight, type FlowWindow } from './flow-bounds.ts'
import type { FlowDrawing } from './flow-drawing.ts'
import { stepMiddle } from './flow-keys.ts'
import type { FlowZoom } from './flow-zoom.ts'

interface Shown {
  readonly drawing: FlowDrawing
  readonly window: FlowWindow
  readonly zoom: FlowZoom
}

/** A flow of which less is in the window, or that fills less of it, is not seen. */
const SEEN = 0.85

/** Of two flows beside each other, names the one that is out of sight, and goes there. */
export function FlowBeyond({ drawing, window, zoom }: Shown) {
  const [beyond, setBeyond] = useState<0 | 1 | null>(null)
  useEffect(
    () => zoom.watch((sight) => setBeyond(partBeyond(drawing, window, sight))),
    [drawing, window.width, zoom],
  )
  if (beyond === null) return null
  const isAfter = beyond === 1
  const go = () => {
    const roots = [0, 1].map((part) => stepMiddle(drawing, { part, place: 0 })?.x ?? 0)
    const across = ((roots[1] as number) - (roots[0] as number)) * (isAfter ? 1 : -1)
    const { k, x, y } = zoom.sight()
    zoom.show(boundedSight({ k, x: x - k * across, y }, window))
  }
  return (
    <button
      type="button"
      class="fd-flow-beyond"
      style={isAfter ? 'right:8px' : 'left:8px'}
      onClick={go}
    >
      {isAfter ? 'after →' : '← before'}
    </button>
  )
}

/** The part of which less is in the window, where that is too little; `null` where both are seen. */
export function partBeyond(
  { parts }: FlowDrawing,
  { width }: Pick<FlowWindow, 'width'>,
  { k, x }: FlowSight,
): 0 | 1 | null {
  const seen = parts.map(({ x: left, placed: { placement } }) => {
    const [from, to] = [x + k * left, x + k * (left + placement.width)]
    return (Math.min(width, to) - Math.max(0, from)) / Math.min(width, to - from)
  })
  const [before = 1, after = 1] = seen
  if (Math.min(before, after) >= SEEN) return null
  return after <= before ? 1 : 0
}
