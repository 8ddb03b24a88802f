import { sort, sum } from 'd3-array'
import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Comparison } from '../../../comparison/comparison.ts'
import { OptionError } from '../../../core/errors.ts'
import { counted, grouped, percent } from '../../../core/words.ts'
import {
  type CallingContext,
  CallingContexts,
  type ContextTotals,
  findCallingContexts,
  totals,
} from '../../../explain/calling-contexts/find-calling-contexts.ts'
import { AFTER, BEFORE, type Period } from '../../../flows/flow-set.ts'
import { digits } from '../../charts/builders.ts'
import {
  Button,
  Choice,
  isSelectingText,
  Search,
  StateCode,
  useTreeMarks,
  useWidth,
} from '../../drawing/controls.tsx'
import { Caption, Figure, useIsStill } from '../../drawing/figure.tsx'
import { defineWidget, useWidgetOptions, type ViewProps } from '../define-widget.ts'
import {
  ALL,
  allRequests,
  amountText,
  CALLING_CONTEXT_OPTIONS,
  type CallingContextOptions,
  CHANGE_COLORS,
  ChangeLegend,
  ContextDetails,
  callersOf,
  chainEnds,
  FRAME_HEIGHT,
  Frame,
  type FrameLayout,
  type FrameStyle,
  frameName,
  frameWords,
  layoutFrames,
  matchesSearch,
  missingFrames,
  neighbors,
  outermost,
  type PlacedFrame,
} from './frames.tsx'

type CallingContextData = ReturnType<typeof callingContextData>

const ROWS_IN_SIGHT = 27

const CALLING_CONTEXT_STYLE = `
.fd-frames { max-height: ${ROWS_IN_SIGHT * FRAME_HEIGHT + 11}px; overflow-y: auto; overflow-x: hidden; }
.fd-frame:hover rect, .fd-frame:focus rect { stroke: var(--fd-text); stroke-width: 1.5; }
.fd-frame:focus-visible rect { stroke: var(--fd-focus); stroke-width: 3; }
.fd-crumbs { display: flex; flex-wrap: wrap; gap: 2px 4px; align-items: center; margin: 4px 0; }
.fd-crumbs button { max-width: 24em; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.fd-frame-details { min-height: 11.5em; margin-top: 8px; }
`

function CallingContextView(props: ViewProps<CallingContextData, CallingContextOptions>) {
  const { requests, omitted, quantity } = props.data
  const contexts = useMemo(
    () => new CallingContexts({ contexts: props.data.contexts, requests, quantity }),
    [props.data, requests, quantity],
  )
  const state = useWidgetOptions(CALLING_CONTEXT_OPTIONS, props)
  const isStill = useIsStill()
  const isCompared = requests[1] > 0
  const options = isCompared ? state.options : { ...state.options, widths: 'before' as const }
  const [pointed, setPointed] = useState<number | null>(null)
  const [place, width] = useWidth<HTMLDivElement>()
  const layout = useMemo(() => layoutFrames(contexts, options), [contexts, state.options])
  const zoom = (context: number) => {
    state.change({ focus: context === ALL ? null : context })
    setPointed(context)
    if (place.current !== null) place.current.scrollTop = 0
  }
  const shown =
    contexts.contexts.find(({ context }) => context === (pointed ?? options.focus)) ??
    allRequests(contexts)
  const { bounds, rows, frames } = layout
  const deeper = frames.filter(({ row }) => row >= ROWS_IN_SIGHT).length
  return (
    <section aria-label="Calling contexts">
      <div class="fd-bar">
        {isCompared && (
          <Choice
            name="widths"
            help="New contexts show in the widths of after, lost ones in those of before"
            value={options.widths}
            values={{ after: 'after', before: 'before' }}
            onChoose={(widths) => state.change({ widths })}
          />
        )}
        <Choice
          name="measure"
          help={CALLING_CONTEXT_OPTIONS.measure.sentence}
          value={options.measure}
          values={{ time: 'time', requests: 'requests' }}
          onChoose={(measure) => state.change({ measure })}
        />
        {isCompared && (
          <Choice
            name="colors"
            help={CALLING_CONTEXT_OPTIONS.color.sentence}
            value={options.color}
            values={{ self: 'own work', total: 'with all it calls' }}
            onChoose={(color) => state.change({ color })}
          />
        )}
        <Search
          value={options.search}
          placeholder="service or name"
          onSearch={(search) => state.change({ search })}
        />
      </div>
      <Caption text={widthTitle(options, contexts, layout.whole)}>
        Blank below a frame is its own work. Click or Enter goes into a frame, Escape goes back.
        {deeper > 0 ? ` ${grouped(rows)} rows: scroll down to the deeper ones.` : ''}
        {omitted > 0 ? ` ${grouped(omitted)} of the smallest are left out.` : ''}
      </Caption>
      <Crumbs contexts={contexts} focus={options.focus ?? ALL} onZoom={zoom} />
      <div ref={place} class="fd-frames">
        <Icicle
          {...{ layout, options, bounds, width, isCompared, quantity, pointed }}
          onPoint={setPointed}
          onZoom={zoom}
        />
      </div>
      {isStill && deeper > 0 && (
        <Caption
          text={`… and ${counted(rows - ROWS_IN_SIGHT, 'deeper row')} with ${counted(deeper, 'frame')}.`}
        />
      )}
      {isCompared && (
        <div class="fd-scroll" style="margin-top:8px">
          <ChangeLegend {...{ options, bounds, quantity }} />
        </div>
      )}
      <Found frames={frames} search={options.search} />
      {isCompared ? <Missing contexts={contexts} options={options} /> : null}
      <ContextDetails contexts={contexts} measure={options.measure} context={shown} />
      <StateCode code={state.code} />
    </section>
  )
}

