// Over all requests of a period: the loops index with `!`.
import type { CallForest } from '../calls/call-forest.ts'
import type { Feature } from './feature.ts'
import { partitionBy } from './request-partition.ts'

/** µs before a request within which others count as its load. */
const LOAD_WINDOW_US = 1e6

/**
 * How busy the system was: requests that began in the second up to a request's start, itself
 * included, in powers of two. Only recorded requests are counted.
 */
export const loadFeature: Feature = {
  name: 'load',
  ofRequests({ forest }) {
    const { order, startUs } = requestsByStart(forest)
    const load = new Uint32Array(order.length)
    let first = 0
    order.forEach((request, at) => {
      while (startUs[request]! - startUs[order[first]!]! > LOAD_WINDOW_US) first++
      load[request] = at - first + 1
    })
    return partitionBy(load.length, (request) => powerOfTwo(load[request]!, '/s'))
  },
  ofCalls: null,
}

/** How many recorded requests were under way when a request began, itself included, in powers of two. */
export const concurrencyFeature: Feature = {
  name: 'concurrency',
  ofRequests({ forest }) {
    const { order, startUs } = requestsByStart(forest)
    const { requestOffsets, serverUs } = forest
    const endsUs = Float64Array.from(
      order,
      (request) => startUs[request]! + serverUs[requestOffsets[request]!]!,
    ).sort()
    const underWay = new Uint32Array(order.length)
    let ended = 0
    order.forEach((request, at) => {
      while (ended < at && endsUs[ended]! <= startUs[request]!) ended++
      underWay[request] = at - ended + 1
    })
    return partitionBy(underWay.length, (request) => powerOfTwo(underWay[request]!, ''))
  },
  ofCalls: null,
}

function requestsByStart(forest: CallForest) {
  const { requestOffsets, serverSpan, traces } = forest
  const startUs = Float64Array.from(
    { length: requestOffsets.length - 1 },
    (_, request) => traces.spans.startUs[serverSpan[requestOffsets[request]!]!]!,
  )
  const order = Uint32Array.from(startUs, (_, request) => request).sort(
    (a, b) => startUs[a]! - startUs[b]! || a - b,
  )
  return { order, startUs }
}

/** `1`, `2-3`, `4-7`, …: the power of two a count of at least 1 belongs to. */
function powerOfTwo(count: number, unit: string): string {
  const low = 2 ** Math.floor(Math.log2(count))
  return low === 1 ? `1${unit}` : `${low}-${2 * low - 1}${unit}`
}
