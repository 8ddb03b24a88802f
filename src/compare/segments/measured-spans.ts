// Runs once a span of a step: the loops index with `!`.
import { getOrInsert } from '../../core/entries.ts'
import type { FlowSet, Period } from '../../flows/flow-set.ts'
import { coveredNs, markWaitedFor, NS, readTimesNs } from '../../flows/span-tree.ts'
import { randomSource } from '../../stats/random.ts'
import { growingUint32 } from '../../traces/growing-columns.ts'
import { lostCalls } from '../steps/lost-spans.ts'
import { recordedOtherwise } from '../steps/recorded-otherwise.ts'
import type { StepChange, StepChanges } from '../steps/step-changes.ts'
import { type Step, stepKey } from '../steps/step-times.ts'
import { timeBlocks } from '../steps/time-blocks.ts'
import {
  allVisits,
  callName,
  messageReceivers,
  type ShapeVisits,
  type Visit,
} from '../steps/visits.ts'
import type { Divided, DividingColumns } from './dividing-columns.ts'
import { type Group, LIKELY, type Measured, measuredOf } from './measured.ts'
import { NO_PLACE, type SpanList } from './request-columns.ts'

/** Spans of one operation within a step: these are divided by what they recorded themselves. */
interface StepSpans {
  readonly spans: SpanList
  /** Their times, and of services that fail more or less often, which of them fail; none of too few. */
  readonly measured: () => Measured[]
}

interface Item {
  readonly found: Found
  readonly stratum: string
  readonly operation: string
  readonly callingOperation: string
  /** Span that takes the time, without these. */
  readonly span: number
  readonly others: readonly number[]
  readonly isCall: boolean
  /** Spans with attributes: what the first did not record, the second may have. */
  readonly own: number
  readonly also: number
  /** Span that tells where it is served, or `NO_PLACE`. */
  readonly place: number
  readonly worker: string
  /** Whether it is of what receives a message, which nobody waits for. */
  readonly isReceived: boolean
}

type Strata = Map<string, Group & { readonly samples: ReturnType<typeof emptySamples> }>

interface Found {
  readonly step: Step
  readonly isSure: boolean
  /** Whether they are those that a service is entered by, whose attributes are the service's. */
  readonly isOfEntries: boolean
  /** Operations of the spans: one, but of what services are entered by. */
  readonly operations: Set<string>
  readonly times: Strata
  /** `null` where as many fail as before. */
  readonly failures: Strata | null
  readonly request: ReturnType<typeof growingUint32>
  readonly span: ReturnType<typeof growingUint32>
  readonly also: ReturnType<typeof growingUint32>
  readonly place: ReturnType<typeof growingUint32>
  readonly waited: ReturnType<typeof growingUint32>
}

/** What is looked for in spans of more requests is looked for in every so many first. */
const MAX_LOOKED_AT = 20_000

interface Searched {
  readonly measured: Measured
  readonly found: readonly unknown[]
  readonly p: number
}

/**
 * Searches the spans of all steps by operation: entries of services that requests visit several
 * times, or that their callers describe, what lies within, and calls. Of more requests than
 * `MAX_LOOKED_AT`, a part is searched first, and all only where that may show something or the step
 * is sure to have changed; the rest counts as tested, with a p of 1.
 */
export function searchStepSpans<Found extends Searched>(
  changes: StepChanges,
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
  const [likely, others] = [true, false].map((is) =>
    first.filter(({ measured, p }) => (measured.isSure || p < LIKELY) === is),
  ) as [typeof first, typeof first]
  const keys = new Set(likely.map(({ key }) => key))
  return [
    ...others.map((one) => ({ ...one, found: [], p: 1 })),
    ...searchAll({ every: 1, isWanted: (key) => keys.has(key) }),
  ]
}

interface Choice {
  /** Requests that are looked at: one of so many. */
  readonly every: number
  /** Spans that are, by their key. */
  readonly isWanted: (key: string) => boolean
}

