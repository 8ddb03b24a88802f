// Runs once a span of a step: the loops index with `!`.

import { group } from 'd3-array'
import { spanTimes } from '../../calls/span-times.ts'
import { allVisits, type Visit } from '../../calls/visits.ts'
import { divided, getOrInsert } from '../../core/entries.ts'
import { memoized } from '../../core/remembered.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { callName } from '../../flows/node-labels.ts'
import { NS } from '../../flows/span-tree.ts'
import { randomSource } from '../../stats/random.ts'
import { growingUint32 } from '../../traces/growing-columns.ts'
import { lostCalls } from '../steps/lost-spans.ts'
import { recordedOtherwise } from '../steps/recorded-otherwise.ts'
import type { StepChange, StepChanges } from '../steps/step-changes.ts'
import { plainStep, type Step, stepKey } from '../steps/step-times.ts'
import { MAX_LOOKED_AT, SIDE_LEVEL } from '../thresholds.ts'
import type { Divided, DividingColumns } from './dividing-columns.ts'
import {
  addValue,
  type GrowingGroups,
  type Measured,
  measuredOf,
  type Stratum,
  samplesOf,
} from './measured.ts'
import { NO_PLACE, type SpanList } from './request-columns.ts'

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
  const [likely, others] = divided(first, ({ measured, p }) => measured.isSure || p < SIDE_LEVEL)
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
        const { kind, service, changed: isSure } = change
        const step = plainStep(change)
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
