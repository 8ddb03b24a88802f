// Runs once a span of a request: the loops index with `!`.

import { mean, sum } from 'd3-array'
import { spanTimes } from '../../calls/span-times.ts'
import { allVisits, childrenOf, operationAt, type ShapeVisits } from '../../calls/visits.ts'
import { getOrInsert } from '../../core/entries.ts'
import { memoized } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { callName } from '../../flows/node-labels.ts'
import { NS } from '../../flows/span-tree.ts'
import { median } from '../../stats/quantile.ts'
import { LARGE, MOST } from '../thresholds.ts'
import { recordedOtherwise } from './recorded-otherwise.ts'
import type { StepChange } from './step-changes.ts'
import type { Step } from './step-times.ts'

export interface WorkPart {
  readonly operation: string
  /** Median times that a request which has it spends in it, covered by nothing else, in µs. */
  readonly medianUs: readonly [before: number, after: number]
  /** Difference of the medians of all requests, in µs. */
  readonly shiftUs: number
  /** Difference of the means, in µs: those of all parts add up to that of the work. */
  readonly meanUs: number
  /** Whether that is of more or fewer calls of it rather than of longer or shorter ones. */
  readonly isOfCalls: boolean
  /** Mean number of calls in a request after that makes any. */
  readonly callsEach: number
}

type Part = ReturnType<typeof partsOf>[number]

/** Time of a request in an operation of a service that no other span covers. */
export interface OwnTime {
  readonly request: number
  readonly us: number
}

interface OwnTimes extends OwnTime {
  /** Number of spans of the operation in the request. */
  readonly spans: number
}

/** Returns the times of requests in each operation of a service that no other span covers, by period. */
export function ownTimes(
  flows: FlowSet,
  { service, requests }: { readonly service: string; readonly requests: Iterable<number> },
): ReadonlyMap<string, readonly [before: OwnTimes[], after: OwnTimes[]]> {
  const ofShape = new Map<number, Part[]>()
  const { through } = recordedOtherwise(flows)
  for (const [shape, spans] of allVisits(flows)) {
    const isThrough = (span: number) => through.has(callName(operationAt(spans, span)))
    ofShape.set(shape, partsOf(spans, service, isThrough))
  }
  const times = new Map<string, [before: OwnTimes[], after: OwnTimes[]]>()
  for (const request of requests) {
    const parts = ofShape.get(flows.shapeOf[request]!)!
    const sums = new Map<string, { us: number; spans: number }>()
    for (const { span, others, operation } of parts) {
      const sum = getOrInsert(sums, operation, () => ({ us: 0, spans: 0 }))
      sum.us += spanTimes(flows).uncoveredNs(request, span, others) / NS
      sum.spans++
    }
    for (const [operation, sum] of sums) {
      const own = getOrInsert(times, operation, (): [OwnTimes[], OwnTimes[]] => [[], []])
      own[flows.period[request] as Period].push({ request, ...sum })
    }
  }
  return times
}

/**
 * Divides the change of a service's work among its operations, by time that no call covers; the
 * largest first.
 */
export function workParts(
  flows: FlowSet,
  { service, requests, minority }: Pick<StepChange, 'service' | 'requests' | 'minority'>,
): WorkPart[] {
  const all = [flows.within(BEFORE, requests).length, flows.within(AFTER, requests).length]
  // Requests that do not have it spend nothing in it.
  const usOf = (own: readonly OwnTime[], period: Period) =>
    Array.from({ length: all[period]! }, (_, i) => own[i]?.us ?? 0)
  const parts = ownTimes(flows, { service, requests })
  // Some that are slow may be those that would be anyway, by more calls or longer ones.
  const ofAll =
    minority === null ? parts : ownTimes(flows, { service, requests: flows.period.keys() })
  const asked = [BEFORE, AFTER].map(
    (period) =>
      new Set([...ofAll.values()].flatMap((own) => own[period].map(({ request }) => request))).size,
  )
  return [...parts]
    .filter(([, own]) => own.some((values, period) => values.length >= MOST * all[period]!))
    .map(([operation, own]) => {
      const [before, after] = [usOf(own[BEFORE], BEFORE), usOf(own[AFTER], AFTER)]
      const having = (period: Period) => median(own[period].map(({ us }) => us))
      return {
        operation,
        medianUs: [having(BEFORE), having(AFTER)] as const,
        shiftUs: median(after) - median(before),
        meanUs: (mean(after) as number) - (mean(before) as number),
        isOfCalls: isOfCalls(ofAll.get(operation)!, asked),
        callsEach: mean(own[AFTER], ({ spans }) => spans) ?? 0,
      }
    })
    .sort((a, b) => Math.abs(b.shiftUs) - Math.abs(a.shiftUs))
}

