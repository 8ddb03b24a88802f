import { sum } from 'd3-array'
import { useLayoutEffect, useState } from 'preact/hooks'
import type { Quantity } from '../../../core/quantity.ts'
import { counted, grouped, percent, shortText, tooltipText } from '../../../core/words.ts'
import type { EdgeLatencies, UnionEdge } from '../../../explain/flow-pair/flow-comparison.ts'
import { Button, Checkbox, Choice, Select, StateCode } from '../../drawing/controls.tsx'
import { DataTable, numberColumn, textColumn } from '../../drawing/data-table.tsx'
import { Caption, Figure, STILL_WIDTH, StillGroup, useIsStill } from '../../drawing/figure.tsx'
import { exploreCode, type ViewProps, type WidgetCall } from '../define-widget.ts'
import {
  type Flow,
  FlowBeyond,
  FlowCanvas,
  MIN_APART,
  stateOf,
  useFlow,
  wholeSight,
} from './flow-canvas.tsx'
import { FlowGraph, FlowLegend } from './flow-graph.tsx'
import { flowDrawing, layOutFlow } from './flow-placement.ts'
import {
  annotated,
  differenceWords,
  diffLabel,
  edgeName,
  FLOWS_WIDGET_OPTIONS,
  type FlowData,
  type FlowLevel,
  type FlowScene,
  type FlowState,
  type FlowsWidgetOptions,
  failureSentences,
  flowScene,
  groupWords,
  LEVELS,
  latency,
  MODE_REASONS,
  MODES,
  type Note,
  type NoteTarget,
  nodeName,
  noteOn,
  noteSubject,
  orderSentences,
  otherDifferences,
  periodWords,
  presenceWords,
  type SceneLink,
  type SceneStep,
  SIDES,
  shownDifferences,
  shownNotes,
  verdictWords,
} from './flow-scene.ts'

export function FlowNotes({ flow }: FlowProps) {
  const { data, goTo, change } = flow
  const { annotations } = flow.state
  if (annotations.length === 0) return null
  return (
    <ol class="fd-flow-edges" aria-label="Notes">
      {annotations.map((note, i) => (
        <li key={i}>
          {note.mark === true ? '★ Note on ' : 'Note on '}
          <Button
            onClick={() =>
              goTo(note.edge === undefined ? { node: note.node ?? 0 } : { edge: note.edge })
            }
          >
            <bdi>{noteSubject(data, note)}</bdi>
          </Button>{' '}
          {/* Whatever direction it is written in, it turns nothing around it. */}
          <bdi>{note.comment}</bdi>{' '}
          <Button
            aria-label={`Remove the note on ${noteSubject(data, note)}`}
            onClick={() => change({ annotations: annotations.filter((each) => each !== note) })}
          >
            ✕
          </Button>
        </li>
      ))}
    </ol>
  )
}

function NoteEditor({ flow, target }: FlowProps & { readonly target: NoteTarget }) {
  const { annotations } = flow.state
  const { mark = false, comment = '' } = noteOn(annotations, target) ?? {}
  const change = (changes: Partial<Note>) =>
    flow.change({ annotations: annotated(annotations, target, { mark, comment, ...changes }) })
  return (
    <>
      <Checkbox label="Mark" isChecked={mark} onChange={(isOn) => change({ mark: isOn })} />
      <label>
        Comment
        <input
          type="text"
          size={32}
          value={comment}
          onInput={({ currentTarget }) => change({ comment: currentTarget.value })}
        />
      </label>
    </>
  )
}

const MAX_LISTED = 12

export function FlowDetails({ flow }: FlowProps) {
  const { step, link } = flow.thing
  return (
    <div class="fd-flow-details" aria-live="polite">
      {step !== null ? (
        <StepDetails {...{ flow, step }} />
      ) : link !== null ? (
        <LinkDetails {...{ flow, link }} />
      ) : (
        <p class="fd-soft">
          Choose a step or an edge for details. Enter or a click opens grouped steps; arrow keys
          follow the flow; drag to move, wheel to zoom, Shift and wheel to scroll.
        </p>
      )}
    </div>
  )
}

