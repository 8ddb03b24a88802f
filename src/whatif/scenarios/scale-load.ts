// Over every call of a service: the loops index with `!`.

import { cumsum, max, mean, min, sum } from 'd3-array'
import { scaleLinear } from 'd3-scale'
import { callStartsUs } from '../../calls/call-forest.ts'
import { FlowdeltaError, OptionError } from '../../core/errors.ts'
import { counted, percent } from '../../core/words.ts'
import { isotonicRegression } from '../../stats/isotonic-regression.ts'
import { quantile } from '../../stats/quantile.ts'
import { ascendingSample } from '../../stats/weighted-sample.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import { isEntry } from './call-group.ts'
import {
  type Curve,
  type LoadedCalls,
  type LoadGroup,
  likelyQueues,
  queuesOf,
  SHARES,
} from './load-queues.ts'
import { matchingPaths } from './scale-calls.ts'
import type { Scenario } from './scenario.ts'

/** What becomes of the load: of all requests, or of one service's calls where one is named. */
type LoadChange = { readonly service?: string } & (
  | { readonly factor: number }
  | { readonly perSecond: number }
)

/**
 * Describes a scenario in which more or fewer requests come. How long calls take at which load is
 * learned from the same period (`predictAtLoad`); what a call takes longer is added to its reply.
 *
 * @throws OptionError for a load that is not above 0; when applied, for a service that no call has;
 *   FlowdeltaError, when applied, where nothing can be predicted
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
  return {
    kind: 'load',
    service,
    operation: '',
    path: null,
    title: titleOf(change),
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
        (perSecond) => ('factor' in change ? perSecond * change.factor : change.perSecond),
      )
      const replyUs = shiftUs.map((us, i) => base.replyUs[calls[i]!]! + us)
      return { changes: [{ calls, replyUs }], weight: null, limits }
    },
  }
}

function titleOf(change: LoadChange): string {
  const { service = '' } = change
  const whose = service === '' ? 'load' : `load of ${service}`
  return 'factor' in change ? `${whose} × ${change.factor}` : `${whose} ${change.perSecond}/s`
}

/** Requests, or the calls of a service that come from elsewhere; ascending. */
function callsOf({ forest, models }: RequestModel, service: string): Uint32Array {
  if (service === '') return forest.requestOffsets.slice(0, -1)
  const { paths } = models
  const members = new Set(matchingPaths(paths, { service, operation: '' }))
  return Uint32Array.from(forest.path.keys()).filter((call) => {
    const path = forest.path[call]!
    return members.has(path) && isEntry(paths, path)
  })
}

/** How long calls would take at another load. */
interface LoadPrediction {
  /** By how much each call would take longer, µs. */
  readonly shiftUs: Float64Array
  /** From what it was learned, and how far it can be trusted. */
  readonly limits: string
}

/** Those that held-out groups are compared at: the median and the 95th percentile. */
const JUDGED = [2, 5] as const
const MIN_WINDOW_CALLS = 100
const MAX_WINDOWS = 40
const GROUPS = 6
/** A pause of more than this share of a window is a hole between recordings, not load. */
const MAX_PAUSE = 0.5
/** Times the highest load seen up to which a curve is continued. */
const MAX_REACH = 2
/** The highest load must be so many times the lowest one before a curve is continued. */
const MIN_SPREAD = 1.2
/** Relative error in held-out groups above which nothing is predicted. */
const MAX_ERROR = 0.2
const US_PER_SECOND = 1e6

/**
 * Predicts how long calls take at another load, from how long they took in windows of one period in
 * which more or fewer came.
 *
 * Either a queue explains it: calls that met the fewest others tell how long one takes alone, and a
 * simulated queue (G/G/c, first come first served) with as many servers as fit the times seen tells
 * the rest. Or times only rise with load (isotonic regression), within the loads seen. Whichever
 * predicts held-out groups of windows better counts: the busiest third for a load above those seen, the
 * calmest for one below, every third group otherwise. Each call keeps its quantile among the calls of its group.
 *
 * @param loadOf the load to predict for, calls a second, by that of a group
 * @throws FlowdeltaError that says why nothing can be predicted
 */
