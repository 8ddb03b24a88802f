// Over every call that a scenario changes: the loops index with `!`.
import { type QuantileMap, quantileMap } from '../../stats/quantile-map.ts'
import type { CallForest } from '../calls/index-calls.ts'
import type { LatencyChange } from '../recompute/latency-change.ts'
import type { RequestModel } from '../recompute/request-model.ts'

/** One time of the calls along some paths. */
export interface ChangedPart {
  readonly part: CallPart
  readonly paths: readonly number[]
}

/** What becomes of a time, µs. */
export type NewTime = (us: number) => number

/** Gives one time of some calls the value that `newTime` makes of it. */
export function changeParts(
  base: RequestModel,
  { part, paths }: ChangedPart,
  newTime: NewTime,
): LatencyChange {
  const calls = callRows(base.forest, paths)
  const timeOf = partUs(base, part)
  const times = Float64Array.from(calls, (call) => newTime(timeOf(call)))
  return { calls, [CHANGE_FIELD[part]]: times }
}

/**
 * Makes one time of some calls as it is in `target`: each call's quantile among those of its path in
 * `base` becomes the same quantile of that path in `target`. Along a path that `target` lacks, calls
 * take no time in the server and on the network; what their callers do themselves stays. Every call
 * counts once, whatever its request weighs.
 */
export function mapParts(
  base: RequestModel,
  target: RequestModel,
  { part, paths }: ChangedPart,
): LatencyChange {
  const { forest } = base
  const calls = callRows(forest, paths)
  const timeOf = partUs(base, part)
  const missing = part === 'server' || part === 'network' ? 0 : Number.NaN
  const maps = new Map<number, QuantileMap | null>()
  const times = new Float64Array(calls.length)
  for (let i = 0; i < calls.length; i++) {
    const call = calls[i]!
    const path = forest.path[call]!
    let map = maps.get(path)
    if (map === undefined) {
      map = pathMap(base, target, part, path)
      maps.set(path, map)
    }
    times[i] = map === null ? missing : map(timeOf(call))
  }
  return { calls, [CHANGE_FIELD[part]]: times }
}

/** Null where `target` has no such calls. */
function pathMap(
  base: RequestModel,
  target: RequestModel,
  part: CallPart,
  path: number,
): QuantileMap | null {
  const maps = mapsBetween(base, target)
  const key = `${part} ${path}`
  let map = maps.get(key)
  if (map === undefined) {
    const after = timesAlong(target, part, path)
    map = after.length === 0 ? null : quantileMap(timesAlong(base, part, path), after)
    maps.set(key, map)
  }
  return map
}

function timesAlong(model: RequestModel, part: CallPart, path: number): Float64Array {
  const timeOf = partUs(model, part)
  return Float64Array.from(callRows(model.forest, [path]), (call) => timeOf(call))
}

type Maps = Map<string, QuantileMap | null>

// Scenarios of one path alone, and together with others, share its map.
const mapsOf = new WeakMap<RequestModel, WeakMap<RequestModel, Maps>>()

function mapsBetween(base: RequestModel, target: RequestModel): Maps {
  let ofBase = mapsOf.get(base)
  if (ofBase === undefined) {
    ofBase = new WeakMap()
    mapsOf.set(base, ofBase)
  }
  let maps = ofBase.get(target)
  if (maps === undefined) {
    maps = new Map()
    ofBase.set(target, maps)
  }
  return maps
}

/** One of the times that make up a call; `reply` is what its server does after the last call of its own. */
type CallPart = 'server' | 'network' | 'preprocessing' | 'reply'

/** One time of every call of a period, by row, µs. */
function partUs(model: RequestModel, part: CallPart): (call: number) => number {
  const { forest, preprocessingUs, replyUs } = model
  const { latencyUs, serverUs } = forest
  switch (part) {
    case 'server':
      return (call) => serverUs[call] as number
    case 'network':
      return (call) => (latencyUs[call] as number) - (serverUs[call] as number)
    case 'preprocessing':
      return (call) => preprocessingUs[call] as number
    case 'reply':
      return (call) => replyUs[call] as number
  }
}

/** Which field of a `LatencyChange` gives a part its new time. */
const CHANGE_FIELD = {
  server: 'serverUs',
  network: 'networkUs',
  preprocessing: 'preprocessingUs',
  reply: 'replyUs',
} as const satisfies Record<CallPart, string>

/**
 * One call of each request that has any among `calls` (rows, ascending): those of one request are
 * not independent of each other. Which one depends only on the request's number.
 */
export function onePerRequest(forest: CallForest, calls: Uint32Array): Uint32Array {
  const chosen: number[] = []
  let first = 0
  while (first < calls.length) {
    const request = forest.request[calls[first]!]!
    let end = first + 1
    while (end < calls.length && forest.request[calls[end]!] === request) end++
    chosen.push(calls[first + (spread(request) % (end - first))]!)
    first = end
  }
  return Uint32Array.from(chosen)
}

/** One time of one call of each request that makes such calls, µs. */
export function timesOfOne(model: RequestModel, { part, paths }: ChangedPart): Float64Array {
  const timeOf = partUs(model, part)
  const calls = onePerRequest(model.forest, callRows(model.forest, paths))
  return Float64Array.from(calls, (call) => timeOf(call))
}

/** The sum of several times of each request that makes such calls, µs. */
export function timesPerRequest(model: RequestModel, parts: readonly ChangedPart[]): Float64Array {
  const { forest } = model
  const sums = new Map<number, number>()
  for (const { part, paths } of parts) {
    const timeOf = partUs(model, part)
    for (const call of callRows(forest, paths)) {
      const request = forest.request[call]!
      sums.set(request, (sums.get(request) ?? 0) + timeOf(call))
    }
  }
  return Float64Array.from(sums.values())
}

interface RowsByPath {
  readonly offsets: Uint32Array
  readonly rows: Uint32Array
}

const rowsOf = new WeakMap<CallForest, RowsByPath>()

/**
 * The calls of one period that were made along some paths: rows, ascending. Paths that the period
 * does not have, have none.
 */
export function callRows(forest: CallForest, paths: readonly number[]): Uint32Array {
  let byPath = rowsOf.get(forest)
  if (byPath === undefined) {
    byPath = sortByPath(forest.path)
    rowsOf.set(forest, byPath)
  }
  const { offsets, rows } = byPath
  // The other period may have more paths than this one knows of.
  const end = rows.length
  const parts = paths.map((path) => rows.subarray(offsets[path] ?? end, offsets[path + 1] ?? end))
  if (parts.length === 1) return parts[0]!
  const all = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all.sort()
}

function sortByPath(path: Uint32Array): RowsByPath {
  const paths = path.reduce((most, each) => Math.max(most, each), -1) + 1
  const offsets = new Uint32Array(paths + 1)
  for (let call = 0; call < path.length; call++) offsets[path[call]! + 1]!++
  for (let each = 0; each < paths; each++) offsets[each + 1]! += offsets[each]!
  const next = offsets.slice()
  const rows = new Uint32Array(path.length)
  for (let call = 0; call < path.length; call++) rows[next[path[call]!]!++] = call
  return { offsets, rows }
}

/** Knuth's multiplier: spreads numbers over 32 bits. */
const SPREAD = 2654435761

/** A number's place in an order that has nothing to do with it. */
function spread(number: number): number {
  return Math.imul(number + 1, SPREAD) >>> 0
}

/** Some rows in an order that has nothing to do with what they are of, always the same. */
export function spreadOrder(rows: readonly number[]): number[] {
  return rows.toSorted((a, b) => spread(a) - spread(b))
}
