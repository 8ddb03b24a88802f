import type { JSX } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { counted, grouped, percent } from '../../../core/words.ts'
import {
  type CallingContext,
  CallingContexts,
} from '../../../explain/calling-contexts/calling-contexts.ts'
import { Choice, isSelectingText, StateCode, useWidth } from '../../drawing/controls.tsx'
import { Caption, Figure } from '../../drawing/figure.tsx'
import { useIsStill } from '../../drawing/medium.ts'
import { useWidgetOptions, type ViewProps } from '../define-widget.ts'
import { ContextDetails, chainEnds } from './context-details.tsx'
import {
  ALL_REQUESTS,
  amountText,
  ChangeLegend,
  FRAME_HEIGHT,
  Frame,
  type FrameStyle,
  frameName,
  frameWords,
} from './frame-drawing.tsx'
import {
  callersOf,
  type FrameLayout,
  frameAfterKey,
  layoutFrames,
  matchesSearch,
  missingFrames,
  type PlacedFrame,
} from './frame-layout.ts'
import { CALLING_CONTEXT_OPTIONS, type CallingContextOptions } from './options.ts'

/** What the explorer of calling contexts carries into a page. */
export interface CallingContextData {
  readonly contexts: readonly CallingContext[]
  readonly requests: readonly [before: number, after: number]
  /** Contexts that were left out for being small. */
  readonly omitted: number
}

/** Rows of frames in sight at once; a page scrolls to deeper ones, a still ends there. */
const ROWS_IN_SIGHT = 27

export const CALLING_CONTEXT_STYLE = `
.fd-frames { max-height: ${ROWS_IN_SIGHT * FRAME_HEIGHT + 11}px; overflow-y: auto; overflow-x: hidden; }
.fd-frame { cursor: pointer; }
.fd-frame:focus { outline: none; }
.fd-frame:hover rect, .fd-frame:focus rect { stroke: var(--fd-text); stroke-width: 1.5; }
.fd-frame:focus-visible rect { stroke: var(--fd-focus); stroke-width: 3; }
.fd-crumbs { display: flex; flex-wrap: wrap; gap: 2px 4px; align-items: center; margin: 4px 0; }
.fd-crumbs button { max-width: 24em; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.fd-frame-details { min-height: 11.5em; margin-top: 8px; }
`

/** Goes into calling contexts, turns the direction of the difference, and searches. */
export function CallingContextView(props: ViewProps<CallingContextData, CallingContextOptions>) {
  const { requests, omitted } = props.data
  const contexts = useMemo(
    () => new CallingContexts(props.data.contexts, requests),
    [props.data, requests],
  )
  const state = useWidgetOptions(CALLING_CONTEXT_OPTIONS, props)
  const isCompared = requests[1] > 0
  const options = isCompared ? state.options : { ...state.options, widths: 'before' as const }
  const [pointed, setPointed] = useState<number | null>(null)
  const [place, width] = useWidth<HTMLDivElement>()
  const layout = useMemo(() => layoutFrames(contexts, options), [contexts, state.options])
  const zoom = (focus: number | null) => {
    state.change({ focus })
    setPointed(focus)
    if (place.current !== null) place.current.scrollTop = 0
  }
  const shown = contexts.contexts.find(({ context }) => context === (pointed ?? options.focus))
  const { bounds, rows, frames } = layout
  const deeper = frames.filter(({ row }) => row >= ROWS_IN_SIGHT).length
  return (
    <section aria-label="Calling contexts">
      <Controls options={options} isCompared={isCompared} onChange={state.change} />
      <Caption text={widthTitle(options, requests, layout.whole)}>
        Blank below a frame is its own work. Click or Enter goes into a frame, Escape goes back.
        {deeper > 0 ? ` ${grouped(rows)} rows: scroll down to the deeper ones.` : ''}
        {omitted > 0 ? ` ${grouped(omitted)} of the smallest are left out.` : ''}
      </Caption>
      <Crumbs contexts={contexts.contexts} focus={options.focus} onZoom={zoom} />
      <div ref={place} class="fd-frames">
        <Icicle
          {...{ layout, options, bounds, width, isCompared, pointed }}
          onPoint={setPointed}
          onZoom={zoom}
        />
      </div>
      {deeper > 0 ? <DeeperRows rows={rows - ROWS_IN_SIGHT} frames={deeper} /> : null}
      {isCompared ? (
        <div class="fd-scroll" style="margin-top:8px">
          <ChangeLegend options={options} bounds={bounds} />
        </div>
      ) : null}
      <Remarks {...{ contexts, options, layout, isCompared }} />
      <ContextDetails contexts={contexts} measure={options.measure} context={shown ?? null} />
      <StateCode code={state.code} />
    </section>
  )
}

