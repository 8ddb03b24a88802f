// Over all requests and calls of a period: the loops index with `!`.
import { group } from 'd3-array'
import type { CallPaths } from '../calls/call-paths.ts'
import type { CallForest } from '../calls/index-calls.ts'
import { callFeature, type Feature, partitionBy } from './feature.ts'

/** A feature that counts other requests, in powers of two. */
function countFeature(
  name: string,
  unit: string,
  countsOf: (forest: CallForest, order: Uint32Array, startUs: Float64Array) => Uint32Array,
): Feature {
  return {
    name,
    ofRequests({ forest }) {
      const { requestOffsets, requestTrace, serverSpan, traces } = forest
      const startUs = Float64Array.from(
        requestTrace,
        (_, request) => traces.spans.startUs[serverSpan[requestOffsets[request]!]!]!,
      )
      const order = Uint32Array.from(startUs.keys()).sort(
        (a, b) => startUs[a]! - startUs[b]! || a - b,
      )
      const counts = new Uint32Array(order.length)
      countsOf(forest, order, startUs).forEach((count, at) => {
        counts[order[at]!] = count
      })
      return partitionBy(counts.length, (request) => `${powerOfTwo(counts[request]!)}${unit}`)
    },
    ofCalls: null,
  }
}

/** µs before a request within which others count as its load. */
const LOAD_WINDOW_US = 1e6

/** How many began in the second up to each, itself included; `order` is by when they begin. */
function recent(order: Uint32Array, startUs: Float64Array): Uint32Array {
  let first = 0
  return order.map((row, at) => {
    while (startUs[row]! - startUs[order[first]!]! > LOAD_WINDOW_US) first++
    return at - first + 1
  })
}

/**
 * How busy the system was: requests that began in the second up to a request's start, itself
 * included, in powers of two. Only recorded requests are counted.
 */
export const loadFeature = countFeature('load', '/s', (_, order, startUs) => recent(order, startUs))

/** How busy a service was: calls to it that began in the second up to a call's start. */
export const serviceLoadFeature = callFeature('serviceLoad', ({ forest, models }) => {
  const loads = serviceLoads(forest, models.paths)
  return (call) => `${powerOfTwo(loads[call]!)}/s`
})

const known = new WeakMap<CallForest, Uint32Array>()

/** Of each call, how many to the same service began in the second up to its start. */
function serviceLoads(forest: CallForest, paths: CallPaths): Uint32Array {
  const old = known.get(forest)
  if (old !== undefined) return old
  const loads = new Uint32Array(forest.path.length)
  const startUs = Float64Array.from(forest.serverSpan, (span) => forest.traces.spans.startUs[span]!)
  for (const calls of group(forest.path.keys(), (call) =>
    paths.service(forest.path[call]!),
  ).values()) {
    const order = Uint32Array.from(calls).sort((a, b) => startUs[a]! - startUs[b]! || a - b)
    recent(order, startUs).forEach((count, at) => {
      loads[order[at]!] = count
    })
  }
  known.set(forest, loads)
  return loads
}

/** How many recorded requests were under way when a request began, itself included, in powers of two. */
export const concurrencyFeature = countFeature('concurrency', '', (forest, order, startUs) => {
  const { requestOffsets, serverUs } = forest
  const endsUs = startUs.map((us, request) => us + serverUs[requestOffsets[request]!]!).sort()
  let ended = 0
  return order.map((request, at) => {
    while (ended < at && endsUs[ended]! <= startUs[request]!) ended++
    return at - ended + 1
  })
})

/** `1`, `2-3`, `4-7`, …: the power of two a count of at least 1 belongs to. */
function powerOfTwo(count: number): string {
  const low = 2 ** Math.floor(Math.log2(count))
  return low === 1 ? '1' : `${low}-${2 * low - 1}`
}
