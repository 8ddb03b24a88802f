import { group, max, sum } from 'd3-array'
import type { JSX } from 'preact'
import {
  defineOptions,
  most,
  type OptionsOf,
  oneOf,
  optionalNumber,
  text,
} from '../../../core/options.ts'
import { formatAmount, type Quantity, signedAmount, TIME } from '../../../core/quantity.ts'
import {
  counted,
  grouped,
  hasWords,
  percent,
  shortText,
  spoken,
  tooltipText,
} from '../../../core/words.ts'
import {
  type CallingContext,
  type CallingContexts,
  type ContextMeasure,
  totals,
} from '../../../explain/calling-contexts/find-calling-contexts.ts'
import { AFTER, BEFORE, type Period } from '../../../flows/flow-set.ts'
import { fittedText, textWidth } from '../../charts/text-width.ts'
import { roundDown } from '../../drawing/axes.tsx'
import { DataTable, numberColumn, textColumn } from '../../drawing/data-table.tsx'
import {
  Caption,
  definePalette,
  Figure,
  PageOnly,
  Text,
  useColors,
  useInk,
} from '../../drawing/figure.tsx'
import { CHANGE_SCALE } from '../../page/palette.ts'
import { STAGE_NAME } from '../define-widget.ts'

export const CALLING_CONTEXT_OPTIONS = defineOptions({
  widths: oneOf(['after', 'before'], {
    default: 'after',
    sentence: 'Period whose time is drawn; after shows what came, before what went',
  }),
  measure: oneOf(['time', 'requests'], {
    default: 'time',
    sentence: 'By time, slow requests count for more; by requests, each counts the same',
  }),
  color: oneOf(['self', 'total'], {
    default: 'self',
    sentence: 'Whether colors show the change of own work, or of that and all it calls',
  }),
  focus: optionalNumber(
    'Number of the context to begin at, as in the table; null for all requests',
  ),
  search: text({ default: '', sentence: 'Text to look for in services and names' }),
  limit: most(1000, 'contexts', 'Contexts that are shown at most, those that take most'),
  name: STAGE_NAME,
})

export type CallingContextOptions = OptionsOf<typeof CALLING_CONTEXT_OPTIONS>

type FrameOptions = Pick<CallingContextOptions, 'widths' | 'measure' | 'color' | 'focus'>

export interface PlacedFrame {
  readonly context: CallingContext
  readonly row: number
  readonly x: number
  readonly width: number
  readonly amount: number
  readonly change: number
}

export type FrameLayout = ReturnType<typeof layoutFrames>

export const ALL = -1

export function allRequests({ contexts, requests }: CallingContexts): CallingContext {
  const roots = contexts.filter(({ parent }) => parent === ALL)
  const of = (period: Period) => ({
    requests: requests[period],
    calls: requests[period],
    selfUs: 0,
    totalUs: sum(roots, (root) => totals(root, period).totalUs),
    selfRequests: 0,
    totalRequests: sum(roots, (root) => totals(root, period).totalRequests),
  })
  return {
    context: ALL,
    parent: ALL - 1,
    depth: ALL,
    service: '',
    name: 'all requests',
    before: of(BEFORE),
    after: of(AFTER),
  }
}

const MIN_WIDTH = 1 / 2000

/** Places contexts below their callers, as wide as their time, siblings in one fixed order. */
export function layoutFrames(
  contexts: CallingContexts,
  { widths, measure, color, focus }: FrameOptions,
) {
  const period: Period = widths === 'before' ? BEFORE : AFTER
  const amountOf = (context: CallingContext, of: Period, part: 'self' | 'total' = 'total') =>
    contexts.perRequest(context, { period: of, measure, part })
  const changeOf = (context: CallingContext) => {
    const part = context.context === ALL ? 'total' : color
    return amountOf(context, AFTER, part) - amountOf(context, BEFORE, part)
  }
  const size = (context: CallingContext) => amountOf(context, BEFORE) + amountOf(context, AFTER)
  const largestFirst = contexts.contexts.toSorted(
    (a, b) => size(b) - size(a) || a.context - b.context,
  )
  const called = group(largestFirst, ({ parent }) => parent)
  const all = allRequests(contexts)
  const root = contexts.contexts.find(({ context }) => context === focus) ?? all
  const whole = amountOf(root, period)
  const isTimeless = !(whole > 0)
  const frames: PlacedFrame[] = []
  const place = (context: CallingContext, at: Pick<PlacedFrame, 'row' | 'x' | 'width'>) => {
    if (at.width < MIN_WIDTH) return
    const amount = amountOf(context, period)
    frames.push({ context, ...at, amount, change: changeOf(context) })
    const children = (called.get(context.context) ?? []).map((child) => ({
      child,
      size: isTimeless
        ? Math.sign(totals(child, period).requests)
        : Math.max(0, amountOf(child, period)),
    }))
    // Work after a request's end can make a caller smaller than its calls.
    const filled = Math.max(
      isTimeless ? 0 : amount,
      sum(children, ({ size }) => size),
    )
    let x = at.x
    for (const { child, size } of children) {
      const width = filled > 0 ? (at.width * size) / filled : 0
      place(child, { row: at.row + 1, x, width })
      x += width
    }
  }
  place(root, { row: 0, x: 0, width: 1 })
  const largest = max(contexts.contexts, (context) => Math.abs(changeOf(context))) ?? 0
  return {
    frames,
    rows: 1 + (max(frames, ({ row }) => row) ?? 0),
    /** Bounds of classes 1, 2 and 3 of change, on both sides of 0; empty if nothing took time. */
    bounds: changeBounds(largest, Math.max(amountOf(all, BEFORE), amountOf(all, AFTER))),
    /** Time of a request in all. If it is 0, all calls of one caller are equally wide. */
    whole,
  }
}

