import { rollup } from 'd3-array'
import { callTree, type FlowCall } from '../../calls/call-tree.ts'
import { CriticalPathFinder } from '../../calls/critical-path.ts'
import { getOrInsert } from '../../core/entries.ts'
import { requireStage } from '../../core/errors.ts'
import type { Quantity } from '../../core/quantity.ts'
import { memoized } from '../../core/remembered.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { AFTER, BEFORE, FlowSet, type Period } from '../../flows/flow-set.ts'

/**
 * Finds the calling context tree of all requests of a period, or of two: for every chain of calls, the time that
 * requests waited for its work.
 *
 * Every moment of a response time belongs to exactly one context: the call whose own work the critical path goes
 * through just then. So contexts add up to the sum of the response times. Work that runs in parallel to longer work, or
 * after the reply, adds nothing; its calls are still counted. If a recorded response time and its critical path differ,
 * the request itself gets the rest. Contexts are called by service and operation, without hosts. With `counts:
 * 'weighted'`, each request counts its sampling weight.
 *
 * @param flows of one period or two
 *
 * Source: G. Ammons, T. Ball, J. R. Larus, PLDI 1997, for the tree; critical paths instead of
 * processor time are flowdelta's own.
 *
 * @example
 * const contexts = findCallingContexts(flows)
 * contexts.table().print()
 */
export function findCallingContexts(flows: FlowSet): CallingContexts {
  requireStage('findCallingContexts(flows)', flows, FlowSet)
  const { shapeOf, period, responseTimeUs } = flows
  const contexts: MutableContext[] = []
  const finder = new CriticalPathFinder(flows)
  const ofShape = shapeContexts(flows, contexts)
  for (let request = 0; request < flows.size; request++) {
    const weight = flows.countOf(request)
    const { ofEdge, calls } = ofShape(shapeOf[request] as number)
    const of = (context = 0) =>
      totals(contexts[context] as MutableContext, period[request] as Period)
    for (const [context, count] of calls) {
      const sums = of(context)
      sums.requests += weight
      sums.calls += weight * count
    }
    const wholeUs = responseTimeUs[request] as number
    const [root] = calls.keys()
    let restUs = wholeUs
    const spend = (context: number | undefined, us: number) => {
      const sums = of(context)
      sums.selfUs += weight * us
      if (wholeUs > 0) sums.selfRequests += (weight * us) / wholeUs
    }
    for (const { edge, us } of finder.path(request)) {
      spend(ofEdge[edge], us)
      restUs -= us
    }
    spend(root, restUs)
    if (!(wholeUs > 0)) of(root).selfRequests += weight
  }
  addCallees(contexts)
  const requests = [BEFORE, AFTER].map((each) => flows.countedIn(each)) as [number, number]
  return new CallingContexts({ contexts, requests, quantity: flows.quantity })
}

/** Returns what finds the contexts of a shape: of its edges, and of its calls, that of the root first. */
function shapeContexts(flows: FlowSet, contexts: MutableContext[]) {
  const numbers = new Map<string, number>()
  const numberOf = (parent: number, { service, name }: FlowCall) =>
    getOrInsert(numbers, JSON.stringify([parent, service, name]), () => {
      const depth = (contexts[parent]?.depth ?? -1) + 1
      const [before, after] = [noTotals(), noTotals()]
      const context = contexts.length
      contexts.push({ context, parent, depth, service, name, before, after })
      return context
    })
  return memoized((shape: number) => {
    const { calls, callOfEdge } = callTree(flows, shape)
    const ofCall: number[] = []
    for (const call of calls) ofCall.push(numberOf(ofCall[call.parent] ?? -1, call))
    return {
      ofEdge: callOfEdge.map((call) => ofCall[call] as number),
      calls: rollup(ofCall, ({ length }) => length, Number),
    }
  })
}

