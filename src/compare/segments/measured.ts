// Runs once a request: the loops index with `!`.
import { greatest, group, max, range, rollup, sum } from 'd3-array'
import { spanTimes } from '../../calls/span-times.ts'
import { allVisits, type Visit } from '../../calls/visits.ts'
import { divided, getOrInsert, joined } from '../../core/entries.ts'
import { TIME } from '../../core/quantity.ts'
import { memoized } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { callName } from '../../flows/node-labels.ts'
import { NS } from '../../flows/span-tree.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { randomSource } from '../../stats/random.ts'
import { equalRows } from '../../stats/weighted-sample.ts'
import { groupRows } from '../../traces/group-rows.ts'
import { growingUint32 } from '../../traces/growing-columns.ts'
import type { CallChoice } from '../steps/call-counts.ts'
import type { ErrorChange } from '../steps/compare-errors.ts'
import type { LogChange } from '../steps/compare-log-counts.ts'
import { lostCalls } from '../steps/lost-spans.ts'
import { recordedOtherwise } from '../steps/recorded-otherwise.ts'
import type { CallChange, StepChange, StepChanges } from '../steps/step-changes.ts'
import { placeOf } from '../steps/step-strata.ts'
import { type Step, type StepTimes, stepKey } from '../steps/step-times.ts'
import { timeBlocks } from '../steps/time-blocks.ts'
import type { Divided, DividingColumns } from './dividing-columns.ts'
import { NO_PLACE, type RequestColumn, type SpanList } from './request-columns.ts'

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

/** Nearly all requests: all but this share of them. */
const MAX_ELSE = 0.02
/** Strata with fewer requests in a period are left out. */
const MIN_STRATUM = 10
/** Largest p over all requests at which a change of only some of them may be behind it. */
const LIKELY = 0.1

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
      .filter((change) => change.changed || mayBePartly(change))
      .flatMap((change) => measuredChoice(steps, change) ?? []),
    ...steps.logs
      .filter(({ changed, kind }) => changed && kind === 'logs')
      .flatMap((change) => measuredLog(steps, change) ?? []),
    ...times.sort((a, b) => totals.get(b)! - totals.get(a)!),
  ]
}

