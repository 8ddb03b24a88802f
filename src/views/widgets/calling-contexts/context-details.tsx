import { counted, grouped, tooltipText } from '../../../core/words.ts'
import {
  type CallingContext,
  type CallingContexts,
  type ContextMeasure,
  totals,
} from '../../../explain/calling-contexts/find-calling-contexts.ts'
import { AFTER, BEFORE, type Period } from '../../../flows/flow-set.ts'
import { DataTable } from '../../drawing/data-table.tsx'
import { PageOnly } from '../../drawing/figure.tsx'
import { amountText, changeText, frameName } from './frame-drawing.tsx'
import { ALL, callersOf } from './frame-layout.ts'

interface Shown {
  readonly contexts: CallingContexts
  readonly measure: ContextMeasure
  readonly context: CallingContext
}

export function ContextDetails(shown: Shown) {
  const { contexts, context } = shown
  const isCompared = contexts.requests[AFTER] > 0
  const rows = rowsOf(shown)
  const column = (title: string, place: 0 | 1 | 2) => ({
    ...{ title, isNumber: true },
    cell: ({ values }: (typeof rows)[number]) => values[place],
  })
  return (
    <PageOnly>
      <div class="fd-frame-details" aria-live="polite">
        <h3 style="overflow-wrap:anywhere">{tooltipText(frameName(context))}</h3>
        <p class="fd-soft" style="overflow-wrap:anywhere">
          {callersText(contexts, context)}
        </p>
        <DataTable
          rows={rows}
          columns={[
            { title: 'mean per request', cell: ({ what }) => what },
            ...(isCompared
              ? [column('before', 0), column('after', 1), column('change', 2)]
              : [column('amount', 0)]),
          ]}
        />
      </div>
    </PageOnly>
  )
}

/** The callers, the request first; of a long chain both ends. */
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
    const amount = (period: Period) => contexts.perRequest(context, { period, measure, part })
    return [
      amountText(measure, amount(BEFORE), quantity),
      amountText(measure, amount(AFTER), quantity),
      changeText(measure, amount(AFTER) - amount(BEFORE), quantity),
    ]
  }
  const noun = measure === 'time' ? contexts.quantity.name : 'share of the request'
  const requests = [grouped(context.before.requests), grouped(context.after.requests), '']
  if (context.context === ALL) {
    return [
      { what: `${noun} in all`, values: amounts('total') },
      { what: 'requests', values: requests },
    ]
  }
  return [
    { what: `${noun}, its own work`, values: amounts('self') },
    { what: `${noun}, with all it calls`, values: amounts('total') },
    { what: 'times called', values: callRates(contexts, context) },
    { what: 'requests that have it', values: requests },
  ]
}

function callRates({ requests }: CallingContexts, context: CallingContext): string[] {
  const rate = (period: Period) => totals(context, period).calls / Math.max(1, requests[period])
  const change = rate(AFTER) - rate(BEFORE)
  const said = (value: number) => String(Number(value.toPrecision(3))).replace('-', '−')
  return [said(rate(BEFORE)), said(rate(AFTER)), `${change > 0 ? '+' : ''}${said(change)}`]
}

export function chainEnds<T>(
  chain: readonly T[],
  ends: { readonly first: number; readonly last: number },
): { readonly first: readonly T[]; readonly between: readonly T[]; readonly last: readonly T[] } {
  // One link needs no more room than saying that it is left out.
  if (chain.length <= ends.first + ends.last + 1) return { first: chain, between: [], last: [] }
  const end = chain.length - ends.last
  return {
    first: chain.slice(0, ends.first),
    between: chain.slice(ends.first, end),
    last: chain.slice(end),
  }
}
