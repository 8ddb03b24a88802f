import { sum } from 'd3-array'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { grouped, shortText, tooltipText } from '../../../core/words.ts'
import { Button, StateCode, useWidth } from '../../drawing/controls.tsx'
import { Caption, Figure, STILL_WIDTH, StillGroup, useIsStill } from '../../drawing/figure.tsx'
import { exploreCode, useWidgetOptions, type ViewProps, type WidgetCall } from '../define-widget.ts'
import { stagesOver } from './flow-animation.ts'
import {
  FlowBelow,
  FlowBeyond,
  FlowCanvas,
  placeOfNode,
  stepMiddle,
  thingPlace,
} from './flow-canvas.tsx'
import { FlowControls, FlowPlayer } from './flow-controls.tsx'
import { FlowDetails, FlowNotes, noteSubject, shownNotes } from './flow-details.tsx'
import { type FlowDrawing, flowDrawing, layOutFlow } from './flow-drawing.ts'
import { FlowGraph } from './flow-graph.tsx'
import { FlowLegend } from './flow-legend.tsx'
import {
  FLOWS_WIDGET_OPTIONS,
  type FlowData,
  type FlowScene,
  type FlowSelection,
  type FlowState,
  type FlowsWidgetOptions,
  flowScene,
  groupsAt,
  SIDES,
  selectedThing,
  selectionOf,
} from './flow-scene.ts'
import {
  differenceWords,
  MODE_REASONS,
  otherDifferences,
  periodWords,
  shownDifferences,
} from './flow-words.ts'
import { type FlowWindow, firstSight, PAD, useFlowZoom, wholeSight } from './flow-zoom.ts'
import { useKeptNotes } from './kept-notes.ts'

export const FLOW_STYLE = `
.fd-flow-set { display: inline-flex; align-items: center; gap: 0; border: 0; padding: 0; margin: 0; min-width: 0; }
.fd-flow-set button { border-radius: 0; margin-left: -1px; }
.fd-flow-set button:first-child { border-radius: 4px 0 0 4px; margin-left: 0; }
.fd-flow-set button:last-child { border-radius: 0 4px 4px 0; }
.fd-flow-set button:focus-visible { position: relative; z-index: 1; }
.fd-flow-count { display: inline-grid; border: 1px solid var(--fd-line); border-left: 0; padding: 2px 8px; text-align: center; white-space: nowrap; }
.fd-flow-count > span, .fd-flow-count::before { grid-area: 1 / 1; }
.fd-flow-count::before { content: attr(data-widest) / ""; visibility: hidden; }
.fd-flow-slider input { width: min(260px, 40vw); }
.fd-flow-surface { border: 1px solid var(--fd-line); border-radius: 4px; cursor: grab; touch-action: none; max-width: none; }
.fd-flow-surface:active { cursor: grabbing; }
.fd-flow-surface text { cursor: text; user-select: text; text-rendering: geometricPrecision; }
.fd-flow-far text { display: none; }
.fd-flow-window { position: relative; }
.fd-flow-beyond { position: absolute; box-shadow: 0 1px 4px rgb(0 0 0 / 25%); }
.fd-flow-below { bottom: 8px; right: 8px; }
.fd-flow-thing { cursor: pointer; outline: none; }
.fd-flow-thing:hover .fd-node { stroke-width: 3.2; }
.fd-flow-thing:focus-visible .fd-flow-ring { stroke-width: 4; }
.fd-flow-thing:hover .fd-flow-label { text-decoration: underline; }
.fd-flow-details { min-height: 4.5em; margin-top: 8px; }
.fd-flow-details strong { overflow-wrap: anywhere; }
.fd-flow-caption { margin: 4px 0; min-height: 2.6em; font-weight: bold; overflow-wrap: anywhere; }
.fd-flow-changed { color: var(--fd-change-text); }
.fd-flow-edges { margin: 4px 0; padding-left: 18px; }
.fd-flow-edges li { margin: 2px 0; overflow-wrap: anywhere; }
.fd-flow-details button, .fd-flow-edges button { vertical-align: top; white-space: normal; overflow-wrap: anywhere; text-align: left; }
`

const MIN_HEIGHT = 240
const MAX_HEIGHT = 640

