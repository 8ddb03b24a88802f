import {
  type MutableRef,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'preact/hooks'
import { isSelectingText } from '../../drawing/controls.tsx'
import type { ShownNotes } from './flow-details.tsx'
import type { FlowDrawing } from './flow-drawing.ts'
import { FlowGraph, type FlowHands } from './flow-graph.tsx'
import { linkLabelY } from './flow-lines.tsx'
import type { FlowData, FlowScene, FlowSelection, SceneStep, SelectedThing } from './flow-scene.ts'
import { linkWords, stepWords } from './flow-words.ts'
import { boundedSight, type FlowSight, type FlowWindow, type FlowZoom } from './flow-zoom.ts'

/** A box in a drawing: the number of its part, and its place in that. */
interface StepPlace {
  readonly part: number
  readonly place: number
}

/** The middle of a box. */
export function stepMiddle(
  { parts }: FlowDrawing,
  { part, place }: StepPlace,
): { x: number; y: number } | null {
  const drawn = parts[part]
  const step = drawn?.placed.steps[place]
  if (drawn === undefined || step === undefined) return null
  return {
    x: drawn.x + (drawn.placed.placement.middles[place] as number),
    y: drawn.y + (drawn.tops[place] as number) + step.height / 2,
  }
}

/**
 * Where an arrow leads: down and up along the flow, to the left and right to what is beside, also
 * in the other graph; Home and End to the first and the last step. `null` where there is nothing.
 */
export function stepAfterKey(drawing: FlowDrawing, from: StepPlace, key: string): StepPlace | null {
  const part = drawing.parts[from.part]
  if (part === undefined) return null
  const { links, steps } = part.placed
  const seen = (place: number) => {
    const step = steps[place]
    return step !== undefined && part.opacity(step) > 0
  }
  const inPart = (place: number | undefined) =>
    place === undefined ? null : { part: from.part, place }
  if (key === 'ArrowDown') {
    return inPart(links.find((link) => link.from === from.place && seen(link.to))?.to)
  }
  if (key === 'ArrowUp') {
    return inPart(links.find((link) => link.to === from.place && seen(link.from))?.from)
  }
  if (key === 'Home') return inPart([...steps.keys()].find(seen))
  if (key === 'End') return inPart([...steps.keys()].findLast(seen))
  if (key !== 'ArrowLeft' && key !== 'ArrowRight') return null
  return beside(drawing, from, key === 'ArrowRight' ? 1 : -1)
}

/** The nearest box on one side; what is at the same height is nearer than what is not. */
function beside(drawing: FlowDrawing, from: StepPlace, way: 1 | -1): StepPlace | null {
  const start = stepMiddle(drawing, from)
  if (start === null) return null
  let nearest: StepPlace | null = null
  let least = Number.POSITIVE_INFINITY
  drawing.parts.forEach(({ placed, opacity }, part) => {
    placed.steps.forEach((step, place) => {
      const middle = stepMiddle(drawing, { part, place })
      if (middle === null || opacity(step) <= 0 || way * (middle.x - start.x) < 8) return
      const distance = Math.abs(middle.x - start.x) + 3 * Math.abs(middle.y - start.y)
      if (distance >= least) return
      least = distance
      nearest = { part, place }
    })
  })
  return nearest
}

/** Where a step, or the label of a link, is in the drawing; in the last part that has it. */
export function thingPlace(
  drawing: FlowDrawing,
  { step, link }: SelectedThing,
): { x: number; y: number } | null {
  for (const [part, drawn] of [...drawing.parts.entries()].reverse()) {
    const { placed, x, y } = drawn
    if (step !== null) {
      const middle = stepMiddle(drawing, { part, place: placeOf(placed.steps, step.id) })
      if (middle !== null) return middle
    }
    const number = placed.links.findIndex((each) => each.link === link)
    const found = placed.links[number]
    if (found === undefined) continue
    // Its ends may be far apart.
    const column = placed.placement.lineMiddles[number] as number
    return { x: x + column, y: y + linkLabelY(drawn, found) }
  }
  return null
}

/** The box that stands for a step of the union, in the given part or any. */
export function placeOfNode(
  { parts }: FlowDrawing,
  { stepOf }: FlowScene,
  node: number,
  preferred = 0,
): StepPlace | null {
  const order = [preferred, ...parts.keys()]
  for (const part of order) {
    const place = placeOf(parts[part]?.placed.steps ?? [], stepOf[node] ?? -1)
    if (place >= 0) return { part, place }
  }
  return null
}

function placeOf(steps: readonly SceneStep[], id: number): number {
  return steps.findIndex((step) => step.id === id)
}

/**
 * What differs, from top to bottom: latencies that changed significantly or much, and groups of
 * steps that are on one side only.
 */
export function differences({ edges, differences: groups }: FlowData): FlowSelection[] {
  const found: { at: number; selection: FlowSelection }[] = [
    ...edges
      .filter(({ verdict, reason }) => verdict === 'changed' || reason !== null)
      .map(({ id, from }) => ({ at: from, selection: { edge: id } })),
    ...groups.map(({ nodes }) => {
      const node = nodes[0] as number
      return { at: node, selection: { node } }
    }),
  ]
  return found.sort((a, b) => a.at - b.at).map(({ selection }) => selection)
}

interface FlowCanvasProps {
  readonly data: FlowData
  readonly scene: FlowScene
  readonly drawing: FlowDrawing
  readonly notes: ShownNotes
  readonly pin: number | null
  readonly thing: SelectedThing
  readonly window: FlowWindow
  readonly zoom: FlowZoom
  readonly surface: MutableRef<SVGSVGElement | null>
  readonly layer: MutableRef<SVGGElement | null>
  readonly onSelect: (selection: FlowSelection | null) => void
  /** Opens or folds a group; what it is seen in is the number of a part. */
  readonly onToggle: (group: number, part: number) => void
  readonly onPin: (node: number) => void
}

/** The drawing to move about in, with the keyboard or the pointer. */
export function FlowCanvas(props: FlowCanvasProps) {
  const { data, scene, drawing, notes, pin, thing, window, surface, layer } = props
  // The graph the reader is in, where a step is drawn in both.
  const current = useRef(0)
  const awaited = useRef<number | null>(null)
  const selected = thing.step?.nodes[0] ?? null
  const reached = useMemo(
    () => placeOfNode(drawing, scene, selected ?? 0, current.current),
    [drawing, scene, selected],
  )
  useLayoutEffect(() => {
    if (awaited.current === null) return
    const place = placeOfNode(drawing, scene, awaited.current, current.current)
    awaited.current = null
    focusStep(surface.current, place)
  }, [scene])
  const hands = handsOf(props, { current, awaited, reached })
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
          {...{ data, drawing, notes, hands }}
          pinned={pin === null ? null : (scene.stepOf[pin] ?? null)}
          selectedStep={thing.step?.id ?? null}
          selectedEdge={thing.link?.lead.id ?? null}
        />
      </g>
    </svg>
  )
}