export function predictAtLoad(
  calls: LoadedCalls,
  loadOf: (perSecond: number) => number,
): LoadPrediction {
  const groups = groupsOf(calls)
  if (groups.length < GROUPS) {
    throw unpredictable(
      `${counted(calls.startUs.length, 'call')} are too few. Give at least ${GROUPS * MIN_WINDOW_CALLS} without long pauses`,
    )
  }
  const loads = groups.map(({ perSecond }) => perSecond)
  const [lowest, highest] = [min(loads)!, max(loads)!]
  const wanted = max(loads, loadOf)!
  const seen = `${rate(lowest)} to ${rate(highest)} a second`
  const [isBeyond, least] = [wanted > highest, min(loads, loadOf)!]
  const isOutside = isBeyond || least < lowest
  if (isOutside && highest < MIN_SPREAD * lowest) {
    throw unpredictable(
      `load hardly varies before (${seen}). Give traces of times with more and less load`,
    )
  }
  if (wanted > MAX_REACH * highest) {
    throw unpredictable(
      `${rate(wanted)} a second are more than twice the highest load before (${seen}). Give a smaller load, or traces of a busier time`,
    )
  }
  if (MAX_REACH * least < lowest) {
    throw unpredictable(
      `${rate(least)} a second are less than half the lowest load before (${seen}). Give a larger load, or traces of a calmer time`,
    )
  }
  const isHeldOut = (i: number) => {
    if (isBeyond) return i >= (2 * GROUPS) / 3
    return isOutside ? i < GROUPS / 3 : i % 3 === 1
  }
  const known = groups.filter((_, i) => !isHeldOut(i))
  const heldOut = groups.filter((_, i) => isHeldOut(i))
  const queues = queuesOf(calls, groups)
  const byQueue = (from: readonly LoadGroup[]) => likelyQueues(queues, from)[0]!
  const byLoad = (from: readonly LoadGroup[]) => monotone(from)
  const [best] = (isOutside ? [byQueue] : [byQueue, byLoad])
    .map((learn) => ({ learn, error: errorOf(learn(known).curve, known, heldOut) }))
    .sort((a, b) => a.error - b.error)
  if (best === undefined || !(best.error <= MAX_ERROR)) {
    throw unpredictable(
      `what some times tell misses others, with ${isBeyond ? 'more' : isOutside ? 'less' : 'other'} load, by ${percent(best?.error ?? 1)} (p50 or p95). Give traces of more times with much and little load`,
    )
  }
  const { name, curve } = best.learn(groups)
  const [end, reached] = isBeyond ? [highest, wanted] : [lowest, least]
  const rises = (isOutside ? likelyQueues(queues, groups) : []).map((queue) =>
    JUDGED.map(
      (i) => (queue.curve(reached)?.[i] ?? Number.POSITIVE_INFINITY) / queue.curve(end)![i]!,
    ),
  )
  const isOpen = JUDGED.some(
    (_, i) => max(rises, (rise) => rise[i]!)! > (1 + MAX_ERROR) * min(rises, (rise) => rise[i]!)!,
  )
  if (isOpen) {
    throw unpredictable(
      `queues with other numbers of servers, or whose calls take a little longer or shorter alone, fit the times before as well (${seen}), and differ at ${rate(reached)} a second. Give a load nearer to those, or traces of such a time`,
    )
  }
  const shiftUs = new Float64Array(calls.startUs.length)
  for (const { calls: own, perSecond } of groups) {
    const newLoad = loadOf(perSecond)
    const [from, to] = [curve(perSecond), curve(newLoad)]
    if (from === null || to === null) {
      throw unpredictable(
        `${rate(newLoad)} a second are more than can be served, as far as times up to ${rate(highest)} a second tell`,
      )
    }
    const [was, is] = [between(SHARES, from), between(SHARES, to)]
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
      `Learned from times with ${seen}${isOutside ? ` and continued to ${rate(reached)}` : ''}: ` +
      `${name}. It missed p50 and p95 of times held out by up to ${percent(best.error)}. ` +
      'The mix of requests is taken to stay as it was.',
  }
}

function unpredictable(why: string): FlowdeltaError {
  return new FlowdeltaError(`Times at that load cannot be predicted: ${why}.`)
}

/** `667`, `0.25`. */
function rate(perSecond: number): string {
  return String(Number(perSecond.toPrecision(3)))
}

/** Groups of windows, by load, ascending. Calls beside a hole between recordings belong to none. */
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
    return {
      calls: rows,
      perSecond: sum(own, ({ came }) => came) / sum(own, ({ seconds }) => seconds),
      quantilesUs: SHARES.map((share) => Math.max(1, quantile(values, share, weights))),
    }
  })
}

/** How much larger than `curve` says quantiles are, in the middle of some groups; as logarithms. */
function offsets(curve: Curve, groups: readonly LoadGroup[]): number[] {
  return SHARES.map(
    (_, i) =>
      mean(groups, ({ perSecond, quantilesUs }) =>
        Math.log(quantilesUs[i]! / (curve(perSecond)?.[i] ?? 0)),
      )!,
  )
}

/** By what part the median or the 95th percentile of held-out groups is missed, whichever more. */
function errorOf(curve: Curve, known: readonly LoadGroup[], heldOut: readonly LoadGroup[]): number {
  const learned = offsets(curve, known)
  const missed = offsets(curve, heldOut)
  return Math.max(...JUDGED.map((i) => Math.abs(Math.expm1(learned[i]! - missed[i]!))))
}

/** Straight lines between points; beyond them, the value of the nearest. */
function between(points: readonly number[], values: Iterable<number>): (at: number) => number {
  return scaleLinear(points, values).clamp(true)
}

function monotone(groups: readonly LoadGroup[]) {
  const loads = groups.map(({ perSecond }) => perSecond)
  const fitted = SHARES.map((_, i) => {
    const timesUs = groups.map(({ quantilesUs }) => quantilesUs[i]!)
    return between(loads, isotonicRegression(loads, timesUs))
  })
  return {
    name: 'rising with load in any way',
    curve: (perSecond: number) => fitted.map((timeAt) => timeAt(perSecond)),
  }
}
