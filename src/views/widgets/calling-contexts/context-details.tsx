import { tooltipText } from '../../../core/shown-text.ts'
import { counted, grouped } from '../../../core/words.ts'
import type {
  CallingContext,
  CallingContexts,
  ContextMeasure,
} from '../../../explain/calling-contexts/calling-contexts.ts'
import { AFTER, BEFORE, type Period } from '../../../flows/flow-set.ts'
import { amountText, changeText, frameName } from './frame-drawing.tsx'
import { callersOf } from './frame-layout.ts'

interface Shown {
  readonly contexts: CallingContexts
  readonly measure: ContextMeasure
  /** `null` for all requests. */
  readonly context: CallingContext | null
}

/** A line of the table: what, before, after, change. */
interface Row {
  readonly what: string
  readonly values: readonly string[]
}

/** Lists the numbers of one context in both periods. */
export function ContextDetails({ contexts, measure, context }: Shown) {
  const isCompared = contexts.requests[AFTER] > 0
  const callers = context === null ? [] : callersOf(contexts.contexts, context).slice(0, -1)
  return (
    <div class="fd-frame-details" aria-live="polite">
      <h3 style="overflow-wrap:anywhere">{tooltipText(frameName(context))}</h3>
      <p class="fd-soft" style="overflow-wrap:anywhere">
        {context === null
          ? 'Every request from its arrival to its reply.'
          : callers.length === 0
            ? 'Requests begin here.'
            : `Called from ${callerWords(callers)}`}
      </p>
      <div class="fd-scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">mean per request</th>
              <th scope="col" class="fd-amount">
                {isCompared ? 'before' : 'amount'}
              </th>
              {isCompared ? (
                <>
                  <th scope="col" class="fd-amount">
                    after
                  </th>
                  <th scope="col" class="fd-amount">
                    change
                  </th>
                </>
              ) : null}
            </tr>
          </thead>
          <tbody>
            {rowsOf({ contexts, measure, context }).map(({ what, values }) => (
              <tr key={what}>
                <th scope="row" style="font-weight:normal">
                  {what}
                </th>
                {values.slice(0, isCompared ? 3 : 1).map((value, i) => (
                  <td key={i} class="fd-amount">
                    {value}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}

/** A chain of callers, the request first; of a long one both ends. */
function callerWords(callers: readonly CallingContext[]): string {
  const { first, between, last } = chainEnds(callers, { first: 4, last: 8 })
  const name = (caller: CallingContext) => tooltipText(frameName(caller))
  const left = between.length === 0 ? [] : [`… ${counted(between.length, 'more caller')} …`]
  return [...first.map(name), ...left, ...last.map(name)].join(' › ')
}

function rowsOf({ contexts, measure, context }: Shown): Row[] {
  const { requests } = contexts
  const amount = (period: Period, part: 'self' | 'total') =>
    context === null
      ? contexts.contexts
          .filter(({ parent }) => parent < 0)
          .reduce((sum, root) => sum + contexts.perRequest(root, { period, measure, part }), 0)
      : contexts.perRequest(context, { period, measure, part })
  const row = (what: string, part: 'self' | 'total'): Row => {
    const [before, after] = [amount(BEFORE, part), amount(AFTER, part)]
    return {
      what,
      values: [
        amountText(measure, before),
        amountText(measure, after),
        changeText(measure, after - before),
      ],
    }
  }
  const noun = measure === 'time' ? 'time' : 'share of the request'
  if (context === null) {
    const counts = { what: 'requests', values: [grouped(requests[0]), grouped(requests[1]), ''] }
    return [row(`${noun} in all`, 'total'), counts]
  }
  return [
    row(`${noun}, its own work`, 'self'),
    row(`${noun}, with all it calls`, 'total'),
    { what: 'times called', values: callRates(context, requests) },
    {
      what: 'requests that have it',
      values: [grouped(context.before.requests), grouped(context.after.requests), ''],
    },
  ]
}

function callRates(
  { before, after }: CallingContext,
  requests: readonly [number, number],
): string[] {
  const rates = [before.calls / Math.max(1, requests[0]), after.calls / Math.max(1, requests[1])]
  const change = (rates[1] as number) - (rates[0] as number)
  const said = (rate: number) => String(Number(rate.toPrecision(3))).replace('-', '−')
  return [...rates.map(said), `${change > 0 ? '+' : ''}${said(change)}`]
}

/** Splits a chain that is too long to show whole; `between` is empty for short ones. */
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
