import { useRef } from 'preact/hooks'
import { keyedSpot, nearestSpot, type Spot } from './variation-picking.ts'

interface Point {
  readonly x: number
  readonly y: number
}

/** What a plot tells of the pointer and of keys. */
export interface PlotAnswers {
  readonly spots: readonly Spot[]
  /** Width of the drawing, which the page may show smaller. */
  readonly width: number
  readonly onSee: (category: number | null) => void
  readonly onPin: (category: number | null) => void
  /** A frame is dragged; plots without do not answer. */
  readonly onFrame?: (one: Point, other: Point) => void
  /** A frame is to hold two categories. */
  readonly onSpan?: (one: number, other: number) => void
  readonly onLeave: () => void
}

/** A pointer may tremble as far in a click. */
const CLICK = 4

/** Handlers for an `<svg>`: hovering and arrow keys see a category, clicks and Enter pin it. */
export function usePlotPointer(answers: PlotAnswers) {
  const { spots, width, onSee, onPin, onFrame, onSpan, onLeave } = answers
  const pressed = useRef<{ readonly at: Point; isDrag: boolean } | null>(null)
  const keyed = useRef<Spot | undefined>(undefined)
  const anchor = useRef<number | null>(null)
  const pointOf = (event: PointerEvent): Point => {
    const box = (event.currentTarget as SVGSVGElement).getBoundingClientRect()
    const scale = width / box.width
    return { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale }
  }
  const see = (spot: Spot | undefined) => {
    keyed.current = spot
    onSee(spot?.category ?? null)
  }
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return
      pressed.current = { at: pointOf(event), isDrag: false }
      if (onFrame !== undefined) {
        ;(event.currentTarget as SVGSVGElement).setPointerCapture(event.pointerId)
      }
    },
    onPointerMove: (event: PointerEvent) => {
      const at = pointOf(event)
      const { current } = pressed
      if (current === null) {
        see(nearestSpot(spots, at))
        return
      }
      const far = Math.hypot(at.x - current.at.x, at.y - current.at.y)
      if (far > CLICK) current.isDrag = true
      if (current.isDrag) onFrame?.(current.at, at)
    },
    onPointerUp: (event: PointerEvent) => {
      const { current } = pressed
      pressed.current = null
      if (current === null || current.isDrag) return
      onPin(nearestSpot(spots, pointOf(event))?.category ?? null)
    },
    onPointerCancel: () => {
      pressed.current = null
    },
    onPointerLeave: () => {
      if (pressed.current === null) onSee(null)
    },
    onBlur: () => {
      anchor.current = null
      onSee(null)
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === 'Escape') {
        onLeave()
      } else if (event.key === 'Enter' || event.key === ' ') {
        if (keyed.current !== undefined) onPin(keyed.current.category)
      } else {
        const from = keyed.current
        const next = keyedSpot(spots, from, event.key)
        if (next === undefined) return
        see(next)
        if (event.shiftKey && onSpan !== undefined) {
          anchor.current ??= (from ?? next).category
          onSpan(anchor.current, next.category)
        } else {
          anchor.current = null
        }
      }
      event.preventDefault()
    },
  }
}
