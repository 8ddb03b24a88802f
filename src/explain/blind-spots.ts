// Runs once a step of a request: the loops index with `!`.
import { rollup, sum } from 'd3-array'
import { hasTimes, type Role, roleTimes } from '../calls/roles.ts'
import { allVisits } from '../calls/visits.ts'
import { Comparison } from '../compare/comparison.ts'
import { RequestColumns } from '../compare/segments/request-columns.ts'
import { FlowdeltaError, requireStage } from '../core/errors.ts'
import { defineOptions, most, type OptionsOf, oneOf, readOptions } from '../core/options.ts'
import { columnarStage, own, rowTable, type StageTable } from '../core/stage.ts'
import { FlowSet } from '../flows/flow-set.ts'
import { recordedFlows } from '../flows/fold/folded-flows.ts'
import { areFromSpans } from '../flows/span-tree.ts'
import { moments } from '../stats/moments.ts'
import { CLIENT } from '../traces/span-columns.ts'
import { periodOfName } from './variance/compare-spreads.ts'

/** A step whose time no recorded data explains. */
export interface BlindSpot extends Role {
  /**
   * Missing record: spans of the `'callee'`, which records none; events of a `'call'`, such as connecting and waiting
   * for a pool; a `'span'` within an operation that has none; an `'attribute'` that distinguishes fast calls from slow
   * ones, or spans between the calls of an operation.
   */
  readonly record: 'callee' | 'call' | 'span' | 'attribute'
  /** Share of the step in all response time. */
  readonly timeShare: number
  /** Share of the step in the variance of response times: those of all steps add up to 1. */
  readonly varianceShare: number
  /** The part of `varianceShare` that neither the structure of requests nor an attribute explains. */
  readonly gain: number
  /** The attribute that explains most of it; `null` where none explains any. */
  readonly toldBy: string | null
}

export const BLIND_SPOT_OPTIONS = defineOptions({
  period: oneOf(['before', 'after'], {
    default: 'after',
    sentence: 'Period to look at',
    flag: null,
  }),
  limit: most(20, 'steps', 'Maximum number of steps listed, the largest gain first'),
})

/** Smallest number of requests from which a variance can be explained. */
export const MIN_REQUESTS = 20
/** Most steps tested against attributes: those with the largest shares of time or variance. */
const MAX_TESTED = 40

/**
 * Finds what to record next: the steps whose time varies most without a recorded explanation. A step counts by the
 * variance that its time on the path shares with response times, less the parts that the structure of requests and the
 * best attribute explain, corrected for the number of their values.
 *
 * @param source a comparison, or flows
 * @param options see {@link BLIND_SPOT_OPTIONS}
 * @throws FlowdeltaError if the period has fewer than 20 requests with known times
 *
 * Source: Sambasivan 2013, §5.5 (variance tells where to instrument); the gains are our own.
 *
 * @example
 * findBlindSpots(comparison).spots.map(({ record, service }) => `${record} of ${service}`)
 */
export function findBlindSpots(
  source: Comparison | FlowSet,
  options: Partial<OptionsOf<typeof BLIND_SPOT_OPTIONS>> = {},
): BlindSpots {
  if (!(source instanceof Comparison)) requireStage('findBlindSpots(flows)', source, FlowSet)
  const { period, limit } = readOptions(BLIND_SPOT_OPTIONS, options)
  const flows = recordedFlows(source instanceof Comparison ? source.flows : source)
  const columns = source instanceof Comparison ? source.columns : new RequestColumns(flows)
  const { roles, requests, times } = timesByRole(flows, periodOfName(period) as number)
  if (requests.length < MIN_REQUESTS) {
    throw new FlowdeltaError(
      `The period ${period} has ${requests.length} requests whose times are known. Load ${MIN_REQUESTS} at least.`,
    )
  }
  const response = Float64Array.from(requests, (request) => flows.responseTimeUs[request]!)
  const { mean, variance } = moments(response)
  const fromMean = response.map((us) => us - mean)
  const shareOf = (values: ArrayLike<number>) =>
    sum(fromMean, (one, i) => one * values[i]!) / ((requests.length - 1) * variance) || 0
  const shapes = requests.map((request) => flows.shapeOf[request]!)
  const worth = roles.map((role, i) => {
    const own = times[i]!
    return { role, own, timeShare: sum(own) / sum(response), varianceShare: shareOf(own) }
  })
  const largest = worth
    .sort((a, b) => sizeOf(b) - sizeOf(a))
    .slice(0, MAX_TESTED)
    .filter((one) => sizeOf(one) > 0)
  const working = new Set(roles.flatMap(({ kind, service }) => (kind === 'work' ? service : [])))
  const recorded = recordedWithin(flows)
  const recordOf = (role: Role): BlindSpot['record'] => {
    if (role.kind === 'call') return working.has(role.service) ? 'call' : 'callee'
    return recorded.get(nameOf(role)) ?? 'span'
  }
  const spots = largest.map(({ role, own, timeShare, varianceShare }): BlindSpot => {
    const ofStructure = residuals(own, shapes)
    const candidates = [null, role.service, role.caller].flatMap((service, i) =>
      i > 0 && service === null ? [] : columns.of(service).columns,
    )
    let [left, toldBy] = [ofStructure, null as string | null]
    for (const { attribute, codes } of candidates) {
      const rest = residuals(
        ofStructure.values,
        requests.map((request) => codes[request]!),
      )
      const unexplained = ofStructure.factor * rest.factor
      if (squares(rest.values) * unexplained >= squares(left.values) * left.factor) continue
      left = { values: rest.values, factor: unexplained }
      toldBy = attribute
    }
    const rest = Math.max(0, shareOf(left.values) * left.factor)
    return {
      ...role,
      record: recordOf(role),
      timeShare,
      varianceShare,
      gain: Math.min(rest, Math.max(0, varianceShare)),
      toldBy,
    }
  })
  return new BlindSpots({
    period,
    spots: spots.sort((a, b) => b.gain - a.gain || b.timeShare - a.timeShare).slice(0, limit),
    requests: requests.length,
  })
}

