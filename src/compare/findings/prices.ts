// Runs once a call of a request: the loops index with `!`.

import { bisectLeft, deviation, group, mean, range, rollup, sum } from 'd3-array'
import { firstOfEach, MadeCalls } from '../../calls/made-calls.ts'
import { type Changed, Replay } from '../../calls/replay.ts'
import { coveredNs, type SpanTimes, spanTimes } from '../../calls/span-times.ts'
import {
  allVisits,
  callsOf,
  childrenOf,
  type MadeCall,
  operationAt,
  type ShapeVisits,
} from '../../calls/visits.ts'
import { addAt, addTo } from '../../core/entries.ts'
import { memoized } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import type { Operation } from '../../flows/node-labels.ts'
import { NS, spanTree } from '../../flows/span-tree.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { randomSource } from '../../stats/random.ts'
import { thereOf } from '../places/places.ts'
import type { RequestColumns } from '../segments/request-columns.ts'
import type { Segment } from '../segments/segments.ts'
import { isSame, isSameCall } from '../steps/call-order.ts'
import { errorChangeOf } from '../steps/compare-errors.ts'
import { type RootTypes, rootTypes } from '../steps/root-types.ts'
import { changedStrata, changeOfStep, type StepChanges } from '../steps/step-changes.ts'
import type { StepStratum } from '../steps/step-strata.ts'
import { makesCalls, type Step, strataOfStep } from '../steps/step-times.ts'
import { MIN_KNOWN, SLOWEST } from '../thresholds.ts'
import { type Group, strataOfDraft } from './consequences.ts'
import { failingSites, longerThanUsual } from './error-findings.ts'
import { type Draft, type FindingCall, type FindingStep, isStructural } from './finding.ts'
import { priceOf } from './form-prices.ts'
import { isConfined } from './segment-findings.ts'
import { endOf, strataOfPlace } from './shared-changes.ts'

/**
 * Prices findings: recomputes how much less time requests after would take if one thing were as before. Findings are
 * priced one after the other, each on the times left by the earlier ones, so prices add up. Calls that are made more or
 * less often come first, then times, then failures.
 *
 * Source: Ostrowski, Mann, Sandler 2011, "Diagnosing latency in multi-tier black-box services".
 */
export class Prices {
  readonly #changes: StepChanges
  readonly #columns: RequestColumns
  readonly #flows: FlowSet
  readonly #types: RootTypes
  readonly #replay: Replay
  /** Spans of request `i` are entries `#offsets[i]` to `#offsets[i + 1]`; only those after have any. */
  readonly #offsets: Uint32Array
  readonly #keep: Float64Array
  readonly #moreNs: Float64Array
  /** The part of it that is a span's own work. */
  readonly #workNs: Float64Array
  /** Time of requests without the findings priced so far. */
  readonly #leftUs: Float64Array
  /** Time that each draft adds to each request, by the draft's key. */
  readonly #addedUs = new Map<string, Map<number, number>>()
  #touched = new Set<number>()

  constructor(changes: StepChanges, columns: RequestColumns) {
    const { flows } = changes
    this.#changes = changes
    this.#columns = columns
    this.#flows = flows
    this.#types = rootTypes(flows)
    this.#replay = new Replay(flows)
    this.#offsets = new Uint32Array(flows.size + 1)
    for (let request = 0; request < flows.size; request++) {
      const isAfter = flows.period[request] === AFTER
      const spans = isAfter ? spanTree(flows, flows.shapeOf[request]!).size : 0
      this.#offsets[request + 1] = this.#offsets[request]! + spans
    }
    const spans = this.#offsets[flows.size]!
    this.#keep = new Float64Array(spans).fill(1)
    this.#moreNs = new Float64Array(spans)
    this.#workNs = new Float64Array(spans)
    this.#leftUs = flows.responseTimeUs.slice()
  }

