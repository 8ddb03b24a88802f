// Over every call of a service: the loops index with `!`.
import { cumsum, extent, max, mean, sum } from 'd3-array'
import { scaleLinear } from 'd3-scale'
import { callStartsUs } from '../../calls/call-forest.ts'
import { FlowdeltaError, OptionError } from '../../core/errors.ts'
import { counted, percent } from '../../core/words.ts'
import { isotonicRegression } from '../../stats/isotonic-regression.ts'
import { quantile } from '../../stats/quantile.ts'
import { ascendingSample } from '../../stats/weighted-sample.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import { isEntry } from './call-group.ts'
import { matchingPaths } from './scale-calls.ts'
import type { Scenario } from './scenario.ts'

/** Change of the load: of all requests, or of the calls to the named service. */
type LoadChange = { readonly service?: string } & (
  | { readonly factor: number }
  | { readonly perSecond: number }
)

/**
 * Describes a scenario in which requests come at another rate, the same at all times: `factor` times the mean rate, or
 * `perSecond`. The times of calls at each load are learned from the same period (`predictAtLoad`); the extra time of a
 * call is added to its reply.
 *
 * @throws OptionError for a load that is not above 0; when applied, for a service that no call has; FlowdeltaError,
 *   when applied, for a load that did not occur, or if nothing can be predicted
 *
 * @example
 * scaleLoad({ factor: 2 }).title // 'load × 2'
 */
export function scaleLoad(change: LoadChange): Scenario {
  const { service = '' } = change
  const size = 'factor' in change ? change.factor : change.perSecond
  if (!(size > 0 && size < Number.POSITIVE_INFINITY)) {
    throw new OptionError('load', size, 'a number above 0')
  }
  const whose = service === '' ? 'load' : `load of ${service}`
  return {
    kind: 'load',
    service,
    operation: '',
    path: null,
    title: 'factor' in change ? `${whose} × ${size}` : `${whose} ${size}/s`,
    apply(base) {
      const calls = callsOf(base, service)
      const { forest } = base
      const startsUs = callStartsUs(forest)
      const { shiftUs, limits } = predictAtLoad(
        {
          startUs: Float64Array.from(calls, (call) => startsUs[call]!),
          timeUs: Float64Array.from(calls, (call) => forest.serverUs[call]!),
          weight: Float64Array.from(calls, (call) => forest.weight[forest.request[call]!]!),
        },
        (usual) => ('factor' in change ? usual * size : size),
      )
      const replyUs = shiftUs.map((us, i) => base.replyUs[calls[i]!]! + us)
      return { changes: [{ calls, replyUs }], weight: null, limits }
    },
  }
}

/** Returns requests, or the calls of a service that come from elsewhere; ascending. */
function callsOf({ forest, models }: RequestModel, service: string): Uint32Array {
  if (service === '') return forest.requestOffsets.slice(0, -1)
  const { paths } = models
  const members = new Set(matchingPaths(paths, { service, operation: '' }))
  return Uint32Array.from(forest.path.keys()).filter((call) => {
    const path = forest.path[call]!
    return members.has(path) && isEntry(paths, path)
  })
}

/** Calls of one period: when they began, how long they took, and how many each stands for. */
export interface LoadedCalls {
  readonly startUs: Float64Array
  readonly timeUs: Float64Array
  readonly weight: Float64Array
}

/** Calls that came at about the same rate. */
interface LoadGroup {
  readonly calls: Uint32Array
  readonly seconds: number
  readonly perSecond: number
  /** Quantiles at `SHARES`, in µs. */
  readonly quantilesUs: readonly number[]
}

/** Predicted times of calls at another load. */
interface LoadPrediction {
  /** Extra time of each call, in µs. */
  readonly shiftUs: Float64Array
  /** Basis of the prediction, and limits of its reliability. */
  readonly limits: string
}

const SHARES = [0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99] as const
/** Quantiles at which held-out groups are compared: the median and the 95th percentile. */
const JUDGED = [2, 5] as const
const MIN_WINDOW_CALLS = 100
const MAX_WINDOWS = 40
const GROUPS = 6
/** A pause of more than this share of a window is a hole between recordings, not load. */
const MAX_PAUSE = 0.5
/** Relative error in held-out groups above which nothing is predicted. */
const MAX_ERROR = 0.2
const US_PER_SECOND = 1e6

/**
 * Predicts how long calls take at another load, from how long they took in windows of one period in
 * which more or fewer came. Times rise with load (isotonic regression), within the loads that occurred:
 * of no other load anything is said. Every third group of windows is held out to tell how far that is
 * off. Each call keeps its quantile among the calls of its group.
 *
 * @param loadOf the load to predict for, calls a second, by the mean load
 * @throws FlowdeltaError that says why nothing can be predicted
 */
