import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'

/** What one period says of a calling context; times are sums over the period's requests. */
export interface ContextTotals {
  /** Requests that have it. */
  requests: number
  /** How often it was called. */
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
  /** Its number; callers come before what they call. */
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

/** What divides up the requests: their time, or each request counted once, however long it took. */
export type ContextMeasure = 'time' | 'requests'

/** The calling context tree of one or two periods: what `findCallingContexts` makes. */
export class CallingContexts extends Stage {
  readonly contexts: readonly CallingContext[]
  /** Requests in each period; 0 after where there is only one period. */
  readonly requests: readonly [before: number, after: number]

  /** Use `findCallingContexts` instead. */
  constructor(contexts: readonly CallingContext[], requests: readonly [number, number]) {
    super()
    this.contexts = contexts
    this.requests = requests
  }

  /** The sum of a period's response times, in µs: what all its contexts add up to. */
  totalUs(period: Period): number {
    return this.contexts.reduce((sum, context) => sum + totals(context, period).selfUs, 0)
  }

  /**
   * What a request of the period spends in a context: µs, or with `'requests'` its share of a
   * request. Means over all of the period's requests, so that periods of different length compare.
   */
  perRequest(
    context: CallingContext,
    { period, measure, part }: { period: Period; measure: ContextMeasure; part: 'self' | 'total' },
  ): number {
    const { selfUs, totalUs, selfRequests, totalRequests } = totals(context, period)
    const sum =
      measure === 'time'
        ? { self: selfUs, total: totalUs }
        : { self: selfRequests, total: totalRequests }
    return sum[part] / Math.max(1, this.requests[period])
  }

  /**
   * One row a context: caller, name, requests that have it, calls a request, and per request of all
   * of the period's the time of its own and with all it calls, before, after and the change.
   */
  table(): StageTable {
    const { contexts } = this
    const time = (period: Period, part: 'self' | 'total') =>
      contexts.map((context) => this.perRequest(context, { period, measure: 'time', part }))
    const calls = (period: Period) =>
      contexts.map((context) => totals(context, period).calls / Math.max(1, this.requests[period]))
    const difference = (before: readonly number[], after: readonly number[]) =>
      before.map((us, i) => (after[i] as number) - us)
    const self = [time(BEFORE, 'self'), time(AFTER, 'self')] as const
    const total = [time(BEFORE, 'total'), time(AFTER, 'total')] as const
    return stageTable({
      context: contexts.map(({ context }) => context),
      parent: contexts.map(({ parent }) => parent),
      depth: contexts.map(({ depth }) => depth),
      service: contexts.map(({ service }) => service),
      name: contexts.map(({ name }) => name),
      beforeRequests: contexts.map(({ before }) => before.requests),
      afterRequests: contexts.map(({ after }) => after.requests),
      beforeCallsPerRequest: calls(BEFORE),
      afterCallsPerRequest: calls(AFTER),
      beforeSelfUs: self[0],
      afterSelfUs: self[1],
      changeSelfUs: difference(...self),
      beforeTotalUs: total[0],
      afterTotalUs: total[1],
      changeTotalUs: difference(...total),
    })
  }
}

/** What one period says of a context. */
export function totals({ before, after }: CallingContext, period: Period): Readonly<ContextTotals> {
  return period === BEFORE ? before : after
}
