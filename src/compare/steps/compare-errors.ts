// Runs once a failing call: the loops index with `!`.

import { group, rollup, sum } from 'd3-array'
import { allVisits, type ShapeVisits, type Visit } from '../../calls/visits.ts'
import { addTo, getOrInsert } from '../../core/entries.ts'
import { TIME } from '../../core/quantity.ts'
import type { FlowSet, Period } from '../../flows/flow-set.ts'
import { areFromSpans } from '../../flows/span-tree.ts'
import { bonferroni } from '../../stats/bonferroni.ts'
import type { Outcome, Outcomes } from '../../traces/outcomes.ts'
import type { EdgeOptions } from '../edges/find-edge-changes.ts'
import { type Verdict, verdictOf } from '../mutations/find-response-time-mutations.ts'
import { MAX_TRIED, NEARLY_ALL } from '../thresholds.ts'
import type { Operation } from './call-order.ts'
import { slowSample } from './slow-sample.ts'
import {
  type ChoiceCounts,
  type CountsTest,
  compareBoth,
  inPeriods,
  StretchCounts,
  type TimeBlocks,
  timeBlocks,
  unweighted,
} from './time-blocks.ts'

/** Corrected p of each group of tests, and when a change counts as one. */
export interface Corrected extends Pick<EdgeOptions, 'alpha' | 'minimumShare'> {
  readonly q: readonly number[]
}

/** Failing calls that are tested together: all, those of one operation, or those with one message. */
interface Measure {
  readonly failures: readonly Failure[]
  readonly calls: readonly Calls[]
  readonly said: string | null
}

/** Change of how often calls fail. */
export interface ErrorChange extends Place, CountsTest, Tally, Verdict {
  readonly q: number
  /** Operations whose calls fail, the one of most failures first. */
  readonly operations: readonly string[]
  /** Services whose calls fail; empty but for calls. */
  readonly callers: readonly string[]
  /** Message of the failing calls, if only calls with that message are counted. */
  readonly said: string | null
  /** The call within an operation that nearly all fail with; `null` for none. */
  readonly inner: InnerCall | null
  /** Messages of all failing calls, by their change. */
  readonly messages: readonly (Pick<CountsTest, 'made'> & { readonly text: string })[]
  /** Requests that have failing calls, by their row. */
  readonly requests: readonly number[]
  /** Requests in which anything fails here, whatever failing calls say. */
  readonly failing: ReadonlySet<number>
  /** Spans of the failing calls, by request. */
  readonly failingCalls: ReadonlyMap<number, ReadonlySet<number>>
  /** Requests of each period that fail with them. */
  readonly failed: readonly [before: number, after: number]
  /** Callers that fail along with these calls. */
  readonly passedOn: readonly PassedOn[]
}

/** Calls that a share of fails. */
export interface Tally {
  /** Request of each that fails: as often as it has such. */
  readonly failures: readonly number[]
  /** Number of calls in a request of each shape. */
  readonly ofShape: ReadonlyMap<number, number>
}

interface TalliedCalls extends Tally, Pick<CountsTest, 'made' | 'chances' | 'worth'> {}

/** Call within operations, its target, and how many of these calls fail. */
export interface InnerCall extends TalliedCalls {
  readonly operation: string
  readonly peer: string
}

/** Calls of an operation that fail along with their own calls. */
export interface PassedOn extends TalliedCalls {
  readonly of: Operation
}

interface ErrorTests {
  readonly places: readonly PlaceCounts[]
  readonly tested: readonly TestedPlace[]
  readonly blocks: TimeBlocks
}

interface TestedPlace {
  readonly counts: PlaceCounts
  readonly tests: readonly { readonly measure: Measure; readonly test: CountsTest }[]
  readonly p: number
}

/**
 * Tests whether calls fail more or less often although none of their own calls did: in total, by operation and by
 * message.
 */
