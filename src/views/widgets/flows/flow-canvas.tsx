import { least } from 'd3-array'
import { type MutableRef, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { actOnKey, Button, isSelectingText } from '../../drawing/controls.tsx'
import { FlowGraph, type FlowHands } from './flow-graph.tsx'
import type { FlowDrawing } from './flow-placement.ts'
import type { SceneStep } from './flow-scene.ts'
import {
  type Flow,
  type FlowSight,
  type FlowWindow,
  middleOf,
  placeOfNode,
  type StepPlace,
  stepMiddle,
} from './flow-state.ts'
import { linkWords, stepWords } from './flow-words.ts'

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