function widthTitle(
  { widths, measure }: CallingContextOptions,
  { requests: [before, after], quantity }: CallingContexts,
  whole: number,
): string {
  const period = after === 0 ? '' : ` ${widths}`
  const of = counted(widths === 'before' ? before : after, 'request')
  if (!(whole > 0)) {
    return `Nothing here took any ${quantity.name}${period} (${of}): widths are equal and mean nothing.`
  }
  return measure === 'time'
    ? `Widths: ${quantity.unit === null ? 'time that requests waited' : quantity.name}${period}, mean of ${of}.`
    : `Widths: shares of a request${period}, each of ${of} counted the same.`
}

function Crumbs(props: {
  contexts: CallingContexts
  focus: number
  onZoom: IcicleProps['onZoom']
}) {
  const { contexts, focus, onZoom } = props
  const focused = contexts.contexts.find(({ context }) => context === focus)
  const chain = focused === undefined ? [] : callersOf(contexts.contexts, focused)
  const { first, between, last } = chainEnds(chain, { first: 3, last: 5 })
  const crumb = (context: CallingContext) => (
    <span key={context.context} style="display:inline-flex;gap:4px">
      {context.context === ALL ? null : '›'}
      <Button
        title={frameName(context)}
        disabled={context.context === focus}
        onClick={() => onZoom(context.context)}
      >
        {frameName(context)}
      </Button>
    </span>
  )
  return (
    <nav class="fd-crumbs" aria-label="Zoomed into">
      {[allRequests(contexts), ...first].map(crumb)}
      {between.length === 0 ? null : (
        <span class="fd-soft">› {counted(between.length, 'more caller')}</span>
      )}
      {last.map(crumb)}
    </nav>
  )
}

type IcicleProps = FrameStyle & {
  layout: FrameLayout
  pointed: number | null
  onPoint: (context: number) => void
  onZoom: (context: number) => void
}

function Icicle({ layout, pointed, onPoint, onZoom, ...style }: IcicleProps) {
  const { options, width } = style
  const isStill = useIsStill()
  const frames = isStill ? layout.frames.filter(({ row }) => row < ROWS_IN_SIGHT) : layout.frames
  const contexts = frames.map(({ context }) => context.context)
  const { goTo, markAt } = useTreeMarks(contexts, pointed, onPoint)
  const attributes = (frame: PlacedFrame) => {
    const { context } = frame.context
    const into = () => onZoom(context)
    const out = () => onZoom(Math.max(ALL, frames[0]?.context.parent ?? ALL))
    const go = (way: keyof ReturnType<typeof neighbors>) => () =>
      goTo(neighbors(frames, frame)[way]?.context.context)
    const acts = {
      ...{ Enter: into, ' ': into, Escape: out, Backspace: out, Home: undefined, End: undefined },
      ArrowDown: go('below'),
      ArrowUp: go('above'),
      ArrowLeft: go('left'),
      ArrowRight: go('right'),
    }
    return {
      ...markAt(context, {
        words: frameWords(frame, style),
        level: frame.row + 1,
        isSelected: context === (options.focus ?? ALL),
        acts,
      }),
      class: 'fd-frame',
      'data-frame': context,
      onClick: ({ currentTarget }: JSX.TargetedMouseEvent<SVGGElement>) => {
        if (!isSelectingText(currentTarget)) onZoom(context)
      },
    }
  }
  const rows = isStill ? Math.min(ROWS_IN_SIGHT, layout.rows) : layout.rows
  return (
    <Figure width={width} height={rows * FRAME_HEIGHT} label="Calling contexts">
      <g role="tree" aria-label="Calling contexts, callers above what they call">
        {frames.map((frame) => (
          <Frame
            key={frame.context.context}
            {...{ ...style, frame }}
            attributes={isStill ? {} : attributes(frame)}
          />
        ))}
      </g>
    </Figure>
  )
}

