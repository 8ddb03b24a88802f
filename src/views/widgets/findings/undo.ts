// Runs once a span of a request: the loops index with `!`.
import { greatest, sum } from 'd3-array'
import { Replay } from '../../../calls/replay.ts'
import { hasTimes, type Role, rolesByShape } from '../../../calls/roles.ts'
import { spanTimes } from '../../../calls/span-times.ts'
import type { AccountStep } from '../../../compare/account.ts'
import type { Comparison } from '../../../compare/comparison.ts'
import { remembered } from '../../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../../flows/flow-set.ts'
import { recordedFlows } from '../../../flows/fold/folded-flows.ts'
import { areFromSpans, NS } from '../../../flows/span-tree.ts'
import { quantile } from '../../../stats/quantile.ts'

/** Times of requests: their mean, median, and 99th percentile. */
export interface Times {
  readonly meanUs: number
  readonly p50Us: number
  readonly p99Us: number
}

/** Times of requests before, after, and after with one part as it was before. */
export interface Undone {
  readonly before: Times
  readonly after: Times
  readonly without: Times
}

const replayOf = remembered((flows: FlowSet) => new Replay(flows))

/**
 * Recomputes the requests after as if some of their steps took as long on the path as before, on average. Requests may
 * then wait for parallel calls instead. Returns `null` if there is nothing to undo: for trace points, and for steps
 * that no request after has.
 */
export function undo(comparison: Comparison, steps: readonly AccountStep[]): Undone | null {
  const flows = recordedFlows(comparison.flows)
  const factors = new Map(
    steps.flatMap((step) =>
      step.afterUs > 0 ? [[keyOf(step), step.beforeUs / step.afterUs] as const] : [],
    ),
  )
  if (!areFromSpans(flows) || factors.size === 0) return null
  const { roles, ofShape } = rolesByShape(flows, comparison.options.omitHosts)
  const ofRole = roles.map((role) => factors.get(keyOf(role)) ?? 1)
  const [spans, replay] = [spanTimes(flows), replayOf(flows)]
  const without = flows.responseTimeUs.slice()
  for (const request of requestsOf(flows, AFTER)) {
    const own = ofShape.get(flows.shapeOf[request]!)!
    const onPathNs = spans.onPath(request)
    const moreNs = onPathNs.map((ns, span) => ns * (ofRole[own[span]!]! - 1))
    if (moreNs.every((ns) => ns === 0)) continue
    const changed = { keep: new Float64Array(moreNs.length).fill(1), moreNs }
    without[request] = replay.durationNs(request, changed) / NS
  }
  return {
    before: timesOf(flows, BEFORE, flows.responseTimeUs),
    after: timesOf(flows, AFTER, flows.responseTimeUs),
    without: timesOf(flows, AFTER, without),
  }
}

/** Returns the requests of each period in which steps take about their mean time: typical ones; `null` for none. */
export function typicalOf(
  comparison: Comparison,
  steps: readonly AccountStep[],
): readonly (string | null)[] {
  const flows = recordedFlows(comparison.flows)
  const { roles, ofShape } = rolesByShape(flows, comparison.options.omitHosts)
  const wanted = new Set(steps.map(keyOf))
  const isWanted = roles.map((role) => wanted.has(keyOf(role)))
  if (!areFromSpans(flows)) return [null, null]
  const spans = spanTimes(flows)
  return ([BEFORE, AFTER] as const).map((period) => {
    const found = requestsOf(flows, period).flatMap((request) => {
      const own = ofShape.get(flows.shapeOf[request]!)!
      const us = sum(spans.onPath(request), (ns, span) => (isWanted[own[span]!] ? ns / NS : 0))
      return us > 0 ? [{ request, us }] : []
    })
    const meanUs = sum(found, ({ us }) => us) / found.length
    const typical = greatest(found, ({ us }) => -Math.abs(us - meanUs))
    return typical === undefined ? null : flows.ids[typical.request]!
  })
}

function keyOf({ kind, service, caller, operation }: Role | AccountStep): string {
  return JSON.stringify([kind, service, caller, operation])
}

function requestsOf(flows: FlowSet, period: Period): number[] {
  return Array.from({ length: flows.size }, (_, request) => request).filter(
    (request) =>
      flows.period[request] === period && !flows.isPart(request) && hasTimes(flows, request),
  )
}

function timesOf(flows: FlowSet, period: Period, timeUs: Float64Array): Times {
  const rows = requestsOf(flows, period)
    .filter((request) => !Number.isNaN(timeUs[request]))
    .sort((a, b) => timeUs[a]! - timeUs[b]!)
  const values = rows.map((request) => timeUs[request]!)
  const weights = rows.map((request) => flows.countOf(request))
  return {
    meanUs: sum(values, (us, i) => us * weights[i]!) / sum(weights),
    p50Us: quantile(values, 0.5, weights),
    p99Us: quantile(values, 0.99, weights),
  }
}
