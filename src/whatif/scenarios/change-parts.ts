// Over every call that a scenario changes: the loops index with `!`.
import { sum } from 'd3-array'
import { type CallForest, callWeights } from '../../calls/call-forest.ts'
import { addTo, getOrInsert, joined } from '../../core/entries.ts'
import { remembered } from '../../core/remembered.ts'
import { type QuantileMap, quantileMap } from '../../stats/quantile-map.ts'
import { groupRows } from '../../traces/group-rows.ts'
import type { LatencyChange, RequestModel } from '../recompute/request-model.ts'
import type { EvidenceSample } from './scenario.ts'

/** One time of the calls along some paths. */
export interface ChangedPart {
  readonly part: CallPart
  readonly paths: readonly number[]
}

/** Computes the new time from the old one, in µs. */
export type NewTime = (us: number) => number

/** One of the times that make up a call; `reply` is the work of its server after its own last call. */
type CallPart = 'server' | 'network' | 'preprocessing' | 'reply'

/** Field of a `LatencyChange` that gives a part its new time. */
const CHANGE_FIELD = {
  server: 'serverUs',
  network: 'networkUs',
  preprocessing: 'preprocessingUs',
  reply: 'replyUs',
} as const satisfies Record<CallPart, string>

/** Returns one time of every call of a period, by row, in µs. */
function partUs(model: RequestModel, part: CallPart): (call: number) => number {
  const { latencyUs, serverUs } = model.forest
  if (part === 'network') return (call) => latencyUs[call]! - serverUs[call]!
  const column = part === 'server' ? serverUs : model[CHANGE_FIELD[part]]
  return (call) => column[call]!
}

/** Gives one time of some calls the value that `newTime` makes of it. */
export function changeParts(
  base: RequestModel,
  { part, paths }: ChangedPart,
  newTime: NewTime,
): LatencyChange {
  const calls = callRows(base.forest, paths)
  const timeOf = partUs(base, part)
  return { calls, [CHANGE_FIELD[part]]: Float64Array.from(calls, (call) => newTime(timeOf(call))) }
}

/**
 * Makes one time of some calls as it is in `target`: each call's quantile among those of its path in
 * `base` becomes the same quantile of that path in `target`. Along a path that `target` lacks, calls
 * take no time in the server and on the network; what their callers do themselves stays. Calls count
 * as often as their requests weigh.
 */
export function mapParts(
  base: RequestModel,
  target: RequestModel,
  { part, paths }: ChangedPart,
): LatencyChange {
  const { path } = base.forest
  const calls = callRows(base.forest, paths)
  const timeOf = partUs(base, part)
  const missing = part === 'server' || part === 'network' ? 0 : Number.NaN
  const maps = new Map(paths.map((each) => [each, pathMap(base, target, { part, paths: [each] })]))
  const times = Float64Array.from(calls, (call) => {
    const map = maps.get(path[call]!) ?? null
    return map === null ? missing : map(timeOf(call))
  })
  return { calls, [CHANGE_FIELD[part]]: times }
}

// Scenarios of one path alone, and together with others, share its map.
const mapsTo = remembered((_target: RequestModel) =>
  remembered((_base: RequestModel) => new Map<string, QuantileMap | null>()),
)

/** Maps one path's times in `base` to those in `target`; null if one of the two has none of these calls. */
function pathMap(base: RequestModel, target: RequestModel, one: ChangedPart): QuantileMap | null {
  return getOrInsert(mapsTo(target)(base), `${one.part} ${one.paths}`, () => {
    const timesOf = (model: RequestModel) =>
      timesAt(model, callRows(model.forest, one.paths), partUs(model, one.part))
    const [before, after] = [timesOf(base), timesOf(target)]
    return before.values.length === 0 || after.values.length === 0 ? null : timesMap(before, after)
  })
}

/** Times of some calls, µs, and how many calls each stands for; undefined where each for one. */
export interface CallTimes {
  readonly values: Float64Array
  readonly weights: Float64Array | undefined
}

/** Takes times to the same quantile of `to` that they are of `from`. */
export function timesMap(from: CallTimes, to: CallTimes): QuantileMap {
  const weights = { baseWeights: from.weights, targetWeights: to.weights }
  return quantileMap(from.values, to.values, weights)
}