export function FlowView(props: ViewProps<FlowData, FlowsWidgetOptions>) {
  return useIsStill() ? <FlowStill {...props} /> : <FlowPage {...props} />
}

function FlowPage(props: ViewProps<FlowData, FlowsWidgetOptions>) {
  const { data, call } = props
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
  const isShown = isBetween || isSame(selection, current && selectionOf(current))
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
  const onDifference = (way: 1 | -1) => {
    showDifference((Math.max(difference, way < 0 ? 0 : -1) + way + found.length) % found.length)
  }
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
  const onPin = (node: number) => {
    const { inBefore = false, inAfter = false } = data.nodes[node] ?? {}
    const others = pins.filter((pin) => scene.stepOf[pin] !== scene.stepOf[node])
    if (!isBeside || !inBefore || !inAfter) return
    change({ pins: others.length < pins.length ? others : [...pins, node] })
  }
  return (
    <section aria-label="Flow comparison">
      <h3>{data.title}</h3>
      <p class="fd-soft">{summaryOf(data, options)}</p>
      <FlowControls
        {...{ data, state, difference, onDifference }}
        differenceCount={found.length}
        zoomBy={zoom.zoomBy}
        onChange={change}
        onFit={() => zoom.show(wholeSight(window))}
      />
      {mode === 'animation' ? (
        <>
          <FlowPlayer {...{ at, over, stages }} onChange={(next) => change({ at: next })} />
          <p class="fd-flow-caption" aria-live="polite">
            {staged === undefined
              ? 'Play shows the differences of the list below one after the other.'
              : staged === null
                ? 'Everything else changes.'
                : `Difference ${staged.rank}: ${tooltipText(staged.what)}`}
          </p>
        </>
      ) : null}
      <div class="fd-beside">
        <div style={`flex:2 1 ${isBeside ? 1000 : 620}px`}>
          <div ref={place} class="fd-flow-window">
            <FlowCanvas
              {...{
                data,
                scene,
                drawing,
                notes,
                thing,
                ringed,
                window,
                zoom,
                surface,
                layer,
                onPin,
              }}
              pinned={pins.map((pin) => scene.stepOf[pin] as number)}
              onSelect={setSelection}
              onToggle={toggle}
            />
            {isBeside ? <FlowBeyond {...{ drawing, window, zoom }} /> : null}
            <FlowBelow {...{ drawing, window, zoom }} />
          </div>
          <FlowLegend
            {...{ scene, mode, width, scale }}
            drawings={[drawing]}
            isPinned={pins.length > 0}
          />
        </div>
        <div>
          <ol class="fd-flow-edges" aria-label="Differences, the largest part of the change first">
            {shownDifferences(data).map((line, i) => (
              <li key={line}>
                <Button aria-pressed={current?.rank === i + 1} onClick={() => showDifference(i)}>
                  {line.split(/(\(?p [<=] \S+)$/).map((words, part) => (
                    <span class={part === 1 ? 'fd-name' : ''}>{words}</span>
                  ))}
                </Button>
              </li>
            ))}
          </ol>
          <p class="fd-soft">{otherDifferences(data)}</p>
          <FlowDetails
            {...{ data, scene, state, thing }}
            onChange={change}
            onSelect={goTo}
            onToggle={toggle}
          />
          <FlowNotes {...{ data, annotations }} onSelect={goTo} onChange={change} />
        </div>
      </div>
      <StateCode code={flowCode(data, options, call)} />
    </section>
  )
}

function isSame(one: FlowSelection | null, other: FlowSelection | null | undefined): boolean {
  return one !== null && one.node === other?.node && one.edge === other?.edge
}

function windowOf(width: number, drawing: FlowDrawing, isBeside: boolean): FlowWindow {
  const { width: contentWidth, height: contentHeight } = drawing
  const { k } = firstSight({ width, height: MAX_HEIGHT, contentWidth, contentHeight }, { isBeside })
  const height = Math.min(MAX_HEIGHT, Math.max(MIN_HEIGHT, Math.ceil(k * contentHeight + 2 * PAD)))
  return { width, height, contentWidth, contentHeight }
}

/** A still with more boxes would be too large to read, and for a notebook to keep. */
const MAX_STILL_STEPS = 400
const STILL_GAP = 60
const MIN_APART = 36

/** Draws the comparison without anything to open; of the animation its beginning, its state and its end. */
function FlowStill({ data, options }: ViewProps<FlowData, FlowsWidgetOptions>) {
  const state = stateOf(data, options)
  const { annotations } = state
  // Takes a coarser scene if that of the state has too many boxes.
  const scene = [state, ...COARSER]
    .map((each) => flowScene(data, each))
    .find(({ steps }) => steps.length <= MAX_STILL_STEPS)
  return (
    <>
      <Caption text={summaryOf(data, options)} />
      {[
        ...shownDifferences(data).map((line, i) => `${i + 1}. ${line}`),
        otherDifferences(data),
      ].map((line, i) => (
        <Caption key={i} text={line} />
      ))}
      {scene === undefined ? (
        <Caption text={`${grouped(data.nodes.length)} steps are too many for a picture.`} />
      ) : (
        <StillDrawings {...{ data, state, scene }} />
      )}
      {[...data.notes, ...annotations].map((note, i) => {
        const sign = note.mark === true ? ' ★' : ''
        const comment = note.comment === undefined ? '' : `: ${shortText(note.comment, 200)}`
        return <Caption key={i} text={`${i + 1}${sign} ${noteSubject(data, note)}${comment}`} />
      })}
    </>
  )
}

const COARSER = [
  { level: 'groups', opened: [] },
  { level: 'components', opened: [] },
] as const

interface StillProps {
  readonly data: FlowData
  readonly state: FlowState
  readonly scene: FlowScene
}

function StillDrawings({ data, state: { mode, pins, at, annotations }, scene }: StillProps) {
  const layout = layOutFlow(scene, mode, pins)
  const moments = mode === 'animation' ? [...new Set([0, at, 1])] : [at]
  const drawings = moments.map((moment) =>
    flowDrawing(layout, data, { at: moment, leastApart: MIN_APART }),
  )
  const drawn = sum(drawings, ({ width }) => width + STILL_GAP) - STILL_GAP
  const width = Math.max(STILL_WIDTH, drawn)
  const notes = shownNotes(annotations, scene, data)
  const pinned = pins.map((pin) => scene.stepOf[pin] as number)
  // Drawings that are narrower than the still stand in its middle.
  const indentOf = (i: number) => (i === 0 ? Math.round((width - drawn) / 2) : 0)
  return (
    <>
      <StillGroup direction="row">
        {drawings.map((drawing, i) => (
          <Figure
            key={i}
            width={indentOf(i) + drawing.width + (i < drawings.length - 1 ? STILL_GAP : 0)}
            height={drawing.height + MARGIN_BELOW}
            label={data.title}
          >
            <g transform={`translate(${indentOf(i)} 0)`}>
              <FlowGraph {...{ data, drawing, notes, pinned }} />
            </g>
          </Figure>
        ))}
      </StillGroup>
      <FlowLegend {...{ scene, mode, drawings, width }} isPinned={pins.length > 0} />
    </>
  )
}

const MARGIN_BELOW = 10

function stateOf(data: FlowData, options: FlowsWidgetOptions): FlowState {
  const { usualMode, usualLevel } = data
  return { ...options, mode: options.mode ?? usualMode, level: options.level ?? usualLevel }
}

function summaryOf(data: FlowData, { mode }: FlowsWidgetOptions): string {
  const [before, after] = SIDES.map((side) => periodWords(data[side], data.quantity))
  const periods = `${before}; ${after}.`.replace(/^c/, 'C')
  return `${periods} ${differenceWords(data)} ${data.confidenceText}${mode === null ? ` ${MODE_REASONS[data.usualMode]}` : ''}`
}

/** Returns the line of code that shows a state; what its mode does not show is left out. */
export function flowCode(data: FlowData, options: FlowsWidgetOptions, call: WidgetCall): string {
  const { level, focus, pins, at } = options
  const { mode } = stateOf(data, options)
  const said = {
    ...options,
    mode: mode === data.usualMode ? null : mode,
    level: level === data.usualLevel ? null : level,
    pins: mode === 'side-by-side' ? pins : [],
    at: mode === 'animation' ? at : 0,
    focus: level === 'focus' ? focus : 1,
  }
  return exploreCode(FLOWS_WIDGET_OPTIONS, said, call, data.hasNameRule ? ['names'] : [])
}