/** Adds up the totals of contexts with those called from them; callers come before callees. */
function addCallees(contexts: readonly MutableContext[]): void {
  for (const { parent, ...periods } of contexts.toReversed()) {
    for (const period of ['before', 'after'] as const) {
      const own = periods[period]
      own.totalUs += own.selfUs
      own.totalRequests += own.selfRequests
      const caller = contexts[parent]?.[period]
      if (caller === undefined) continue
      caller.totalUs += own.totalUs
      caller.totalRequests += own.totalRequests
    }
  }
}

const noTotals = (): ContextTotals => ({
  requests: 0,
  calls: 0,
  selfUs: 0,
  totalUs: 0,
  selfRequests: 0,
  totalRequests: 0,
})

/** Totals of a calling context in one period; times are sums over the period's requests. */
export interface ContextTotals {
  requests: number
  calls: number
  /** Time that requests waited for its own work. */
  selfUs: number
  /** The same and all that was called from it. */
  totalUs: number
  /** Requests' worth of its own work, each request divided as its time is. */
  selfRequests: number
  totalRequests: number
}

/** A chain of calls: something that was called, and who called it, back to the request. */
export interface CallingContext {
  /** Number of the context; callers come before callees. */
  readonly context: number
  /** Number of the context it is called from; -1 for the beginning of requests. */
  readonly parent: number
  readonly depth: number
  /** Empty for trace points. */
  readonly service: string
  readonly name: string
  readonly before: Readonly<ContextTotals>
  readonly after: Readonly<ContextTotals>
}

interface MutableContext extends CallingContext {
  readonly before: ContextTotals
  readonly after: ContextTotals
}

/** Measure that divides up the requests: their time, or each request counted once, however long it took. */
export type ContextMeasure = 'time' | 'requests'

/** The calling context tree of one or two periods: what `findCallingContexts` makes. */
export class CallingContexts extends columnarStage<{
  readonly contexts: readonly CallingContext[]
  /** Requests in each period; 0 after where there is only one period. */
  readonly requests: readonly [before: number, after: number]
  /** Quantity of the times: time, unless flows carry another measure. */
  readonly quantity: Quantity
}>() {
  /** Returns the sum of a period's response times, in µs, which all its contexts add up to. */
  totalUs(period: Period): number {
    return this.contexts.reduce((sum, context) => sum + totals(context, period).selfUs, 0)
  }

  /**
   * Returns the mean time of the period's requests in a context, in µs, or with `'requests'` the mean share of a
   * request. Means cover all of the period's requests, so periods of different length compare.
   */
  perRequest(
    context: CallingContext,
    { period, measure, part }: { period: Period; measure: ContextMeasure; part: 'self' | 'total' },
  ): number {
    const sums = totals(context, period)
    return sums[`${part}${measure === 'time' ? 'Us' : 'Requests'}`] / this.#requests(period)
  }

  #requests(period: Period): number {
    return Math.max(1, this.requests[period])
  }

  /**
   * Returns one row per context: caller, name, requests that have it, calls a request, and per request of all of the
   * period's the time of its own and with all it calls, before, after and the change.
   */
  table(): StageTable {
    const time = (period: Period, part: 'self' | 'total') => (context: CallingContext) =>
      this.perRequest(context, { period, measure: 'time', part })
    const change = (part: 'self' | 'total') => (context: CallingContext) =>
      time(AFTER, part)(context) - time(BEFORE, part)(context)
    return rowTable(
      this.contexts,
      {
        ...own('context parent depth service name'),
        beforeRequests: ({ before }) => before.requests,
        afterRequests: ({ after }) => after.requests,
        beforeCallsPerRequest: ({ before }) => before.calls / this.#requests(BEFORE),
        afterCallsPerRequest: ({ after }) => after.calls / this.#requests(AFTER),
        beforeSelfUs: time(BEFORE, 'self'),
        afterSelfUs: time(AFTER, 'self'),
        changeSelfUs: change('self'),
        beforeTotalUs: time(BEFORE, 'total'),
        afterTotalUs: time(AFTER, 'total'),
        changeTotalUs: change('total'),
      },
      this.quantity,
    )
  }
}

export function totals<Totals>(
  { before, after }: Readonly<Record<'before' | 'after', Totals>>,
  period: Period,
): Totals {
  return period === BEFORE ? before : after
}