interface Reader {
  readonly current: MutableRef<number>
  readonly awaited: MutableRef<number | null>
  readonly reached: StepPlace | null
}

function handsOf(props: FlowCanvasProps, { current, awaited, reached }: Reader): FlowHands {
  const { data, drawing, thing, zoom, surface, onSelect, onToggle, onPin } = props
  const toggle = (group: number, node: number, part: number) => {
    awaited.current = node
    onToggle(group, part)
  }
  const onKey = (event: KeyboardEvent, step: SceneStep, at: StepPlace) => {
    const node = step.nodes[0] as number
    if (event.altKey || event.ctrlKey || event.metaKey) return
    if (event.key === 'Enter' || event.key === ' ') {
      if (step.group !== null) toggle(step.group.id, node, at.part)
    } else if (event.key === 'Backspace') {
      if (step.openedGroup !== null) toggle(step.openedGroup, node, at.part)
    } else if (event.key === 'Escape') onSelect(null)
    else if (event.key === 'p') onPin(node)
    else if (event.key === '+' || event.key === '-') zoom.zoomBy(event.key === '+' ? 1.4 : 1 / 1.4)
    else {
      const next = stepAfterKey(drawing, at, event.key)
      if (next === null) return
      focusStep(surface.current, next)
    }
    event.preventDefault()
  }
  return {
    step: (step, part, place) => ({
      class: 'fd-flow-thing',
      role: 'button',
      tabindex: reached?.part === part && reached.place === place ? 0 : -1,
      'aria-label': stepWords(data, step),
      ...(step.group === null
        ? { 'aria-pressed': step.id === thing.step?.id }
        : { 'aria-expanded': false }),
      'data-step': `${part}:${place}`,
      onFocus: () => {
        current.current = part
        const middle = stepMiddle(drawing, { part, place })
        if (middle !== null) zoom.reveal(middle)
        onSelect({ node: step.nodes[0] as number })
      },
      onClick: ({ currentTarget }) => {
        if (isSelectingText(currentTarget)) return
        if (step.group === null) onSelect({ node: step.nodes[0] as number })
        else toggle(step.group.id, step.nodes[0] as number, part)
      },
      onKeyDown: (event: KeyboardEvent) => onKey(event, step, { part, place }),
    }),
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