export function callersOf(
  contexts: readonly CallingContext[],
  context: CallingContext,
): CallingContext[] {
  const byNumber = new Map(contexts.map((each) => [each.context, each]))
  const chain = [context]
  for (let at = byNumber.get(context.parent); at; at = byNumber.get(at.parent)) chain.unshift(at)
  return chain
}

export function matchesSearch({ context, service, name }: CallingContext, search: string): boolean {
  return context !== ALL && hasWords(`${service} ${name}`, search)
}

/** Returns the contexts that fit and are not called from another that does. Callers come first. */
export function outermost(
  contexts: readonly CallingContext[],
  fits: (context: CallingContext) => boolean,
): CallingContext[] {
  const within = new Set<number>()
  return contexts.filter((each) => {
    const isWithin = within.has(each.parent)
    const isFitting = fits(each)
    if (isWithin || isFitting) within.add(each.context)
    return isFitting && !isWithin
  })
}

export function missingFrames(
  contexts: CallingContexts,
  { widths, measure }: Pick<FrameOptions, 'widths' | 'measure'>,
) {
  const here: Period = widths === 'before' ? BEFORE : AFTER
  const period: Period = here === BEFORE ? AFTER : BEFORE
  const isMissing = (context: CallingContext) =>
    totals(context, here).requests === 0 && totals(context, period).requests > 0
  const missing = outermost(contexts.contexts, isMissing)
  const amount = (context: CallingContext) =>
    contexts.perRequest(context, { period, measure, part: 'total' })
  return { count: missing.length, amount: sum(missing, amount) }
}

/** Changes below this share of a mean request are never colored fully. */
const MIN_SHARE = 0.01
/** A scale up to less than this could not be written: amounts below 1e-6 are said to be 0. */
const MIN_TOP = 1e-4

/** Returns the bounds of classes of change up to `largest`; `whole` is the time of a mean request. */
export function changeBounds(largest: number, whole: number): readonly number[] {
  const top = Math.max(largest, MIN_SHARE * whole)
  if (!(top >= MIN_TOP)) return []
  return [roundDown(top / 50), roundDown(top / 10), roundDown(top / 2)]
}

export function changeClass(bounds: readonly number[], change: number): number {
  const steps = bounds.filter((bound) => Math.abs(change) >= bound).length
  return steps === 0 ? 0 : Math.sign(change) * steps
}

export function neighbors(frames: readonly PlacedFrame[], from: PlacedFrame) {
  const { context, parent } = from.context
  const row = frames.filter((frame) => frame.row === from.row)
  const place = row.indexOf(from)
  return {
    below: frames.find((frame) => frame.context.parent === context),
    above: frames.find((frame) => frame.context.context === parent),
    left: row[place - 1],
    right: row[place + 1],
  }
}

export const FRAME_HEIGHT = 22
const SIZE = 12
const PADDING = 5
const MAX_NAME_LENGTH = 120

const MUCH_LESS = ['#FFFFFF', '#111111'] as const
const SOME = ['#222222', '#FFFFFF'] as const
const LITTLE = ['#222222', '#E8E8E8'] as const
const MUCH_MORE = ['#111111', '#111111'] as const
/** Letters on each color of {@link CHANGE_SCALE}. */
const LETTERS = [MUCH_LESS, SOME, LITTLE, LITTLE, LITTLE, SOME, MUCH_MORE]

/** Classes of change: −3 is much less, 0 about the same, 3 much more. */
const CHANGE_CLASSES = CHANGE_SCALE.map((_, i) => i - (CHANGE_SCALE.length - 1) / 2)

export const CHANGE_COLORS = definePalette({
  frame: ['#D9E7F1', '#2B4356'],
  ...Object.fromEntries(CHANGE_CLASSES.map((change, i) => [`change-${change}`, CHANGE_SCALE[i]])),
  ...Object.fromEntries(CHANGE_CLASSES.map((change, i) => [`on-change-${change}`, LETTERS[i]])),
} as Record<string, readonly [string, string]>)

