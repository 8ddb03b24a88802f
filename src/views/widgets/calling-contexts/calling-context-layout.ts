import {
  type CallingContext,
  type CallingContexts,
  totals,
} from '../../../explain/calling-contexts/calling-contexts.ts'
import { AFTER, BEFORE, type Period } from '../../../flows/flow-set.ts'
import { type ChangeScale, changeScale } from './calling-context-colours.ts'
import type { CallingContextState } from './calling-context-model.ts'

/** A context where it is drawn. */
export interface PlacedFrame {
  /** `null` for all requests together. */
  readonly context: CallingContext | null
  /** Rows from the top. */
  readonly row: number
  /** Left edge and width, as shares of the whole width. */
  readonly x: number
  readonly width: number
  /** What it takes in the period of the widths, a request. */
  readonly amount: number
  /** After − before, of what is coloured. */
  readonly change: number
}

/** The frames of a state. */
export interface FrameLayout {
  readonly frames: readonly PlacedFrame[]
  readonly rows: number
  readonly scale: ChangeScale
  /**
   * What all requests together, or what fills the width, takes a request. Where that is 0, all that
   * is called from one caller is equally wide, as nothing tells it apart.
   */
  readonly whole: number
}

/** Frames narrower than this share of the width are not drawn. */
const NARROWEST = 1 / 2000

/**
 * Places the contexts below one another, what is called below its caller, as wide as what it takes.
 * The order among siblings is the same for both periods: the larger of both together first.
 */
export function layoutFrames(
  contexts: CallingContexts,
  { widths, measure, colour, focus }: CallingContextState,
): FrameLayout {
  const period: Period = widths === 'before' ? BEFORE : AFTER
  const total = (context: CallingContext, of: Period) =>
    contexts.perRequest(context, { period: of, measure, part: 'total' })
  const change = (context: CallingContext) =>
    contexts.perRequest(context, { period: AFTER, measure, part: colour }) -
    contexts.perRequest(context, { period: BEFORE, measure, part: colour })
  const called = calledFrom(contexts.contexts, (context) => total(context, 0) + total(context, 1))
  const sum = (of: readonly CallingContext[], at: Period) =>
    of.reduce((amount, context) => amount + Math.max(0, total(context, at)), 0)
  const roots = called.get(-1) ?? []
  const frames: PlacedFrame[] = []
  const place = (context: CallingContext, at: { row: number; x: number; width: number }) => {
    if (at.width < NARROWEST) return
    const amount = total(context, period)
    frames.push({ context, ...at, amount, change: change(context) })
    spread(called.get(context.context) ?? [], amount, at)
  }
  const spread = (
    children: readonly CallingContext[],
    amount: number,
    { row, x, width }: { row: number; x: number; width: number },
  ) => {
    // Work after a request's end can make a caller smaller than what it calls.
    const filled = Math.max(amount, sum(children, period))
    const there = children.filter((child) => totals(child, period).requests > 0)
    let at = x
    for (const child of isTimeless ? there : children) {
      const part = isTimeless ? 1 / there.length : Math.max(0, total(child, period)) / filled
      const share = filled > 0 || isTimeless ? width * part : 0
      place(child, { row: row + 1, x: at, width: share })
      at += share
    }
  }
  const focused = contexts.contexts.find(({ context }) => context === focus)
  const whole = focused === undefined ? sum(roots, period) : total(focused, period)
  const isTimeless = !(whole > 0)
  if (focused === undefined) {
    const all = { context: null, row: 0, x: 0, width: 1, amount: whole }
    frames.push({ ...all, change: sum(roots, AFTER) - sum(roots, BEFORE) })
    spread(roots, whole, all)
  } else place(focused, { row: 0, x: 0, width: 1 })
  const largest = contexts.contexts.reduce(
    (most, context) => Math.max(most, Math.abs(change(context))),
    0,
  )
  const mean = Math.max(sum(roots, BEFORE), sum(roots, AFTER))
  const rows = frames.reduce((most, { row }) => Math.max(most, row + 1), 1)
  return { frames, rows, scale: changeScale(largest, mean), whole }
}

/** The contexts called from each, by number, the largest first. */
function calledFrom(
  contexts: readonly CallingContext[],
  size: (context: CallingContext) => number,
): Map<number, CallingContext[]> {
  const called = new Map<number, CallingContext[]>()
  for (const context of contexts) {
    const siblings = called.get(context.parent) ?? []
    siblings.push(context)
    called.set(context.parent, siblings)
  }
  for (const siblings of called.values()) {
    siblings.sort((a, b) => size(b) - size(a) || a.context - b.context)
  }
  return called
}

/** A context and those it is called from, the request first. */
export function callersOf(
  contexts: readonly CallingContext[],
  context: CallingContext,
): CallingContext[] {
  const byNumber = new Map(contexts.map((each) => [each.context, each]))
  const chain: CallingContext[] = []
  for (
    let at: CallingContext | undefined = context;
    at !== undefined;
    at = byNumber.get(at.parent)
  ) {
    chain.unshift(at)
  }
  return chain
}

/** Whether a search finds a context: all its words, in service or name. */
export function matchesSearch({ service, name }: CallingContext, search: string): boolean {
  const text = `${service} ${name}`.toLowerCase()
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return words.length > 0 && words.every((word) => text.includes(word))
}

/**
 * Chains of calls that one period has and the other has not: how many, and what they take a
 * request. Those called from one of them are counted in it.
 */
export function missingFrames(
  contexts: CallingContexts,
  { widths, measure }: Pick<CallingContextState, 'widths' | 'measure'>,
): { readonly count: number; readonly amount: number } {
  const [here, there] = widths === 'before' ? [BEFORE, AFTER] : [AFTER, BEFORE]
  const requests = (context: CallingContext, period: Period) =>
    period === BEFORE ? context.before.requests : context.after.requests
  const gone = new Set<number>()
  let count = 0
  let amount = 0
  for (const context of contexts.contexts) {
    if (requests(context, here as Period) > 0 || requests(context, there as Period) === 0) continue
    gone.add(context.context)
    if (gone.has(context.parent)) continue
    count++
    amount += contexts.perRequest(context, { period: there as Period, measure, part: 'total' })
  }
  return { count, amount }
}