export function testErrors(flows: FlowSet): ErrorTests {
  const { outcomes } = flows
  const canFail = outcomes?.kinds.some(({ outcome }) => outcome === 'error')
  const blocks = timeBlocks(flows)
  // Which calls fail does not depend on amounts.
  const isTimed = flows.quantity === TIME
  if (outcomes === undefined || !canFail || !isTimed || !areFromSpans(flows)) {
    return { places: [], tested: [], blocks }
  }
  const places = countErrors(flows, outcomes, blocks)
  const failing = places.filter(({ failures }) => failures.length > 0)
  const measured = failing.map((counts) => ({ counts, measures: measuresOf(counts) }))
  const all = measured.flatMap(({ measures }) => measures)
  const counted = all.map((measure) => {
    const strata = (ofRequests: boolean) => strataOf(flows, measure, { blocks, ofRequests })
    return { strata: strata(false), ofRequests: strata(true) }
  })
  const testOf = new Map(compareBoth(counted, blocks).map((test, i) => [all[i]!, test]))
  const tested = measured.map(({ counts, measures }) => {
    const tests = measures.map((measure) => ({ measure, test: testOf.get(measure)! }))
    const known = tests.filter(({ test }) => !Number.isNaN(test.p))
    return { counts, tests: known, p: bonferroni(known.map(({ test }) => test.p)) }
  })
  return { places, tested, blocks }
}

function saidOf({ outcome: { message, code } }: Pick<Failure, 'outcome'>): string {
  return message === '' ? code : message
}

function measuresOf({ calls: sites, failures }: PlaceCounts): Measure[] {
  const calls = [...sites.values()]
  const operations = [...group(failures, ({ operation }) => operation)]
  const messages = [...group(failures, saidOf)].filter(([said]) => said !== '')
  const parts = [
    ...operations.map(([name, own]): Measure => {
      return { failures: own, said: null, calls: calls.filter((one) => one.operation === name) }
    }),
    ...messages.map(([said, own]): Measure => ({ failures: own, said, calls })),
  ]
  const isOneOperation = new Set(calls.map(({ operation }) => operation)).size < 2
  // A measure that covers the same calls as another is left out.
  const distinct = parts.filter(({ said, failures: { length } }) =>
    said === null ? !isOneOperation : length < failures.length,
  )
  const largest = distinct.sort((a, b) => b.failures.length - a.failures.length)
  return [{ failures, said: null, calls }, ...largest.slice(0, MAX_TRIED)]
}

function strataOf(
  flows: FlowSet,
  { failures, calls }: Measure,
  { blocks: { of: blockOf }, ofRequests }: { blocks: TimeBlocks; ofRequests: boolean },
) {
  const keyOf = ({ operation, context }: Pick<Calls, 'operation' | 'context'>) =>
    JSON.stringify([operation, context])
  const failing = group(failures, keyOf)
  return calls.map((one): ChoiceCounts => {
    const chances = ofRequests ? one.requests : one.calls
    const made = new StretchCounts(flows, chances.counts.length)
    const all = (failing.get(keyOf(one)) ?? []).map(({ request }) => request)
    for (const request of ofRequests ? new Set(all) : all) made.add(request, blockOf[request]!)
    return chances.choices(made)
  })
}

/** Describes what became of each place, by its most significant test; `q` corrects over all. */
export function describeErrors(
  flows: FlowSet,
  { tested, places }: ErrorTests,
  { q: qOf, alpha, minimumShare }: Corrected,
): ErrorChange[] {
  return tested.flatMap(({ counts, tests }, i): ErrorChange | [] => {
    const told = toldOf(tests, alpha)
    if (told === undefined) return []
    const { measure, test } = told
    const { kind, service } = counts
    const { failures, said } = measure
    const q = Math.max(qOf[i]!, Math.min(1, test.p * tests.length))
    const isLarge = Math.abs(test.difference) >= minimumShare
    const failed = failures.filter(({ reachesRoot }) => reachesRoot).map(({ request }) => request)
    return {
      kind,
      service,
      ...test,
      q,
      said,
      ...verdictOf(q, { alpha }, () => [!isLarge && 'too small']),
      operations: operationsOf(flows, failures),
      callers: [...new Set(failures.flatMap(({ caller }) => caller ?? []))].sort(),
      inner: innerOf(flows, measure, service),
      failures: failures.map(({ request }) => request),
      ofShape: callsOfShapes(measure.calls),
      messages: [...group(failures, saidOf)]
        .map(([text, own]) => ({ text, made: failuresByPeriod(flows, own) }))
        .sort((a, b) => Math.abs(b.made[1] - b.made[0]) - Math.abs(a.made[1] - a.made[0])),
      requests: [...new Set(failures.map(({ request }) => request))],
      failing: new Set(counts.failures.map(({ request }) => request)),
      failingCalls: rollup(
        failures,
        (own) => new Set(own.map(({ call }) => call)),
        ({ request }) => request,
      ),
      failed: countByPeriod(flows, new Set(failed)),
      passedOn: passedOnOf(flows, failures, places),
    }
  })
}