function StepDetails({ flow, step }: FlowProps & { readonly step: SceneStep }) {
  const { data, scene, pinned, isBeside } = flow
  const { group, nodes, openedGroup } = step
  const node = nodes[0] as number
  const isPinned = pinned.includes(step.id)
  const near = scene.links.filter(({ from, to }) => from === step.id || to === step.id)
  return (
    <>
      <p>
        <strong>{group === null ? nodeName(data, node) : tooltipText(group.name)}</strong>{' '}
        <span class="fd-soft">
          {group === null ? presenceWords(step, data, node) : groupWords(data, group)}
        </span>
      </p>
      {[...failureSentences(data, nodes), ...orderSentences(data, nodes)].map((sentence) => (
        <p key={sentence}>
          <strong>{sentence}</strong>
        </p>
      ))}
      <div class="fd-bar">
        {group && <Button onClick={() => flow.toggle(group.id)}>Open</Button>}
        {openedGroup !== null && (
          <Button onClick={() => flow.toggle(openedGroup)}>Fold back</Button>
        )}
        {isBeside && step.inBefore && step.inAfter && (
          <Button aria-pressed={isPinned} onClick={() => flow.pin(node)}>
            {isPinned ? 'Unpin' : 'Pin: align both flows here'}
          </Button>
        )}
        <NoteEditor flow={flow} target={{ node }} />
      </div>
      <ul class="fd-flow-edges">
        {near.slice(0, MAX_LISTED).map((link) => (
          <li key={`${link.from} ${link.to}`}>
            <Button onClick={() => flow.goTo({ edge: link.lead.id })}>
              {link.from === step.id
                ? `to ${stepName(scene.steps[link.to])}`
                : `from ${stepName(scene.steps[link.from])}`}
            </Button>{' '}
            {diffLabel(link)} <span class="fd-soft">{verdictWords(link.lead, data.quantity)}</span>
          </li>
        ))}
      </ul>
      {near.length > MAX_LISTED && (
        <p class="fd-soft">… and {counted(near.length - MAX_LISTED, 'more edge')}.</p>
      )}
    </>
  )
}

/** Returns the name of a step as in the box; for a group without its times, which stand elsewhere. */
function stepName(step: SceneStep | undefined): string {
  const [name = '', where = ''] = step?.lines ?? []
  return step?.group || where === '' ? name : `${name}, ${where}`
}

function LinkDetails({ flow, link }: FlowProps & { readonly link: SceneLink }) {
  const { data, goTo } = flow
  const { lead, edges } = link
  return (
    <>
      <p>
        <Button onClick={() => goTo({ node: lead.from })}>{nodeName(data, lead.from)}</Button> →{' '}
        <Button onClick={() => goTo({ node: lead.to })}>{nodeName(data, lead.to)}</Button>
      </p>
      <p>
        <strong class={lead.verdict === 'changed' ? 'fd-flow-changed' : ''}>
          {verdictWords(lead, data.quantity)}
        </strong>{' '}
        {edges.length > 1 ? `Stands for ${counted(edges.length, 'edge')}.` : ''}
      </p>
      <DataTable<Latency>
        rows={LATENCIES}
        columns={[
          textColumn('', ([name]) => name),
          ...SIDES.filter((side) => lead[side] !== null).map((side) =>
            numberColumn(side, ([, textOf]: Latency) =>
              textOf(lead[side] as EdgeLatencies, data.quantity),
            ),
          ),
        ]}
      />
      {edges.length > 1 ? (
        <ul class="fd-flow-edges">
          {edges.slice(0, MAX_LISTED).map((id) => (
            <li key={id}>
              {edgeName(data, id)}{' '}
              <span class="fd-soft">
                {verdictWords(data.edges[id] as UnionEdge, data.quantity)}
              </span>
            </li>
          ))}
        </ul>
      ) : null}
      <div class="fd-bar">
        <NoteEditor flow={flow} target={{ edge: lead.id }} />
      </div>
    </>
  )
}

type Latency = readonly [name: string, textOf: (edge: EdgeLatencies, of: Quantity) => string]

const LATENCIES: readonly Latency[] = [
  ['mean', ({ meanUs }, of) => latency(meanUs, of)],
  ['median', ({ medianUs }, of) => latency(medianUs, of)],
  ['standard deviation', ({ sdUs }, of) => latency(sdUs, of)],
  ['requests', ({ requests }) => grouped(requests)],
  ['on the critical path', ({ criticalShare }) => percent(criticalShare)],
  ['waits for another branch', ({ waitUs }, of) => latency(waitUs, of)],
]

