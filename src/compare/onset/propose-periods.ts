import { extent, group, sum } from 'd3-array'
import { buildFlows } from '../../flows/build-flows.ts'
import type { FlowOptions, FlowSet } from '../../flows/flow-set.ts'
import { selectRequests } from '../../flows/select-requests.ts'
import { changePoint, constantLevel, longRunVariance } from '../../stats/change-point.ts'
import { leastSquares } from '../../stats/least-squares.ts'
import { midranks } from '../../stats/midranks.ts'
import { moments } from '../../stats/moments.ts'
import { quantile } from '../../stats/quantile.ts'
import { isoTime, isTimeOfDay } from '../../traces/epoch-clock.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import { rootTypes } from '../steps/root-types.ts'
import { stepTimes } from '../steps/step-times.ts'
import {
  DRIFT_SHARE,
  LEVEL,
  MIN_BETTER,
  MIN_RATIO,
  MIN_SPREAD,
  NEGLIGIBLE,
  NOTABLE,
} from '../thresholds.ts'
import { fallsBack, growthOf, type Onset, partSize, partsOf, type Timed } from './onset.ts'

const WITHIN = { fromStart: false, perhapsGradual: false, until: null } as const

/** Two periods of one recording. */
export interface ProposedPeriods {
  /** The requests of both periods, for `categorize`; those in between belong to neither. */
  readonly flows: FlowSet
  /** Time from the first request of each period to its last, µs since 1970 if the time of day is known. */
  readonly beforeUs: readonly [from: number, to: number]
  readonly afterUs: readonly [from: number, to: number]
  /** Time of the change; requests within its interval belong to neither period. */
  readonly since: Onset
  /** Measure that changed the most surely, such as `time of stock LOOKUP itself`. */
  readonly measure: string
  /** Level in both periods: medians in µs; for failures, shares. */
  readonly levels: readonly [before: number, after: number]
  /** Argument of `traces.split` for the same periods. */
  readonly split: string
  /** Corrected for the number of measures. */
  readonly p: number
}

/**
 * Finds the time in one long recording at which it changed the most surely, or began to grow, and proposes
 * the periods before and after it. Tests the work of every operation, response times and failures.
 *
 * @param traces one recording
 * @param options of `buildFlows`
 * @returns `null` where nothing changed from one level to another or began to grow, or fewer than 40 requests are known
 *
 * @example
 * const periods = proposePeriods(before)
 * const [quiet, bad] = periods === null ? [] : before.split(periods.split)
 */
export function proposePeriods(
  traces: TraceSet,
  options: Partial<FlowOptions> = {},
): ProposedPeriods | null {
  const flows = buildFlows(traces, options)
  const measures = measuresOf(flows)
  const tested = measures.flatMap(({ name, values, isShare }) => {
    const change = growthIn(values) ?? changeOf(values)
    return change === null ? [] : [{ name, values, isShare, ...change }]
  })
  const [first] = tested.sort((a, b) => a.p - b.p || b.ratio - a.ratio)
  const p = (first?.p ?? 1) * measures.length
  if (first === undefined || p >= LEVEL) return null
  const { timeUs, lowUs, highUs, gradual } = first
  const rows = Array.from(flows.period.keys()).sort(
    (a, b) => flows.arrivalUs(a) - flows.arrivalUs(b),
  )
  const before = rows.filter((request) => flows.arrivalUs(request) <= lowUs)
  const after = rows.filter((request) => flows.arrivalUs(request) >= highUs)
  const epochUs = flows.epochsUs[0] as number
  // A range does not contain its end.
  const split = `..${isoTime(lowUs + 1, epochUs)} | ${isoTime(highUs, epochUs)}..`
  const rangeOf = (requests: readonly number[]) =>
    [flows.arrivalUs(requests[0] as number), flows.arrivalUs(requests.at(-1) as number)] as const
  return {
    flows: selectRequests(flows, { before, after }),
    beforeUs: rangeOf(before),
    afterUs: rangeOf(after),
    since: { timeUs, lowUs, highUs, isTimeOfDay: isTimeOfDay(timeUs), gradual, ...WITHIN },
    measure: first.name,
    levels: [
      levelOf(first, ({ timeUs: at }) => at <= lowUs),
      levelOf(first, ({ timeUs: at }) => at >= highUs),
    ],
    split,
    p,
  }
}

