// Runs once a call: the loops index with `!`.
import { group, max, min } from 'd3-array'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { quantile } from '../../stats/quantile.ts'
import type { Dictionary } from '../../traces/dictionary.ts'
import { groupRows } from '../../traces/group-rows.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import type { StepStratum } from '../steps/step-strata.ts'
import { stepKey } from '../steps/step-times.ts'
import { BLOCKS } from '../steps/time-blocks.ts'
import { type Activity, kindOf } from './activity.ts'
import { MIN_SLOW, SLOW, type ToldStep } from './interference.ts'
import { type Calls, sortCalls } from './overlaps.ts'

/** Fewest calls of a kind before that show which are slow. */
const MIN_BEFORE = 10
/** Calls of a period that are compared; more would not tell more. */
const MAX_CALLS = 4_000

export function strataOf(
  { times }: StepChanges,
  told: readonly ToldStep[],
): readonly StepStratum[] {
  const key = stepKey(told[0]!)
  const operations = new Set(told.filter((one) => stepKey(one) === key).map((one) => one.operation))
  const strata = times.find((one) => stepKey(one) === key)?.strata ?? []
  return strata.filter(
    ({ operation, before }) => operations.has(operation) && before.values.length >= MIN_BEFORE,
  )
}

/** Whether a request's calls are compared, or it may only be under way meanwhile, or neither. */
const [CALLS, MEANWHILE] = [2, 1]

export interface TimeWindow {
  readonly recording: number
  readonly fromUs: number
  readonly toUs: number
}

export interface Chosen {
  readonly chosen: Uint8Array
  readonly windows: readonly TimeWindow[]
}

export function chooseRequests(flows: FlowSet, strata: readonly StepStratum[]): Chosen {
  const { recordedIn, startUs, responseTimeUs, size } = flows
  const chosen = new Uint8Array(size)
  const windows: TimeWindow[] = []
  for (const period of ['before', 'after'] as const) {
    const all = new Set<number>()
    for (const stratum of strata) {
      for (const request of stratum[period].recorded.requests) all.add(request)
    }
    const inOrder = ascendingOrder(startUs, Uint32Array.from(all))
    const { rows } = groupRows(
      inOrder.map((request) => recordedIn[request]!),
      flows.epochsUs.length,
    )
    const requests = rows.map((at) => inOrder[at]!)
    const stretches = requests.length > MAX_CALLS ? BLOCKS : 1
    for (let stretch = 0; stretch < stretches; stretch++) {
      const first = Math.floor((stretch * requests.length) / stretches)
      const own = requests.slice(first, first + Math.ceil(MAX_CALLS / stretches))
      for (const [recording, some] of group(own, (request) => recordedIn[request]!)) {
        const fromUs = min(some, (request) => startUs[request]!)!
        const toUs = max(some, (request) => startUs[request]! + responseTimeUs[request]!)!
        windows.push({ recording, fromUs, toUs })
        for (const request of some) chosen[request] = CALLS
      }
    }
  }
  for (const { recording, fromUs, toUs } of windows) {
    for (let request = 0; request < size; request++) {
      const isMeanwhile =
        recordedIn[request] === recording &&
        startUs[request]! < toUs &&
        startUs[request]! + responseTimeUs[request]! > fromUs
      if (isMeanwhile && chosen[request] === 0) chosen[request] = MEANWHILE
    }
  }
  return { chosen, windows }
}

/** Time of a call in µs, the slowest cut, and how much longer that is than usual: 0 unless it is slow. */
type Timed = readonly [us: number, excessUs: number]

export type Times = ReadonlyMap<number, ReadonlyMap<number, Timed>>

export function timesOf(
  strata: readonly StepStratum[],
  {
    step,
    chosen,
    kinds,
  }: { readonly step: ToldStep; readonly chosen: Uint8Array; readonly kinds: Dictionary },
): Times {
  const timed = new Map<number, Map<number, Timed>>()
  for (const { operation, callingOperation, before, after } of strata) {
    const [usualUs, limitUs] = [quantile(before.values, 0.5), quantile(before.values, SLOW)]
    const slowest = after.values.filter((us) => us > limitUs)
    const most = slowest.length === 0 ? limitUs : quantile(slowest, SLOW)
    const kind = kinds.code(kindOf(step.service, operation, callingOperation))
    const own = timed.get(kind) ?? new Map<number, Timed>()
    timed.set(kind, own)
    for (const { recorded } of [before, after]) {
      const { requests, values } = recorded
      requests.forEach((request, i) => {
        const us = Math.min(values[i]!, most)
        if (chosen[request] === CALLS) own.set(request, [us, us > limitUs ? us - usualUs : 0])
      })
    }
  }
  return timed
}

export interface StepCalls extends Calls {
  readonly request: Uint32Array
  readonly kind: Uint32Array
  readonly timeUs: Float64Array
  readonly excessUs: Float64Array
}

export function callsOf(
  { period }: FlowSet,
  { activity, step, times }: { activity: Activity; step: ToldStep; times: Times },
) {
  const isCall = step.kind === 'call'
  const [from, to] = isCall
    ? [activity.askedUs, activity.answeredUs]
    : [activity.startUs, activity.endUs]
  const of = (wanted: number): StepCalls => {
    const known: number[] = []
    for (let row = 0; row < to.length; row++) {
      const request = activity.request[row]!
      if (period[request] !== wanted || !(to[row]! > from[row]!)) continue
      if (times.get(activity.kind[row]!)?.has(request)) known.push(row)
    }
    const rows = ascendingOrder(from, Uint32Array.from(known))
    const codes = (values: Uint32Array) => rows.map((row) => values[row]!)
    const us = (of: (row: number) => number) => Float64Array.from(rows, of)
    const timed = (row: number) => times.get(activity.kind[row]!)!.get(activity.request[row]!)!
    const [request, place, kind] = [activity.request, activity.place, activity.kind].map(codes)
    const [startUs, endUs] = [us((row) => from[row]!), us((row) => to[row]!)]
    return {
      request: request!,
      kind: kind!,
      ...sortCalls({ place: place!, startUs, endUs }),
      timeUs: us((row) => timed(row)[0]),
      excessUs: us((row) => timed(row)[1]),
    }
  }
  const [before, after] = [of(BEFORE), of(AFTER)]
  const slow = after.excessUs.filter((us) => us > 0).length
  return slow < MIN_SLOW ? null : { before, after }
}
