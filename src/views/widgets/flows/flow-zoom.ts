import { select } from 'd3-selection'
import { zoom, zoomIdentity, zoomTransform } from 'd3-zoom'
import { type MutableRef, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Point } from '../../drawing/path.ts'

export interface FlowSight extends Point {
  readonly k: number
}

export interface FlowWindow {
  readonly width: number
  readonly height: number
  readonly contentWidth: number
  readonly contentHeight: number
}

export const PAD = 24
const MAX_SCALE = 3
/** Smallest initial scale at which letters can be read. */
const READABLE = 0.62
/** Scale for two flows in sight, at which letters may be as small as 6 pixels. */
const READABLE_BESIDE = 0.58

export function scaleBounds(window: FlowWindow): [least: number, most: number] {
  const { width, height, contentWidth, contentHeight } = window
  const whole = Math.min(
    (width - 2 * PAD) / Math.max(1, contentWidth),
    (height - 2 * PAD) / Math.max(1, contentHeight),
  )
  return [Math.max(0.02, Math.min(1, whole)), MAX_SCALE]
}

/**
 * Returns the first view: the whole width if letters stay readable, else from `rootX`; `isBeside` keeps two flows in
 * sight.
 */
export function firstSight(
  window: FlowWindow,
  { rootX, isBeside = false }: { rootX?: number; isBeside?: boolean } = {},
): FlowSight {
  const wide = (window.width - 2 * PAD) / Math.max(1, window.contentWidth)
  const least = isBeside && wide >= READABLE_BESIDE ? READABLE_BESIDE : READABLE
  const k = Math.min(1, Math.max(least, wide))
  const middle = rootX ?? window.contentWidth / 2
  const x = wide >= k ? (window.width - k * window.contentWidth) / 2 : window.width / 2 - k * middle
  return boundedSight({ k, x, y: PAD }, window)
}

export function wholeSight(window: FlowWindow): FlowSight {
  const [k] = scaleBounds(window)
  return boundedSight({ k, x: (window.width - k * window.contentWidth) / 2, y: PAD }, window)
}

export function boundedSight(sight: FlowSight, window: FlowWindow): FlowSight {
  const [least, most] = scaleBounds(window)
  const k = Math.min(most, Math.max(least, sight.k))
  const place = (from: number, length: number, content: number) => {
    const spare = length - k * content - PAD
    const scaled = length / 2 - ((length / 2 - from) / sight.k) * k
    return Math.min(Math.max(PAD, spare), Math.max(Math.min(PAD, spare), scaled))
  }
  const { width, height, contentWidth, contentHeight } = window
  return { k, x: place(sight.x, width, contentWidth), y: place(sight.y, height, contentHeight) }
}

export type FlowZoom = Omit<ReturnType<typeof flowZoom>, 'behavior'>

const CLEARANCE = 60
/** Scale from which the smallest letters are about 9 pixels high. */
const READ_SCALE = 0.85
/** Below this scale letters are dust, which takes as long to draw as letters do. */
const DUST_SCALE = 0.25

/**
 * Pans and zooms within the drawing; nothing is drawn again until a move rests, when `onScale` gets
 * the enlargement.
 */
export function useFlowZoom(
  surface: MutableRef<SVGSVGElement | null>,
  layer: MutableRef<SVGGElement | null>,
  window: FlowWindow,
  onScale: (scale: number) => void,
): FlowZoom {
  const now = useRef({ window, onScale })
  now.current = { window, onScale }
  const { behavior, ...tools } = useMemo(() => flowZoom(surface, layer, now), [])
  behavior.scaleExtent(scaleBounds(window))
  useLayoutEffect(() => {
    const element = surface.current
    if (element === null) return
    const onWheel = (event: WheelEvent) => {
      if (!event.shiftKey) return
      event.preventDefault()
      const { k, x, y } = tools.sight()
      // With Shift, some systems turn the wheel sideways.
      tools.show({ k, x, y: y - (event.deltaY || event.deltaX) })
    }
    const selection = select(element).call(behavior).on('dblclick.zoom', null)
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => {
      selection.on('.zoom', null)
      element.removeEventListener('wheel', onWheel)
    }
  }, [])
  return tools
}

/** Whether an event is meant for the zoom: text can be selected, and Shift with the wheel scrolls. */
function isMeant(event: Event & { button?: number; shiftKey?: boolean }): boolean {
  if (event.type === 'wheel') return event.shiftKey !== true
  return !event.button && !(event.target as Element).closest('text')
}

function flowZoom(
  surface: MutableRef<SVGSVGElement | null>,
  layer: MutableRef<SVGGElement | null>,
  now: MutableRef<{ readonly window: FlowWindow; readonly onScale: (scale: number) => void }>,
) {
  const watchers = new Set<(sight: FlowSight) => void>()
  const transformOf = (wanted: FlowSight) => {
    const { k, x, y } = boundedSight(wanted, now.current.window)
    return zoomIdentity.translate(x, y).scale(k)
  }
  const behavior = zoom<SVGSVGElement, unknown>()
    .filter(isMeant)
    .extent(() => [
      [0, 0],
      [now.current.window.width, now.current.window.height],
    ])
    .constrain(transformOf)
    .on('zoom', ({ transform }) => {
      layer.current?.setAttribute('transform', String(transform))
      surface.current?.classList.toggle('fd-flow-far', transform.k < DUST_SCALE)
      for (const onMove of watchers) onMove(transform)
    })
    .on('end', ({ transform }) => {
      now.current.onScale(transform.k)
    })
  const sight = (): FlowSight =>
    surface.current === null ? zoomIdentity : zoomTransform(surface.current)
  const show = (wanted: FlowSight) => {
    if (surface.current !== null) behavior.transform(select(surface.current), transformOf(wanted))
  }
  return {
    behavior,
    sight,
    show,
    zoomBy: (factor: number) => {
      if (surface.current !== null) behavior.scaleBy(select(surface.current), factor)
    },
    reveal: (place: Point, { isRead = false } = {}) => {
      const { k: before, x, y } = sight()
      const { width, height } = now.current.window
      const k = isRead ? Math.max(before, READ_SCALE) : before
      const toX = isRead ? width / 2 : offBorder(x + k * place.x, width)
      const toY = isRead ? height / 2 : offBorder(y + k * place.y, height)
      show({ k, x: toX - k * place.x, y: toY - k * place.y })
    },
    /** Tells of every move; returns what ends that. */
    watch: (onMove: (sight: FlowSight) => void) => {
      watchers.add(onMove)
      onMove(sight())
      return () => void watchers.delete(onMove)
    },
  }
}

function offBorder(place: number, length: number): number {
  const clearance = Math.min(CLEARANCE, length / 3)
  return Math.min(length - clearance, Math.max(clearance, place))
}