function Found({ frames, search }: { frames: readonly PlacedFrame[]; search: string }) {
  if (search.trim() === '') return null
  const contexts = frames.map(({ context }) => context)
  const isFound = (context: CallingContext) => matchesSearch(context, search)
  const found = contexts.filter(isFound).length
  const outer = new Set(outermost(contexts, isFound))
  const share = sum(frames, ({ context, width }) => (outer.has(context) ? width : 0))
  return (
    <p aria-live="polite">
      {found === 0
        ? 'Nothing drawn matches.'
        : `${counted(found, 'frame matches', 'frames match')}, ${percent(share)} of the width.`}
    </p>
  )
}

function Missing({
  contexts,
  options,
}: Pick<FrameStyle, 'options'> & { contexts: CallingContexts }) {
  const { count, amount } = missingFrames(contexts, options)
  if (count === 0) return null
  const other = options.widths === 'after' ? 'before' : 'after'
  const [verb, object] = count === 1 ? ['exists', 'it'] : ['exist', 'them']
  const takes = `${amountText(options.measure, amount, contexts.quantity)} per request`
  const said = `${counted(count, 'chain')} of calls ${verb} only ${other} (${takes}): choose widths ${other} to see ${object}.`
  return <Caption text={said} />
}

/**
 * Where the time of requests goes, as an icicle: callees below callers, as wide as the time waited
 * for them, colored by change. Source: B. Gregg, The Flame Graph, CACM 59(6), 2016.
 */
export const callingContextsWidget = defineWidget({
  name: 'calling-contexts',
  title: 'Calling contexts',
  description: ({ contexts, requests, quantity, omitted }: CallingContextData) => {
    const all = new CallingContexts({ contexts, requests, quantity })
    const mean = (period: Period) =>
      amountText('time', all.totalUs(period) / Math.max(1, requests[period]), quantity)
    const time = quantity.unit === null ? 'the time that requests waited there' : quantity.name
    const chains = counted(contexts.length + omitted, 'chain')
    return requests[AFTER] === 0
      ? `${chains} of calls; a mean request took ${mean(BEFORE)}. Widths show ${time}.`
      : `${chains} of calls; a mean request took ${mean(BEFORE)} before and ${mean(AFTER)} after. ` +
          `Widths show ${time}, colors what changed.`
  },
  options: CALLING_CONTEXT_OPTIONS,
  data: callingContextData,
  view: CallingContextView,
  style: CALLING_CONTEXT_STYLE,
  palettes: [CHANGE_COLORS],
})

function callingContextData(
  source: Comparison | CallingContexts,
  { focus, limit }: CallingContextOptions,
) {
  const all = source instanceof Comparison ? findCallingContexts(source.flows) : source
  const contexts = largestContexts(all, limit)
  if (focus !== null && !contexts.some(({ context }) => context === focus)) {
    throw new OptionError('focus', focus, 'the number of a context that is shown, or null')
  }
  const { requests, quantity } = all
  return { contexts, requests, quantity, omitted: all.contexts.length - contexts.length }
}

export function largestContexts(all: CallingContexts, limit: number): CallingContext[] {
  if (all.contexts.length <= limit) return all.contexts.map(roundedContext)
  const periods = [BEFORE, AFTER] as const
  const wholes = periods.map((period) => all.totalUs(period))
  const size: number[] = []
  for (const context of all.contexts) {
    const shares = periods.flatMap((period) => {
      const { totalUs, totalRequests } = totals(context, period)
      return [totalUs / (wholes[period] || 1), totalRequests / (all.requests[period] || 1)]
    })
    // Rounding must not place a called context before its caller.
    size.push(Math.min(size[context.parent] ?? Number.POSITIVE_INFINITY, Math.max(...shares)))
  }
  const largest = sort(all.contexts, ({ context }) => -(size[context] ?? 0)).slice(0, limit)
  return sort(largest, ({ context }) => context).map(roundedContext)
}

/** Rounds a context: nobody sees more than six digits, and pages should be small. */
function roundedContext(context: CallingContext): CallingContext {
  const rounded = ({ requests, calls, ...amounts }: ContextTotals) => {
    const short = Object.entries(amounts).map(([name, value]) => [name, digits(value)])
    return { requests, calls, ...(Object.fromEntries(short) as typeof amounts) }
  }
  return { ...context, before: rounded(context.before), after: rounded(context.after) }
}