/** Returns the callers that fail with these failures, by number of failures. */
function passedOnOf(
  flows: FlowSet,
  failures: readonly Failure[],
  places: readonly PlaceCounts[],
): PassedOn[] {
  const all = failures.flatMap(({ request, passedOn }) =>
    passedOn.map((one) => ({ ...one, request })),
  )
  // A call fails once, however many of the calls that it makes do, such as retries.
  const calls = new Map(all.map((one) => [`${one.request} ${one.span}`, one])).values()
  const found = [...group(calls, ({ of }) => JSON.stringify(of)).values()].map((own): PassedOn => {
    const [{ of }] = own as [(typeof own)[number]]
    const place = places.find(({ kind, service }) => kind === 'work' && service === of.service)
    const able = [...(place?.calls.values() ?? [])].filter(
      ({ operation }) => operation === of.operation,
    )
    const failed = own.map(({ request }) => request)
    return { of, ...tallied(flows, { failures: failed, ofShape: callsOfShapes(able) }) }
  })
  return found.sort((a, b) => Math.abs(b.made[1] - b.made[0]) - Math.abs(a.made[1] - a.made[0]))
}

function callsOfShapes(calls: readonly Calls[]): Map<number, number> {
  const all = calls.flatMap(({ ofShape }) => [...ofShape])
  return rollup(
    all,
    (own) => sum(own, ([, count]) => count),
    ([shape]) => shape,
  )
}

/** Counts calls of each period and those that fail, of all requests or of some. */
export function tallied(
  flows: FlowSet,
  { failures, ofShape }: Tally,
  isCounted: (request: number) => boolean = () => true,
): TalliedCalls {
  const [chances, made] = [new StretchCounts(flows, 2), new StretchCounts(flows, 2)]
  flows.shapeOf.forEach((shape, request) => {
    const calls = ofShape.get(shape) ?? 0
    if (calls === 0 || !isCounted(request)) return
    for (let call = 0; call < calls; call++) chances.add(request, flows.period[request]!)
  })
  for (const request of failures) {
    if (isCounted(request)) made.add(request, flows.period[request]!)
  }
  const choices = chances.choices(made)
  return {
    failures,
    ofShape,
    made: inPeriods([choices], 'made', 1),
    chances: inPeriods([choices], 'chances', 1),
    worth: inPeriods([unweighted(choices, 1)], 'chances', 1),
  }
}

/** Returns the most significant test, or that of one operation that holds nearly all of its change. */
function toldOf(tests: TestedPlace['tests'], alpha: number) {
  const [first] = tests.toSorted(
    (a, b) => a.test.p - b.test.p || Math.abs(b.test.difference) - Math.abs(a.test.difference),
  )
  if (first === undefined || first.measure.said !== null) return first
  const moved = ({ test }: typeof first) => test.difference * test.chances[1]
  const isOne = (one: typeof first) => one.measure.said === null && one !== first
  const single = tests.find(
    (one) =>
      isOne(one) &&
      one.test.p * tests.length < alpha &&
      moved(one) / moved(first) >= NEARLY_ALL &&
      one.test.chances[1] < first.test.chances[1],
  )
  return single ?? first
}

/** Returns the inner call that fails within operations. Each one counts, however often an operation makes it. */
function innerOf(
  flows: FlowSet,
  { failures, said }: Pick<Measure, 'failures' | 'said'>,
  service: string,
): InnerCall | null {
  const mostly = (textOf: (failure: Failure) => string) =>
    [...group(failures, textOf)].find(
      ([, { length }]) => length >= NEARLY_ALL * failures.length,
    )?.[0] ?? ''
  const operation = mostly(({ within }) => within ?? '')
  const peer = mostly(({ outcome }) => outcome.peer ?? '')
  if (operation === '') return null
  const callers = new Set(failures.map((failure) => failure.operation))
  const isIt = ({ operations, visitOf }: ShapeVisits, span: number) =>
    operations[span] === operation &&
    visitOf[span]!.service === service &&
    callers.has(visitOf[span]!.operation)
  const visits = allVisits(flows)
  const ofShape = new Map(
    Array.from(visits, ([shape, spans]) => [
      shape,
      Array.from(spans.operations.keys()).filter((span) => isIt(spans, span)),
    ]),
  )
  const failed: number[] = []
  flows.shapeOf.forEach((shape, request) => {
    for (const span of ofShape.get(shape)!) {
      if (flows.outcomes?.failed(request, span) !== true) continue
      const isSo = said === null || said === saidOf({ outcome: flows.outcomes.of(request, span) })
      if (isSo) failed.push(request)
    }
  })
  const calls = new Map(Array.from(ofShape, ([shape, { length }]) => [shape, length]))
  return { operation, peer, ...tallied(flows, { failures: failed, ofShape: calls }) }
}

