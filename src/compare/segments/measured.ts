// Runs once a request: the loops index with `!`.

import { greatest, group, max, range, rollup, sum } from 'd3-array'
import { allVisits } from '../../calls/visits.ts'
import { getOrInsert, joined } from '../../core/entries.ts'
import { TIME } from '../../core/quantity.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { equalRows } from '../../stats/weighted-sample.ts'
import { groupRows } from '../../traces/group-rows.ts'
import type { CallChoice } from '../steps/call-counts.ts'
import type { ErrorChange } from '../steps/compare-errors.ts'
import type { LogChange } from '../steps/compare-log-counts.ts'
import type { CallChange, StepChanges } from '../steps/step-changes.ts'
import { placeOf } from '../steps/step-strata.ts'
import { type Step, type StepTimes, stepKey } from '../steps/step-times.ts'
import { timeBlocks } from '../steps/time-blocks.ts'
import { ALL, MIN_KNOWN, SIDE_LEVEL } from '../thresholds.ts'
import type { RequestColumn } from './request-columns.ts'

/** Measure that segments are compared by. */
export type Measure = 'time' | 'errors' | 'structure'

export interface Measured {
  readonly measure: Measure
  /** Whether it surely changed, so only the place of the change is searched. */
  readonly isSure: boolean
  readonly step: Step | null
  readonly call: CallChoice | null
  /** Operation of the spans that are measured, one by one; empty for several, undefined where requests are. */
  readonly within?: string | undefined
  /** Whether requests wait for each span, by unit. */
  readonly isWaited?: Uint32Array | undefined
  /** Operation of each stratum, and its caller; empty for roots. */
  readonly strata: readonly Stratum[]
  /** Rows of stratum `s` in period `p` are `offsets[2 s + p]` to `offsets[2 s + p + 1]`. */
  readonly offsets: Uint32Array
  readonly requests: Uint32Array
  /** Key of each row's codes in columns: its request, or for spans the number of its span. */
  readonly units: Uint32Array
  /** Time in µs, or 1 for a failure or a choice taken; ascending within stratum and period. */
  readonly values: Float64Array
  readonly blocks: Uint8Array
  /** Weight of each row; undefined where each counts once. */
  readonly weights?: Float64Array | undefined
  /**
   * All requests with their weights, for the report, if weights differ. The rows here are then only as many as the
   * requests are worth, for the tests.
   */
  readonly recorded: Measured | null
}

type Head = Pick<Measured, 'measure' | 'isSure' | 'step' | 'call'> &
  Partial<Pick<Measured, 'within' | 'isWaited'>>

export interface Stratum {
  readonly operation: string
  readonly callingOperation: string
}

/** Returns everything that segments are searched in, the largest times first. */
export function allMeasured(steps: StepChanges, failed: Uint8Array): Measured[] {
  const changed = new Set(steps.changes.map(stepKey))
  const times = steps.times
    .filter(({ part }) => part !== 'message')
    .flatMap((step) => measuredTimes(steps.flows, step, changed.has(stepKey(step))) ?? [])
  const totals = new Map(times.map((measured) => [measured, sum(measured.values)]))
  return [
    ...(steps.flows.quantity === TIME ? measuredFailures(steps.flows, failed) : []),
    ...steps.errors
      .filter(({ changed, kind }) => changed && kind === 'work')
      .flatMap((change) => measuredErrors(steps, change) ?? []),
    ...steps.calls
      // Some requests may make a call more, or less, often, though all together do not surely do so.
      .filter(({ changed, kind, p }) => changed || (kind === 'calls' && p < SIDE_LEVEL))
      .flatMap((change) => measuredChoice(steps, change) ?? []),
    ...steps.logs
      .filter(({ changed, kind }) => changed && kind === 'logs')
      .flatMap((change) => measuredLog(steps, change) ?? []),
    ...times.sort((a, b) => totals.get(b)! - totals.get(a)!),
  ]
}

function measuredTimes(
  flows: FlowSet,
  { kind, service, caller, strata }: StepTimes,
  isSure: boolean,
): Measured | null {
  const groups = Array.from(group(strata, placeOf).values(), (same) => ({
    operation: same[0]!.operation,
    callingOperation: same[0]!.callingOperation,
    samples: (['before', 'after'] as const).map((period): Sample => {
      const samples = same.map((one) => one[period].recorded)
      if (samples.length === 1) return { ...samples[0]!, isAscending: true }
      const requests = samples.map((one) => one.requests)
      const values = samples.map((one) => one.values)
      return {
        requests: joined(requests, Uint32Array),
        values: joined(values, Float64Array),
      }
    }),
  }))
  return measuredOf(
    flows,
    { measure: 'time', isSure, step: { kind, service, caller }, call: null },
    groups,
  )
}

