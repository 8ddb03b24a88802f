import { select } from 'd3-selection'
import { type D3ZoomEvent, type ZoomBehavior, zoom, zoomIdentity, zoomTransform } from 'd3-zoom'
import { type MutableRef, useLayoutEffect, useMemo, useRef } from 'preact/hooks'

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
const MAX_SCALE = 3
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
  return [Math.max(0.02, Math.min(1, whole)), MAX_SCALE]
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

/** Moving and enlarging a drawing. */
export interface FlowZoom {
  readonly sight: () => FlowSight
  readonly show: (sight: FlowSight) => void
  readonly zoomBy: (factor: number) => void
  /**
   * Moves so that a place of the drawing is in the window; with `isRead` in its middle, and large
   * enough to be read.
   */
  readonly reveal: (place: { x: number; y: number }, options?: { isRead?: boolean }) => void
  /** Tells of every move; gives what ends that. */
  readonly watch: (onMove: (sight: FlowSight) => void) => () => void
}

/** How far it can be pulled beyond the smallest and the largest scale. */
const PULL = 1.35
const SPRING_MS = 180
/** What is revealed keeps this distance from the border. */
const CLEARANCE = 60
/** From this scale on, the smallest letters are about 9 pixels high. */
const READ_SCALE = 0.85
/** Below this scale letters are dust, which takes as long to draw as letters do. */
const DUST_SCALE = 0.25

/**
 * Pan by dragging, zoom by wheel or two fingers, scroll by the wheel with Shift; what is pulled
 * beyond its bounds springs back.
 *
 * A move only moves: nothing is laid out or drawn again until it rests.
 *
 * @param onScale gets about how much it is enlarged, in few steps and at rest, for what is drawn to
 *   follow
 */
export function useFlowZoom(
  surface: MutableRef<SVGSVGElement | null>,
  layer: MutableRef<SVGGElement | null>,
  window: FlowWindow,
  onScale: (scale: number) => void,
): FlowZoom {
  const bounds = useRef(window)
  const behavior = useRef<Zooming | null>(null)
  const stopSpring = useRef(() => {})
  const watchers = useRef(new Set<(sight: FlowSight) => void>())
  const tools = useMemo(
    () => zoomTools(surface, { behavior, bounds, stopSpring, watchers }),
    [surface],
  )
  const rest = useRef(onScale)
  rest.current = onScale
  bounds.current = window
  const [least, most] = scaleBounds(window)
  behavior.current?.scaleExtent([least / PULL, most * PULL])
  useLayoutEffect(() => {
    const element = surface.current
    if (element === null) return
    let gestures = 0
    const zooming = zoom<SVGSVGElement, unknown>()
      .scaleExtent([least / PULL, most * PULL])
      .filter(isMeant)
      .extent(() => [
        [0, 0],
        [bounds.current.width, bounds.current.height],
      ])
      .constrain((transform) => {
        const { k, x, y } = stretchedSight(transform, bounds.current)
        return zoomIdentity.translate(x, y).scale(k)
      })
      .on('start', ({ sourceEvent }: D3ZoomEvent<SVGSVGElement, unknown>) => {
        gestures++
        // What code does has no event.
        if (sourceEvent !== null) stopSpring.current()
      })
      .on('zoom', ({ transform }: D3ZoomEvent<SVGSVGElement, unknown>) => {
        layer.current?.setAttribute('transform', String(transform))
        surface.current?.classList.toggle('fd-flow-far', transform.k < DUST_SCALE)
        for (const onMove of watchers.current) onMove(transform)
      })
      .on('end', ({ transform, sourceEvent }: D3ZoomEvent<SVGSVGElement, unknown>) => {
        rest.current(2 ** (Math.round(2 * Math.log2(transform.k)) / 2))
        gestures--
        const bounded = boundedSight(transform, bounds.current)
        // The wheel ends late: a drag may have begun.
        if (gestures > 0 || sourceEvent === null || isNear(bounded, transform)) return
        stopSpring.current()
        stopSpring.current = springTo(transform, bounded, (next) => put(zooming, element, next))
      })
    behavior.current = zooming
    const onWheel = (event: WheelEvent) => {
      if (!event.shiftKey) return
      event.preventDefault()
      const { k, x, y } = tools.sight()
      // With Shift, some systems turn the wheel sideways.
      tools.show(boundedSight({ k, x, y: y - (event.deltaY || event.deltaX) }, bounds.current))
    }
    const selection = select(element).call(zooming).on('dblclick.zoom', null)
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => {
      stopSpring.current()
      selection.on('.zoom', null)
      element.removeEventListener('wheel', onWheel)
    }
    // The scale's bounds follow on their own.
  }, [surface, layer, tools])
  return tools
}