function stepSpans(
  { flows, steps, errors }: StepChanges,
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
  const { of: blocks } = timeBlocks(flows)
  let [times, isWaitedFor] = [new Float64Array(64), new Uint8Array(64)]
  for (let first = 0; found.size > 0 && first < flows.size; first += every) {
    // What comes in turn would be alike in every so many.
    const request = Math.min(first + random.integer(every), flows.size - 1)
    const plan = plans[flows.shapeOf[request]!]
    if (plan === undefined) continue
    const { tree, items } = plan
    // A snapshot may carry the latencies of some requests only.
    const isTimed = flows.latencies(request).length >= tree.from.length
    if (times.length < 2 * tree.size) {
      times = new Float64Array(4 * tree.size)
      isWaitedFor = new Uint8Array(2 * tree.size)
    }
    if (isTimed) {
      readTimesNs(tree, flows.latencies(request), times)
      markWaitedFor(tree, times, isWaitedFor)
    }
    const isLost = lostCalls(flows)(request)
    for (const {
      found: of,
      span,
      others,
      isCall,
      own,
      also,
      worker,
      place,
      isReceived,
      ...at
    } of items) {
      const unit = of.request.length
      of.request.push(request)
      of.span.push(own)
      of.also.push(also)
      of.place.push(place)
      of.waited.push(isTimed && !isReceived ? isWaitedFor[span]! : 0)
      const { operation, callingOperation, stratum } = at
      const add = (strata: Strata, value: number) => {
        const { samples } = getOrInsert(strata, stratum, () => {
          return { operation, callingOperation, samples: emptySamples() }
        })
        const sample = samples[flows.period[request] as Period]
        sample.requests.push(request)
        sample.values.push(value)
        sample.blocks.push(blocks[request]!)
        sample.units.push(unit)
      }
      const hasFailed = (one: number) => flows.outcomes?.failed(request, one) === true
      if (of.failures !== null) add(of.failures, Number(hasFailed(span)))
      if (!isTimed || [span, own, also].some(hasFailed) || isLost?.(worker)) continue
      const [start, end] = [times[2 * span]!, times[2 * span + 1]!]
      const other = isCall ? extentNs(times, others) : coveredNs(times, others, start, end)
      add(of.times, Math.max(0, end - start - other) / NS)
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
  const receivers = messageReceivers(flows)
  const shapes = allVisits(flows)
  const plans: ({ tree: ShapeVisits['tree']; items: Item[] } | undefined)[] = []
  for (const [shape, { tree, visits, operations }] of shapes) {
    const items: Item[] = []
    const isWithin = (span: number, outer: number): boolean =>
      span === outer || (span > outer && isWithin(tree.parent[span]!, outer))
    const add = (
      change: StepChange,
      visit: Visit,
      item: Omit<Item, 'found' | 'stratum' | 'operation' | 'worker' | 'isReceived'> & {
        readonly of: number
      },
    ) => {
      const { kind, service, caller, part, changed: isSure } = change
      const step = { kind, service, caller, ...(part && { part }) }
      const { of, ...others } = item
      const operation = operations[item.span]!
      const [to, by] = [operations[of]!, item.callingOperation]
      // A service is entered by several operations, in one place; its peers enter it in another.
      const isEntry = item.span === visit.entry && visit.caller?.service !== visit.service
      const key = JSON.stringify([stepKey(step), isEntry || operation])
      if (!isWanted(key)) return
      const into = getOrInsert(found, key, () => ({
        ...{ step, isSure, isOfEntries: kind === 'work' && item.own === visit.entry },
        ...{ operations: new Set<string>(), times: new Map() },
        failures: kind === 'work' && failing.has(service) ? new Map() : null,
        ...{ request: growingUint32(), span: growingUint32(), place: growingUint32() },
        ...{ also: growingUint32(), waited: growingUint32() },
      }))
      into.operations.add(operation)
      items.push({
        ...others,
        found: into,
        stratum: JSON.stringify([to, by]),
        operation: to,
        isReceived: isReceived(visit),
        worker: callName({ service: visit.service, operation: operations[visit.entry]! }),
      })
    }
    const isReceived = ({ service, entry, caller }: Visit): boolean =>
      caller !== null &&
      (receivers.has(callName({ service, operation: operations[entry]! })) || isReceived(caller))
    for (const visit of visits) {
      const { service, entry, caller, spans, calls } = visit
      const by = caller === null ? '' : operations[caller.entry]!
      const isUncovered = spans.some((one) =>
        uncovered.has(callName({ service, operation: operations[one]! })),
      )
      if (isUncovered) continue
      for (const change of steps) {
        if (change.kind === 'call') {
          if (change.caller !== service) continue
          for (const { span, service: callee, called } of calls) {
            if (callee !== change.service || called[0] === span) continue
            const place = { of: called[0] ?? span, callingOperation: operations[entry]! }
            const isServed = called[0] !== undefined && columns.isRepeated(callee)
            const also = isServed ? called[0]! : span
            const attributes = { own: span, also, place: isServed ? also : NO_PLACE }
            add(change, visit, { span, others: called, isCall: true, ...place, ...attributes })
          }
          continue
        }
        if (change.service !== service) continue
        const outgoing = calls.map(({ span }) => span)
        for (const span of spans) {
          if (change.part !== undefined && (change.part === 'itself') !== (span === entry)) continue
          const calledBy = caller?.calls.find((call) => call.called.includes(entry))?.span ?? entry
          // What a request records once with a service divides all of it.
          const isRepeated = columns.isRepeated(service)
          const own = span !== entry || isRepeated ? span : calledBy
          if (own === calledBy && own === entry) continue
          const also = span === entry ? calledBy : span
          const others = outgoing.filter((one) => isWithin(one, span))
          const place = { of: entry, callingOperation: by }
          const attributes = { own, also, place: isRepeated ? span : NO_PLACE }
          add(change, visit, { span, others, isCall: false, ...attributes, ...place })
        }
      }
    }
    if (items.length > 0) plans[shape] = { tree, items }
  }
  return plans
}

function emptySamples() {
  const empty = () => ({
    ...{ requests: [] as number[], values: [] as number[] },
    ...{ blocks: [] as number[], units: [] as number[] },
  })
  return [empty(), empty()] as const
}

/** Time from the first start to the last end of spans, which may be on another clock. */
function extentNs(times: Float64Array, spans: readonly number[]): number {
  if (spans.length === 0) return 0
  const starts = spans.map((span) => times[2 * span]!)
  const ends = spans.map((span) => times[2 * span + 1]!)
  return Math.max(...ends) - Math.min(...starts)
}