  /**
   * Prices findings, each on the times left by the earlier ones, and returns them in their order. A consequence is
   * priced after its cause; failures are priced after the reactions of their callers.
   */
  priced(drafts: readonly Draft[], groups: readonly Group[]): Draft[] {
    const order = groups
      .toSorted((a, b) => inOrder(a.cause, b.cause))
      .flatMap(({ cause, consequences }) => {
        const after = consequences.toSorted(inOrder)
        return cause.kind === 'errors' ? [...after, cause] : [cause, ...after]
      })
    const found = new Map(
      order.map((draft) => [draft, { ...this.#price(draft), estimateUs: draft.contributionUs }]),
    )
    return drafts.map((draft) => found.get(draft) ?? draft)
  }

  /** Returns the time a finding adds to some requests, in µs. */
  addedTo(requests: Iterable<number>, { key }: Draft): number {
    const own = this.#addedUs.get(key)
    return own === undefined ? 0 : sum(requests, (one) => (own.get(one) ?? 0) * this.#counts(one))
  }

  /** Spreads the time of a finding whose requests were found otherwise evenly over these requests. */
  spread(draft: Draft, requests: readonly number[]): void {
    const eachUs = draft.contributionUs / sum(requests, (one) => this.#counts(one))
    this.#addedUs.set(draft.key, new Map(requests.map((one) => [one, eachUs])))
    for (const one of requests) addAt(this.#leftUs, one, -eachUs)
  }

  #counts(request: number): number {
    return this.#flows.countOf(request)
  }

  #price(draft: Draft): Draft {
    this.#touched = new Set()
    switch (draft.kind) {
      case 'latency':
        for (const step of draft.steps) this.#takeExcess(draft, step)
        break
      case 'errors': {
        const eachInterval = this.#takeFailures(draft)
        if (eachInterval === null) return draft
        const priced = this.#recomputed(draft)
        const weightUs = Math.max(draft.weightUs ?? 0, Math.abs(priced.contributionUs))
        return { ...priced, weightUs, eachInterval }
      }
      case 'structure':
      case 'concurrency': {
        if (isOfOverlap(draft)) this.#takeOverlap(draft)
        else if (isOfForms(draft)) this.#takeForms(draft)
        return this.#withCalls(draft)
      }
      default:
        return draft
    }
    return this.#recomputed(draft)
  }

  /** Prices calls that are made more or less often one after the other, as each stands in `calls`. */
  #withCalls(draft: Draft): Draft {
    const all = new Map<number, number>()
    const unsureUs: number[] = []
    const priced = new Map<FindingCall, number>()
    for (const call of countedCalls(draft)) {
      this.#touched = new Set()
      unsureUs.push(this.#takeCalls(draft, call))
      const addedUs = this.#recompute()
      for (const [request, us] of addedUs) addTo(all, request, us)
      priced.set(
        call,
        sum(addedUs, ([one, us]) => us * this.#counts(one)),
      )
    }
    if (priced.size === 0) return this.#recomputed(draft)
    const calls = draft.calls.map((call) => {
      const us = priced.get(call)
      return us === undefined ? call : { ...call, us }
    })
    // Several calls may change in other requests.
    const touched = Math.round(sum(all.keys(), (one) => this.#counts(one)))
    const requests = priced.size > 1 ? Math.max(draft.requests, touched) : draft.requests
    const added = this.#withAdded({ ...draft, calls, requests }, all)
    const eachInterval = intervalOf(all, added, Math.hypot(...unsureUs))
    return { ...added, eachInterval }
  }

  /** Returns a finding with the time that it adds, by recomputing the requests that it touches. */
  #recomputed(draft: Draft): Draft {
    const added = this.#withAdded(draft, this.#recompute())
    return { ...added, eachInterval: movedTo(draft, added.contributionUs) }
  }

  #withAdded(draft: Draft, addedUs: Map<number, number>): Draft {
    this.#addedUs.set(draft.key, addedUs)
    const contributionUs = sum(addedUs, ([one, us]) => us * this.#counts(one))
    const isTurned = isStructural(draft) && contributionUs !== 0
    const direction = !isTurned ? draft.direction : contributionUs < 0 ? 'faster' : 'slower'
    return { ...draft, contributionUs, direction }
  }

  /** Recomputes the requests that were touched; returns by how much less each takes. */
  #recompute(): Map<number, number> {
    const addedUs = new Map<number, number>()
    for (const request of this.#touched) {
      const nowUs = this.#replay.durationNs(request, this.#changedOf(request)) / NS
      if (Number.isNaN(nowUs)) continue
      addedUs.set(request, this.#leftUs[request]! - nowUs)
      this.#leftUs[request] = nowUs
    }
    return addedUs
  }

  #changedOf(request: number): Changed {
    const [from, to] = [this.#offsets[request]!, this.#offsets[request + 1]!]
    return { keep: this.#keep.subarray(from, to), moreNs: this.#moreNs.subarray(from, to) }
  }

  /**
   * Gives calls of a step their times from before, by rank: the fastest get the time of the fastest then, and so on. If
   * only some calls got slower, these are the slowest; any call may be one of them.
   */
  #takeExcess(draft: Draft, step: FindingStep): void {
    if (step.part === 'message' || step.kind === 'request') return
    const sources = { steps: this.#changes, columns: this.#columns }
    const end = draft.places && endOf(draft.places, step)
    const inside = end ? thereOf(step, end, sources) : insideOf(draft, this.#changes)
    const spansOf = memoized((shape: number) =>
      spansOfStep(spanTimes(this.#flows), allVisits(this.#flows).get(shape)!, {
        ...step,
        within: withinOf(draft),
      }),
    )
    for (const stratum of strataOf(draft, step, this.#changes)) {
      const callsOf = ({ recorded }: StepStratum['before'], isAll: boolean) =>
        [...new Set(recorded.requests)].flatMap((request): StepCall[] =>
          isAll || inside === null || inside(request)
            ? spansOf(this.#flows.shapeOf[request]!)
                .filter((one) => isOfStratum(one, stratum) && !this.#isGone(request, one.span))
                .map((one) => ({ request, span: one.span, us: this.#timeUs(request, one) }))
            : [],
        )
      const inBefore = callsOf(stratum.before, false)
      // A value that is new has no times before.
      const before = inBefore.length > 0 ? inBefore : callsOf(stratum.before, true)
      const after = callsOf(stratum.after, false).sort(byTime)
      const share = draft.direction === 'faster' ? undefined : shareOf(draft, step, after.length)
      this.#takeRanks(before, after, share)
    }
  }

  /**
   * Returns the extra time of callers per call whose callee recorded nothing, in µs: the way there and back. Least
   * squares within types and periods. Returns 0 if the number of calls differs mostly between periods, because the
   * caller's own work may differ, too.
   */
  #wayUs(rows: readonly MadeRow[], made: MadeCalls): number {
    const isRemote = rows.some(({ request }) =>
      made.of(this.#flows.shapeOf[request]!).calls.some((one) => one.isRemote),
    )
    if (!isRemote) return 0
    const spans = spanTimes(this.#flows)
    const known = rows.flatMap((row) => {
      const { request } = row
      const shape = this.#flows.shapeOf[request]!
      const { callers } = made.of(shape)
      if (spans.of(request).length === 0) return []
      const visits = allVisits(this.#flows).get(shape)!
      const ownUs = sum(callers, (one) => spans.uncoveredNs(request, one, childrenOf(visits, one)))
      return [{ ...row, ownUs: ownUs / NS }]
    })
    const slopeBy = (keyOf: (row: MadeRow) => string) => {
      let [products, squares] = [0, 0]
      for (const own of group(known, keyOf).values()) {
        const [calls, us] = [mean(own, (row) => row.calls)!, mean(own, (row) => row.ownUs)!]
        products += sum(own, (row) => (row.calls - calls) * (row.ownUs - us))
        squares += sum(own, (row) => (row.calls - calls) ** 2)
      }
      return { squares, us: products / squares }
    }
    const ofAll = slopeBy(({ type }) => `${type}`)
    const within = slopeBy(({ type, period }) => `${type} ${period}`)
    return Math.max(0, within.squares > ofAll.squares / 2 ? within.us : 0)
  }

  /** Whether an earlier finding took a span out. */
  #isGone(request: number, span: number): boolean {
    const offset = this.#offsets[request]!
    return this.#offsets[request + 1]! > offset && this.#keep[offset + span] === 0
  }

  /** Has a span of a request take more, which is its own work or not. */
  #add(request: number, span: number, { us, isOfWork }: { us: number; isOfWork: boolean }): void {
    const at = this.#offsets[request]! + span
    addAt(this.#moreNs, at, us * NS)
    if (isOfWork) addAt(this.#workNs, at, us * NS)
    this.#touched.add(request)
  }

  /** Returns the time of a call of a step itself, in µs, as far as anybody waits for it. */
  #timeUs(request: number, { span, measureNs, inner }: StepSpan): number {
    const own = Math.max(0, measureNs(request)) / NS
    const offset = this.#offsets[request]!
    if (this.#offsets[request + 1] === offset) return own
    const gone = inner.filter((one) => this.#isGone(request, one.span))
    const goneNs = sum(gone, (one) => one.measureNs(request))
    return Math.max(0, own + (this.#workNs[offset + span]! - goneNs) / NS)
  }

  /**
   * Has calls after, the fastest first, take what calls before of the same rank took.
   *
   * @param share which share of the calls alone changed, the slowest; they gain no more than all lost
   */
  #takeRanks(before: readonly StepCall[], after: readonly StepCall[], share?: number): void {
    if (before.length === 0 || after.length === 0) return
    const usual = new Ranks(before.toSorted(byTime), this.#flows)
    const changed =
      share === undefined ? after : after.slice(Math.round((1 - share) * after.length))
    const weights = changed.map(({ request }) => this.#counts(request))
    const total = sum(weights)
    let passed = 0
    const moreUs = changed.map(({ us }, i) => {
      const rank = (passed + weights[i]! / 2) / total
      passed += weights[i]!
      return us - usual.at(rank)
    })
    if (share === undefined) {
      // A call that hangs tells nothing about the others.
      const typical = Math.floor((1 - SLOWEST) * (changed.length - 1))
      moreUs.fill(moreUs[typical]!, typical)
    } else {
      const allUs = sum(after, ({ request, us }) => us * this.#counts(request))
      const weight = sum(after, ({ request }) => this.#counts(request))
      const leftUs = allUs - weight * usual.mean
      const takenUs = sum(moreUs, (us, i) => us * weights[i]!)
      const part = Math.max(0, Math.min(1, leftUs / takenUs))
      for (const [i, us] of moreUs.entries()) moreUs[i] = part * us
    }
    changed.forEach(({ request, span }, i) => {
      this.#add(request, span, { us: -moreUs[i]!, isOfWork: true })
    })
  }

  /**
   * Has an operation make a call as often as before: takes out those made beyond, puts in those made no longer.
   *
   * @returns the standard error of the time of those put in
   */
  #takeCalls({ segment, doing }: Draft, { of, call, kind }: CountedCall): number {
    const made = new MadeCalls(this.#flows, of, (one) => isSame(one, call))
    const inside = segment === undefined || doing !== undefined ? null : new Set(segment.requests)
    const rows: MadeRow[] = []
    const callsUs: number[] = []
    for (let request = 0; request < this.#flows.size; request++) {
      const { callers, calls } = made.of(this.#flows.shapeOf[request]!)
      if (callers.length === 0 || (inside !== null && !inside.has(request))) continue
      const type = this.#types.typeOf[request]!
      rows.push({
        request,
        type,
        period: this.#flows.period[request] as Period,
        calls: calls.length,
      })
      if (this.#flows.period[request] === BEFORE) callsUs.push(...made.waitedUs(request))
    }
    const random = randomSource(1)
    const wayUs = this.#wayUs(rows, made)
    const eachUs = (mean(callsUs) ?? 0) + wayUs
    let putIn = 0
    const all = rows.filter(({ request }) => this.#flows.period[request] === BEFORE)
    for (const own of group(rows, ({ type }) => type).values()) {
      const before = own.filter(({ request }) => this.#flows.period[request] === BEFORE)
      const after = own.filter(({ request }) => this.#flows.period[request] === AFTER)
      const then = before.length >= MIN_KNOWN ? before : all
      if (then.length === 0 || after.length === 0) continue
      const usual = then.map(({ calls }) => calls).sort((a, b) => a - b)
      // Among requests with equally many calls, draws evenly which would have made another number.
      after.sort((a, b) => a.calls - b.calls || evenly(a.request) - evenly(b.request))
      after.forEach(({ request, calls }, rank) => {
        const was = usual[Math.floor(((rank + 0.5) / after.length) * usual.length)]!
        if (was === calls) return
        const first = this.#offsets[request]!
        const own = made.of(this.#flows.shapeOf[request]!)
        const beyond = firstOfEach(own.calls, spanTimes(this.#flows).of(request), random).slice(was)
        for (const span of beyond.flatMap(({ below }) => below)) {
          this.#keep[first + span] = 0
          this.#moreNs[first + span] = 0
        }
        if (kind === 'again') {
          for (const { span } of beyond) {
            const us = this.#waitUs(request, span, own.calls)
            this.#add(request, own.callers[0]!, { us: -us, isOfWork: true })
          }
        }
        const more = Math.max(0, was - calls)
        putIn += more * this.#counts(request)
        const isOfWork = of.service === call.service
        this.#add(request, own.callers[0]!, { us: more * eachUs, isOfWork })
        const fewer = Math.max(0, calls - was)
        if (fewer * wayUs > 0) {
          this.#add(request, own.callers[0]!, { us: -fewer * wayUs, isOfWork: true })
        }
      })
    }
    return (putIn * (deviation(callsUs) ?? 0)) / Math.sqrt(callsUs.length || 1)
  }

  /** Returns how long a caller waits before it makes a call again: since the last of these calls was over, in µs. */
  #waitUs(request: number, span: number, calls: readonly { readonly span: number }[]): number {
    const times = spanTimes(this.#flows).of(request)
    const startNs = times[2 * span]!
    const ends = calls.map((one) => times[2 * one.span + 1]!).filter((endNs) => endNs <= startNs)
    return ends.length === 0 ? 0 : (startNs - Math.max(...ends)) / NS
  }

  /**
   * Gives calls that fail the time of those of their operation that do not. What their callers leave out, do instead or
   * do again are changes of their own.
   *
   * @returns interval of the extra time of each additional failure; `null` if it may be zero
   */
  #takeFailures(draft: Draft): Draft['eachInterval'] | null {
    const change = errorChangeOf(this.#changes.errors, draft.services)
    const isOfMore = draft.direction === 'slower' && draft.calls[0]?.kind === 'fails'
    if (!isOfMore || change === undefined) return null
    const sites = failingSites(this.#flows, change.failingCalls, (request) =>
      this.#spansUs(request),
    )
    const share = Math.min(1, draft.requests / change.made[AFTER])
    let [totalUs, squares] = [0, 0]
    const longer = sites.flatMap((site) => {
      const { calls, errorUs } = longerThanUsual(site, share)
      totalUs += sum(calls, ({ request, us }) => us * this.#counts(request))
      squares += (sum(calls, ({ request }) => this.#counts(request)) * errorUs) ** 2
      return calls
    })
    const widthUs = normalQuantile(0.975) * Math.sqrt(squares)
    if (!(Math.abs(totalUs) > widthUs)) return null
    for (const { request, span, us } of longer) {
      this.#add(request, span, { us: -us, isOfWork: false })
    }
    return [(totalUs - widthUs) / draft.requests, (totalUs + widthUs) / draft.requests]
  }

  /** Returns how long a span of a request takes without the findings priced so far, in µs. */
  #spansUs(request: number): (span: number) => number {
    const isAfter = this.#flows.period[request] === AFTER
    if (!isAfter) {
      const times = spanTimes(this.#flows).of(request)
      return (span) => (times[2 * span + 1]! - times[2 * span]!) / NS
    }
    const takesNs = this.#replay.durationsNs(request, this.#changedOf(request))
    return (span) => takesNs[span]! / NS
  }

  /**
   * Returns how much longer requests after take than those before, in the times left, for the types of some requests:
   * all of them, or a part.
   */
  #changeLeft(some: readonly number[], counted?: ReadonlySet<number>): number {
    const { typeOf, unknown } = this.#types
    const types = new Set(some.map((one) => typeOf[one]))
    const isBefore = (one: number) => this.#flows.period[one] === BEFORE
    const leftUs = (one: number) => this.#leftUs[one]!
    const all = range(this.#flows.size)
    const ofAllUs = mean(all.filter(isBefore), leftUs)
    const own = all.filter((one) => types.has(typeOf[one]))
    return sum(
      group(own, (one) => typeOf[one]!),
      ([type, ofType]) => {
        // A request that ends before it shows its type may have been of any.
        const usualUs = unknown.has(type) ? ofAllUs : mean(ofType.filter(isBefore), leftUs)
        if (usualUs === undefined) return 0
        const after = ofType.filter((one) => counted?.has(one) ?? !isBefore(one))
        return sum(after, (one) => (this.#leftUs[one]! - usualUs) * this.#counts(one))
      },
    )
  }

  /** Has calls overlap as they did before: what these took at the same time, requests wait for otherwise. */
  #takeOverlap({ forms, calls }: Draft): void {
    const pairs = memoized((shape: number) =>
      pairedCalls(allVisits(this.#flows).get(shape)!, calls),
    )
    const overlapUs = (request: number) => {
      const times = spanTimes(this.#flows).of(request)
      return sum(pairs(this.#flows.shapeOf[request]!), ({ spans }) => {
        const allNs = sum(spans, (span) => times[2 * span + 1]! - times[2 * span]!)
        const covered = coveredNs(times, spans, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
        return (allNs - covered) / NS
      })
    }
    const isBefore = (one: number) => this.#flows.period[one] === BEFORE
    const all = range(this.#flows.size).filter(
      (one) =>
        pairs(this.#flows.shapeOf[one]!).length > 0 && spanTimes(this.#flows).of(one).length > 0,
    )
    const ofType = (one: number) => this.#types.typeOf[one]!
    const usualUs = rollup(all.filter(isBefore), (own) => mean(own, overlapUs)!, ofType)
    // Several calls may be made otherwise in one request.
    for (const request of new Set(forms?.now)) {
      const [first] = pairs(this.#flows.shapeOf[request]!)
      const usual = usualUs.get(ofType(request))
      if (isBefore(request) || first === undefined || usual === undefined) continue
      this.#add(request, first.caller, { us: overlapUs(request) - usual, isOfWork: false })
    }
  }

  /** Gives requests with changed calls the time of those with the usual calls, if the operation takes another time. */
  #takeForms(draft: Draft): void {
    const { forms, requests, calls } = draft
    if (forms === undefined) return
    const { contributionUs } = priceOf(this.#flows, forms, requests, { timesUs: this.#leftUs })
    const after = this.#flows.within(AFTER, forms.now)
    const own = forms.isWhole ? undefined : new Set(after)
    const addedUs = atMost(contributionUs, this.#changeLeft(after, own))
    const eachUs = addedUs / sum(after, (one) => this.#counts(one)) || 0
    const caller = memoized((shape: number) => {
      const spans = allVisits(this.#flows).get(shape)!
      const isOne = (span: number) => calls.some(({ of }) => isSame(operationAt(spans, span), of))
      return Math.max(0, range(spans.tree.size).findIndex(isOne))
    })
    const isOfWork = isInner(draft)
    for (const request of after) {
      const span = caller(this.#flows.shapeOf[request]!)
      this.#add(request, span, { us: -eachUs, isOfWork })
    }
  }
}

/** Limits a change to the size of another one; 0 if the two differ in direction. */
function atMost(us: number, otherUs: number): number {
  return us < 0 ? Math.max(us, Math.min(0, otherUs)) : Math.min(us, Math.max(0, otherUs))
}

/** Whether calls of several operations overlap that did not before, or no longer do. */
function isOfOverlap({ kind, calls, forms }: Draft): boolean {
  const isOrder = calls.every((call) => call.kind === 'together' || call.kind === 'in turn')
  return kind === 'concurrency' && isOrder && forms !== undefined
}

/** Returns the calls of a shape whose order changed, by their caller. */
function pairedCalls(shape: ShapeVisits, changed: readonly FindingCall[]) {
  return range(shape.tree.size).flatMap((caller) => {
    const own = changed.filter(({ of }) => isSame(operationAt(shape, caller), of))
    if (own.length === 0) return []
    const isOne = ({ callee }: MadeCall) =>
      own.some(({ previous, call }) => isSameCall(previous, callee) || isSameCall(call, callee))
    const spans = callsOf(shape, caller)
      .filter(isOne)
      .map(({ span }) => span)
    return spans.length > 1 ? [{ caller, spans }] : []
  })
}

/** Changes of how often calls are made. */
const COUNTED: ReadonlySet<FindingCall['kind']> = new Set(['calls', 'next', 'again', 'repeats'])

type CountedCall = FindingCall & { readonly call: Operation }

/**
 * Returns the calls whose number changed, each once; none where an operation ends early, which leaves out all that
 * follows.
 */
function countedCalls({ calls }: Draft): CountedCall[] {
  if (calls[0]?.call === null) return []
  const isCounted = (one: FindingCall): one is CountedCall =>
    one.call !== null && COUNTED.has(one.kind)
  const known = new Map<string, CountedCall>()
  for (const one of calls.filter(isCounted)) {
    const key = JSON.stringify([one.of, one.call])
    if (!known.has(key)) known.set(key, one)
  }
  return [...known.values()]
}

/** Whether a finding is priced by whole requests that make the same calls in another order or without waiting. */
function isOfForms(draft: Draft): boolean {
  return isStructural(draft) && countedCalls(draft).length === 0
}

/**
 * Orders findings for pricing. Calls cost their time now, so they are removed before times are compared, as are changes
 * of order within a service.
 */
function inOrder(a: Draft, b: Draft): number {
  const us = ({ contributionUs }: Draft) => Math.abs(contributionUs)
  return placeOf(a) - placeOf(b) || us(b) - us(a)
}

function placeOf(draft: Draft): number {
  if (draft.kind === 'latency') return draft.places === undefined ? 1 : 0.5
  if (!isStructural(draft)) return 3
  return isInner(draft) || !isOfForms(draft) ? 0 : 2
}

/** Whether calls within a service changed, which are part of its work. */
function isInner({ calls }: Draft): boolean {
  return calls.every(({ of, call }) => of.service === call?.service)
}

/**
 * Returns the 95 % interval of the time that calls add to each request, by how much it differs between requests.
 *
 * @param unsureUs further standard error of that of all requests
 */
function intervalOf(
  addedUs: ReadonlyMap<number, number>,
  { contributionUs, requests }: Draft,
  unsureUs: number,
): Draft['eachInterval'] {
  const error = (deviation(addedUs.values()) ?? Number.NaN) * Math.sqrt(addedUs.size)
  const width = normalQuantile(0.975) * Math.hypot(error, unsureUs)
  return [(contributionUs - width) / requests, (contributionUs + width) / requests]
}

/** Returns the interval of a finding's time per request, moved to another total. */
function movedTo(
  { eachInterval: [low, high], contributionUs, requests }: Draft,
  us: number,
): Draft['eachInterval'] {
  const byUs = (us - contributionUs) / Math.max(1, requests)
  return [low + byUs, high + byUs]
}

/** Returns the requests of a finding: those of its segment, or of the time that it is reported in; `null` for all. */
function insideOf(
  draft: Draft,
  changes: StepChanges,
): ((request: number) => boolean | null) | null {
  const { strata } = draft
  if (strata !== undefined) {
    const own = new Set(
      strataOfDraft(draft, changes).flatMap(({ before, after }) => [
        ...before.recorded.requests,
        ...after.recorded.requests,
      ]),
    )
    return (request) => own.has(request)
  }
  const segment = onlySegment(draft)
  if (segment === undefined) return null
  const own = new Set(segment.requests)
  return (request) => own.has(request)
}

/** Returns the segment that a finding is all about. */
function onlySegment(draft: Draft): Segment | undefined {
  const { segment, isOfSegment = false } = draft
  return segment && (isOfSegment || isConfined(draft, segment)) ? segment : undefined
}

/** Operations whose spans alone changed. */
function withinOf(draft: Draft): readonly string[] {
  const { within, alike = [] } = onlySegment(draft) ?? {}
  return within ? [within, ...alike] : []
}

/** Returns the share of a number of calls that changed, if only some did. */
function shareOf(draft: Draft, { share }: FindingStep, calls: number): number | undefined {
  const segment = onlySegment(draft)
  if (segment === undefined) return share
  const { within, alike = [], inside } = segment
  return within === null ? undefined : Math.min(1, ((1 + alike.length) * inside.after) / calls)
}

/** Returns the times of a step's change, limited to the finding's segment or period. */
function strataOf(draft: Draft, step: Step, changes: StepChanges): StepStratum[] {
  if (draft.places !== undefined) return [...strataOfPlace(changes, step)]
  const { strata } = draft
  const { operation, callingOperation } = onlySegment(draft) ?? {}
  const all =
    strata === undefined
      ? changedStrata(changes.times, changeOfStep(changes, step) ?? step)
      : strataOfStep(changes.times, { ...step, operation: '' }).filter((one) =>
          strata.some((own) => isOfStratum(own, one)),
        )
  return all.filter((one) =>
    isOfStratum(
      {
        operation: operation ?? one.operation,
        callingOperation: callingOperation ?? one.callingOperation,
      },
      one,
    ),
  )
}

type Site = Pick<StepStratum, 'operation' | 'callingOperation'>

function isOfStratum(a: Site, b: Site): boolean {
  return a.operation === b.operation && a.callingOperation === b.callingOperation
}

interface Timed {
  readonly span: number
  /** Time of the span itself. */
  readonly measureNs: (request: number) => number
}

interface StepSpan extends Site, Timed {
  /** Other spans whose time is its own. */
  readonly inner: readonly Timed[]
}

/** Spans of a shape that have the time of a step: of work, those of one operation within it, where it is that. */
function spansOfStep(
  times: SpanTimes,
  shape: ShapeVisits,
  { kind, service, caller, part, within }: Step & { readonly within: readonly string[] },
): StepSpan[] {
  const { visits, operations } = shape
  const isOne = (span: number) => within.includes(operations[span]!)
  const isCaller = (by: string) => makesCalls({ kind, service, caller }, by)
  const itself = (span: number): Timed => ({
    span,
    measureNs: (request) => times.uncoveredNs(request, span, childrenOf(shape, span)),
  })
  const isWithin = kind === 'work' && visits.some(({ spans }) => spans.slice(1).some(isOne))
  return visits.flatMap((visit): StepSpan[] => {
    const { entry, calls, spans, operation, callingOperation } = visit
    if (kind === 'work') {
      if (visit.service !== service) return []
      const site = { operation, callingOperation }
      if (isWithin)
        return spans.filter(isOne).map((span) => ({ ...site, ...itself(span), inner: [] }))
      const isPart = part === 'itself'
      const others = isPart ? childrenOf(shape, entry) : calls.map(({ span }) => span)
      const measureNs = (request: number) =>
        times.uncoveredNs(request, entry, others, times.endsNs(request, visit))
      const inner = isPart ? [] : spans.slice(1).map(itself)
      return [{ ...site, span: entry, measureNs, inner }]
    }
    return calls
      .filter((one) => isCaller(visit.service) && one.service === service && one.isWay)
      .map((call) => ({
        span: call.span,
        measureNs: (request) => times.wayNs(request, call),
        inner: [],
        operation: call.operation,
        callingOperation: operation,
      }))
  })
}

interface MadeRow {
  readonly request: number
  readonly type: number
  readonly period: Period
  readonly calls: number
}

/** Places requests evenly between 0 and 1, whatever their rows. */
function evenly(request: number): number {
  return (request * 0.618_033_988_749_895) % 1
}

/** Times of calls by the share of calls that take less. */
class Ranks {
  readonly #flows: FlowSet
  readonly #calls: readonly StepCall[]
  readonly #shares: Float64Array

  /** @param calls the fastest first */
  constructor(calls: readonly StepCall[], flows: FlowSet) {
    this.#flows = flows
    this.#calls = calls
    let passed = 0
    this.#shares = Float64Array.from(calls, ({ request }) => {
      const weight = flows.countOf(request)
      passed += weight
      return passed - weight / 2
    }).map((share) => share / passed)
  }

  get mean(): number {
    const weights = this.#calls.map(({ request }) => this.#flows.countOf(request))
    return sum(this.#calls, ({ us }, i) => us * weights[i]!) / sum(weights)
  }

  /** Returns the time at a share, between the two nearest. */
  at(share: number): number {
    const [calls, shares] = [this.#calls, this.#shares]
    const next = bisectLeft(shares, share)
    if (next === 0 || next === calls.length) return calls[Math.max(0, next - 1)]!.us
    const [low, high] = [calls[next - 1]!.us, calls[next]!.us]
    return low + ((high - low) * (share - shares[next - 1]!)) / (shares[next]! - shares[next - 1]!)
  }
}

/** A call of a step, with its time. */
interface StepCall {
  readonly request: number
  readonly span: number
  readonly us: number
}

function byTime(a: StepCall, b: StepCall): number {
  return a.us - b.us
}