/** Whether the time in an operation changed because of how often it is called rather than how long each call takes. */
function isOfCalls(
  own: readonly [before: OwnTimes[], after: OwnTimes[]],
  asked: readonly number[],
): boolean {
  const [then, now] = own.map((values, period) => ({
    us: sum(values, ({ us }) => us) / sum(values, ({ spans }) => spans),
    each: sum(values, ({ spans }) => spans) / asked[period]!,
  })) as [Record<'us' | 'each', number>, Record<'us' | 'each', number>]
  const longerUs = now.each * (now.us - then.us) || 0
  return Math.abs((now.each - then.each) * (then.us || now.us)) > Math.abs(longerUs)
}

/** @param isThrough whether a span is recorded in one period only, so its work counts as its caller's */
function partsOf(shape: ShapeVisits, service: string, isThrough: (span: number) => boolean) {
  return shape.visits
    .filter((visit) => visit.service === service)
    .flatMap(({ spans, calls }) =>
      spans
        .filter((span) => !isThrough(span))
        .map((span) => ({
          span,
          others: [...childrenOf(shape, span, isThrough), ...calls.map((call) => call.span)],
          operation: shape.operations[span]!,
        })),
    )
}

/** Returns the operation within another that most of a step's change lies in. */
export function namedPart(step: StepChange, parts: readonly WorkPart[]): WorkPart | undefined {
  const part =
    step.part === 'itself' ? undefined : parts.find(({ shiftUs }) => shiftUs * step.shiftUs > 0)
  const isMost = part !== undefined && part.shiftUs / step.shiftUs >= LARGE
  return isMost && isInnerPart(step, part) ? part : undefined
}

/** Returns the operation within others that holds most of a change of a service's work; `null` for none. */
export function innerOperation(flows: FlowSet, step: StepChange): string | null {
  return namedPart(step, workParts(flows, step))?.operation ?? null
}

/** Whether the part lies within another operation: a directly requested one does not. */
export function isInnerPart({ operations }: StepChange, part: WorkPart): boolean {
  return operations.every(({ operation }) => operation !== part.operation)
}

type Way = Pick<Step, 'service' | 'caller'>
type Times = readonly [there: number[], back: number[]]

/**
 * Divides the change of time in transit: from the start at the caller to that at the called service,
 * and from the end there to that at the caller; medians within operations, weighted by their calls
 * after. `null` where a side was not recorded, or where clocks were corrected, which takes both ways
 * for equally long.
 */
export function wayParts(
  flows: FlowSet,
  ways: readonly Way[],
  requests: readonly number[],
): Record<'thereUs' | 'backUs', number> | null {
  const { applied = [], moved = null } = flows.clocks ?? {}
  if (applied.length > 0 || moved !== null) return null
  const visits = allVisits(flows)
  const callsOfShape = memoized((shape: number) => callsOf(visits.get(shape)!, ways))
  const times = new Map<string, readonly [before: Times, after: Times]>()
  for (const request of requests) {
    const calls = callsOfShape(flows.shapeOf[request]!)
    // A snapshot may carry the latencies of some requests only.
    if (calls.length === 0 || spanTimes(flows).of(request).length === 0) continue
    for (const { call, key } of calls) {
      const own = getOrInsert(times, key, () => [newTimes(), newTimes()] as const)
      const [there, back] = own[flows.period[request] as Period]
      const [thereNs, backNs] = spanTimes(flows).waysNs(request, call)
      there.push(thereNs / NS)
      back.push(backNs / NS)
    }
  }
  let [thereUs, backUs, all] = [0, 0, 0]
  for (const { [BEFORE]: before, [AFTER]: after } of times.values()) {
    const calls = after[0].length
    if (calls === 0 || before[0].length === 0) continue
    thereUs += calls * (median(after[0]) - median(before[0]))
    backUs += calls * (median(after[1]) - median(before[1]))
    all += calls
  }
  return all === 0 ? null : { thereUs: thereUs / all, backUs: backUs / all }
}

function newTimes(): Times {
  return [[], []]
}

/** Calls that were recorded on both sides. */
function callsOf({ visits }: ShapeVisits, ways: readonly Way[]) {
  return visits.flatMap(({ service: caller, calls, operation }) =>
    calls
      .filter(({ isWay, called }) => isWay && called.length > 0)
      .filter((call) => ways.some((way) => way.service === call.service && way.caller === caller))
      .map((call) => {
        const key = [caller, operation, call.service, call.operation]
        return { call, key: JSON.stringify(key) }
      }),
  )
}