/** Says what a still leaves out; a page scrolls. */
function DeeperRows({ rows, frames }: { readonly rows: number; readonly frames: number }) {
  if (!useIsStill()) return null
  return <Caption text={`… and ${counted(rows, 'deeper row')} with ${counted(frames, 'frame')}.`} />
}

/** Says what the widths mean; `whole` is what fills the width. */
function widthTitle(
  { widths, measure }: CallingContextOptions,
  [before, after]: readonly [number, number],
  whole: number,
): string {
  const period = after === 0 ? '' : ` ${widths}`
  const of = counted(widths === 'before' ? before : after, 'request')
  if (!(whole > 0)) {
    return `Nothing here took any time${period} (${of}): widths are equal and say nothing.`
  }
  return measure === 'time'
    ? `Widths: time that requests waited${period}, mean of ${of}.`
    : `Widths: shares of a request${period}, each of ${of} counted the same.`
}

interface ControlsProps {
  readonly options: CallingContextOptions
  readonly isCompared: boolean
  readonly onChange: (changes: Partial<CallingContextOptions>) => void
}

function Controls({ options, isCompared, onChange }: ControlsProps) {
  return (
    <div class="fd-bar">
      {isCompared ? (
        <Choice
          name="widths"
          help="What came shows in the widths of after, what went in those of before"
          value={options.widths}
          values={{ after: 'after', before: 'before' }}
          onChoose={(widths) => onChange({ widths })}
        />
      ) : null}
      <Choice
        name="measure"
        help={CALLING_CONTEXT_OPTIONS.measure.sentence}
        value={options.measure}
        values={{ time: 'time', requests: 'requests' }}
        onChoose={(measure) => onChange({ measure })}
      />
      {isCompared ? (
        <Choice
          name="colors"
          help={CALLING_CONTEXT_OPTIONS.color.sentence}
          value={options.color}
          values={{ self: 'own work', total: 'with all it calls' }}
          onChoose={(color) => onChange({ color })}
        />
      ) : null}
      <label>
        search
        <input
          type="search"
          value={options.search}
          placeholder="service or name"
          style="width:14em"
          onInput={({ currentTarget: { value } }) => onChange({ search: value })}
        />
      </label>
    </div>
  )
}

interface CrumbsProps {
  readonly contexts: readonly CallingContext[]
  readonly focus: number | null
  readonly onZoom: (context: number | null) => void
}

/** Leads back to the frames that the one that fills the width was called from. */
function Crumbs({ contexts, focus, onZoom }: CrumbsProps) {
  const focused = contexts.find(({ context }) => context === focus)
  const chain = focused === undefined ? [] : callersOf(contexts, focused)
  const { first, between, last } = chainEnds(chain, { first: 3, last: 5 })
  const crumb = (context: CallingContext) => (
    <span key={context.context} style="display:inline-flex;gap:4px">
      ›
      <button
        type="button"
        title={frameName(context)}
        disabled={context.context === focus}
        onClick={() => onZoom(context.context)}
      >
        {frameName(context)}
      </button>
    </span>
  )
  return (
    <nav class="fd-crumbs" aria-label="Zoomed into">
      <button type="button" disabled={focus === null} onClick={() => onZoom(null)}>
        {ALL_REQUESTS}
      </button>
      {first.map(crumb)}
      {between.length === 0 ? null : (
        <span class="fd-soft">› {counted(between.length, 'more caller')}</span>
      )}
      {last.map(crumb)}
    </nav>
  )
}

interface IcicleProps extends FrameStyle {
  readonly layout: FrameLayout
  readonly pointed: number | null
  readonly onPoint: (context: number | null) => void
  readonly onZoom: (context: number | null) => void
}