export function failedRequests({ size, outcomes }: FlowSet): Uint8Array {
  return new Uint8Array(size).map((_, request) => Number(outcomes?.failed(request) ?? false))
}

function measuredFailures(flows: FlowSet, failed: Uint8Array): Measured[] {
  const services = group(range(flows.size), (request) => rootOf(flows, request).service)
  return [...services].flatMap(([service, requests]) => {
    const step: Step = { kind: 'request', service, caller: null }
    const head = { measure: 'errors', isSure: false, step, call: null } as const
    return measuredShares(flows, head, { requests, measure: (one) => failed[one]! }) ?? []
  })
}

/** Measures failures of a service in the requests that call it, whatever becomes of them. */
function measuredErrors({ flows }: StepChanges, { service, failing }: ErrorChange) {
  const visits = allVisits(flows)
  const doesCall = (one: number) =>
    visits.get(flows.shapeOf[one]!)!.visits.some((visit) => visit.service === service)
  const step: Step = { kind: 'work', service, caller: null }
  return measuredShares(
    flows,
    { measure: 'errors', isSure: true, step, call: null },
    {
      requests: range(flows.size).filter(doesCall),
      measure: (one) => Number(failing.has(one)),
    },
  )
}

function measuredChoice({ flows, sites }: StepChanges, change: CallChange): Measured | null {
  if (sites === null) return null
  const { kind, of, previous, call, chanceSites, madeSites, changed: isSure } = change
  const requests = Array.from(flows.shapeOf.keys()).filter((one) => sites.hasAny(one, chanceSites))
  const choice = { kind, of, previous, call }
  const head = { measure: 'structure', isSure, step: null, call: choice } as const
  const measure = (one: number) => Number(sites.hasAny(one, madeSites))
  return measuredShares(flows, head, { requests, measure })
}

function measuredLog({ flows }: StepChanges, change: LogChange): Measured | null {
  const { kind, of, previous, call, able, doing } = change
  const choice = { kind, of, previous, call }
  const head = { measure: 'structure', isSure: true, step: null, call: choice } as const
  const requests = [...able]
  const measure = (one: number) => Number(doing.has(one))
  return measuredShares(flows, head, { requests, measure })
}

function measuredShares(
  flows: FlowSet,
  head: Head,
  { requests, measure }: { requests: readonly number[]; measure: (request: number) => number },
): Measured | null {
  const groups: GrowingGroups = new Map()
  for (const request of requests) {
    const { operation } = rootOf(flows, request)
    const samples = samplesOf(groups, operation, { operation, callingOperation: '' })
    addValue(samples[flows.period[request]!]!, { request, value: measure(request) })
  }
  return measuredOf(flows, head, [...groups.values()])
}

export type GrowingGroups = Map<string, Stratum & { readonly samples: GrowingSample[] }>

interface GrowingSample {
  readonly requests: number[]
  readonly values: number[]
  readonly units: number[]
}

/** Returns the samples of both periods in a stratum, which is added if there is none. */
export function samplesOf(groups: GrowingGroups, key: string, of: Stratum): GrowingSample[] {
  const empty = (): GrowingSample => ({ requests: [], values: [], units: [] })
  const { operation, callingOperation } = of
  const stratum = () => ({ operation, callingOperation, samples: [empty(), empty()] })
  return getOrInsert(groups, key, stratum).samples
}

export function addValue(
  { requests, values, units }: GrowingSample,
  { request, value, unit = request }: { request: number; value: number; unit?: number },
): void {
  requests.push(request)
  values.push(value)
  units.push(unit)
}

interface Sample {
  readonly requests: ArrayLike<number>
  readonly values: ArrayLike<number>
  /** Default: the requests. */
  readonly units?: ArrayLike<number>
  /** Whether values ascend already, and blocks among equal ones. Default: not known. */
  readonly isAscending?: boolean
}

export interface Group extends Stratum {
  readonly samples: readonly Sample[]
}

