// Over all requests of a period: the loops index with `!`.
import { getOrInsert } from '../../core/entries.ts'
import type { RequestModel } from '../recompute/request-model.ts'

/** Something about requests and calls, other than how long they take, by which they can be divided. */
export interface Feature {
  /** `host`, `calls`, `load`, `concurrency`, `attribute:cache.hit`. */
  readonly name: string
  /** Divides the requests of a period. */
  ofRequests(model: RequestModel): Partition
  /** Divides some calls (rows) of a period; null where the feature is one of requests only. */
  readonly ofCalls: ((model: RequestModel, calls: Uint32Array) => Partition) | null
}

/** What is divided by some feature: requests, or calls. */
export interface Partition {
  /** Number of the part each belongs to, −1 where the feature says nothing. */
  readonly codes: Int32Array
  /** What the parts are called. */
  readonly names: readonly string[]
}

/** Divides `count` things by what they are called; `undefined` where nothing is known. */
export function partitionBy(count: number, nameOf: (row: number) => string | undefined): Partition {
  const known = new Map<string, number>()
  const codes = Int32Array.from({ length: count }, (_, row) => {
    const name = nameOf(row)
    if (name === undefined) return -1
    return getOrInsert(known, name, () => known.size)
  })
  return { codes, names: [...known.keys()] }
}

/** Weight in each part; 1 each where `weight` is left out. */
export function partSizes({ codes, names }: Partition, weight?: Float64Array): Float64Array {
  const sizes = new Float64Array(names.length)
  codes.forEach((code, row) => {
    if (code >= 0) sizes[code]! += weight?.[row] ?? 1
  })
  return sizes
}

/** More parts than this of one feature are not each looked at. */
export const MAX_FEATURE_PARTS = 12

/** Parts of at least `least` members, numbers of them. */
export function largeParts(partition: Partition, least: number): number[] {
  return [...partSizes(partition)].flatMap((size, part) => (size >= least ? [part] : []))
}

/** A feature of single calls, which requests have by their first one. */
export function callFeature(
  name: string,
  namesOf: (model: RequestModel) => (call: number) => string | undefined,
): Feature {
  const ofCalls = (model: RequestModel, calls: Uint32Array) => {
    const nameOf = namesOf(model)
    return partitionBy(calls.length, (i) => nameOf(calls[i]!))
  }
  return {
    name,
    ofCalls,
    ofRequests: (model) => ofCalls(model, model.forest.requestOffsets.subarray(0, -1)),
  }
}