export interface FrameStyle {
  readonly options: CallingContextOptions
  readonly bounds: readonly number[]
  readonly width: number
  readonly isCompared: boolean
  readonly quantity: Quantity
}

interface FrameProps extends FrameStyle {
  readonly frame: PlacedFrame
  readonly attributes: JSX.SVGAttributes<SVGGElement>
}

export function Frame({ frame, attributes, ...style }: FrameProps) {
  const { options, bounds, isCompared, quantity } = style
  const isSearched = options.search.trim() !== ''
  const isFound = matchesSearch(frame.context, options.search)
  const colors = useColors(CHANGE_COLORS)
  const ink = useInk()
  const width = Math.max(0.5, frame.width * style.width - 0.5)
  const isColored = isCompared && frame.context.context !== ALL
  const change = changeClass(bounds, frame.change)
  const color = isColored ? colors[`on-change-${change}`] : ink.text
  const { measure } = options
  const said = isColored
    ? changeText(measure, frame.change, quantity)
    : amountText(measure, frame.amount, quantity)
  const [name, amount] = frameTexts(frame.context, said, width - 2 * PADDING)
  return (
    <g
      {...attributes}
      transform={`translate(${(frame.x * style.width).toFixed(2)} ${frame.row * FRAME_HEIGHT})`}
      opacity={isSearched && !isFound ? 0.45 : 1}
    >
      <title>{frameWords(frame, style)}</title>
      <rect
        width={width.toFixed(2)}
        height={FRAME_HEIGHT - 1}
        fill={isColored ? colors[`change-${change}`] : colors['frame']}
        stroke={isFound ? ink.text : 'none'}
        stroke-width={isFound ? 2 : 0}
      />
      {name === '' ? null : (
        <text x={PADDING} y="15" style={`fill:${color}`}>
          {name}
        </text>
      )}
      {amount === '' ? null : (
        <text x={width - PADDING} y="15" text-anchor="end" style={`fill:${color}`}>
          {amount}
        </text>
      )}
    </g>
  )
}

/** Returns the name and amount: both where there is room, else the name; without its service where it must. */
function frameTexts(context: CallingContext, said: string, room: number): [string, string] {
  const name = frameName(context)
  const both = [name, context.name].find(
    (text) => textWidth(text, SIZE) + textWidth(said, SIZE) + 12 <= room,
  )
  if (both !== undefined) return [shortText(both, MAX_NAME_LENGTH), said]
  if (textWidth(name, SIZE) <= room) return [shortText(name, MAX_NAME_LENGTH), '']
  return [fittedText(context.name, room, SIZE), '']
}

export function frameName({ service, name }: CallingContext): string {
  return spoken([service, name]).join(' ')
}

export function frameWords(
  { context, amount, change }: PlacedFrame,
  { options, isCompared, quantity }: Pick<FrameStyle, 'options' | 'isCompared' | 'quantity'>,
): string {
  const { widths, measure, color } = options
  const per = measure === 'time' ? 'per request' : 'of a request'
  const takes = `${tooltipText(frameName(context))}: ${amountText(measure, amount, quantity)} ${per}`
  if (!isCompared) return takes
  const part = context.context === ALL ? 'total' : color
  return `${takes} ${widths}; ${changeText(measure, change, quantity)} ${PARTS[part]}`
}

const PARTS = { self: 'in its own work', total: 'with all it calls' } as const

export function amountText(measure: ContextMeasure, amount: number, quantity = TIME): string {
  return measure === 'time' ? formatAmount(amount, quantity).replace('-', '−') : percent(amount)
}

export function changeText(measure: ContextMeasure, change: number, quantity = TIME): string {
  if (measure === 'time') return signedAmount(change, quantity)
  if (change === 0) return '0 %'
  return `${change > 0 ? '+' : '−'}${percent(Math.abs(change))}`
}

const BOX = 52
const LEGEND_SIZE = 11
const SIDE = 34

type LegendProps = Pick<FrameStyle, 'options' | 'bounds' | 'quantity'>

