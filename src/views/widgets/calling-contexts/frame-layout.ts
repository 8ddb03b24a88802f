import { group, max, sum } from 'd3-array'
import {
  defineOptions,
  most,
  type OptionsOf,
  oneOf,
  optionalNumber,
  text,
} from '../../../core/options.ts'
import { hasWords } from '../../../core/words.ts'
import {
  type CallingContext,
  type CallingContexts,
  totals,
} from '../../../explain/calling-contexts/find-calling-contexts.ts'
import { AFTER, BEFORE, type Period } from '../../../flows/flow-set.ts'
import { roundDown } from '../../drawing/axis-scale.ts'
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

export type FrameOptions = Pick<CallingContextOptions, 'widths' | 'measure' | 'color' | 'focus'>

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

/** Frames narrower than this share of the width are not drawn. */
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