function levelOf(
  { values, isShare }: { readonly values: readonly Timed[]; readonly isShare: boolean },
  isIn: (one: Timed) => boolean,
): number {
  const own = Float64Array.from(values.filter(isIn), ({ value }) => value)
  return isShare ? moments(own).mean : quantile(own.sort(), 0.5)
}

function measuresOf(flows: FlowSet) {
  const timed = (requests: ArrayLike<number>, measure: (request: number, i: number) => number) =>
    Array.from(requests, (request, i) => ({
      timeUs: flows.arrivalUs(request),
      value: measure(request, i),
    })).sort((a, b) => a.timeUs - b.timeUs)
  const steps = stepTimes(flows).flatMap(({ kind, service, strata }) =>
    strata.map(({ operation, before }) => ({
      name: `time of ${service} ${operation}${kind === 'work' ? ' itself' : kind === 'call' ? ' on the way' : ''}`,
      values: timed(before.requests, (_, i) => before.values[i] as number),
      isShare: false,
    })),
  )
  const all = Array.from(flows.period.keys())
  const { outcomes } = flows
  const { names, typeOf } = rootTypes(flows)
  const failed = (one: number) => (outcomes?.failed(one) ? 1 : 0)
  const ofTypes = names.length > 1 ? [...group(all, (one) => typeOf[one] as number)] : []
  const failures: (readonly [string, readonly number[]])[] = [
    ['failures', all],
    ...ofTypes.map(([type, own]) => [`failures of ${names[type]}`, own] as const),
  ]
  const ofRequests = [
    {
      name: 'response time',
      values: timed(all, (one) => flows.responseTimeUs[one] as number),
      isShare: false,
    },
    ...failures
      .filter(([, own]) => own.some(failed))
      .map(([name, own]) => ({ name, values: timed(own, failed), isShare: true })),
  ]
  return [...steps, ...ofRequests].filter(({ values }) => values.length >= MIN_SPREAD)
}

/** Slow drifts, by the share of the recording that is over, as columns of a regression. */
const DRIFTS: readonly ((share: number) => number[])[] = [
  // A load that rises and falls once.
  (share) => [share, Math.sin(2 * Math.PI * share), Math.cos(2 * Math.PI * share)],
  // Warm-ups, quick at first and slow later.
  ...[0.1, 0.3].map((warm) => (share: number) => [
    share,
    Math.exp(-share / warm),
    Math.exp(-share / (3 * warm)),
  ]),
]

/**
 * Tests whether a series goes from one level to another; `null` where a drift fits it about as well, or where it goes
 * back. Noise is the long-run variance, because neighbors in time are similar.
 */
export function changeOf(values: readonly Timed[]) {
  const ranks = [...midranks(Float64Array.from(values, ({ value }) => value))]
  const count = ranks.length
  const edge = Math.ceil(NOTABLE * count)
  const { at, low, high, before, after, ratioAt } = changePoint(ranks, {
    from: edge,
    to: count - edge,
  })
  const residuals = ranks.map((rank, i) => rank - (i < at ? before : after))
  const noise = longRunVariance(residuals)
  const { p } = constantLevel(ranks, noise)
  const squares = (rest: readonly number[]) => rest.reduce((sum, one) => sum + one ** 2, 0)
  const usual = squares(residuals) / count
  // A drift may fit one side better than the other: each has a noise of its own.
  const spreads = (rest: readonly number[]) =>
    [rest.slice(0, at), rest.slice(at)].map((side) => (squares(side) + usual) / (side.length + 1))
  const [first, last] = spreads(residuals) as [number, number]
  const isYesNo = new Set(ranks).size === 2
  const misfit = (fitted: readonly number[]) => {
    if (isYesNo) return misfitOfShares(ranks, fitted, { before, after })
    const own = spreads(ranks.map((rank, i) => rank - (fitted[i] as number)))
    return at * Math.log(own[0] as number) + (count - at) * Math.log(own[1] as number)
  }
  const step = misfit(ranks.map((_, i) => (i < at ? before : after)))
  const weights = ranks.map((_, i) => 1 / (i < at ? first : last))
  const drifting = DRIFTS.map((drift) => {
    const columns = ranks.map((_, i) => drift(i / count))
    return misfit(columns.map(leastSquares(columns, ranks, weights)))
  })
  const isDrift =
    Math.min(...drifting) < step + MIN_BETTER * (1 + DRIFT_SHARE * (noise / usual - 1))
  if (Number.isNaN(p) || isDrift || fallsBack(ranks.slice(at), { before })) return null
  if (fallsBack(ranks.slice(0, at).reverse(), { before: after })) return null
  const timeOf = (position: number) => (values[position] as Timed).timeUs
  return {
    p,
    ratio: ratioAt(at),
    timeUs: timeOf(at),
    lowUs: timeOf(Math.max(0, low - 1)),
    highUs: timeOf(high),
    gradual: false,
  }
}