const STAGE_MS = 1800
/** The end of the last difference, which is still told: 1 is the flow after. */
const LAST = 0.9995
const SPEEDS = [0.25, 0.5, 1, 2, 4]

type FlowProps = { readonly flow: Flow }

function FlowPlayer({ flow: { state, over, stages, change } }: FlowProps) {
  const { at } = state
  const onChange = (next: number) => change({ at: next })
  const [until, setUntil] = useState<number | null>(null)
  const [speed, setSpeed] = useState(1)
  const isPlaying = until !== null
  useLayoutEffect(() => {
    if (until === null) return
    const first = at >= until ? 0 : at
    const count = Math.max(1, stages)
    const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
    // Jumps to the end of each difference and stays there for as long as it would take.
    const endOf = (moment: number) => Math.min(LAST, until, Math.ceil(moment * count) / count)
    const start = performance.now()
    let frame = requestAnimationFrame(function step(now) {
      const passed = (Math.max(0, now - start) * speed) / (STAGE_MS * count)
      const next = Math.min(until, first + passed)
      onChange(isStill && next < until ? endOf(next) : Math.round(next * 1000) / 1000)
      if (next < until) frame = requestAnimationFrame(step)
      else setUntil(null)
    })
    return () => cancelAnimationFrame(frame)
    // It goes on from where it was begun.
  }, [until, speed])
  const show = (next: number) => {
    setUntil(null)
    onChange(next)
  }
  return (
    <div class="fd-bar">
      <Choice
        name="State"
        class="fd-flow-set"
        value={at === 0 ? 'before' : at === 1 ? 'after' : null}
        values={{ before: 'Before', after: 'After' }}
        onChoose={(side) => show(side === 'before' ? 0 : 1)}
      />
      <fieldset class="fd-flow-set" aria-label="Play">
        <Button
          aria-label="Back by one difference"
          onClick={() => show(Math.max(0, Math.ceil(over) - 1) / Math.max(1, stages))}
        >
          ‹
        </Button>
        <Button onClick={() => setUntil(isPlaying ? null : 1)}>
          {isPlaying ? 'Stop' : 'Play'}
        </Button>
        <Button
          aria-label="On by one difference"
          onClick={() => setUntil(Math.min(stages, Math.floor(over) + 1) / Math.max(1, stages))}
        >
          ›
        </Button>
      </fieldset>
      <Select
        label="Speed"
        value={speed}
        values={SPEEDS}
        textOf={(each) => `${each} ×`}
        onChoose={setSpeed}
      />
      <label class="fd-flow-slider">
        before
        <input
          type="range"
          min={0}
          max={1}
          step={0.01}
          value={at}
          aria-label="From before to after"
          onInput={({ currentTarget }) => show(Number(currentTarget.value))}
        />
        after
      </label>
    </div>
  )
}

