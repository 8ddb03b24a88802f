// Over the calls of orders that are compared: the loops index with `!`.
import { quantile } from '../../stats/quantile.ts'
import { type GroupedRows, groupRows } from '../../traces/group-rows.ts'
import type { CallForest } from '../calls/index-calls.ts'
import type { PeriodOrders } from './call-orders.ts'
import type { Precedence } from './precedence.ts'

/** So many calls tell how much a time varies. */
const MAX_SAMPLED = 1000

/** The calls that follow each order, and when the calls that they wait for ran. */
export interface TimedPeriod extends PeriodOrders {
  readonly forest: CallForest
}

/** When the nodes of orders ran in some period: tells waiting from chance. */
export class OrderTimes {
  readonly #period: TimedPeriod
  readonly #calls: GroupedRows

  /**
   * @param orders how many orders there are
   * @param chosen 1 for calls that take part; all do when left out
   */
  constructor(period: TimedPeriod, orders: number, chosen?: Uint8Array) {
    this.#period = period
    this.#calls = groupRows(period.orderOf, orders, chosen)
  }

  /**
   * How much the time from the end of node `a` to the start of node `b` varies, as a share of how
   * much the time to the start of `b` varies from all else that it waits for: the ratio of their
   * interquartile ranges. Near 0 where `b` waits for `a`; near 1 and above where `a` was over by
   * chance.
   *
   * @param members orders that have the pair
   * @param others what else comes before what
   */
  spread(
    members: readonly number[],
    { a, b, others }: { readonly a: number; readonly b: number; readonly others: Precedence },
  ): number {
    const calls = this.#sampled(members)
    const { forest, nodeCalls } = this.#period
    const { childOffsets, offsetUs, latencyUs } = forest
    const before = Array.from({ length: others.nodes }, (_, node) => node).filter(
      (node) => node !== a && others.has(node, b),
    )
    const waited = new Float64Array(calls.length)
    const without = new Float64Array(calls.length)
    calls.forEach((call, i) => {
      const first = childOffsets[call]!
      const endOf = (node: number) => {
        const child = nodeCalls[first + node]!
        return offsetUs[child]! + latencyUs[child]!
      }
      const startUs = offsetUs[nodeCalls[first + b]!]!
      waited[i] = startUs - endOf(a)
      let lastUs = 0
      for (const node of before) lastUs = Math.max(lastUs, endOf(node))
      without[i] = startUs - lastUs
    })
    const range = interquartileRange(without)
    return range > 0 ? interquartileRange(waited) / range : Number.POSITIVE_INFINITY
  }

  /** Calls of these orders, evenly thinned out where they are very many. */
  #sampled(members: readonly number[]): number[] {
    const { offsets, rows } = this.#calls
    const all = members.flatMap((order) => [...rows.subarray(offsets[order], offsets[order + 1])])
    if (all.length <= MAX_SAMPLED) return all
    const step = all.length / MAX_SAMPLED
    return Array.from({ length: MAX_SAMPLED }, (_, i) => all[Math.floor(i * step)]!)
  }
}

function interquartileRange(values: Float64Array): number {
  const sorted = values.slice().sort()
  return quantile(sorted, 0.75) - quantile(sorted, 0.25)
}
