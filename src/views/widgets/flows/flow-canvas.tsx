import { least } from 'd3-array'
import { select } from 'd3-selection'
import { zoom, zoomIdentity, zoomTransform } from 'd3-zoom'
import {
  type MutableRef,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'preact/hooks'
import { actOnKey, Button, isSelectingText, useWidth } from '../../drawing/controls.tsx'
import type { Point } from '../../drawing/path.ts'
import { useWidgetOptions, type ViewProps } from '../define-widget.ts'
import { FlowGraph, type FlowHands } from './flow-graph.tsx'
import {
  type DrawnStep,
  type FlowDrawing,
  flowDrawing,
  layOutFlow,
  stagesOver,
} from './flow-placement.ts'
import {
  FLOWS_WIDGET_OPTIONS,
  type FlowData,
  type FlowScene,
  type FlowSelection,
  type FlowState,
  type FlowsWidgetOptions,
  flowScene,
  groupsAt,
  linkWords,
  type SceneStep,
  type SelectedThing,
  selectedThing,
  selectionOf,
  shownNotes,
  stepWords,
  useKeptNotes,
} from './flow-scene.ts'

export interface FlowSight extends Point {
  readonly k: number
}

export type FlowWindow = Readonly<
  Record<'width' | 'height' | 'contentWidth' | 'contentHeight', number>
>

const PAD = 24
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

/** Returns the first view: the whole width if letters stay readable, else from `rootX`; `isBeside` shows two flows. */
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

const CLEARANCE = 60
/** Scale from which the smallest letters are about 9 pixels high. */
const READ_SCALE = 0.85
/** Below this scale letters are dust, which takes as long to draw as letters do. */
const DUST_SCALE = 0.25

/** Pans and zooms within the drawing; `onScale` gets the enlargement, to draw again, once a move rests. */
export function useFlowZoom(
  surface: MutableRef<SVGSVGElement | null>,
  layer: MutableRef<SVGGElement | null>,
  window: FlowWindow,
  onScale: (scale: number) => void,
): Omit<ReturnType<typeof flowZoom>, 'behavior'> {
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

export interface StepPlace {
  readonly part: number
  readonly place: number
}

export function stepMiddle({ parts }: FlowDrawing, { part, place }: StepPlace): Point | null {
  const drawn = parts[part]?.steps[place]
  return drawn === undefined ? null : middleOf(drawn)
}

export function middleOf({ x, y, step }: DrawnStep): Point {
  return { x, y: y + step.height / 2 }
}

export function thingPlace({ parts }: FlowDrawing, { step, link }: SelectedThing): Point | null {
  const drawnStep = parts.flatMap(({ steps }) => steps).findLast((each) => each.step === step)
  if (drawnStep !== undefined) return middleOf(drawnStep)
  const drawnLink = parts.flatMap(({ links }) => links).findLast((each) => each.link === link)
  // Its ends may be far apart.
  return drawnLink === undefined ? null : { x: drawnLink.columnX, y: drawnLink.labelY }
}

export function placeOfNode(
  { parts }: FlowDrawing,
  { stepOf }: FlowScene,
  node: number,
  preferred = 0,
): StepPlace | null {
  for (const part of [preferred, ...parts.keys()]) {
    const place = parts[part]?.steps.findIndex(({ step }) => step.id === stepOf[node]) ?? -1
    if (place >= 0) return { part, place }
  }
  return null
}

const MIN_HEIGHT = 240
const MAX_HEIGHT = 640
/** Least distance of lines between the same steps, in pixels. */
export const MIN_APART = 36

export type Flow = ReturnType<typeof useFlow>

/** Keeps the state of a comparison of flows in a page: the drawn form, the window's place and the choice. */
export function useFlow(props: ViewProps<FlowData, FlowsWidgetOptions>) {
  const { data } = props
  const { options, change } = useWidgetOptions(FLOWS_WIDGET_OPTIONS, props)
  const state = stateOf(data, options)
  const [selection, setSelection] = useState<FlowSelection | null>(null)
  const [difference, setDifference] = useState(state.level === 'focus' ? state.focus - 1 : -1)
  const [place, width] = useWidth<HTMLDivElement>(900)
  const surface = useRef<SVGSVGElement | null>(null)
  const layer = useRef<SVGGElement | null>(null)
  /** Step that keeps its place in the window while others come or go. */
  const anchor = useRef<{ node: number; part: number; x: number; y: number } | null>(null)

  const { mode, level, focus, opened, pins, at, annotations } = state
  useKeptNotes(data, annotations, (merged) => change({ annotations: merged }))
  const isBeside = mode === 'side-by-side'
  const scene = useMemo(
    () => flowScene(data, { level, focus, opened }),
    [data, level, focus, opened],
  )
  const layout = useMemo(() => layOutFlow(scene, mode, pins), [scene, mode, pins])
  const [scale, setScale] = useState(1)
  const drawingAt = (moment: number) =>
    flowDrawing(layout, data, { at: moment, leastApart: MIN_APART / 2 ** (step / 2) })
  // Only lines between two flows follow the scale, in few steps.
  const step = isBeside ? Math.round(2 * Math.log2(scale)) : 0
  const drawing = useMemo(() => drawingAt(at), [layout, data, at, step])
  const window = windowOf(width, drawing, isBeside)
  const zoom = useFlowZoom(surface, layer, window, setScale)
  const notes = useMemo(() => shownNotes(annotations, scene, data), [annotations, scene, data])
  const thing = selectedThing(scene, data, selection)
  const found = data.ranked.differences
  const stages = layout.animation?.stages.length ?? 0
  const over = layout.animation === null ? 0 : stagesOver(layout.animation, at)
  const isBetween = mode === 'animation' && at > 0 && at < 1
  const staged = isBetween ? layout.animation?.stages[Math.ceil(over) - 1] : undefined
  const current = isBetween ? staged : found[difference]
  const told = current && selectionOf(current)
  const isShown =
    isBetween ||
    (selection !== null && selection.node === told?.node && selection.edge === told?.edge)
  const ringed =
    current != null && current.kind !== 'latency' && isShown
      ? current.nodes.map((node) => scene.stepOf[node] as number)
      : []
  const middleOf = (node: number, part: number) => {
    const step = placeOfNode(drawing, scene, node, part)
    return step === null ? null : stepMiddle(drawing, step)
  }

  useLayoutEffect(() => {
    const root = stepMiddle(drawing, { part: 0, place: 0 })
    zoom.show(firstSight(window, { isBeside, ...(root === null ? {} : { rootX: root.x }) }))
  }, [mode, level, focus, width])
  useLayoutEffect(() => {
    const kept = anchor.current
    anchor.current = null
    const middle = kept === null ? null : middleOf(kept.node, kept.part)
    const { k, x, y } = zoom.sight()
    if (kept === null || middle === null) zoom.show({ k, x, y })
    else zoom.show({ k, x: kept.x - k * middle.x, y: kept.y - k * middle.y })
  }, [scene, pins])

  useLayoutEffect(() => {
    if (staged == null) return
    const middle = thingPlace(drawing, selectedThing(scene, data, selectionOf(staged)))
    if (middle !== null) zoom.reveal(middle, { isRead: true })
  }, [staged])

  const toggle = (group: number, part = 0) => {
    const node = groupsAt(data, state).find(({ id }) => id === group)?.nodes[0] ?? 0
    const middle = middleOf(node, part)
    const { k, x, y } = zoom.sight()
    if (middle !== null) anchor.current = { node, part, x: x + k * middle.x, y: y + k * middle.y }
    setSelection({ node })
    change({
      opened: opened.includes(group) ? opened.filter((id) => id !== group) : [...opened, group],
    })
  }
  const goTo = (next: FlowSelection, when?: number) => {
    setSelection(next)
    const target = selectedThing(scene, data, next)
    const { inBefore = true, inAfter = true } = target.step ?? target.link ?? {}
    const isElsewhere = mode === 'animation' && inBefore !== inAfter
    const moment = when ?? (isElsewhere ? Number(inAfter) : at)
    if (moment !== at) change({ at: moment })
    const middle = thingPlace(drawingAt(moment), target)
    if (middle !== null) zoom.reveal(middle, { isRead: true })
  }
  const stepOn = (way: 1 | -1) =>
    showDifference((Math.max(difference, way < 0 ? 0 : -1) + way + found.length) % found.length)
  const showDifference = (next: number) => {
    setDifference(next)
    const target = found[next]
    if (target === undefined) return
    if (level === 'focus') {
      setSelection(selectionOf(target))
      return change({ focus: target.rank, opened: [] })
    }
    const stage = layout.animation?.stages.findIndex((each) => each?.rank === target.rank) ?? -1
    goTo(selectionOf(target), stage < 0 ? undefined : (stage + 1) / stages)
  }
  const pin = (node: number) => {
    const { inBefore = false, inAfter = false } = data.nodes[node] ?? {}
    const others = pins.filter((pin) => scene.stepOf[pin] !== scene.stepOf[node])
    if (!isBeside || !inBefore || !inAfter) return
    change({ pins: others.length < pins.length ? others : [...pins, node] })
  }
  return {
    ...{ data, options, state, change, scene, drawing, notes, isBeside },
    ...{ place, width, window, zoom, surface, layer, scale },
    ...{ thing, ringed, select: setSelection, goTo, toggle, pin },
    pinned: pins.map((node) => scene.stepOf[node] as number),
    /** Number of animated differences, how many are over, and the current one. */
    ...{ stages, over, staged },
    ...{ difference, current, stepOn, showDifference },
  }
}

function windowOf(width: number, drawing: FlowDrawing, isBeside: boolean): FlowWindow {
  const { width: contentWidth, height: contentHeight } = drawing
  const { k } = firstSight({ width, height: MAX_HEIGHT, contentWidth, contentHeight }, { isBeside })
  const height = Math.min(MAX_HEIGHT, Math.max(MIN_HEIGHT, Math.ceil(k * contentHeight + 2 * PAD)))
  return { width, height, contentWidth, contentHeight }
}

export function stateOf(data: FlowData, options: FlowsWidgetOptions): FlowState {
  const { usualMode, usualLevel } = data
  return { ...options, mode: options.mode ?? usualMode, level: options.level ?? usualLevel }
}

/** Returns the step that a key leads to: arrows along the flow or across, Home and End to the ends; or `null`. */
export function stepAfterKey(drawing: FlowDrawing, from: StepPlace, key: string): StepPlace | null {
  const part = drawing.parts[from.part]
  const id = part?.steps[from.place]?.step.id
  if (part === undefined || id === undefined) return null
  const { links, steps } = part
  const inPart = (wanted: number | undefined) => {
    const place = steps.findIndex(({ step }) => step.id === wanted)
    return place < 0 ? null : { part: from.part, place }
  }
  if (key === 'ArrowDown') return inPart(links.find(({ link }) => link.from === id)?.link.to)
  if (key === 'ArrowUp') return inPart(links.find(({ link }) => link.to === id)?.link.from)
  if (key === 'Home') return { part: from.part, place: 0 }
  if (key === 'End') return { part: from.part, place: steps.length - 1 }
  if (key !== 'ArrowLeft' && key !== 'ArrowRight') return null
  const way = key === 'ArrowRight' ? 1 : -1
  const start = stepMiddle(drawing, from) ?? { x: 0, y: 0 }
  const boxes = drawing.parts.flatMap((drawn, at) =>
    drawn.steps.map((each, place) => ({ at: { part: at, place }, ...middleOf(each) })),
  )
  const ahead = boxes.filter(({ x }) => way * (x - start.x) >= 8)
  return least(ahead, ({ x, y }) => Math.abs(x - start.x) + 3 * Math.abs(y - start.y))?.at ?? null
}

type FlowProps = { readonly flow: Flow }

export function FlowCanvas({ flow }: FlowProps) {
  const { data, scene, drawing, notes, pinned, thing, ringed, window, surface, layer } = flow
  // The graph the reader is in, where a step is drawn in both.
  const current = useRef(0)
  const awaited = useRef<number | null>(null)
  useLayoutEffect(() => {
    if (awaited.current === null) return
    const place = placeOfNode(drawing, scene, awaited.current, current.current)
    awaited.current = null
    focusStep(surface.current, place)
  }, [scene])
  return (
    <svg
      ref={surface}
      class="fd-flow-surface"
      width={window.width}
      height={window.height}
      font-family="system-ui, sans-serif"
      font-size="12"
      role="application"
      aria-label="Flows; arrow keys go from step to step"
    >
      <g ref={layer}>
        <FlowGraph
          {...{ data, drawing, notes, pinned }}
          hands={handsOf(flow, current, awaited)}
          selectedSteps={thing.step === null ? ringed : [thing.step.id, ...ringed]}
          selectedEdge={thing.link?.lead.id ?? null}
        />
      </g>
    </svg>
  )
}

function handsOf(
  flow: Flow,
  current: MutableRef<number>,
  awaited: MutableRef<number | null>,
): FlowHands {
  const { data, scene, drawing, thing, zoom, surface, select } = flow
  const selected = thing.step?.nodes[0] ?? 0
  const reached = placeOfNode(drawing, scene, selected, current.current) ?? { part: 0, place: 0 }
  const toggle = (group: number, node: number, part: number) => {
    awaited.current = node
    flow.toggle(group, part)
  }
  const onKey = (event: KeyboardEvent, { group, openedGroup, nodes }: SceneStep, at: StepPlace) => {
    const node = nodes[0] as number
    const open = () => group !== null && toggle(group.id, node, at.part)
    const go = () => focusStep(surface.current, stepAfterKey(drawing, at, event.key))
    actOnKey(event, {
      ...Object.fromEntries(WAYS.map((key) => [key, go])),
      Enter: open,
      ' ': open,
      Escape: () => select(null),
      p: () => flow.pin(node),
      Backspace: () => openedGroup !== null && toggle(openedGroup, node, at.part),
      '+': () => zoom.zoomBy(1.4),
      '-': () => zoom.zoomBy(1 / 1.4),
    })
  }
  return {
    step: (drawn, part, place) => {
      const { step } = drawn
      const node = step.nodes[0] as number
      return {
        class: 'fd-flow-thing',
        role: 'button',
        tabindex: reached.part === part && reached.place === place ? 0 : -1,
        'aria-label': stepWords(data, step),
        ...(step.group === null
          ? { 'aria-pressed': step.id === thing.step?.id }
          : { 'aria-expanded': false }),
        'data-step': `${part}:${place}`,
        onFocus: () => {
          current.current = part
          zoom.reveal(middleOf(drawn))
          select({ node })
        },
        onClick: ({ currentTarget }) => {
          if (isSelectingText(currentTarget)) return
          if (step.group === null) select({ node })
          else toggle(step.group.id, node, part)
        },
        onKeyDown: (event: KeyboardEvent) => onKey(event, step, { part, place }),
      }
    },
    link: ({ link }, part) => ({
      class: 'fd-flow-thing',
      role: 'button',
      'aria-label': linkWords(data, link),
      'data-edge': link.lead.id,
      onClick: ({ currentTarget }) => {
        if (isSelectingText(currentTarget)) return
        current.current = part
        select({ edge: link.lead.id })
      },
    }),
  }
}

const WAYS = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End']

function focusStep(surface: SVGSVGElement | null, place: StepPlace | null): void {
  if (surface === null || place === null) return
  const step = surface.querySelector<SVGGElement>(`[data-step="${place.part}:${place.place}"]`)
  // The drawing moves by itself; the page stays.
  step?.focus({ preventScroll: true })
}

/** A flow of which less is in the window, or that fills less of it, is not seen. */
const SEEN = 0.85

/** Buttons that go to what is not in the window: the other flow, and the drawing below. */
export function FlowBeyond({ flow: { drawing, window, zoom } }: FlowProps) {
  const [beyond, setBeyond] = useState<0 | 1 | null>(null)
  const [isMore, setIsMore] = useState(false)
  useEffect(
    () =>
      zoom.watch((sight) => {
        setBeyond(partBeyond(drawing, window, sight))
        setIsMore(sight.y + sight.k * drawing.height > window.height + 1)
      }),
    [drawing, window.width, window.height],
  )
  const move = (right: number, down: number) => {
    const { k, x, y } = zoom.sight()
    zoom.show({ k, x: x - k * right, y: y - down })
  }
  const [before = 0, after = 0] = drawing.parts.map(({ steps }) => steps[0]?.x ?? 0)
  return (
    <>
      {beyond === null ? null : (
        <Button
          class="fd-flow-beyond"
          style={beyond === 1 ? 'right:8px' : 'left:8px'}
          onClick={() => move((after - before) * (beyond === 1 ? 1 : -1), 0)}
        >
          {beyond === 1 ? 'after →' : '← before'}
        </Button>
      )}
      {isMore ? (
        <Button class="fd-flow-beyond fd-flow-below" onClick={() => move(0, 0.8 * window.height)}>
          more below ↓
        </Button>
      ) : null}
    </>
  )
}

/** Returns the part of which too little is in the window; `null` where both are seen. */
export function partBeyond(
  { parts }: FlowDrawing,
  { width }: Pick<FlowWindow, 'width'>,
  { k, x }: FlowSight,
): 0 | 1 | null {
  if (parts.length < 2) return null
  const [before = 1, after = 1] = parts.map((part) => {
    const [from, to] = [x + k * part.x, x + k * (part.x + part.width)]
    return (Math.min(width, to) - Math.max(0, from)) / Math.min(width, to - from)
  })
  if (Math.min(before, after) >= SEEN) return null
  return after <= before ? 1 : 0
}
