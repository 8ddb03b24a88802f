// Over every request of a period: the loops index with `!`.
import { group, max, mean, min, sum } from 'd3-array'
import { scaleLinear } from 'd3-scale'
import { FlowdeltaError } from '../../core/errors.ts'
import { counted, formatDuration, percent } from '../../core/words.ts'
import { isotonicRegression } from '../../stats/isotonic-regression.ts'
import { quantile } from '../../stats/quantile.ts'
import { randomSource } from '../../stats/random.ts'

/** Calls of one period: when they began, how long they took, and how many each stands for. */
export interface LoadedCalls {
  readonly startUs: Float64Array
  readonly timeUs: Float64Array
  readonly weight: Float64Array
}

/** More or fewer hosts that serve the same calls. */
export interface HostChange {
  /** Number of the host that served each call. */
  readonly of: Uint32Array
  readonly before: number
  readonly after: number
}

/** How long calls would take at another load. */
export interface LoadPrediction {
  /** By how much each call would take longer, µs. */
  readonly shiftUs: Float64Array
  /** From what it was learned, and how far it can be trusted. */
  readonly limits: string
}

/** Calls that came at about the same rate. */
interface LoadGroup {
  readonly calls: Uint32Array
  readonly perSecond: number
  /** At `SHARES`, µs. */
  readonly quantilesUs: readonly number[]
}

/** Time at each of `SHARES` under a load, µs; null where more comes than can be served. */
type Curve = (perSecond: number) => readonly number[] | null

interface Model {
  readonly name: string
  readonly curve: Curve
  /** The same for what is predicted, by the load before. */
  readonly after: Curve
}

const SHARES = [0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99] as const
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
/** Calls that met the fewest others tell how long a call takes alone: at least this share, and so many. */
const ALONE = { share: 0.1, calls: 50 } as const
/** Queues whose loss is at most so many times the least are as likely. */
const AS_LIKELY = 4
/** Numbers of servers that are tried. */
const SERVERS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64] as const
const MAX_UTILIZATION = 0.98
const SIMULATED_CALLS = 30_000
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
 * With another number of hosts, queues are tried that all hosts share, which then has more or fewer servers, and
 * such of each host, which more or fewer calls come to.
 *
 * @param loadOf the load to predict for, calls a second, by that of a group; of hosts, as if theirs stayed as many
 * @throws FlowdeltaError that says why nothing can be predicted
 */
