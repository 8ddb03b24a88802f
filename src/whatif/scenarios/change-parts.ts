// Over all calls that a scenario changes: the loops index with `!`.
import { type QuantileMap, quantileMap } from '../../stats/quantile-map.ts'
import type { LatencyChange } from '../recompute/latency-change.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import { type CallPart, CHANGE_FIELD, partUs } from './call-part.ts'
import { callRows } from './call-rows.ts'

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
const known = new WeakMap<RequestModel, WeakMap<RequestModel, Maps>>()

function mapsBetween(base: RequestModel, target: RequestModel): Maps {
  let ofBase = known.get(base)
  if (ofBase === undefined) {
    ofBase = new WeakMap()
    known.set(base, ofBase)
  }
  let maps = ofBase.get(target)
  if (maps === undefined) {
    maps = new Map()
    ofBase.set(target, maps)
  }
  return maps
}