function FlowControls({ flow }: FlowProps) {
  const { state, change, zoom, window, difference, stepOn } = flow
  const { regions, differences, components, ranked } = flow.data
  const count = ranked.differences.length
  const hasGroups: Readonly<Record<FlowLevel, boolean>> = {
    steps: true,
    regions: regions.length > 0,
    groups: differences.some(({ nodes }) => nodes.length > 1),
    components: components.length > 0,
    focus: count > 0,
  }
  const levels = (Object.keys(LEVELS) as FlowLevel[]).filter(
    (level) => level === state.level || hasGroups[level],
  )
  return (
    <div class="fd-bar">
      <Choice
        name="How to compare"
        class="fd-flow-set"
        value={state.mode}
        values={MODES}
        onChoose={(mode) => change({ mode })}
      />
      <Select
        label="Show"
        value={state.level}
        values={levels}
        textOf={(level) => LEVELS[level]}
        onChoose={(level) => change({ level, opened: [] })}
      />
      {state.opened.length > 0 && <Button onClick={() => change({ opened: [] })}>Fold all</Button>}
      {state.pins.length > 0 && state.mode === 'side-by-side' && (
        <Button onClick={() => change({ pins: [] })}>Unpin all</Button>
      )}
      {count > 0 && state.mode !== 'animation' && (
        <fieldset class="fd-flow-set" aria-label="Differences">
          <Button aria-label="Previous difference" onClick={() => stepOn(-1)}>
            ‹
          </Button>
          <span
            aria-live="polite"
            class="fd-flow-count"
            // Reserves the largest width, so that its neighbors and the drawing stay in place.
            data-widest={`Difference ${grouped(count)} of ${grouped(count)}`}
          >
            <span>
              {difference < 0
                ? counted(count, 'difference')
                : `Difference ${grouped(difference + 1)} of ${grouped(count)}`}
            </span>
          </span>
          <Button aria-label="Next difference" onClick={() => stepOn(1)}>
            ›
          </Button>
        </fieldset>
      )}
      <fieldset class="fd-flow-set" aria-label="Zoom">
        <Button aria-label="Smaller" onClick={() => zoom.zoomBy(1 / 1.4)}>
          −
        </Button>
        <Button aria-label="Larger" onClick={() => zoom.zoomBy(1.4)}>
          +
        </Button>
        <Button onClick={() => zoom.show(wholeSight(window))}>Whole</Button>
      </fieldset>
    </div>
  )
}

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

export function FlowView(props: ViewProps<FlowData, FlowsWidgetOptions>) {
  return useIsStill() ? <FlowStill {...props} /> : <FlowPage {...props} />
}

function FlowPage(props: ViewProps<FlowData, FlowsWidgetOptions>) {
  const { data, call } = props
  const flow = useFlow(props)
  const { options, state, isBeside, staged, current } = flow
  const { mode } = state
  return (
    <section aria-label="Flow comparison">
      <h3>{data.title}</h3>
      <p class="fd-soft">{summaryOf(data, options)}</p>
      <FlowControls flow={flow} />
      {mode === 'animation' && (
        <>
          <FlowPlayer flow={flow} />
          <p class="fd-flow-caption" aria-live="polite">
            {staged === undefined
              ? 'Play shows the differences of the list below one after the other.'
              : staged === null
                ? 'Everything else changes.'
                : `Difference ${staged.rank}: ${tooltipText(staged.what)}`}
          </p>
        </>
      )}
      <div class="fd-beside">
        <div style={`flex:2 1 ${isBeside ? 1000 : 620}px`}>
          <div ref={flow.place} class="fd-flow-window">
            <FlowCanvas flow={flow} />
            <FlowBeyond flow={flow} />
          </div>
          <FlowLegend
            {...{ scene: flow.scene, mode, width: flow.width, scale: flow.scale }}
            drawings={[flow.drawing]}
            isPinned={flow.pinned.length > 0}
          />
        </div>
        <div>
          <ol class="fd-flow-edges" aria-label="Differences, the largest part of the change first">
            {shownDifferences(data).map((line, i) => (
              <li key={line}>
                <Button
                  aria-pressed={current?.rank === i + 1}
                  onClick={() => flow.showDifference(i)}
                >
                  {line.split(/(\(?p [<=] \S+)$/).map((words, part) => (
                    <span class={part === 1 ? 'fd-name' : ''}>{words}</span>
                  ))}
                </Button>
              </li>
            ))}
          </ol>
          <p class="fd-soft">{otherDifferences(data)}</p>
          <FlowDetails flow={flow} />
          <FlowNotes flow={flow} />
        </div>
      </div>
      <StateCode code={flowCode(data, options, call)} />
    </section>
  )
}

/** A still with more boxes would be too large to read, and for a notebook to keep. */
const MAX_STILL_STEPS = 400
const STILL_GAP = 60

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
      {shownDifferences(data).map((line, i) => (
        <Caption key={i} text={`${i + 1}. ${line}`} />
      ))}
      <Caption text={otherDifferences(data)} />
      {scene === undefined ? (
        <Caption text={`${grouped(data.nodes.length)} steps are too many for a picture.`} />
      ) : (
        <StillDrawings {...{ data, state, scene }} />
      )}
      {annotations.map((note, i) => {
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

function StillDrawings(props: { data: FlowData; state: FlowState; scene: FlowScene }) {
  const { data, scene } = props
  const { mode, pins, at, annotations } = props.state
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