function Icicle({ layout, pointed, onPoint, onZoom, ...style }: IcicleProps) {
  const { options, width, isCompared } = style
  const isStill = useIsStill()
  const frames = isStill ? layout.frames.filter(({ row }) => row < ROWS_IN_SIGHT) : layout.frames
  const drawing = useRef<SVGSVGElement>(null)
  const numbers = frames.map(({ context }) => context?.context ?? -1)
  // One frame can be reached by Tab; from there arrows go on.
  const reached = pointed !== null && numbers.includes(pointed) ? pointed : numbers[0]
  const onKeyDown = (event: KeyboardEvent, number: number) => {
    if (event.key === 'Enter' || event.key === ' ') onZoom(number < 0 ? null : number)
    else if (event.key === 'Escape' || event.key === 'Backspace') {
      const out = frames[0]?.context?.parent ?? -1
      onZoom(out < 0 ? null : out)
    } else {
      const next = frameAfterKey(frames, numbers.indexOf(number), event.key)
      if (next === undefined) return
      drawing.current?.querySelector<SVGGElement>(`[data-frame="${numbers[next]}"]`)?.focus()
    }
    event.preventDefault()
  }
  const attributes = (frame: PlacedFrame, number: number) => ({
    class: 'fd-frame',
    role: 'treeitem' as const,
    tabindex: number === reached ? 0 : -1,
    'aria-level': frame.row + 1,
    'aria-selected': number === (options.focus ?? -1),
    'aria-label': frameWords(frame, options, isCompared),
    'data-frame': number,
    onClick: ({ currentTarget }: JSX.TargetedMouseEvent<SVGGElement>) => {
      if (!isSelectingText(currentTarget)) onZoom(number < 0 ? null : number)
    },
    onFocus: () => onPoint(number < 0 ? null : number),
    onMouseEnter: () => onPoint(number < 0 ? null : number),
    onKeyDown: (event: KeyboardEvent) => onKeyDown(event, number),
  })
  const rows = isStill ? Math.min(ROWS_IN_SIGHT, layout.rows) : layout.rows
  return (
    <Figure width={width} height={rows * FRAME_HEIGHT} label="Calling contexts" svgRef={drawing}>
      <g role="tree" aria-label="Calling contexts, callers above what they call">
        {frames.map((frame, i) => {
          const number = numbers[i] ?? -1
          return (
            <Frame
              key={number}
              {...style}
              frame={frame}
              found={foundIn(frame.context, options.search)}
              attributes={isStill ? {} : attributes(frame, number)}
            />
          )
        })}
      </g>
    </Figure>
  )
}

function foundIn(context: CallingContext | null, search: string): 'match' | 'other' | undefined {
  if (search.trim() === '') return undefined
  return context !== null && matchesSearch(context, search) ? 'match' : 'other'
}

interface RemarksProps {
  readonly contexts: CallingContexts
  readonly options: CallingContextOptions
  readonly layout: FrameLayout
  readonly isCompared: boolean
}

/** Says what the search found, and what this direction of the difference does not show. */
function Remarks({ contexts, options, layout, isCompared }: RemarksProps) {
  const missing = isCompared ? missingFrames(contexts, options) : { count: 0, amount: 0 }
  const other = options.widths === 'after' ? 'before' : 'after'
  const found = layout.frames.filter(
    ({ context }) => context !== null && matchesSearch(context, options.search),
  )
  // Matches below other matches are part of these.
  const outermost = found.filter(
    ({ row, x }) =>
      !found.some(
        (above) => above.row < row && above.x <= x + 1e-9 && x < above.x + above.width - 1e-9,
      ),
  )
  const share = outermost.reduce((sum, { width }) => sum + width, 0)
  return (
    <>
      {options.search.trim() === '' ? null : (
        <p aria-live="polite">
          {found.length === 0
            ? 'Nothing drawn matches.'
            : `${counted(found.length, 'frame matches', 'frames match')}, ${percent(share)} of the width.`}
        </p>
      )}
      {missing.count === 0 ? null : (
        <Caption
          text={`${counted(missing.count, 'chain')} of calls ${missing.count === 1 ? 'exists' : 'exist'} only ${other} (${amountText(options.measure, missing.amount)} per request): choose widths ${other} to see ${missing.count === 1 ? 'it' : 'them'}.`}
        />
      )}
    </>
  )
}