/** Text can be selected; Shift and wheel scroll. */
function isMeant(event: Event & { button?: number; shiftKey?: boolean }): boolean {
  if (event.type === 'wheel') return event.shiftKey !== true
  return !event.button && !(event.target as Element).closest('text')
}

interface ZoomParts {
  readonly behavior: MutableRef<Zooming | null>
  readonly bounds: MutableRef<FlowWindow>
  readonly stopSpring: MutableRef<() => void>
  readonly watchers: MutableRef<Set<(sight: FlowSight) => void>>
}

type Zooming = ZoomBehavior<SVGSVGElement, unknown>

function put(zooming: Zooming, element: SVGSVGElement, { k, x, y }: FlowSight): void {
  zooming.transform(select(element), zoomIdentity.translate(x, y).scale(k))
}

function zoomTools(
  surface: MutableRef<SVGSVGElement | null>,
  { behavior, bounds, stopSpring, watchers }: ZoomParts,
): FlowZoom {
  const sight = (): FlowSight => {
    const element = surface.current
    const { k, x, y } = element === null ? zoomIdentity : zoomTransform(element)
    return { k, x, y }
  }
  const show = (next: FlowSight) => {
    const [element, zooming] = [surface.current, behavior.current]
    if (element === null || zooming === null) return
    stopSpring.current()
    put(zooming, element, next)
  }
  return {
    sight,
    show,
    zoomBy: (factor) => {
      const { k, x, y } = sight()
      const { width, height } = bounds.current
      const [middleX, middleY] = [(width / 2 - x) / k, (height / 2 - y) / k]
      const [least, most] = scaleBounds(bounds.current)
      const next = Math.min(most, Math.max(least, k * factor))
      const moved = { k: next, x: width / 2 - middleX * next, y: height / 2 - middleY * next }
      show(boundedSight(moved, bounds.current))
    },
    reveal: (place, { isRead = false } = {}) => {
      const { k, x, y } = sight()
      const { width, height } = bounds.current
      if (isRead) {
        const near = Math.max(k, READ_SCALE)
        const middle = { x: width / 2 - near * place.x, y: height / 2 - near * place.y }
        show(boundedSight({ k: near, ...middle }, bounds.current))
        return
      }
      const [screenX, screenY] = [x + k * place.x, y + k * place.y]
      const [toX, toY] = [within(screenX, width), within(screenY, height)]
      if (toX === screenX && toY === screenY) return
      show(boundedSight({ k, x: x + toX - screenX, y: y + toY - screenY }, bounds.current))
    },
    watch: (onMove) => {
      watchers.current.add(onMove)
      onMove(sight())
      return () => watchers.current.delete(onMove)
    },
  }
}

function within(place: number, length: number): number {
  const clearance = Math.min(CLEARANCE, length / 3)
  return Math.min(length - clearance, Math.max(clearance, place))
}

function isNear(a: FlowSight, b: FlowSight): boolean {
  return Math.abs(a.x - b.x) + Math.abs(a.y - b.y) < 0.5 && Math.abs(a.k / b.k - 1) < 0.001
}

/** Moves back step by step, or at once for readers who want no motion; gives what stops it. */
function springTo(from: FlowSight, to: FlowSight, show: (sight: FlowSight) => void): () => void {
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
  const start = performance.now()
  const step = (now: number) => {
    const share = isStill ? 1 : Math.min(1, (now - start) / SPRING_MS)
    const part = 1 - (1 - share) ** 3
    show({
      k: from.k + part * (to.k - from.k),
      x: from.x + part * (to.x - from.x),
      y: from.y + part * (to.y - from.y),
    })
    if (share < 1) frame = requestAnimationFrame(step)
  }
  let frame = requestAnimationFrame(step)
  return () => cancelAnimationFrame(frame)
}
