import { columnarStage } from '../../core/stage.ts'
import { rowTable, type StageTable } from '../../core/stage-table.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'

/** What one period says of a calling context; times are sums over the period's requests. */
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

interface ContextColumns {
  readonly contexts: readonly CallingContext[]
  /** Requests in each period; 0 after where there is only one period. */
  readonly requests: readonly [before: number, after: number]
}

/** The calling context tree of one or two periods: what `findCallingContexts` makes. */
export class CallingContexts extends columnarStage<ContextColumns>() {
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
    const sums = totals(context, period)
    return sums[`${part}${measure === 'time' ? 'Us' : 'Requests'}`] / this.#requests(period)
  }

  #requests(period: Period): number {
    return Math.max(1, this.requests[period])
  }

  /**
   * One row a context: caller, name, requests that have it, calls a request, and per request of all
   * of the period's the time of its own and with all it calls, before, after and the change.
   */
  table(): StageTable {
    const rows = this.contexts.map((context) => {
      const { before, after } = context
      const time = (period: Period, part: 'self' | 'total') =>
        this.perRequest(context, { period, measure: 'time', part })
      const [beforeSelfUs, afterSelfUs] = [time(BEFORE, 'self'), time(AFTER, 'self')]
      const [beforeTotalUs, afterTotalUs] = [time(BEFORE, 'total'), time(AFTER, 'total')]
      return {
        ...context,
        beforeRequests: before.requests,
        afterRequests: after.requests,
        beforeCallsPerRequest: before.calls / this.#requests(BEFORE),
        afterCallsPerRequest: after.calls / this.#requests(AFTER),
        ...{ beforeSelfUs, afterSelfUs, changeSelfUs: afterSelfUs - beforeSelfUs },
        ...{ beforeTotalUs, afterTotalUs, changeTotalUs: afterTotalUs - beforeTotalUs },
      }
    })
    return rowTable(rows, [
      'context',
      'parent',
      'depth',
      'service',
      'name',
      'beforeRequests',
      'afterRequests',
      'beforeCallsPerRequest',
      'afterCallsPerRequest',
      'beforeSelfUs',
      'afterSelfUs',
      'changeSelfUs',
      'beforeTotalUs',
      'afterTotalUs',
      'changeTotalUs',
    ])
  }
}

export function totals({ before, after }: CallingContext, period: Period): Readonly<ContextTotals> {
  return period === BEFORE ? before : after
}
