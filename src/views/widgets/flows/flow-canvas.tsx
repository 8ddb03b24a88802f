import { least } from 'd3-array'
import { type MutableRef, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { actOnKey, Button, isSelectingText } from '../../drawing/controls.tsx'
import type { Point } from '../../drawing/path.ts'
import type { ShownNotes } from './flow-details.tsx'
import type { DrawnStep, FlowDrawing } from './flow-drawing.ts'
import { FlowGraph, type FlowHands } from './flow-graph.tsx'
import type { FlowData, FlowScene, FlowSelection, SceneStep, SelectedThing } from './flow-scene.ts'
import { linkWords, stepWords } from './flow-words.ts'
import type { FlowSight, FlowWindow, FlowZoom } from './flow-zoom.ts'

interface StepPlace {
  readonly part: number
  readonly place: number
}

export function stepMiddle({ parts }: FlowDrawing, { part, place }: StepPlace): Point | null {
  const drawn = parts[part]?.steps[place]
  return drawn === undefined ? null : middleOf(drawn)
}

function middleOf({ x, y, step }: DrawnStep): Point {
  return { x, y: y + step.height / 2 }
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
  return beside(drawing, from, key === 'ArrowRight' ? 1 : -1)
}

function beside(drawing: FlowDrawing, from: StepPlace, way: 1 | -1): StepPlace | null {
  const start = stepMiddle(drawing, from) ?? { x: 0, y: 0 }
  const boxes = drawing.parts.flatMap(({ steps }, part) =>
    steps.map((drawn, place) => ({ part, place, ...middleOf(drawn) })),
  )
  const nearest = least(
    boxes.filter(({ x }) => way * (x - start.x) >= 8),
    ({ x, y }) => Math.abs(x - start.x) + 3 * Math.abs(y - start.y),
  )
  return nearest === undefined ? null : { part: nearest.part, place: nearest.place }
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

interface FlowCanvasProps {
  readonly data: FlowData
  readonly scene: FlowScene
  readonly drawing: FlowDrawing
  readonly notes: ShownNotes
  readonly pinned: readonly number[]
  readonly thing: SelectedThing
  /** Ids of steps of the difference that is shown. */
  readonly ringed: readonly number[]
  readonly window: FlowWindow
  readonly zoom: FlowZoom
  readonly surface: MutableRef<SVGSVGElement | null>
  readonly layer: MutableRef<SVGGElement | null>
  readonly onSelect: (selection: FlowSelection | null) => void
  readonly onToggle: (group: number, part: number) => void
  readonly onPin: (node: number) => void
}

export function FlowCanvas(props: FlowCanvasProps) {
  const { data, scene, drawing, notes, pinned, thing, ringed, window, surface, layer } = props
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
          {...{ data, drawing, notes }}
          hands={handsOf(props, current, awaited)}
          pinned={pinned}
          selectedSteps={thing.step === null ? ringed : [thing.step.id, ...ringed]}
          selectedEdge={thing.link?.lead.id ?? null}
        />
      </g>
    </svg>
  )
}

function handsOf(
  props: FlowCanvasProps,
  current: MutableRef<number>,
  awaited: MutableRef<number | null>,
): FlowHands {
  const { data, scene, drawing, thing, zoom, surface, onSelect, onToggle, onPin } = props
  const selected = thing.step?.nodes[0] ?? 0
  const reached = placeOfNode(drawing, scene, selected, current.current) ?? { part: 0, place: 0 }
  const toggle = (group: number, node: number, part: number) => {
    awaited.current = node
    onToggle(group, part)
  }
  const onKey = (event: KeyboardEvent, { group, openedGroup, nodes }: SceneStep, at: StepPlace) => {
    const node = nodes[0] as number
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const open = () => group !== null && toggle(group.id, node, at.part)
    const go = () => focusStep(surface.current, stepAfterKey(drawing, at, event.key))
    actOnKey(event, {
      Enter: open,
      ' ': open,
      Escape: () => onSelect(null),
      p: () => onPin(node),
      Backspace: () => openedGroup !== null && toggle(openedGroup, node, at.part),
      '+': () => zoom.zoomBy(1.4),
      '-': () => zoom.zoomBy(1 / 1.4),
      ArrowUp: go,
      ArrowDown: go,
      ArrowLeft: go,
      ArrowRight: go,
      Home: go,
      End: go,
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
          onSelect({ node })
        },
        onClick: ({ currentTarget }) => {
          if (isSelectingText(currentTarget)) return
          if (step.group === null) onSelect({ node })
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
        onSelect({ edge: link.lead.id })
      },
    }),
  }
}

function focusStep(surface: SVGSVGElement | null, place: StepPlace | null): void {
  if (surface === null || place === null) return
  const step = surface.querySelector<SVGGElement>(`[data-step="${place.part}:${place.place}"]`)
  // The drawing moves by itself; the page stays.
  step?.focus({ preventScroll: true })
}

type Shown = Pick<FlowCanvasProps, 'drawing' | 'window' | 'zoom'>

/** A flow of which less is in the window, or that fills less of it, is not seen. */
const SEEN = 0.85

export function FlowBeyond({ drawing, window, zoom }: Shown) {
  const [beyond, setBeyond] = useState<0 | 1 | null>(null)
  useEffect(
    () => zoom.watch((sight) => setBeyond(partBeyond(drawing, window, sight))),
    [drawing, window.width],
  )
  if (beyond === null) return null
  const isAfter = beyond === 1
  const go = () => {
    const [before = 0, after = 0] = drawing.parts.map(({ steps }) => steps[0]?.x ?? 0)
    const { k, x, y } = zoom.sight()
    zoom.show({ k, x: x + k * (after - before) * (isAfter ? -1 : 1), y })
  }
  return (
    <Button class="fd-flow-beyond" style={isAfter ? 'right:8px' : 'left:8px'} onClick={go}>
      {isAfter ? 'after →' : '← before'}
    </Button>
  )
}

/** Says that the drawing goes on below the window, and scrolls there. */
export function FlowBelow({ drawing, window, zoom }: Shown) {
  const [isMore, setIsMore] = useState(false)
  useEffect(
    () => zoom.watch(({ k, y }) => setIsMore(y + k * drawing.height > window.height + 1)),
    [drawing, window.height],
  )
  if (!isMore) return null
  const go = () => {
    const { k, x, y } = zoom.sight()
    zoom.show({ k, x, y: y - 0.8 * window.height })
  }
  return (
    <Button class="fd-flow-beyond fd-flow-below" onClick={go}>
      more below ↓
    </Button>
  )
}

/** Returns the part of which too little is in the window; `null` where both are seen. */
export function partBeyond(
  { parts }: FlowDrawing,
  { width }: Pick<FlowWindow, 'width'>,
  { k, x }: FlowSight,
): 0 | 1 | null {
  const [before = 1, after = 1] = parts.map((part) => {
    const [from, to] = [x + k * part.x, x + k * (part.x + part.width)]
    return (Math.min(width, to) - Math.max(0, from)) / Math.min(width, to - from)
  })
  if (Math.min(before, after) >= SEEN) return null
  return after <= before ? 1 : 0
}
