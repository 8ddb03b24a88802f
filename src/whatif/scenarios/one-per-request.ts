// Over every call that a scenario changes: the loop indexes with `!`.
import type { CallForest } from '../calls/call-forest.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import { partUs } from './call-part.ts'
import { callRows } from './call-rows.ts'
import type { ChangedPart } from './change-parts.ts'

/** Knuth's multiplier: spreads the numbers of requests over 32 bits. */
const SPREAD = 2654435761

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
    const hash = Math.imul(request + 1, SPREAD) >>> 0
    chosen.push(calls[first + (hash % (end - first))]!)
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
