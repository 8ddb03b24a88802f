import {
  type CallingContext,
  type CallingContexts,
  totals,
} from '../../../explain/calling-contexts/calling-contexts.ts'
import { AFTER, BEFORE, type Period } from '../../../flows/flow-set.ts'
import type { CallingContextOptions } from './options.ts'

/** What the layout depends on. */
export type FrameOptions = Pick<CallingContextOptions, 'widths' | 'measure' | 'color' | 'focus'>

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
  /** After − before, of what is colored. */
  readonly change: number
}

/** The frames of a state. */
export interface FrameLayout {
  readonly frames: readonly PlacedFrame[]
  readonly rows: number
  /** Where classes 1, 2 and 3 of change begin, on both sides of 0; empty where nothing took time. */
  readonly bounds: readonly number[]
  /**
   * What all requests together, or what fills the width, takes a request. Where that is 0, all that
   * is called from one caller is equally wide, as nothing tells it apart.
   */
  readonly whole: number
}

/** Frames narrower than this share of the width are not drawn. */
const MIN_WIDTH = 1 / 2000

/**
 * Places the contexts below one another, what is called below its caller, as wide as what it takes.
 * The order among siblings is the same for both periods: the larger of both together first.
 */
export function layoutFrames(
  contexts: CallingContexts,
  { widths, measure, color, focus }: FrameOptions,
): FrameLayout {
  const period: Period = widths === 'before' ? BEFORE : AFTER
  const total = (context: CallingContext, of: Period) =>
    contexts.perRequest(context, { period: of, measure, part: 'total' })
  const change = (context: CallingContext) =>
    contexts.perRequest(context, { period: AFTER, measure, part: color }) -
    contexts.perRequest(context, { period: BEFORE, measure, part: color })
  const called = calledFrom(contexts.contexts, (context) => total(context, 0) + total(context, 1))
  const sum = (of: readonly CallingContext[], at: Period) =>
    of.reduce((amount, context) => amount + Math.max(0, total(context, at)), 0)
  const roots = called.get(-1) ?? []
  const frames: PlacedFrame[] = []
  const place = (context: CallingContext, at: { row: number; x: number; width: number }) => {
    if (at.width < MIN_WIDTH) return
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
  return { frames, rows, bounds: changeBounds(largest, mean), whole }
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
  { widths, measure }: Pick<FrameOptions, 'widths' | 'measure'>,
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

/** Changes below this share of a mean request are never colored fully. */
const MIN_SHARE = 0.01
/** A scale up to less than this could not be written: amounts below 1e-6 are said to be 0. */
const MIN_TOP = 1e-4

/** Returns where classes of change up to `largest` begin; `whole` is what a mean request takes. */
export function changeBounds(largest: number, whole: number): readonly number[] {
  const top = Math.max(largest, MIN_SHARE * whole)
  if (!(top >= MIN_TOP)) return []
  return [roundDown(top / 50), roundDown(top / 10), roundDown(top / 2)]
}

/** Returns the class of a change: −3 is much less, 0 about the same, 3 much more. */
export function changeClass(bounds: readonly number[], change: number): number {
  const steps = bounds.filter((bound) => Math.abs(change) >= bound).length
  return steps === 0 ? 0 : Math.sign(change) * steps
}

/** The largest of 1, 2 and 5 times a power of ten that is at most `value`. */
function roundDown(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const factor = [5, 2, 1].find((step) => step * power <= value * (1 + 1e-9)) ?? 1
  return Number((factor * power).toPrecision(3))
}

/** Shares nearer than this are the same. */
const CLOSE = 1e-9

/**
 * Where an arrow key leads from a frame: down to the first it calls, up to its caller, left and
 * right to the next in its row. `undefined` where there is none, or for another key.
 */
export function frameAfterKey(
  frames: readonly PlacedFrame[],
  from: number,
  key: string,
): number | undefined {
  const at = frames[from]
  if (at === undefined) return undefined
  const middle = at.x + at.width / 2
  const first = (fits: (frame: PlacedFrame) => boolean, best: 'left' | 'right') => {
    const fitting = [...frames.keys()].filter((i) => fits(frames[i] as PlacedFrame))
    fitting.sort((a, b) => (frames[a] as PlacedFrame).x - (frames[b] as PlacedFrame).x)
    return best === 'left' ? fitting[0] : fitting.at(-1)
  }
  switch (key) {
    case 'ArrowDown':
      return first(
        ({ row, x, width }) =>
          row === at.row + 1 && x >= at.x - CLOSE && x + width <= at.x + at.width + CLOSE,
        'left',
      )
    case 'ArrowUp':
      return first(
        ({ row, x, width }) => row === at.row - 1 && x <= middle && middle <= x + width,
        'left',
      )
    case 'ArrowRight':
      return first(({ row, x }) => row === at.row && x > at.x, 'left')
    case 'ArrowLeft':
      return first(({ row, x }) => row === at.row && x < at.x, 'right')
    default:
      return undefined
  }
}
