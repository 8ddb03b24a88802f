import { useState } from 'preact/hooks'

/** A part of the width that is being marked, as shares from 0 to 1. */
export type DraggedRange = readonly [from: number, to: number]

/** Narrower than this is a click. */
const NARROWEST = 0.005

interface PointerHandlers {
  readonly onPointerDown: (event: PointerEvent) => void
  readonly onPointerMove: (event: PointerEvent) => void
  readonly onPointerUp: (event: PointerEvent) => void
  readonly onPointerCancel: () => void
}

/**
 * Marking a range by dragging across an element.
 *
 * @param onRange gets the range, from left to right, when the pointer is let go
 */
export function useDragRange(
  onRange: (range: DraggedRange) => void,
): readonly [dragged: DraggedRange | null, handlers: PointerHandlers] {
  const [start, setStart] = useState<number | null>(null)
  const [now, setNow] = useState(0)
  const range: DraggedRange | null =
    start === null ? null : [Math.min(start, now), Math.max(start, now)]
  return [
    range,
    {
      onPointerDown: (event) => {
        if (event.button !== 0) return
        ;(event.currentTarget as Element).setPointerCapture(event.pointerId)
        setStart(shareAt(event))
        setNow(shareAt(event))
        // Text would be selected on the way.
        event.preventDefault()
      },
      onPointerMove: (event) => {
        if (start !== null) setNow(shareAt(event))
      },
      onPointerUp: (event) => {
        if (start === null) return
        const end = shareAt(event)
        setStart(null)
        if (Math.abs(end - start) < NARROWEST) return
        onRange([Math.min(start, end), Math.max(start, end)])
      },
      onPointerCancel: () => setStart(null),
    },
  ]
}

function shareAt({ clientX, currentTarget }: PointerEvent): number {
  const { left, width } = (currentTarget as Element).getBoundingClientRect()
  return Math.min(1, Math.max(0, width > 0 ? (clientX - left) / width : 0))
}
