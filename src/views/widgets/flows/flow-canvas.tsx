import { type MutableRef, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { PAGE_INK } from '../../drawing/ink.ts'
import { isSelectingText } from '../../drawing/text-selection.ts'
import type { FlowWindow } from './flow-bounds.ts'
import type { FlowData } from './flow-data.ts'
import type { FlowDrawing } from './flow-drawing.ts'
import { FlowGraph, type FlowHands } from './flow-graph.tsx'
import { type StepPlace, stepAfterKey, stepMiddle } from './flow-keys.ts'
import type { ShownNotes } from './flow-notes.ts'
import type { FlowScene, SceneStep } from './flow-scene.ts'
import { type FlowSelection, placeOfNode, type SelectedThing } from './flow-selection.ts'
import { linkWords, stepWords } from './flow-words.ts'
import type { FlowZoom } from './flow-zoom.ts'

export interface FlowCanvasProps {
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
          ink={PAGE_INK}
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