/** Operations that have nearly all of a change, the one of most first. */
function operationsOf(flows: FlowSet, failures: readonly Failure[]): string[] {
  const rates = [...group(failures, ({ operation }) => operation)].map(([operation, own]) => {
    const [before, after] = failuresByPeriod(flows, own)
    return { operation, moved: after - before }
  })
  const all = rates.reduce((sum, { moved }) => sum + moved, 0)
  const sorted = rates.sort((a, b) => Math.sign(all) * (b.moved - a.moved))
  let seen = 0
  return sorted.flatMap(({ operation, moved }) => {
    if (Math.abs(seen) >= NEARLY_ALL * Math.abs(all) && seen !== 0) return []
    seen += moved
    return [operation]
  })
}

function failuresByPeriod(flows: FlowSet, failures: readonly Pick<Failure, 'request'>[]) {
  const requests = failures.map(({ request }) => request)
  return countByPeriod(flows, requests)
}

/** Returns the change that a finding is of, by its services: the one that fails, then those of which calls fail. */
export function errorChangeOf(
  errors: readonly ErrorChange[],
  [service, ...callers]: readonly string[],
): ErrorChange | undefined {
  const kind = callers.length > 0 ? 'call' : 'work'
  return errors.find((one) => one.service === service && one.kind === kind)
}

export function countByPeriod(
  flows: FlowSet,
  requests: Iterable<number>,
): [before: number, after: number] {
  const counts: [number, number] = [0, 0]
  for (const request of requests) counts[flows.period[request] as Period] += flows.countOf(request)
  return [Math.round(counts[0]), Math.round(counts[1])]
}

/**
 * Place of failures: a service's own work (`'work'`), or calls to a service whose own side did not fail or was not
 * recorded (`'call'`).
 */
export interface Place {
  readonly kind: 'work' | 'call'
  readonly service: string
}

export interface Failure {
  readonly request: number
  readonly operation: string
  /** Operation that called it; empty for a root. */
  readonly context: string
  /** Service that called; `null` but for calls. */
  readonly caller: string | null
  readonly outcome: Outcome
  /** Span of the call that fails: the caller's side of it, where that was recorded. */
  readonly call: number
  /** Operation of the span that fails within that operation; `null` where it is the operation. */
  readonly within: string | null
  /** Callers that failed along with it, the nearest first, each with its span in the request. */
  readonly passedOn: readonly { readonly of: Operation; readonly span: number }[]
  readonly reachesRoot: boolean
}

export interface Calls {
  readonly operation: string
  readonly context: string
  readonly calls: StretchCounts
  readonly requests: StretchCounts
  /** Number of calls in a request of each shape. */
  readonly ofShape: Map<number, number>
}

interface PlaceCounts extends Place {
  readonly calls: Map<string, Calls>
  readonly failures: Failure[]
}