export function predictAtLoad(
  calls: LoadedCalls,
  loadOf: (perSecond: number) => number,
  hosts?: HostChange,
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
      `${loadWords(wanted, hosts)} more than twice the highest load before (${seen}). Give a smaller load, or traces of a busier time`,
    )
  }
  if (MAX_REACH * least < lowest) {
    throw unpredictable(
      `${loadWords(least, hosts)} less than half the lowest load before (${seen}). Give a larger load, or traces of a calmer time`,
    )
  }
  const isHeldOut = (i: number) => {
    if (isBeyond) return i >= (2 * GROUPS) / 3
    return isOutside ? i < GROUPS / 3 : i % 3 === 1
  }
  const known = groups.filter((_, i) => !isHeldOut(i))
  const heldOut = groups.filter((_, i) => isHeldOut(i))
  const queues = queuesOf(calls, groups, loadOf, hosts)
  const byQueue = (from: readonly LoadGroup[]) => likelyQueues(queues, from)[0]!
  const byLoad = (from: readonly LoadGroup[]) => monotone(from, loadOf)
  const [best] = (isOutside || hosts ? [byQueue] : [byQueue, byLoad])
    .map((learn) => ({ learn, error: errorOf(learn(known).curve, known, heldOut) }))
    .sort((a, b) => a.error - b.error)
  if (best === undefined || !(best.error <= MAX_ERROR)) {
    throw unpredictable(
      `what some times tell misses others, with ${isBeyond ? 'more' : isOutside ? 'less' : 'other'} load, by ${percent(best?.error ?? 1)} (p50 or p95). Give traces of more times with much and little load`,
    )
  }
  const { name, curve, after } = best.learn(groups)
  const [end, reached] = isBeyond ? [highest, wanted] : [lowest, least]
  const at = hosts ? highest : end
  const rises = (isOutside || hosts ? likelyQueues(queues, groups) : []).map((queue) =>
    JUDGED.map((i) => (queue.after(at)?.[i] ?? Number.POSITIVE_INFINITY) / queue.curve(at)![i]!),
  )
  const isOpen = JUDGED.some(
    (_, i) => max(rises, (rise) => rise[i]!)! > (1 + MAX_ERROR) * min(rises, (rise) => rise[i]!)!,
  )
  if (isOpen) {
    throw unpredictable(
      hosts === undefined
        ? `queues with different numbers of servers fit the times before as well (${seen}), and differ at ${rate(reached)} a second. Give a load nearer to those, or traces of such a time`
        : `a queue of each host, one that all share, or either with more servers fit the times before as well (${seen}), and differ with ${counted(hosts.after, 'host')}. Give traces of a busier time`,
    )
  }
  const shiftUs = new Float64Array(calls.startUs.length)
  for (const { calls: own, perSecond } of groups) {
    const newLoad = loadOf(perSecond)
    const [from, to] = [curve(perSecond), after(perSecond)]
    if (from === null || to === null) {
      throw unpredictable(
        `${loadWords(newLoad, hosts)} more than can be served, as far as times up to ${rate(highest)} a second tell`,
      )
    }
    const [was, is] = [between(SHARES, from), between(SHARES, to)]
    const rows = Uint32Array.from(own).sort((a, b) => calls.timeUs[a]! - calls.timeUs[b]!)
    rows.forEach((row, i) => {
      const share = (i + 0.5) / rows.length
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

/** `667 a second are`, to be followed by what they are. */
function loadWords(perSecond: number, hosts?: HostChange): string {
  const all = `${rate(perSecond)} a second`
  if (hosts === undefined) return `${all} are`
  return `${counted(hosts.after, 'host')} would each get as many calls as at ${all} now, which is`
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
    const sorted = Float64Array.from(rows, (row) => timeUs[row]!).sort()
    return {
      calls: rows,
      perSecond: sum(own, ({ came }) => came) / sum(own, ({ seconds }) => seconds),
      quantilesUs: SHARES.map((share) => Math.max(1, quantile(sorted, share))),
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

/** Queues that differ in how many servers they have, and in whether hosts share them. */
function queuesOf(
  calls: LoadedCalls,
  groups: readonly LoadGroup[],
  loadOf: (perSecond: number) => number,
  hosts?: HostChange,
): Model[] {
  const shared = oneQueue(calls, groups, () => 0)
  if (hosts === undefined) {
    return SERVERS.map((servers) => {
      const curve = shared.curve(servers)
      const name = `as a queue with ${counted(servers, 'server')}, ${shared.alone}`
      return { name, curve, after: (perSecond) => curve(loadOf(perSecond)) }
    })
  }
  const { of, before, after } = hosts
  const own = oneQueue(calls, groups, (row) => of[row]!)
  return SERVERS.flatMap((servers): Model[] => {
    const each = `${counted(servers, 'server')} a host`
    const ofHost = own.curve(servers)
    const apart = {
      name: `as a queue of each host with ${each}, ${own.alone}`,
      curve: (perSecond: number) => ofHost(perSecond / before),
      after: (perSecond: number) => ofHost(loadOf(perSecond) / before),
    }
    if (before === 1 || servers * Math.max(before, after) > SERVERS.at(-1)!) return [apart]
    const together = {
      name: `as one queue of all hosts with ${each}, ${shared.alone}`,
      curve: shared.curve(servers * before),
      after: shared.curve(servers * after),
    }
    return [apart, together]
  })
}

/** What calls tell of a queue: all of them, or of those that each come to one of several alike. */
function oneQueue(
  { startUs, timeUs, weight }: LoadedCalls,
  groups: readonly LoadGroup[],
  queueOf: (row: number) => number,
) {
  const sorted = Array.from(startUs.keys()).sort((a, b) => startUs[a]! - startUs[b]!)
  const met = new Uint32Array(startUs.length)
  for (const rows of group(sorted, queueOf).values()) {
    const ends = Float64Array.from(rows, (row) => startUs[row]! + timeUs[row]!).sort()
    let ended = 0
    rows.forEach((row, i) => {
      while (ended < i && ends[ended]! <= startUs[row]!) ended++
      met[row] = i - ended
    })
  }
  const enough = Math.max(ALONE.calls, ALONE.share * met.length)
  const most = met.slice().sort()[Math.min(met.length - 1, Math.ceil(enough))]!
  const aloneUs = timeUs.filter((_, row) => met[row]! <= most)
  // Gaps by the mean gap of their group: 1 on average.
  const gaps = groups.flatMap(({ calls, perSecond }) => {
    const queues = [...group(calls, queueOf).values()]
    const usual = (queues.length * mean(calls, (row) => weight[row]!)! * US_PER_SECOND) / perSecond
    return queues.flatMap((rows) => {
      const starts = Float64Array.from(rows, (row) => startUs[row]!).sort()
      return Array.from(starts.subarray(1), (us, i) => (us - starts[i]!) / usual).filter(
        (gap) => gap < MAX_PAUSE * MIN_WINDOW_CALLS,
      )
    })
  })
  return {
    alone: `where a call alone takes ${formatDuration(mean(aloneUs)!)}`,
    curve: (servers: number) =>
      onceEach((perSecond) => queueTimes({ servers, aloneUs, gaps }, perSecond)),
  }
}

/** Computes a curve once at each load. */
function onceEach(curve: Curve): Curve {
  const known = new Map<number, readonly number[] | null>()
  return (perSecond) => {
    const old = known.get(perSecond)
    if (old !== undefined) return old
    const times = curve(perSecond)
    known.set(perSecond, times)
    return times
  }
}

interface Queue {
  readonly servers: number
  readonly aloneUs: Float64Array
  readonly gaps: readonly number[]
}

function queueTimes({ servers, aloneUs, gaps }: Queue, perSecond: number) {
  if ((mean(aloneUs)! * perSecond) / US_PER_SECOND > MAX_UTILIZATION * servers) return null
  const random = randomSource(1)
  const scaleUs = US_PER_SECOND / perSecond / mean(gaps)!
  const freeUs = new Float64Array(servers)
  let nowUs = 0
  const timesUs = Float64Array.from({ length: SIMULATED_CALLS }, () => {
    nowUs += gaps[random.integer(gaps.length)]! * scaleUs
    let first = 0
    for (let i = 1; i < servers; i++) if (freeUs[i]! < freeUs[first]!) first = i
    const ownUs = aloneUs[random.integer(aloneUs.length)]!
    const endUs = Math.max(nowUs, freeUs[first]!) + ownUs
    freeUs[first] = endUs
    return endUs - nowUs
  }).sort()
  return SHARES.map((share) => Math.max(1, quantile(timesUs, share)))
}

/** The queue whose times are nearest to those seen, by the squares of their logarithms, and those as likely. */
function likelyQueues(queues: readonly Model[], groups: readonly LoadGroup[]): Model[] {
  const judged = queues.map((queue) => ({
    queue,
    loss: sum(groups, ({ perSecond, quantilesUs }) => {
      const times = queue.curve(perSecond)
      if (times === null) return Number.POSITIVE_INFINITY
      return sum(quantilesUs, (us, i) => Math.log(us / times[i]!) ** 2)
    }),
  }))
  const least = min(judged, ({ loss }) => loss)!
  return judged
    .sort((a, b) => a.loss - b.loss)
    .flatMap(({ queue, loss }) => (loss <= AS_LIKELY * least ? queue : []))
}

function monotone(groups: readonly LoadGroup[], loadOf: (perSecond: number) => number): Model {
  const loads = groups.map(({ perSecond }) => perSecond)
  const fitted = SHARES.map((_, i) => {
    const timesUs = groups.map(({ quantilesUs }) => quantilesUs[i]!)
    return between(loads, isotonicRegression(loads, timesUs))
  })
  const curve = (perSecond: number) => fitted.map((timeAt) => timeAt(perSecond))
  return {
    name: 'rising with load in any way',
    curve,
    after: (perSecond) => curve(loadOf(perSecond)),
  }
}