/** Returns what to record of a step, as a noun phrase. */
export function recordText({ record, kind, service, caller, operation }: BlindSpot): string {
  if (record === 'callee')
    return `spans of ${kind === 'call' ? service : `the services that ${operation} of ${service} calls`}, none of which are recorded`
  if (record === 'call')
    return `events within calls from ${caller ?? 'clients'} to ${operation} of ${service}`
  if (record === 'span') return `spans within ${operation} of ${service}`
  return `an attribute of ${operation} of ${service}, or spans between its calls`
}

function sizeOf({ timeShare, varianceShare }: Pick<BlindSpot, 'timeShare' | 'varianceShare'>) {
  return Math.max(timeShare, varianceShare)
}

/** Returns the time of each request in each role, in µs; 0 where it has none of it. */
function timesByRole(flows: FlowSet, period: number) {
  const { roles, timesOf } = roleTimes(flows, false)
  const requests = Array.from(flows.period.keys()).filter(
    (request) =>
      flows.period[request] === period && !flows.isPart(request) && hasTimes(flows, request),
  )
  const times = roles.map(() => new Float64Array(requests.length))
  requests.forEach((request, i) => {
    timesOf(request, (role, us) => {
      times[role]![i]! += us
    })
  })
  return { roles, requests, times }
}

/**
 * Returns what operations recorded of their work: calls that nobody answers (`'callee'`), or spans below theirs
 * (`'attribute'`). Other operations are not in the map.
 */
function recordedWithin(flows: FlowSet): ReadonlyMap<string, 'callee' | 'attribute'> {
  const found = new Map<string, 'callee' | 'attribute'>()
  const { spanRows, spanOffsets, shapeOf } = flows
  if (!areFromSpans(flows) || spanRows === undefined || spanOffsets === undefined) return found
  const firsts = rollup(
    shapeOf.keys(),
    ([first]) => first!,
    (request) => shapeOf[request]!,
  )
  for (const [shape, request] of firsts) {
    const { tree, visitOf, operations } = allVisits(flows).get(shape)!
    const traces = flows.tracesOf(request)
    for (let span = 0; span < tree.size; span++) {
      const name = nameOf({ service: visitOf[span]!.service, operation: operations[span]! })
      const isClient =
        traces?.kind === 'spans' &&
        traces.spans.kind[spanRows[spanOffsets[request]! + span]!] === CLIENT
      if (tree.firstChild[span]! < tree.firstChild[span + 1]!) found.set(name, 'attribute')
      else if (isClient && !found.has(name)) found.set(name, 'callee')
    }
  }
  return found
}

function nameOf({ service, operation }: Pick<Role, 'service' | 'operation'>): string {
  return JSON.stringify([service, operation])
}

/**
 * Returns the residuals of values from the mean of their group, and the factor for their squares: groups use up degrees
 * of freedom.
 */
function residuals(values: ArrayLike<number>, groups: readonly number[]) {
  const sums = new Map<number, [total: number, count: number]>()
  groups.forEach((group, i) => {
    const known = sums.get(group) ?? [0, 0]
    sums.set(group, [known[0] + values[i]!, known[1] + 1])
  })
  const left = Float64Array.from(groups, (group, i) => {
    const [total, count] = sums.get(group)!
    return values[i]! - total / count
  })
  const size = groups.length
  return { values: left, factor: (size - 1) / Math.max(1, size - sums.size) }
}

function squares(values: Float64Array): number {
  return sum(values, (value) => value * value)
}

interface BlindSpotColumns {
  readonly period: 'before' | 'after'
  /** Steps, the largest gain first. */
  readonly spots: readonly BlindSpot[]
  readonly requests: number
}

/** Recommendations what to record next. */
export class BlindSpots extends columnarStage<BlindSpotColumns>() {
  static readonly madeBy: string = 'what findBlindSpots returns'

  /** Returns one row per step, the largest gain first. */
  table(): StageTable {
    return rowTable(
      this.spots,
      own('record kind service caller operation timeShare varianceShare gain toldBy'),
    )
  }
}