function rootOf({ shapes, shapeOf, labels }: FlowSet, request: number) {
  return labels.get(shapes.labels(shapeOf[request]!)[0]!)
}

export function measuredOf(flows: FlowSet, head: Head, groups: readonly Group[]): Measured | null {
  const all = rowsOfGroups(flows, head, groups)
  if (all === null || all.weights === undefined) return all
  return { ...rowsOfGroups(flows, head, groups, equalRows)!, weights: undefined, recorded: all }
}

/** @param choose which rows of a sample, ascending, are kept; default: all */
function rowsOfGroups(
  flows: FlowSet,
  head: Head,
  groups: readonly Group[],
  choose?: typeof equalRows,
): Measured | null {
  const kept = groups.filter(({ samples }) =>
    samples.every(({ values }) => values.length >= MIN_KNOWN),
  )
  if (kept.length === 0) return null
  const size = sum(kept, ({ samples }) => sum(samples, ({ values }) => values.length))
  const offsets = new Uint32Array(2 * kept.length + 1)
  const requests = new Uint32Array(size)
  const units = head.within === undefined ? requests : new Uint32Array(size)
  const values = new Float64Array(size)
  const { counted } = flows
  const { of: blockOf } = timeBlocks(flows)
  const blocks = new Uint8Array(size)
  const weights = counted && new Float64Array(size)
  let at = 0
  kept.forEach(({ samples }, stratum) => {
    for (const period of [BEFORE, AFTER] satisfies Period[]) {
      const sample = samples[period]!
      const order = sample.isAscending ? null : inOrder(sample, blockOf)
      const own =
        counted &&
        Float64Array.from(
          sample.values,
          (_, place) => counted[sample.requests[order?.[place] ?? place]!]!,
        )
      const chosen = own && choose?.({ values: own, weights: own })
      const length = chosen?.length ?? sample.values.length
      for (let place = 0; place < length; place++) {
        const row = chosen === undefined ? place : chosen[place]!
        const i = order === null ? row : order[row]!
        requests[at] = sample.requests[i]!
        if (sample.units) units[at] = sample.units[i]!
        values[at] = sample.values[i]!
        blocks[at] = blockOf[requests[at]!]!
        if (weights) weights[at] = counted![requests[at]!]!
        at++
      }
      offsets[2 * stratum + period + 1] = at
    }
  })
  const strata = kept.map(({ operation, callingOperation }) => ({ operation, callingOperation }))
  return {
    ...head,
    strata,
    offsets,
    requests: requests.subarray(0, at),
    units: units.subarray(0, at),
    values: values.subarray(0, at),
    blocks: blocks.subarray(0, at),
    weights,
    recorded: null,
  }
}

/** Returns the rows of a sample by value, equal ones by stretch of time. */
function inOrder({ requests, values }: Sample, blockOf: Uint8Array): Uint32Array {
  const blocks = Uint8Array.from(requests, (request) => blockOf[request]!)
  return ascendingOrder(Float64Array.from(values), groupRows(blocks, 256).rows)
}

/**
 * Whether a column divides an operation: where nearly all of its requests have one value, it is only another name for
 * it.
 */
export function dividesStrata(
  { codes, values }: RequestColumn,
  { offsets, units }: Measured,
): boolean {
  const counts = new Uint32Array(values.length)
  for (let stratum = 0; 2 * stratum < offsets.length - 1; stratum++) {
    const [from, to] = [offsets[2 * stratum]!, offsets[2 * stratum + 2]!]
    counts.fill(0)
    for (let row = from; row < to; row++) counts[codes[units[row]!]!]!++
    if (max(counts)! < ALL * (to - from)) return true
  }
  return false
}

/** Returns the operation of nearly all calls inside a segment, whoever called it; `null` where it is several. */
export function onlyOperation(
  { measure, strata, offsets }: Measured,
  isInside: Uint8Array,
): string | null {
  if (measure !== 'time') return null
  const counts = rollup(
    strata.map(({ operation }, stratum) => ({
      operation,
      calls: sum(isInside.subarray(offsets[2 * stratum], offsets[2 * stratum + 2])),
    })),
    (same) => sum(same, ({ calls }) => calls),
    ({ operation }) => operation,
  )
  const [operation, most] = greatest(counts, ([, calls]) => calls) ?? [null, 0]
  return most >= ALL * sum(counts.values()) ? operation : null
}