export function predictAtLoad(
  calls: LoadedCalls,
  loadOf: (usual: number) => number,
): LoadPrediction {
  const groups = groupsOf(calls)
  if (groups.length < GROUPS) {
    throw unpredictable(
      `${counted(calls.startUs.length, 'call')} are too few. Give at least ${GROUPS * MIN_WINDOW_CALLS} without long pauses`,
    )
  }
  const [lowest = 0, highest = 0] = extent(groups, ({ perSecond }) => perSecond)
  const seen = `${rate(lowest)} to ${rate(highest)} a second`
  const seconds = sum(groups, (group) => group.seconds)
  const wanted = loadOf(sum(groups, (group) => group.perSecond * group.seconds) / seconds)
  if (wanted < lowest || wanted > highest) {
    throw unpredictable(
      `${rate(wanted)} a second did not occur before (${seen}). Give a load that did, or traces of such a time`,
    )
  }
  const isHeldOut = (_: LoadGroup, i: number) => i % 3 === 1
  const learned = timesAtLoad(groups.filter((group, i) => !isHeldOut(group, i)))
  const error = errorOf(learned, groups.filter(isHeldOut))
  if (!(error <= MAX_ERROR)) {
    throw unpredictable(
      `predictions from some loads miss others by ${percent(error)} (p50 or p95). Give traces with more periods of high and low load`,
    )
  }
  const curve = timesAtLoad(groups)
  const is = between(SHARES, curve(wanted))
  const shiftUs = new Float64Array(calls.startUs.length)
  for (const { calls: own, perSecond } of groups) {
    const was = between(SHARES, curve(perSecond))
    const rows = Uint32Array.from(own).sort((a, b) => calls.timeUs[a]! - calls.timeUs[b]!)
    const upTo = cumsum(rows, (row) => calls.weight[row]!)
    rows.forEach((row, i) => {
      const share = ((upTo[i - 1] ?? 0) + upTo[i]!) / 2 / upTo.at(-1)!
      shiftUs[row] = calls.timeUs[row]! * (is(share) / was(share) - 1)
    })
  }
  return {
    shiftUs,
    limits:
      `Learned from periods with ${seen}, assuming only that times rise with load. ` +
      `Held-out p50 and p95 were missed by up to ${percent(error)}. ` +
      'The request mix is assumed unchanged.',
  }
}

function unpredictable(why: string): FlowdeltaError {
  return new FlowdeltaError(`Times at that load cannot be predicted: ${why}.`)
}

/** `667`, `0.25`. */
function rate(perSecond: number): string {
  return String(Number(perSecond.toPrecision(3)))
}

/** Groups windows by load, ascending. Calls next to a gap between recordings belong to none. */
function groupsOf({ startUs, timeUs, weight }: LoadedCalls): LoadGroup[] {
  const order = Uint32Array.from(startUs.keys()).sort((a, b) => startUs[a]! - startUs[b]! || a - b)
  const size = Math.max(MIN_WINDOW_CALLS, Math.ceil(order.length / MAX_WINDOWS))
  const windows: { calls: Uint32Array; seconds: number; came: number }[] = []
  for (let first = 0; first + size <= order.length; first += size) {
    // Calls that are left over at the end belong to the last window.
    const isLast = first + 2 * size > order.length
    const calls = order.subarray(first, isLast ? order.length : first + size)
    const starts = Array.from(calls, (row) => startUs[row]!)
    const seconds = (starts.at(-1)! - starts[0]!) / US_PER_SECOND
    const pauseUs = max(starts, (us, i) => us - (starts[i - 1] ?? us))!
    if (seconds <= 0 || pauseUs > MAX_PAUSE * seconds * US_PER_SECOND) continue
    windows.push({ calls, seconds, came: sum(calls.subarray(1), (row) => weight[row]!) })
  }
  windows.sort((a, b) => a.came / a.seconds - b.came / b.seconds)
  if (windows.length < GROUPS) return []
  return Array.from({ length: GROUPS }, (_, i) => {
    const [from, to] = [i, i + 1].map((end) => Math.round((end * windows.length) / GROUPS))
    const own = windows.slice(from, to)
    const rows = Uint32Array.from(own.flatMap(({ calls }) => [...calls]))
    const { values, weights } = ascendingSample(
      Float64Array.from(rows, (row) => timeUs[row]!),
      Float64Array.from(rows, (row) => weight[row]!),
    )
    const seconds = sum(own, (one) => one.seconds)
    return {
      calls: rows,
      seconds,
      perSecond: sum(own, ({ came }) => came) / seconds,
      quantilesUs: SHARES.map((share) => Math.max(1, quantile(values, share, weights))),
    }
  })
}

/** Times at each of `SHARES` under a load, µs. */
type Curve = (perSecond: number) => readonly number[]

function timesAtLoad(groups: readonly LoadGroup[]): Curve {
  const loads = groups.map(({ perSecond }) => perSecond)
  const fitted = SHARES.map((_, i) => {
    const timesUs = groups.map(({ quantilesUs }) => quantilesUs[i]!)
    return between(loads, isotonicRegression(loads, timesUs))
  })
  return (perSecond) => fitted.map((timeAt) => timeAt(perSecond))
}

/** Returns the relative error for the median or the 95th percentile of held-out groups, whichever is larger. */
function errorOf(curve: Curve, heldOut: readonly LoadGroup[]): number {
  const missed = (share: number) =>
    mean(heldOut, ({ perSecond, quantilesUs }) =>
      Math.log(quantilesUs[share]! / curve(perSecond)[share]!),
    )!
  return Math.max(...JUDGED.map((share) => Math.abs(Math.expm1(-missed(share)))))
}

/** Interpolates by straight lines between points; beyond them, returns the value of the nearest. */
function between(points: readonly number[], values: Iterable<number>): (at: number) => number {
  return scaleLinear(points, values).clamp(true)
}
