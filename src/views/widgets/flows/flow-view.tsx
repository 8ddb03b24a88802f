import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useWidth } from '../../drawing/axis-width.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import { StateCode } from '../../drawing/state-code.tsx'
import {
  differences,
  FlowBeyond,
  FlowCanvas,
  type FlowSelection,
  placeOfNode,
  selectedThing,
  stepMiddle,
  thingPlace,
} from './flow-canvas.tsx'
import { FlowControls, FlowPlayer } from './flow-controls.tsx'
import { FlowDetails, FlowNotes, shownNotes } from './flow-details.tsx'
import { flowDrawing, layOutFlow } from './flow-drawing.ts'
import { FlowLegend, legendLayout } from './flow-legend.tsx'
import { LEAST_APART } from './flow-picture.tsx'
import { type FlowData, type FlowState, flowScene, groupsAt } from './flow-scene.ts'
import { differenceWords, periodWords } from './flow-words.ts'
import {
  boundedSight,
  type FlowWindow,
  firstSight,
  PAD,
  useFlowZoom,
  wholeSight,
} from './flow-zoom.ts'
import { flowCode } from './flows-widget.ts'

/** The window of the drawing, in pixels. */
const LOWEST = 240
const HIGHEST = 620

/** Compares two flows in three ways, opens what is the same, and takes notes. */
export function FlowView({ data }: { readonly data: FlowData }) {
  const [state, setState] = useState(data.initial)
  const [selection, setSelection] = useState<FlowSelection | null>(null)
  const [difference, setDifference] = useState(-1)
  const [place, width] = useWidth<HTMLDivElement>(900)
  const surface = useRef<SVGSVGElement | null>(null)
  const layer = useRef<SVGGElement | null>(null)
  /** A step that stays where it is in the window while others come or go. */
  const anchor = useRef<{ node: number; part: number; x: number; y: number } | null>(null)
  const change = (changes: Partial<FlowState>) => setState((last) => ({ ...last, ...changes }))

  const { mode, level, opened, pin, at, annotations } = state
  const scene = useMemo(() => flowScene(data, { level, opened }), [data, level, opened])
  const layouts = useMemo(() => layOutFlow(scene, mode), [scene, mode])
  const [scale, setScale] = useState(1)
  const drawing = useMemo(
    () => flowDrawing(layouts, data, { pin, at, leastApart: LEAST_APART / scale }),
    [layouts, data, pin, at, scale],
  )
  const isBeside = mode === 'side-by-side'
  const window = windowOf(width, drawing, isBeside)
  // Only lines between two flows follow the scale.
  const zoom = useFlowZoom(surface, layer, window, isBeside ? setScale : () => {})
  const notes = useMemo(() => shownNotes(annotations, scene, data), [annotations, scene, data])
  const thing = selectedThing(scene, data, selection)
  const found = useMemo(() => differences(data), [data])
  const legend = legendLayout({ scene, mode, drawings: [drawing] }, width)

  useLayoutEffect(() => {
    const root = stepMiddle(drawing, { part: 0, place: 0 })
    zoom.show(firstSight(window, { isBeside, ...(root === null ? {} : { rootX: root.x }) }))
  }, [mode, level, width])
  useLayoutEffect(() => {
    const kept = anchor.current
    anchor.current = null
    const now = kept === null ? null : placeOfNode(drawing, scene, kept.node, kept.part)
    const middle = now === null ? null : stepMiddle(drawing, now)
    const { k, x, y } = zoom.sight()
    const moved =
      kept === null || middle === null
        ? { k, x, y }
        : { k, x: kept.x - k * middle.x, y: kept.y - k * middle.y }
    zoom.show(boundedSight(moved, window))
  }, [scene, pin])

  const toggle = (group: number, part = 0) => {
    const node = groupsAt(data, level).find(({ id }) => id === group)?.nodes[0] ?? 0
    const step = placeOfNode(drawing, scene, node, part)
    const middle = step === null ? null : stepMiddle(drawing, step)
    const { k, x, y } = zoom.sight()
    if (middle !== null) anchor.current = { node, part, x: x + k * middle.x, y: y + k * middle.y }
    setSelection({ node })
    change({
      opened: opened.includes(group) ? opened.filter((id) => id !== group) : [...opened, group],
    })
  }
  const goTo = (next: FlowSelection) => {
    setSelection(next)
    const target = selectedThing(scene, data, next)
    const { inBefore = true, inAfter = true } = target.step ?? target.link ?? {}
    if (inBefore !== inAfter && mode === 'animation') change({ at: inAfter ? 1 : 0 })
    const middle = thingPlace(drawing, target)
    if (middle !== null) zoom.reveal(middle, { isRead: true })
  }
  const onDifference = (way: 1 | -1) => {
    const next = (Math.max(difference, way < 0 ? 0 : -1) + way + found.length) % found.length
    setDifference(next)
    const target = found[next]
    if (target !== undefined) goTo(target)
  }
  const onPin = (node: number) => {
    const { inBefore = false, inAfter = false } = data.nodes[node] ?? {}
    if (mode === 'side-by-side' && inBefore && inAfter) change({ pin: pin === node ? null : node })
  }
  return (
    <section aria-label="Flow comparison">
      <h3>{data.title}</h3>
      <p class="fd-soft">
        {`${periodWords(data.before)}; ${periodWords(data.after)}.`.replace(/^c/, 'C')}{' '}
        {differenceWords(data)} {data.confidenceText}
      </p>
      <FlowControls
        {...{ data, state, difference, onDifference }}
        differenceCount={found.length}
        zoomBy={zoom.zoomBy}
        onChange={change}
        onFit={() => zoom.show(wholeSight(window))}
      />
      {mode === 'animation' ? (
        <FlowPlayer at={at} onChange={(next) => change({ at: next })} />
      ) : null}
      <div ref={place} class="fd-flow-window">
        <FlowCanvas
          {...{ data, scene, drawing, notes, pin, thing, window, zoom, surface, layer, onPin }}
          onSelect={setSelection}
          onToggle={toggle}
        />
        {isBeside ? <FlowBeyond {...{ drawing, window, zoom }} /> : null}
      </div>
      <svg
        class="fd-flow-legend"
        width={width}
        height={legend.height}
        font-family="system-ui, sans-serif"
      >
        <title>What colours and lines mean</title>
        <FlowLegend layout={legend} ink={PAGE_INK} />
      </svg>
      <FlowDetails
        {...{ data, scene, state, thing }}
        onChange={change}
        onSelect={goTo}
        onToggle={toggle}
      />
      <FlowNotes {...{ data, annotations }} onSelect={goTo} onChange={change} />
      <StateCode code={flowCode(data, state)} />
    </section>
  )
}

function windowOf(
  width: number,
  { width: contentWidth, height: contentHeight }: { width: number; height: number },
  isBeside: boolean,
): FlowWindow {
  const { k } = firstSight({ width, height: HIGHEST, contentWidth, contentHeight }, { isBeside })
  const height = Math.min(HIGHEST, Math.max(LOWEST, Math.ceil(k * contentHeight + 2 * PAD)))
  return { width, height, contentWidth, contentHeight }
}
