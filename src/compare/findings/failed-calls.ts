// Runs once a span of a request: the loops index with `!`.
import { mean, median, variance } from 'd3-array'
import { allVisits } from '../../calls/visits.ts'
import { getOrInsert } from '../../core/entries.ts'
import { memoized } from '../../core/remembered.ts'
import { BEFORE, type FlowSet } from '../../flows/flow-set.ts'

/** A call of after, and how long it takes without the findings priced so far. */
export interface TimedCall {
  readonly request: number
  readonly span: number
  readonly us: number
}

/** Calls of one operation by one caller. */
export interface FailingSite {
  /** Calls that fail as a finding says, and those that do not fail. */
  readonly failed: TimedCall[]
  readonly usual: TimedCall[]
  /** How long calls before took, failed or not. */
  readonly beforeUs: number[]
}

/**
 * Collects the calls of after that fail, and all others of the same operations by the same callers.
 *
 * @param failing spans of the failing calls, by request
 * @param timesUs what each span of a request takes, in µs
 */
export function failingSites(
  flows: FlowSet,
  failing: ReadonlyMap<number, ReadonlySet<number>>,
  timesUs: (request: number) => (span: number) => number,
): FailingSite[] {
  const siteOf = memoized((shape: number) =>
    memoized((span: number) => {
      const { tree, services, operations } = allVisits(flows).get(shape)!
      return JSON.stringify([services[span], operations[span], operations[tree.parent[span]!]])
    }),
  )
  const sites = new Map<string, FailingSite>()
  for (const [request, spans] of failing) {
    if (flows.period[request] === BEFORE) continue
    for (const span of spans) {
      getOrInsert(sites, siteOf(flows.shapeOf[request]!)(span), () => ({
        failed: [],
        usual: [],
        beforeUs: [],
      }))
    }
  }
  const ofShape = memoized((shape: number) => {
    const { operations } = allVisits(flows).get(shape)!
    return Array.from(operations.keys()).flatMap((span) => {
      const site = sites.get(siteOf(shape)(span))
      return site === undefined ? [] : [{ span, site }]
    })
  })
  for (let request = 0; request < flows.size; request++) {
    const own = ofShape(flows.shapeOf[request]!)
    if (own.length === 0) continue
    const usOf = timesUs(request)
    for (const { span, site } of own) {
      const us = usOf(span)
      // A span that an earlier finding took out takes no time.
      if (Number.isNaN(us) || us === 0) continue
      if (flows.period[request] === BEFORE) site.beforeUs.push(us)
      else if (failing.get(request)?.has(span)) site.failed.push({ request, span, us })
      else if (!flows.outcomes?.failed(request, span)) site.usual.push({ request, span, us })
    }
  }
  return [...sites.values()]
}

/**
 * By how much longer failing calls of a site take than others of it, in µs, and the standard error of their mean; no
 * calls where too few do not fail.
 *
 * @param share of the failing calls, those that would not have failed before
 */
export function longerThanUsual(
  of: FailingSite,
  share: number,
): { readonly calls: readonly TimedCall[]; readonly errorUs: number } {
  const usOf = ({ us }: TimedCall) => us
  const { failed, usual, beforeUs } = of
  const ofUsual = variance(usual, usOf)
  if (ofUsual === undefined) return { calls: [], errorUs: 0 }
  const insteadUs = slowerBefore(of) ?? mean(usual, usOf)!
  const moreUs = share * (mean(failed, usOf)! - insteadUs)
  // Calls that take long whatever becomes of them add no more than all calls of the operation.
  const all = [...failed, ...usual]
  const ofAllUs = all.length * (mean(all, usOf)! - (mean(beforeUs) ?? Number.NaN))
  const limitUs = Number.isNaN(ofAllUs) ? moreUs : ofAllUs / failed.length
  const part = moreUs * limitUs > 0 ? Math.min(1, limitUs / moreUs) : 0
  const ofFailed = variance(failed, usOf) ?? ofUsual
  const errorUs = share * Math.sqrt(ofFailed / failed.length + ofUsual / usual.length)
  const calls = failed.map((one) => ({ ...one, us: share * part * (one.us - insteadUs) }))
  return { calls, errorUs }
}

/** Largest share of other calls that may take longer than failed ones, if those failed for their time. */
const MAX_LONGER = 0.05

/**
 * How long calls before took that took longer than those that fail, on average, in µs: calls that are given up for
 * their time would have been such. `null` if others take as long, or before hardly any did.
 */
function slowerBefore({ failed, usual, beforeUs }: FailingSite): number | null {
  const limitUs = median(failed, ({ us }) => us)!
  const slower = beforeUs.filter((us) => us > limitUs)
  const share = failed.length / (failed.length + usual.length)
  const isForTime =
    usual.filter(({ us }) => us > limitUs).length <= MAX_LONGER * usual.length &&
    slower.length >= (share / 2) * beforeUs.length
  return isForTime ? mean(slower)! : null
}