/** Counts calls, and those that failed though nothing that they called did, of all places. */
function countErrors(flows: FlowSet, outcomes: Outcomes, blocks: TimeBlocks): PlaceCounts[] {
  const places = new Map<string, PlaceCounts>()
  const placeOf = (kind: Place['kind'], service: string) => {
    const newPlace = (): PlaceCounts => ({ kind, service, calls: new Map(), failures: [] })
    return getOrInsert(places, JSON.stringify([kind, service]), newPlace)
  }
  const size = blocks.perRun * (blocks.runs + 1)
  const newCounts = () => new StretchCounts(flows, size)
  const requestsOf = new Map<number, StretchCounts>()
  // If failing requests were kept preferentially, they are compared with slow ones, which were, too.
  const sample = slowSample(flows)
  const isLeftOut = (request: number) =>
    sample?.chanceFails === false && sample.keptFor(request) === 'chance'
  flows.shapeOf.forEach((shape, request) => {
    const own = getOrInsert(requestsOf, shape, newCounts)
    if (!isLeftOut(request)) own.add(request, blocks.of[request]!)
  })
  const visits = allVisits(flows)
  for (const [shape, spans] of visits) {
    const requests = requestsOf.get(shape)!
    const seen = new Set<Calls>()
    for (const visit of spans.visits) {
      for (const site of sitesOf(spans, visit)) {
        const { calls } = placeOf(site.kind, site.service)
        const { operation, context } = site
        const known = getOrInsert(calls, JSON.stringify([operation, context]), (): Calls => {
          const counts = { calls: newCounts(), requests: newCounts() }
          return { operation, context, ...counts, ofShape: new Map() }
        })
        addTo(known.ofShape, shape, 1)
        known.calls.addAll(requests)
        if (!seen.has(known)) known.requests.addAll(requests)
        seen.add(known)
      }
    }
  }
  flows.shapeOf.forEach((shape, request) => {
    const failing = outcomes.failing(request)
    if (failing.length === 0) return
    const spans = visits.get(shape)!
    for (const { site, span, ...rest } of originsOf(spans, new Set(failing))) {
      const { kind, operation, context, caller } = site
      const outcome = outcomes.of(request, span)
      const isEntry = kind === 'call' || spans.visitOf[span]!.entry === span
      const within = isEntry ? null : spans.operations[span]!
      const failure = { request, operation, context, caller, outcome, within, ...rest }
      placeOf(site.kind, site.service).failures.push(failure)
    }
  })
  return [...places.values()]
}

interface Site extends Place, Pick<Failure, 'operation' | 'context' | 'caller'> {}

/** Returns a visit's own work, and its calls to services that have another side. */
function sitesOf({ operations }: ShapeVisits, visit: Visit): Site[] {
  const { service, operation, callingOperation: context, calls } = visit
  return [
    { kind: 'work', service, operation, context, caller: null },
    ...calls
      .filter(({ isWay }) => isWay)
      .map(({ span, service: callee }): Site => {
        const name = operations[span]!
        const by = JSON.stringify([service, operation])
        return { kind: 'call', service: callee, operation: name, context: by, caller: service }
      }),
  ]
}

/** Returns the failures of a request that no other one explains, each of a call once. */
function originsOf(spans: ShapeVisits, failing: ReadonlySet<number>) {
  const { tree, visitOf, services } = spans
  const found = new Map<
    string,
    Pick<Failure, 'call' | 'passedOn' | 'reachesRoot'> & { site: Site; span: number }
  >()
  for (const span of failing) {
    let isPassedOn = false
    for (let child = tree.firstChild[span]!; child < tree.firstChild[span + 1]!; child++) {
      if (failing.has(child)) isPassedOn = true
    }
    if (isPassedOn) continue
    const visit = visitOf[span]!
    const at = visit.calls.filter(({ isWay }) => isWay)
    // A relay fails on the way of a call.
    let own = span
    while (services[own] !== visit.service && !at.some((one) => one.span === own)) {
      own = tree.parent[own]!
    }
    const number = at.findIndex((one) => one.span === own)
    const isCall = number >= 0
    const site = sitesOf(spans, visit)[number + 1]!
    const key = isCall ? `call ${span}` : `visit ${visit.entry}`
    const call = isCall ? own : visit.atCaller
    found.set(key, { site, span, call, ...wayUp(spans, failing, { span, isCall }) })
  }
  return found.values()
}

function wayUp(
  { tree, visitOf }: ShapeVisits,
  failing: ReadonlySet<number>,
  { span, isCall }: { span: number; isCall: boolean },
): Pick<Failure, 'passedOn' | 'reachesRoot'> {
  const seen = new Set<Visit>(isCall ? [] : [visitOf[span]!])
  let above = span
  while (above >= 0 && failing.has(above)) {
    const visit = visitOf[above]!
    if (above === visit.entry) seen.add(visit)
    above = tree.parent[above]!
  }
  const passedOn = [...seen]
    .filter((visit) => isCall || visit !== visitOf[span])
    .map(({ service, operation, entry }) => ({ of: { service, operation }, span: entry }))
  return { passedOn, reachesRoot: above < 0 }
}
