import { formatDuration } from '../../../core/units.ts'
import { percent, signedDuration } from '../../../core/words.ts'
import {
  type CallingContext,
  CallingContexts,
  type ContextMeasure,
  type ContextTotals,
} from '../../../explain/calling-contexts/calling-contexts.ts'
import { AFTER, BEFORE, type Period } from '../../../flows/flow-set.ts'
import { callCode } from '../../drawing/option-code.ts'

/** What the calling context explorer can change. */
export interface CallingContextState {
  readonly widths: 'before' | 'after'
  readonly measure: ContextMeasure
  readonly colour: 'self' | 'total'
  /** The context that fills the width; `null` for all requests. */
  readonly focus: number | null
  readonly search: string
}

/** What the calling context explorer carries into a page. */
export interface CallingContextData {
  readonly contexts: readonly CallingContext[]
  readonly requests: readonly [before: number, after: number]
  /** Contexts that were left out for being small. */
  readonly omitted: number
  readonly limit: number
  readonly initial: CallingContextState
  /** What the comparison is called in code. */
  readonly name: string
}

export const USUAL_LIMIT = 1000

/** The state where nothing else is asked for. */
export function usualState([, after]: readonly [number, number]): CallingContextState {
  return {
    widths: after > 0 ? 'after' : 'before',
    ...{ measure: 'time', colour: 'self', focus: null, search: '' },
  }
}

/**
 * The `limit` contexts that take most time or most requests of either period. What calls them takes
 * as much at least and is among them.
 */
export function largestContexts(all: CallingContexts, limit: number): CallingContext[] {
  if (all.contexts.length <= limit) return all.contexts.map(roundedContext)
  const share = (context: CallingContext) =>
    Math.max(
      ...[BEFORE, AFTER].flatMap((period) => [
        shareOf(all, context, { period, measure: 'time' }),
        shareOf(all, context, { period, measure: 'requests' }),
      ]),
    )
  const size = all.contexts.map(share)
  // No called context may come before its caller, as rounding would have it.
  all.contexts.forEach(({ parent }, i) => {
    if (parent >= 0) size[i] = Math.min(size[i] as number, size[parent] as number)
  })
  return all.contexts
    .toSorted(
      (a, b) => (size[b.context] as number) - (size[a.context] as number) || a.context - b.context,
    )
    .slice(0, limit)
    .sort((a, b) => a.context - b.context)
    .map(roundedContext)
}

function shareOf(
  all: CallingContexts,
  context: CallingContext,
  { period, measure }: { period: Period; measure: ContextMeasure },
): number {
  const whole = measure === 'time' ? all.totalUs(period) : all.requests[period]
  const totals = period === BEFORE ? context.before : context.after
  const part = measure === 'time' ? totals.totalUs : totals.totalRequests
  return whole > 0 ? part / whole : 0
}

/** Nobody sees more than six digits, and pages should be small. */
function roundedContext({ before, after, ...context }: CallingContext): CallingContext {
  return { ...context, before: roundedTotals(before), after: roundedTotals(after) }
}

function roundedTotals(totals: Readonly<ContextTotals>): ContextTotals {
  const rounded = (value: number) => Number(value.toPrecision(6))
  return {
    requests: totals.requests,
    calls: totals.calls,
    selfUs: rounded(totals.selfUs),
    totalUs: rounded(totals.totalUs),
    selfRequests: rounded(totals.selfRequests),
    totalRequests: rounded(totals.totalRequests),
  }
}

/** The contexts in a page, computed on by the same code. */
export function restoreContexts({ contexts, requests }: CallingContextData): CallingContexts {
  return new CallingContexts(contexts, requests)
}

/** An amount of a measure, as a person says it. */
export function saidAmount(measure: ContextMeasure, amount: number): string {
  return measure === 'time' ? formatDuration(amount).replace('-', '−') : percent(amount)
}

/** A change of an amount, with its sign. */
export function saidChange(measure: ContextMeasure, change: number): string {
  if (measure === 'time') return signedDuration(change)
  if (change === 0) return '0 %'
  return `${change > 0 ? '+' : '−'}${percent(Math.abs(change))}`
}

/** The line of code that shows a state again. */
export function callingContextCode(
  { name, limit, requests }: Pick<CallingContextData, 'name' | 'limit' | 'requests'>,
  state: CallingContextState,
): string {
  const usual = usualState(requests)
  const option = (key: keyof CallingContextState) => ({
    value: state[key],
    usually: usual[key],
  })
  return callCode('exploreCallingContexts', [name], {
    widths: option('widths'),
    measure: option('measure'),
    colour: option('colour'),
    focus: option('focus'),
    search: option('search'),
    limit: { value: limit, usually: USUAL_LIMIT },
  })
}