/** Gives each time the same quantile of `to` that it is of `from`. */
export function timesAs(times: CallTimes, to: CallTimes, from = times): Float64Array {
  return times.values.map(timesMap(from, to))
}

export function timesAt(
  { forest }: RequestModel,
  calls: ArrayLike<number>,
  timeOf: (call: number) => number,
): CallTimes {
  return { values: Float64Array.from(calls, timeOf), weights: callWeights(forest, calls) }
}

/** Returns the number of calls that one stands for. */
export function callCounter({ weight, request }: CallForest): (call: number) => number {
  return (call) => weight[request[call]!]!
}

/** Counts the calls that some stand for. */
export function countCalls(forest: CallForest, calls: Iterable<number>): number {
  return sum(calls, callCounter(forest))
}

/** Weights times shares may miss a whole number by rounding. */
const ROUNDING = 1e-9

/** Takes calls from the beginning of a list, as many as stand for no more than `most`. */
export function takeCalls(forest: CallForest, calls: number[], most: number): Uint32Array {
  const countOf = callCounter(forest)
  let [taken, stoodFor] = [0, 0]
  while (taken < calls.length && stoodFor + countOf(calls[taken]!) <= most + ROUNDING) {
    stoodFor += countOf(calls[taken++]!)
  }
  return Uint32Array.from(calls.splice(0, taken)).sort()
}

/**
 * Returns one call of each request that has any among `calls` (rows, ascending): those of one request are not
 * independent of each other. Which one depends only on the request's number.
 */
function onePerRequest({ request }: CallForest, calls: Uint32Array): Uint32Array {
  const chosen: number[] = []
  for (let first = 0, end = 0; first < calls.length; first = end) {
    const one = request[calls[first]!]!
    while (end < calls.length && request[calls[end]!] === one) end++
    chosen.push(calls[first + (spread(one) % (end - first))]!)
  }
  return Uint32Array.from(chosen)
}

/** Returns a value of one call of each request that has any among `calls` (rows, ascending). */
export function samplePerRequest(
  forest: CallForest,
  calls: Uint32Array,
  of: (call: number) => number,
): EvidenceSample {
  const chosen = onePerRequest(forest, calls)
  return {
    values: Float64Array.from(chosen, of),
    requests: chosen.map((call) => forest.request[call]!),
  }
}

/**
 * Returns, for each request, the time that changes, in µs: that of one of its calls, or the sum if the changed part is
 * of several kinds.
 */
export function timesPerRequest(
  model: RequestModel,
  parts: readonly ChangedPart[],
): EvidenceSample {
  const { forest } = model
  const [first] = parts
  if (parts.length === 1 && first !== undefined) {
    return samplePerRequest(forest, callRows(forest, first.paths), partUs(model, first.part))
  }
  const sums = new Map<number, number>()
  for (const { part, paths } of parts) {
    const timeOf = partUs(model, part)
    for (const call of callRows(forest, paths)) {
      addTo(sums, forest.request[call]!, timeOf(call))
    }
  }
  return { values: Float64Array.from(sums.values()), requests: Uint32Array.from(sums.keys()) }
}

const rowsByPath = remembered(({ path }: CallForest) =>
  groupRows(path, path.reduce((most, one) => Math.max(most, one), -1) + 1),
)

/**
 * Returns the calls of one period that were made along some paths: rows, ascending. Paths that the period does not
 * have, have none.
 */
export function callRows(forest: CallForest, paths: readonly number[]): Uint32Array {
  const { offsets, rows } = rowsByPath(forest)
  // The other period may have more paths than this one knows of.
  const end = rows.length
  const parts = paths.map((path) => rows.subarray(offsets[path] ?? end, offsets[path + 1] ?? end))
  return parts.length === 1 ? parts[0]! : joined(parts, Uint32Array).sort()
}

/** Knuth's multiplier: spreads numbers over 32 bits. */
const SPREAD = 2654435761

/** Returns a number's place in an order that has nothing to do with it. */
function spread(number: number): number {
  return Math.imul(number + 1, SPREAD) >>> 0
}

/** Returns rows in a fixed order that is unrelated to their content. */
export function spreadOrder(rows: readonly number[]): number[] {
  return rows.toSorted((a, b) => spread(a) - spread(b))
}