/** Whether some requests may make a call more, or less, often, though all together do not surely do so. */
function mayBePartly({ changed, kind, p }: CallChange): boolean {
  return !changed && kind === 'calls' && p < LIKELY
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
        requests: joined(requests, new Uint32Array()),
        values: joined(values, new Float64Array()),
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

type GrowingGroups = Map<string, Stratum & { readonly samples: GrowingSample[] }>

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

function measuredOf(flows: FlowSet, head: Head, groups: readonly Group[]): Measured | null {
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
    samples.every(({ values }) => values.length >= MIN_STRATUM),
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
    if (max(counts)! < (1 - MAX_ELSE) * (to - from)) return true
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
  return most >= (1 - MAX_ELSE) * sum(counts.values()) ? operation : null
}

/** Spans of one operation within a step, which are divided by their own attributes. */
interface StepSpans {
  readonly spans: SpanList
  /** Returns their times and, for services that fail more or less often, their failures; none for too few. */
  readonly measured: () => Measured[]
}

/** Properties shared by spans of one operation, in any shape. */
interface ItemKind extends Stratum {
  readonly found: Found
  readonly stratum: string
  readonly isCall: boolean
  readonly worker: string
  /** Whether the span belongs to the receiving of a message, which nobody waits for. */
  readonly isReceived: boolean
}

interface Item {
  readonly kind: ItemKind
  /** Span that takes the time, without these. */
  readonly span: number
  readonly others: readonly number[]
  /** Two spans with attributes: the second may have those that the first lacks. */
  readonly own: number
  readonly also: number
  /** Span that tells where it is served, or `NO_PLACE`. */
  readonly place: number
}

interface Asked extends Pick<Item, 'span' | 'own'> {
  readonly visit: Visit
  readonly to: string
  readonly by: string
}

interface Found {
  readonly step: Step
  readonly isSure: boolean
  /** Whether they are those that a service is entered by, whose attributes are the service's. */
  readonly isOfEntries: boolean
  /** Operations of the spans: only one, except for a service's entry spans. */
  readonly operations: Set<string>
  readonly times: GrowingGroups
  /** `null` where as many fail as before. */
  readonly failures: GrowingGroups | null
  readonly request: ReturnType<typeof growingUint32>
  readonly span: ReturnType<typeof growingUint32>
  readonly also: ReturnType<typeof growingUint32>
  readonly place: ReturnType<typeof growingUint32>
  readonly waited: ReturnType<typeof growingUint32>
}

/** Number of spans above which only every n-th request is looked at. */
const MAX_LOOKED_AT = 20_000

interface Searched {
  readonly measured: Measured
  readonly found: readonly unknown[]
  readonly p: number
}

/**
 * Searches the spans of all steps by operation: entries of services that requests visit several times or that their
 * callers describe, spans within, and calls. If there are more requests than `MAX_LOOKED_AT`, a part is searched first,
 * and all only if that may show something or the step surely changed; the rest counts as tested, with a p of 1.
 */
export function searchStepSpans<Found extends Searched>(
  changes: Pick<StepChanges, 'flows' | 'steps' | 'errors'>,
  columns: DividingColumns,
  searched: (measured: Measured, coded: Divided) => Found[],
): Found[] {
  const searchAll = (choice: Choice) =>
    stepSpans(changes, columns, choice).flatMap(({ spans, measured }) => {
      const all = columns.dividesSpans(spans) ? measured() : []
      const found = all.flatMap((one) => searched(one, columns.ofSpans(one, spans)))
      return found.map((one) => ({ ...one, key: spans.key }))
    })
  const every = Math.ceil(changes.flows.size / MAX_LOOKED_AT)
  const first = searchAll({ every, isWanted: () => true })
  if (every === 1) return first
  const [likely, others] = divided(first, ({ measured, p }) => measured.isSure || p < LIKELY)
  const keys = new Set(likely.map(({ key }) => key))
  return [
    ...others.map((one) => ({ ...one, found: [], p: 1 })),
    ...searchAll({ every: 1, isWanted: (key) => keys.has(key) }),
  ]
}

interface Choice {
  /** Distance between the requests looked at: one of that many. */
  readonly every: number
  /** Spans that are, by their key. */
  readonly isWanted: (key: string) => boolean
}

function stepSpans(
  { flows, steps, errors }: Parameters<typeof searchStepSpans>[0],
  columns: DividingColumns,
  { every, isWanted }: Choice,
): StepSpans[] {
  const timed = steps.filter(({ kind, part }) => kind !== 'request' && part !== 'message')
  const found = new Map<string, Found>()
  const failing = new Set(
    errors.flatMap(({ changed, kind, service }) => (changed && kind === 'work' ? service : [])),
  )
  const plans = plansOf(flows, timed, { found, isWanted, failing, columns })
  const random = randomSource(1)
  const spans = spanTimes(flows)
  for (let first = 0; found.size > 0 && first < flows.size; first += every) {
    // A random choice, because periodic requests would all look the same at a fixed distance.
    const request = Math.min(first + random.integer(every), flows.size - 1)
    const items = plans[flows.shapeOf[request]!]
    if (items === undefined) continue
    const isWaitedFor = spans.waitedFor(request)
    // A snapshot may carry the latencies of some requests only.
    const isTimed = isWaitedFor.length > 0
    const isLost = lostCalls(flows)(request)
    for (const { kind, span, others, own, also, place } of items) {
      const { found: of, stratum, worker, isReceived } = kind
      const unit = of.request.length
      of.request.push(request)
      of.span.push(own)
      of.also.push(also)
      of.place.push(place)
      of.waited.push(isTimed && !isReceived ? isWaitedFor[span]! : 0)
      const add = (strata: GrowingGroups, value: number) => {
        const samples = samplesOf(strata, stratum, kind)
        addValue(samples[flows.period[request]!]!, { request, value, unit })
      }
      const hasFailed = (one: number) => flows.outcomes?.failed(request, one) === true
      if (of.failures !== null) add(of.failures, Number(hasFailed(span)))
      if (!isTimed || [span, own, also].some(hasFailed) || isLost?.(worker)) continue
      const ns = kind.isCall
        ? spans.wayNs(request, { span, called: others })
        : spans.uncoveredNs(request, span, others)
      add(of.times, Math.max(0, ns) / NS)
    }
  }
  return Array.from(found, ([key, one]): StepSpans => {
    const { request, span, also, place, waited, step, isSure, isOfEntries } = one
    const { operations, failures } = one
    const [requests, spans, others, places, isWaited] = [request, span, also, place, waited].map(
      ({ values, length }) => values.subarray(0, length),
    ) as [Uint32Array, Uint32Array, Uint32Array, Uint32Array, Uint32Array]
    const within = operations.size === 1 ? [...operations][0]! : ''
    const head = { step, call: null, within, isWaited } as const
    return {
      spans: { key, every, requests, spans, others, places, service: step.service, isOfEntries },
      measured: () =>
        [
          measuredOf(flows, { ...head, measure: 'time', isSure }, [...one.times.values()]),
          failures &&
            measuredOf(flows, { ...head, measure: 'errors', isSure: true }, [...failures.values()]),
        ].filter((each) => each !== null),
    }
  })
}

function plansOf(
  flows: FlowSet,
  steps: readonly StepChange[],
  {
    found,
    isWanted,
    failing,
    columns,
  }: Pick<Choice, 'isWanted'> & {
    readonly found: Map<string, Found>
    readonly failing: ReadonlySet<string>
    readonly columns: DividingColumns
  },
) {
  const { uncovered } = recordedOtherwise(flows)
  const ofService = group(steps, ({ kind, service, caller }) =>
    kind === 'call' ? caller : service,
  )
  const kindsOf = memoized((_: StepChange) => new Map<string, ItemKind | null>())
  let names = 0
  const numberOf = memoized((_: string) => names++)
  const plans: (readonly Item[] | undefined)[] = []
  for (const [shape, { tree, visits, operations }] of allVisits(flows)) {
    const items: Item[] = []
    const isWithin = (span: number, outer: number): boolean =>
      span === outer || (span > outer && isWithin(tree.parent[span]!, outer))
    const nameAt = ({ service }: Visit, span: number) =>
      callName({ service, operation: operations[span]! })
    /** `null` where it is not wanted. */
    const kindOf = (change: StepChange, { visit, span, own, to, by }: Asked) => {
      const operation = operations[span]!
      const isEntry = span === visit.entry && visit.caller?.service !== visit.service
      const isOwn = own === visit.entry
      const said = [operation, to, by, visit.operation].map(numberOf)
      const { isOfMessage } = visit
      return getOrInsert(kindsOf(change), `${said} ${isEntry} ${isOwn} ${isOfMessage}`, () => {
        const { kind, service, caller, part, changed: isSure } = change
        const step = { kind, service, caller, ...(part && { part }) }
        // A service is entered by several operations, in one place; its peers enter it in another.
        const key = JSON.stringify([stepKey(step), isEntry || operation])
        if (!isWanted(key)) return null
        const isWork = kind === 'work'
        const into = getOrInsert(found, key, () => ({
          ...{ step, isSure, isOfEntries: isWork && isOwn },
          ...{ operations: new Set<string>(), times: new Map() },
          failures: isWork && failing.has(service) ? new Map() : null,
          ...{ request: growingUint32(), span: growingUint32(), place: growingUint32() },
          ...{ also: growingUint32(), waited: growingUint32() },
        }))
        into.operations.add(operation)
        return {
          ...{ found: into, operation: to, callingOperation: by, isCall: kind === 'call' },
          stratum: JSON.stringify([to, by]),
          isReceived: isOfMessage,
          worker: nameAt(visit, visit.entry),
        }
      })
    }
    for (const visit of visits) {
      const { service, entry, atCaller, spans, calls } = visit
      if (uncovered.size > 0 && spans.some((span) => uncovered.has(nameAt(visit, span)))) continue
      for (const change of [...(ofService.get(service) ?? []), ...(ofService.get(null) ?? [])]) {
        if (change.kind === 'call') {
          for (const { span, service: callee, called, operation: to, isWay } of calls) {
            if (callee !== change.service || !isWay) continue
            const kind = kindOf(change, { visit, span, own: span, to, by: visit.operation })
            if (kind === null) continue
            const isServed = called[0] !== undefined && columns.isRepeated(callee)
            const also = isServed ? called[0]! : span
            const place = isServed ? also : NO_PLACE
            items.push({ kind, span, others: called, own: span, also, place })
          }
          continue
        }
        // An attribute recorded once per request and service divides all of its spans.
        const isRepeated = columns.isRepeated(service)
        for (const span of spans) {
          if (change.part !== undefined && (change.part === 'itself') !== (span === entry)) continue
          const own = span !== entry || isRepeated ? span : atCaller
          if (own === atCaller && own === entry) continue
          const [to, by] = [visit.operation, visit.callingOperation]
          const kind = kindOf(change, { visit, span, own, to, by })
          if (kind === null) continue
          const also = span === entry ? atCaller : span
          const others = calls.flatMap((call) => (isWithin(call.span, span) ? call.span : []))
          items.push({ kind, span, others, own, also, place: isRepeated ? span : NO_PLACE })
        }
      }
    }
    if (items.length > 0) plans[shape] = items
  }
  return plans
}
