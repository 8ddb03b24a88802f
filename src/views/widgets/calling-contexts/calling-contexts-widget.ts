import { Comparison } from '../../../compare/comparison.ts'
import { OptionError } from '../../../core/errors.ts'
import { counted } from '../../../core/words.ts'
import {
  type CallingContext,
  CallingContexts,
  type ContextTotals,
  findCallingContexts,
  totals,
} from '../../../explain/calling-contexts/find-calling-contexts.ts'
import { AFTER, BEFORE, type Period } from '../../../flows/flow-set.ts'
import { defineWidget } from '../define-widget.ts'
import {
  CALLING_CONTEXT_STYLE,
  type CallingContextData,
  CallingContextView,
} from './calling-contexts-view.tsx'
import { amountText, CHANGE_COLORS } from './frame-drawing.tsx'
import { CALLING_CONTEXT_OPTIONS } from './frame-layout.ts'

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
  data: (source: Comparison | CallingContexts, { focus, limit }) => {
    const all = source instanceof Comparison ? findCallingContexts(source.flows) : source
    const contexts = largestContexts(all, limit)
    if (focus !== null && !contexts.some(({ context }) => context === focus)) {
      throw new OptionError('focus', focus, 'the number of a context that is shown, or null')
    }
    const { requests, quantity } = all
    return { contexts, requests, quantity, omitted: all.contexts.length - contexts.length }
  },
  view: CallingContextView,
  style: CALLING_CONTEXT_STYLE,
  palettes: [CHANGE_COLORS],
})

export function largestContexts(all: CallingContexts, limit: number): CallingContext[] {
  if (all.contexts.length <= limit) return all.contexts.map(roundedContext)
  const periods = [BEFORE, AFTER] as const
  const wholes = periods.map((period) => all.totalUs(period))
  const size = all.contexts.map((context) =>
    Math.max(
      ...periods.flatMap((period) => {
        const { totalUs, totalRequests } = totals(context, period)
        return [totalUs / (wholes[period] || 1), totalRequests / (all.requests[period] || 1)]
      }),
    ),
  )
  const sizeOf = (context: number) => size[context] ?? 0
  // No called context may come before its caller, as rounding would have it.
  all.contexts.forEach(({ parent }, i) => {
    if (parent >= 0) size[i] = Math.min(sizeOf(i), sizeOf(parent))
  })
  return all.contexts
    .toSorted((a, b) => sizeOf(b.context) - sizeOf(a.context) || a.context - b.context)
    .slice(0, limit)
    .sort((a, b) => a.context - b.context)
    .map(roundedContext)
}

/** Nobody sees more than six digits, and pages should be small. */
function roundedContext({ before, after, ...context }: CallingContext): CallingContext {
  return { ...context, before: roundedTotals(before), after: roundedTotals(after) }
}

function roundedTotals({ requests, calls, ...amounts }: Readonly<ContextTotals>): ContextTotals {
  const { selfUs, totalUs, selfRequests, totalRequests } = amounts
  const rounded = (value: number) => Number(value.toPrecision(6))
  return {
    ...{ requests, calls },
    ...{ selfUs: rounded(selfUs), totalUs: rounded(totalUs) },
    ...{ selfRequests: rounded(selfRequests), totalRequests: rounded(totalRequests) },
  }
}