export function ChangeLegend({ options: { measure, color }, bounds, quantity }: LegendProps) {
  const ink = useInk()
  const colors = useColors(CHANGE_COLORS)
  if (bounds.length === 0) return <Caption text={`No change: nothing took any ${quantity.name}`} />
  const what = measure === 'time' ? 'Change per request' : 'Change of its share of a request'
  const { unit } = quantity
  // Labels have no room for a unit that is a word.
  const isNamed = measure === 'time' && unit !== null
  const title = `${what}, after − before, ${PARTS[color]}${isNamed ? ` (${unit})` : ''}`
  const labelOf = isNamed ? { ...quantity, unit: '' } : quantity
  const boxes = BOX * CHANGE_CLASSES.length
  const amounts = [...bounds.toReversed().map((bound) => -bound), ...bounds]
  return (
    <Figure
      width={Math.max(SIDE * 2 + boxes, Math.ceil(textWidth(title, LEGEND_SIZE)) + 4)}
      height={46}
      label={`Colors: ${title}; from purple for less over gray to orange for more.`}
    >
      <g font-size={LEGEND_SIZE}>
        <Text y="10">{title}</Text>
        <Text color="soft" y="26">
          less
        </Text>
        <Text color="soft" x={SIDE * 2 + boxes} y="26" anchor="end">
          more
        </Text>
        {CHANGE_CLASSES.map((change, i) => (
          <rect
            key={change}
            x={SIDE + BOX * i}
            y="16"
            width={BOX}
            height="12"
            fill={colors[`change-${change}`]}
            stroke={ink.back}
          />
        ))}
        {amounts.map((amount, i) => (
          <Text color="soft" key={amount} x={SIDE + BOX * (i + 1)} y="41" anchor="middle">
            {changeText(measure, amount, labelOf).trim().replace('under 1 %', '<1 %')}
          </Text>
        ))}
      </g>
    </Figure>
  )
}

interface Shown {
  readonly contexts: CallingContexts
  readonly measure: ContextMeasure
  readonly context: CallingContext
}

export function ContextDetails(shown: Shown) {
  const { contexts, context } = shown
  const isCompared = contexts.requests[AFTER] > 0
  const rows = rowsOf(shown)
  const column = (title: string, place: 0 | 1 | 2) =>
    numberColumn(title, ({ values }: (typeof rows)[number]) => values[place])
  return (
    <PageOnly>
      <div class="fd-frame-details" aria-live="polite">
        <h3 style="overflow-wrap:anywhere">{tooltipText(frameName(context))}</h3>
        <p class="fd-soft" style="overflow-wrap:anywhere">
          {callersText(contexts, context)}
        </p>
        <DataTable<(typeof rows)[number]>
          rows={rows}
          columns={[
            textColumn('mean per request', ({ what }) => what),
            ...(isCompared
              ? [column('before', 0), column('after', 1), column('change', 2)]
              : [column('amount', 0)]),
          ]}
        />
      </div>
    </PageOnly>
  )
}

/** Returns the callers, the request first; of a long chain both ends. */
function callersText({ contexts }: CallingContexts, context: CallingContext): string {
  if (context.context === ALL) return 'Every request from its arrival to its reply.'
  const callers = callersOf(contexts, context).slice(0, -1)
  if (callers.length === 0) return 'Requests begin here.'
  const { first, between, last } = chainEnds(callers, { first: 4, last: 8 })
  const name = (caller: CallingContext) => tooltipText(frameName(caller))
  const left = between.length === 0 ? [] : [`… ${counted(between.length, 'more caller')} …`]
  return `Called from ${[...first.map(name), ...left, ...last.map(name)].join(' › ')}`
}

function rowsOf({ contexts, measure, context }: Shown) {
  const { quantity } = contexts
  const amounts = (part: 'self' | 'total') => {
    const [before, after] = [BEFORE, AFTER].map((period) =>
      contexts.perRequest(context, { period, measure, part }),
    ) as [number, number]
    return [
      amountText(measure, before, quantity),
      amountText(measure, after, quantity),
      changeText(measure, after - before, quantity),
    ]
  }
  const calls = [BEFORE, AFTER].map(
    (period) => totals(context, period).calls / Math.max(1, contexts.requests[period]),
  ) as [number, number]
  const more = calls[1] - calls[0]
  const said = (value: number) => String(Number(value.toPrecision(3))).replace('-', '−')
  const noun = measure === 'time' ? quantity.name : 'share of the request'
  const requests = [grouped(context.before.requests), grouped(context.after.requests), '']
  const rows: Readonly<Record<string, readonly string[]>> =
    context.context === ALL
      ? { [`${noun} in all`]: amounts('total'), requests }
      : {
          [`${noun}, its own work`]: amounts('self'),
          [`${noun}, with all it calls`]: amounts('total'),
          'times called': [...calls.map(said), `${more > 0 ? '+' : ''}${said(more)}`],
          'requests that have it': requests,
        }
  return Object.entries(rows).map(([what, values]) => ({ what, values }))
}

export function chainEnds<T>(chain: readonly T[], ends: { first: number; last: number }) {
  // One link needs no more room than saying that it is left out.
  if (chain.length <= ends.first + ends.last + 1) return { first: chain, between: [], last: [] }
  const { first, last } = ends
  return {
    first: chain.slice(0, first),
    between: chain.slice(first, -last),
    last: chain.slice(-last),
  }
}
