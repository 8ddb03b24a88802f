// Runs once a span of a request: the loops index with `!`.

import { group, rollup, sum } from 'd3-array'
import { coveredNs, spanTimes } from '../../calls/span-times.ts'
import { unrecordedCallees } from '../../calls/unrecorded-callees.ts'
import {
  childrenOf,
  type Named,
  namedShapes,
  requestsOfShapes,
  spanRoles,
  type Visit,
} from '../../calls/visits.ts'
import { addTo, divided, getOrInsert } from '../../core/entries.ts'
import { TIME } from '../../core/quantity.ts'
import { remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { callName, type Operation } from '../../flows/node-labels.ts'
import { areFromSpans, NS } from '../../flows/span-tree.ts'
import { moments } from '../../stats/moments.ts'
import { quantile } from '../../stats/quantile.ts'
import { CLIENT, INTERNAL } from '../../traces/span-columns.ts'
import {
  MIN_ALIKE,
  MIN_SEEN,
  MIN_SEVERAL,
  MIN_TAIL,
  MOST,
  NEARLY_ALL,
  NEGLIGIBLE,
  PART,
  SLOWEST,
  SURE,
} from '../thresholds.ts'
import { timeBlocks } from './time-blocks.ts'

/** An operation with spans in one period only, while what calls it is recorded in both and takes as long. */
export interface RecordedOnce extends Operation {
  /** Period that has its spans, and how many. */
  readonly period: Period
  readonly spans: number
  /** Whether its service has no spans at all in the other period. */
  readonly isWhole: boolean
  /** Whether it only hands calls on. */
  readonly isRelay: boolean
  /** New names, if only the name changed; several if they distinguish its kinds. */
  readonly renamed: readonly string[] | null
}

/** Operations recorded in one period only, though done in both. */
export interface RecordedOtherwise {
  readonly operations: readonly RecordedOnce[]
  /** Names of these operations, whose calls cannot be compared. */
  readonly names: ReadonlySet<string>
  /** Spans among these that only add a layer within a service: calls inside them count as made by their caller. */
  readonly through: ReadonlySet<string>
  /** Callers whose own work these calls cover in one period only, so their calls cannot be compared. */
  readonly uncovered: ReadonlySet<string>
}

type Two<T> = readonly [before: T, after: T]

interface Level {
  readonly mean: number
  /** Variance of the mean. */
  readonly error: number
  readonly coveredUs: number
}

/**
 * Uncovered times of spans, in µs: by all their calls; without those of one period; by the calls that those make
 * instead.
 */
interface Caller {
  readonly own: Two<number[]>
  readonly without: Two<number[]>
  readonly lifted: Two<number[]>
  /** Uncovered times by all except steps of one period, and by the calls of these; and the stretch of time of each. */
  readonly kept: Two<number[]>
  readonly stretches: Two<number[]>
  /** Spans of one period that they call. */
  readonly called: Map<string, number>
  /** The same by their order in each call of the caller, with the µs of it that each covers. */
  readonly turns: Map<string, number[]>[]
  isUncovered: boolean
}

/**
 * Finds operations whose spans stand in one period only though their work is done in both. Where only
 * the spans are missing, their time counts as the caller's own; calls that are not made take no time.
 */
export const recordedOtherwise = remembered((flows: FlowSet): RecordedOtherwise => {
  const isTimed = flows.quantity === TIME && areFromSpans(flows)
  const shapes = isTimed ? namedShapes(flows) : new Map<number, Named>()
  const counted = isTimed ? countSpans(flows, shapes) : new Map<string, Counted>()
  const periodOf = new Map<string, Period>()
  for (const [name, { spans }] of counted) {
    if (Math.max(...spans) < MIN_SEEN) continue
    if (spans[AFTER] <= NEGLIGIBLE * spans[BEFORE]) periodOf.set(name, BEFORE)
    if (spans[BEFORE] <= NEGLIGIBLE * spans[AFTER]) periodOf.set(name, AFTER)
  }
  // Relays are on the way of calls, which has both of its ends in either period.
  const between = [...spanRoles(flows).relays].flatMap((name) => {
    const period = periodOf.get(name)
    periodOf.delete(name)
    return period === undefined ? [] : { name, period }
  })
  const renamed = new Map<string, readonly string[]>()
  const { within, steps } = lyingWithin(flows, shapes, periodOf)
  let callers = new Map<string, Caller>()
  for (let known = -1; known < renamed.size; ) {
    known = renamed.size
    if (periodOf.size === 0) break
    callers = collectCallers(flows, shapes, { periodOf, renamed, steps })
    for (const caller of callers.values()) {
      for (const [was, is] of renamesIn(caller, { counted, periodOf })) {
        for (const name of was) renamed.set(name, is)
      }
    }
  }
  const nowNamed = new Set([...renamed.values()].flat())
  const isRenamed = new Set([...renamed.keys(), ...nowNamed])
  const clients = isTimed ? clientsOfOnePeriod(flows, shapes) : new Set<string>()
  const few = [...periodOf.keys()].filter(
    (name) =>
      !isRenamed.has(name) &&
      !clients.has(name) &&
      Math.max(...counted.get(name)!.spans) < MIN_TAIL,
  )
  for (const name of few) periodOf.delete(name)
  if (few.length > 0) callers = collectCallers(flows, shapes, { periodOf, renamed, steps })
  const passing = new Map(
    [...callers].filter(
      ([, caller]) =>
        isOfRecording(caller, periodOf) ||
        (caller.called.size > 0 && [...caller.called.keys()].every((name) => clients.has(name))),
    ),
  )
  const free = new Map(
    [...callers].map(([name, caller]) => [name, freeSteps(caller, { periodOf, steps })]),
  )
  const names = new Set(isRenamed)
  for (let known = -1; known < names.size; ) {
    known = names.size
    for (const name of periodOf.keys()) {
      const isOnce = (caller: string) =>
        passing.has(caller) || names.has(caller) || free.get(caller)!.includes(name)
      const spansOf = ([, { called }]: readonly [string, Caller]) => called.get(name) ?? 0
      const ofRecording = sum(
        [...callers].filter(([caller]) => isOnce(caller)),
        spansOf,
      )
      if (ofRecording > sum(callers, spansOf) / 2) names.add(name)
    }
  }
  const ofCallees = unrecordedCallees(flows).flatMap(({ callee, ...own }) =>
    names.has(callName(own)) ? callName({ ...own, service: callee }) : [],
  )
  const ofService = group(counted.values(), ({ service }) => service)
  const once = [...names].map((name) => ({ name, period: periodOf.get(name)! }))
  const operations = [...once, ...between].flatMap(({ name, period }): RecordedOnce | [] => {
    const { service, operation, spans } = counted.get(name)!
    if (nowNamed.has(name)) return []
    const isWhole = ofService.get(service)!.every((one) => one.spans[1 - period] === 0)
    return {
      service,
      operation,
      period,
      spans: spans[period],
      isWhole,
      isRelay: between.some((one) => one.name === name),
      renamed: renamed.get(name)?.map((one) => counted.get(one)!.operation) ?? null,
    }
  })
  return {
    operations,
    names: new Set([...names, ...ofCallees]),
    through: new Set([...names].filter((name) => within.has(name) && !isRenamed.has(name))),
    uncovered: new Set(
      [...passing].flatMap(([name, { isUncovered }]) => (isUncovered ? name : [])),
    ),
  }
})

type Counted = Operation & { readonly spans: [number, number] }

function countSpans(flows: FlowSet, shapes: ReadonlyMap<number, Named>): Map<string, Counted> {
  const counted = new Map<string, Counted>()
  for (const [shape, [before, after]] of requestsOfShapes(flows)) {
    const { names, operations, services } = shapes.get(shape)!
    names.forEach((name, span) => {
      const [service, operation] = [services[span]!, operations[span]!]
      const newOne = (): Counted => ({ service, operation, spans: [0, 0] })
      const { spans } = getOrInsert(counted, name, newOne)
      spans[BEFORE] += before
      spans[AFTER] += after
    })
  }
  return counted
}

function collectCallers(
  flows: FlowSet,
  shapes: ReadonlyMap<number, Named>,
  {
    periodOf,
    renamed,
    steps,
  }: {
    periodOf: ReadonlyMap<string, Period>
    renamed: ReadonlyMap<string, readonly string[]>
    steps: ReadonlySet<string>
  },
): Map<string, Caller> {
  const firstOf = new Map([...renamed.values()].flatMap((own) => own.map((one) => [one, own[0]!])))
  const nameNow = (name: string) => renamed.get(name)?.[0] ?? firstOf.get(name) ?? name
  const wanted = new Set<string>()
  for (const { names, tree } of shapes.values()) {
    names.forEach((name, span) => {
      if (span > 0 && periodOf.has(name)) wanted.add(nameNow(names[tree.parent[span]!]!))
    })
  }
  const callers = new Map<string, Caller>()
  const { of: blocks } = timeBlocks(flows)
  for (let request = 0; request < flows.size; request++) {
    const shape = shapes.get(flows.shapeOf[request]!)!
    const { tree, names, visitOf } = shape
    const times = spanTimes(flows).of(request)
    // A snapshot may carry the latencies of some requests only.
    if (times.length === 0) continue
    if (!names.some((name) => wanted.has(nameNow(name)))) continue
    const period = flows.period[request] as Period
    const isOnce = (span: number) => periodOf.has(names[span]!)
    const isStep = (span: number) => steps.has(names[span]!)
    for (let span = 0; span < tree.size; span++) {
      const name = nameNow(names[span]!)
      if (!wanted.has(name) || flows.outcomes?.failed(request, span)) continue
      const caller = getOrInsert(callers, name, newCaller)
      const children = childrenOf(shape, span)
      const [start, end] = [times[2 * span]!, times[2 * span + 1]!]
      const uncovered = (by: readonly number[]) =>
        spanTimes(flows).uncoveredNs(request, span, by) / NS
      const ownUs = uncovered(children)
      const hasOnce = children.some(isOnce)
      caller.own[period].push(ownUs)
      caller.without[period].push(
        hasOnce ? uncovered(children.filter((child) => !isOnce(child))) : ownUs,
      )
      caller.lifted[period].push(hasOnce ? uncovered(childrenOf(shape, span, isOnce)) : ownUs)
      const hasStep = children.some(isStep)
      caller.kept[period].push(hasStep ? uncovered(childrenOf(shape, span, isStep)) : ownUs)
      caller.stretches[period].push(blocks[request]!)
      const inTurn = children.filter(isOnce).sort((a, b) => times[2 * a]! - times[2 * b]!)
      inTurn.forEach((child, turn) => {
        const name = names[child]!
        addTo(caller.called, name, 1)
        caller.turns[turn] ??= new Map()
        getOrInsert(caller.turns[turn], name, (): number[] => []).push(
          coveredNs(times, [child], start, end) / NS,
        )
        if (!isWithin(visitOf[child]!, child)) caller.isUncovered = true
      })
    }
  }
  return callers
}

function newCaller(): Caller {
  const two = (): Two<number[]> => [[], []]
  const times = { own: two(), without: two(), lifted: two(), kept: two(), stretches: two() }
  return { ...times, called: new Map(), turns: [], isUncovered: false }
}

/** Whether a span is within the work of its service: neither the entry, nor the service's side of a call. */
function isWithin({ entry, spans }: Visit, span: number): boolean {
  return span !== entry && spans.includes(span)
}

/**
 * Returns names of one period that always lie within the work of their service; `steps` are those recorded only as a
 * step of it, unlike a call to a database. If spans have no kinds, a step is a name that several services share.
 */
function lyingWithin(
  flows: FlowSet,
  shapes: ReadonlyMap<number, Named>,
  periodOf: ReadonlyMap<string, Period>,
) {
  const { periods, recordedIn, shapeOf, spanRows, spanOffsets } = flows
  // A span whose caller was lost may lie within it.
  const isApart = (request: number, span: number) => span === 0 && flows.isPart(request)
  const kinds = periods.map((traces) => {
    const kind = traces.kind === 'spans' ? traces.spans.kind : []
    return kind.some((code) => code !== INTERNAL) ? kind : null
  })
  const servicesOf = new Map<string, Set<string>>()
  const unknown = new Map<string, ReadonlySet<string>>()
  const [within, steps] = [new Set(periodOf.keys()), new Set(periodOf.keys())]
  const seen = new Set<number>()
  shapeOf.forEach((shape, request) => {
    if (seen.has(shape) || periodOf.size === 0) return
    seen.add(shape)
    const { names, operations, visitOf } = shapes.get(shape)!
    const kind = kinds[recordedIn[request]!]
    names.forEach((name, span) => {
      if (!isWithin(visitOf[span]!, span) && !isApart(request, span)) within.delete(name)
      if (!within.has(name)) steps.delete(name)
      else if (kind == null || spanRows === undefined) {
        const services = getOrInsert(servicesOf, operations[span]!, () => new Set())
        unknown.set(name, services.add(visitOf[span]!.service))
      } else if (kind[spanRows[spanOffsets![request]! + span]!] !== INTERNAL) steps.delete(name)
    })
  })
  for (const [name, { size }] of unknown) if (size < MIN_ALIKE) steps.delete(name)
  return { within, steps }
}

/** Returns steps of one period in all calls of a caller whose time does not grow by theirs. */
function freeSteps(
  { own, kept, stretches, called }: Caller,
  { periodOf, steps }: { periodOf: ReadonlyMap<string, Period>; steps: ReadonlySet<string> },
): string[] {
  const found = [...called.keys()].filter((name) => steps.has(name))
  const isOfAll = (name: string) =>
    called.get(name)! >= NEARLY_ALL * own[periodOf.get(name)!].length
  if (own.some(({ length }) => length < 2) || !found.every(isOfAll)) return []
  const [before, after] = [BEFORE, AFTER].map((period) => {
    const { mean, variance, count } = capped(kept[period])
    const ofStretches = moments(
      Array.from(
        rollup(
          kept[period].keys(),
          (rows) => capped(rows.map((i) => kept[period][i]!)).mean,
          (i) => stretches[period][i]!,
        ).values(),
      ),
    )
    const error = Math.max(variance / count, ofStretches.variance / ofStretches.count)
    return { mean, error, coveredUs: mean - capped(own[period]).mean }
  }) as [Level, Level]
  const longerUs = after.mean - before.mean
  const added = longerUs / (after.coveredUs - before.coveredUs)
  const isSure = Math.abs(longerUs) > SURE * Math.sqrt(before.error + after.error)
  return isSure && added >= MOST && added <= 1 / MOST ? [] : found
}

/**
 * Names of spans of clients whose services record none of these in one period: of those whose calls
 * arrive all the same, or that called several, and of all services at once.
 */
function clientsOfOnePeriod(
  { periods, period, recordedIn, shapeOf, spanRows, spanOffsets }: FlowSet,
  shapes: ReadonlyMap<number, Named>,
): ReadonlySet<string> {
  const none = (): [number, number] => [0, 0]
  const newClients = () => ({ names: new Set<string>(), spans: none() })
  const clients = new Map<string, ReturnType<typeof newClients>>()
  // By caller: calls to other services that have no span of a client.
  const direct = new Map<string, [number, number]>()
  for (let request = 0; request < shapeOf.length; request++) {
    const traces = periods[recordedIn[request]!]
    if (traces?.kind !== 'spans' || spanRows === undefined || spanOffsets === undefined) continue
    const { names, services, tree } = shapes.get(shapeOf[request]!)!
    const [of, first] = [period[request] as Period, spanOffsets[request]!]
    const isClient = (span: number) => traces.spans.kind[spanRows[first + span]!] === CLIENT
    for (let span = 0; span < tree.size; span++) {
      const [service, parent] = [services[span]!, tree.parent[span]!]
      if (isClient(span)) {
        const own = getOrInsert(clients, service, newClients)
        own.names.add(names[span]!)
        own.spans[of]++
      } else if (parent >= 0 && services[parent] !== service && !isClient(parent)) {
        getOrInsert(direct, services[parent]!, none)[of]++
      }
    }
  }
  type Of = readonly [service: string, own: ReturnType<typeof newClients>]
  const isKnown = ([, { spans }]: Of) => Math.max(...spans) >= MIN_TAIL
  const isGone = ([, { spans }]: Of) => Math.min(...spans) <= NEGLIGIBLE * Math.max(...spans)
  const areSeveral = (some: readonly Of[]) =>
    new Set(some.flatMap(([, { names }]) => [...names])).size >= MIN_SEVERAL
  const known = [...clients].filter(isKnown)
  const areAll = known.every(isGone) && areSeveral(known)
  const found = [...clients].filter(isGone).filter((one) => {
    const [service, { spans }] = one
    const [has, lacks] = spans[AFTER] > spans[BEFORE] ? [AFTER, BEFORE] : [BEFORE, AFTER]
    const arriving = direct.get(service) ?? [0, 0]
    const isArriving = arriving[lacks] >= MIN_TAIL + arriving[has]
    return areAll || (isKnown(one) && (areSeveral([one]) || isArriving))
  })
  return new Set(found.flatMap(([, { names }]) => [...names]))
}

/** Whether calls of one period only were there in the other, too: uncovered, or one level lower. */
function isOfRecording(
  { own, without, lifted, called }: Caller,
  periodOf: ReadonlyMap<string, Period>,
): boolean {
  const periods = new Set(Array.from(called.keys(), (name) => periodOf.get(name)!))
  const [has] = periods
  if (has === undefined || periods.size > 1 || own.some(({ length }) => length < 2)) return false
  const there = capped(own[has])
  const other = capped(own[has === BEFORE ? AFTER : BEFORE])
  const error = Math.sqrt(there.variance / there.count + other.variance / other.count)
  return [without, lifted].some((times) => {
    const alone = capped(times[has]).mean
    const coveredUs = alone - there.mean
    return other.mean - there.mean > SURE * error && Math.abs(other.mean - alone) <= coveredUs / 2
  })
}

/**
 * Finds lost and new operations of a service that a caller calls in the same turn, equally often, and that cover
 * equally much of its time: names that stand in several turns make these one.
 */
function renamesIn(
  { own, turns }: Caller,
  {
    counted,
    periodOf,
  }: { counted: ReadonlyMap<string, Counted>; periodOf: ReadonlyMap<string, Period> },
): Two<string[]>[] {
  if (own.some(({ length }) => length < 2)) return []
  let joined: Map<string, number[]>[] = []
  for (const turn of turns) {
    const [same, others] = divided(joined, (one) => [...turn.keys()].some((name) => one.has(name)))
    const all = new Map<string, number[]>()
    for (const [name, us] of [...same, turn].flatMap((one) => [...one])) {
      getOrInsert(all, name, () => []).push(...us)
    }
    joined = [...others, all]
  }
  return joined.flatMap((turn): Two<string[]>[] => {
    const of = (period: Period) => [...turn.keys()].filter((name) => periodOf.get(name) === period)
    const pair = [of(BEFORE), of(AFTER)] as const
    if (pair.some(({ length }) => length === 0)) return []
    if (new Set(pair.flat().map((name) => counted.get(name)!.service)).size > 1) return []
    const us = pair.map((names) => names.flatMap((name) => turn.get(name)!))
    const isAlike = ([was, is]: readonly number[]) =>
      Math.abs(is! - was!) <= PART * Math.max(was!, is!)
    const shares = us.map(({ length }, period) => length / own[period]!.length)
    return isAlike(shares) && isAlike(us.map((each) => capped(each).mean)) ? [pair] : []
  })
}

/** Moments of times, the slowest hundredth cut. */
function capped(times: readonly number[]) {
  const sorted = Float64Array.from(times).sort()
  const most = quantile(sorted, 1 - SLOWEST)
  return moments(sorted.map((time) => Math.min(most, time)))
}