/** Growth has one parameter more than a drift, which costs as much as in AIC (Akaike 1974). */
const GROWTH_COST = 2

/** Drifts that may look like growth: as above, and a load that takes the whole recording, or half, to fall. */
const LONG_DRIFTS: typeof DRIFTS = [
  ...DRIFTS,
  (share) => [share, Math.sin(Math.PI * share), Math.cos(Math.PI * share)],
  (share) => [share, Math.sin(4 * Math.PI * share), Math.cos(4 * Math.PI * share)],
  (share) => [share, share ** 2, share ** 3],
]

/**
 * Tests whether a series grows from some time on, and is constant before; `null` where a drift or a step
 * fits it as well, it grows from its beginning on, or it falls back.
 */
export function growthIn(values: readonly Timed[]) {
  const parts = partsOf(values, { size: partSize(values.length), of: 'amount' })
  const levels = parts.map(({ value }) => value)
  const edge = Math.ceil(NOTABLE * parts.length)
  const found = growthOf(parts, { from: edge, to: parts.length - edge })
  if (found === null || found.ratio < MIN_RATIO || found.p >= NEGLIGIBLE) return null
  const { begins, low, high, noise, fitted, before } = found
  const unexplained = (levelAt: (i: number) => number) =>
    sum(levels, (level, i) => (level - levelAt(i)) ** 2)
  const [firstUs, lastUs] = extent(parts, ({ timeUs }) => timeUs) as [number, number]
  const drifting = LONG_DRIFTS.map((drift) => {
    const columns = parts.map(({ timeUs }) => drift((timeUs - firstUs) / (lastUs - firstUs)))
    const predict = leastSquares(columns, levels)
    return unexplained((i) => predict(columns[i]!))
  })
  const better = Math.min(...drifting) - unexplained((i) => fitted[i]!)
  const isFlatFirst = low > (parts[edge] as Timed).timeUs
  const grown = parts.filter(({ timeUs }) => timeUs >= begins).map(({ value }) => value)
  if (better < GROWTH_COST * noise || !isFlatFirst || fallsBack(grown, { before })) return null
  return {
    p: constantLevel(levels, noise).p,
    ratio: found.ratio,
    timeUs: begins,
    lowUs: low,
    highUs: high,
    gradual: true,
  }
}

/** Returns twice the negative log likelihood of failures at shares fitted to their ranks. */
function misfitOfShares(
  ranks: readonly number[],
  fitted: readonly number[],
  { before, after }: { readonly before: number; readonly after: number },
): number {
  const [low, high] = extent(ranks) as [number, number]
  const shareAt = (rank: number) => (rank - low) / (high - low)
  // A drift that is fitted by squares may fall below 0: it counts as half of the lower level.
  const levels = [before, after].map(shareAt)
  const half = 0.5 / ranks.length
  const least = Math.max(half, Math.min(...levels) / 2)
  const most = Math.min(1 - half, (1 + Math.max(...levels)) / 2)
  return sum(ranks, (rank, i) => {
    const share = Math.min(most, Math.max(least, shareAt(fitted[i] as number)))
    return -2 * Math.log(rank === high ? share : 1 - share)
  })
}
