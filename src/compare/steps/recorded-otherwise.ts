// Runs once a span of a request: the loops index with `!`.
import { group } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { TIME } from '../../core/quantity.ts'
import { remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { areFromSpans, coveredNs, NS, readTimesNs } from '../../flows/span-tree.ts'
import { moments } from '../../stats/moments.ts'
import { quantile } from '../../stats/quantile.ts'
import { allVisits, callName, type Operation, type ShapeVisits } from './visits.ts'

/** An operation with spans in one period only, while what calls it is recorded in both and takes as long. */
export interface RecordedOnce extends Operation {
  /** Period that has its spans, and how many. */
  readonly period: Period
  readonly spans: number
  /** Whether its service has no spans at all in the other period. */
  readonly isWhole: boolean
  /** What it is called after, where only its name changed. */
  readonly renamed: string | null
}

/** What is recorded in one period only, though it is done in both. */
export interface RecordedOtherwise {
  readonly operations: readonly RecordedOnce[]
  /** Names of these, and of what calls them: what they call cannot be compared. */
  readonly names: ReadonlySet<string>
  readonly callers: ReadonlySet<string>
  /** Callers whose own work these calls cover in one period only. */
  readonly uncovered: ReadonlySet<string>
}

/** An operation is of one period if the other has no more than this share of its spans. */
const MAX_IN_OTHER = 0.01
export const MIN_SPANS = 20
/** A change of a mean by fewer standard errors is none. */
const SURE = 3
/** Names that stand for each other differ by no more than this in how often they occur, and how long they take. */
export const MAX_APART = 0.25
const SLOWEST = 0.01

type Two<T> = readonly [before: T, after: T]

interface Named extends ShapeVisits {
  readonly names: readonly string[]
}

/** Uncovered times of spans, in µs: by all they call; without what is of one period; by what that calls instead. */
interface Caller {
  readonly own: Two<number[]>
  readonly without: Two<number[]>
  readonly lifted: Two<number[]>
  /** Spans of one period that they call. */
  readonly called: Map<string, number>
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
    if (Math.max(...spans) < MIN_SPANS) continue
    if (spans[AFTER] <= MAX_IN_OTHER * spans[BEFORE]) periodOf.set(name, BEFORE)
    if (spans[BEFORE] <= MAX_IN_OTHER * spans[AFTER]) periodOf.set(name, AFTER)
  }
  const renamed = new Map<string, string>()
  let callers = new Map<string, Caller>()
  for (let known = -1; known < renamed.size; ) {
    known = renamed.size
    if (periodOf.size === 0) break
    callers = collectCallers(flows, shapes, { periodOf, renamed })
    for (const caller of callers.values()) {
      const [was, is] = renameIn(caller, { counted, periodOf }) ?? []
      if (was !== undefined && is !== undefined) renamed.set(was, is)
    }
  }
  const once = [...callers].filter(([, caller]) => isOfRecording(caller, periodOf))
  const passing = new Map(once)
  const names = new Set([...renamed.keys(), ...renamed.values()])
  for (let known = -1; known < names.size; ) {
    known = names.size
    for (const name of periodOf.keys()) {
      const [within, all] = [...callers].reduce(
        ([own, sum], [caller, { called }]) => {
          const spans = called.get(name) ?? 0
          return [own + (passing.has(caller) || names.has(caller) ? spans : 0), sum + spans]
        },
        [0, 0],
      )
      if (all > 0 && within > all / 2) names.add(name)
    }
  }
  const ofService = group(counted.values(), ({ service }) => service)
  const operations = [...names].flatMap((name): RecordedOnce | [] => {
    const { service, operation, spans } = counted.get(name)!
    const period = periodOf.get(name)!
    if ([...renamed.values()].includes(name)) return []
    const isWhole = ofService.get(service)!.every((one) => one.spans[1 - period] === 0)
    const now = renamed.get(name)
    return {
      service,
      operation,
      period,
      spans: spans[period],
      isWhole,
      renamed: now === undefined ? null : counted.get(now)!.operation,
    }
  })
  return {
    operations,
    names,
    callers: new Set(passing.keys()),
    uncovered: new Set(once.flatMap(([name, { isUncovered }]) => (isUncovered ? name : []))),
  }
})

/** What requests of each shape do, by `callName`. */
export const namedShapes = remembered(
  (flows: FlowSet): ReadonlyMap<number, Named> =>
    new Map(
      Array.from(allVisits(flows), ([shape, visits]) => {
        const names = visits.operations.map((operation, span) =>
          callName({ service: visits.visitOf[span]!.service, operation }),
        )
        return [shape, { ...visits, names }]
      }),
    ),
)

type Counted = Operation & { readonly spans: [number, number] }

function countSpans(flows: FlowSet, shapes: ReadonlyMap<number, Named>): Map<string, Counted> {
  const requests = new Map<number, [number, number]>()
  flows.shapeOf.forEach((shape, request) => {
    const own = requests.get(shape) ?? [0, 0]
    own[flows.period[request] as Period]++
    requests.set(shape, own)
  })
  const counted = new Map<string, Counted>()
  for (const [shape, [before, after]] of requests) {
    const { names, operations, visitOf } = shapes.get(shape)!
    names.forEach((name, span) => {
      const service = visitOf[span]!.service
      const one = counted.get(name) ?? { service, operation: operations[span]!, spans: [0, 0] }
      one.spans[BEFORE] += before
      one.spans[AFTER] += after
      counted.set(name, one)
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
  }: { periodOf: ReadonlyMap<string, Period>; renamed: ReadonlyMap<string, string> },
): Map<string, Caller> {
  const nameNow = (name: string) => renamed.get(name) ?? name
  const wanted = new Set<string>()
  for (const { names, tree } of shapes.values()) {
    names.forEach((name, span) => {
      const parent = tree.parent[span]!
      if (parent >= 0 && periodOf.has(name)) wanted.add(nameNow(names[parent]!))
    })
  }
  const callers = new Map<string, Caller>()
  let times = new Float64Array(64)
  for (let request = 0; request < flows.size; request++) {
    const { tree, names, visitOf } = shapes.get(flows.shapeOf[request]!)!
    const latencies = flows.latencies(request)
    // A snapshot may carry the latencies of some requests only.
    if (latencies.length < tree.from.length) continue
    if (!names.some((name) => wanted.has(nameNow(name)))) continue
    if (times.length < 2 * tree.size) times = new Float64Array(4 * tree.size)
    readTimesNs(tree, latencies, times)
    const period = flows.period[request] as Period
    const childrenOf = (span: number) => {
      const [first, end] = [tree.firstChild[span]!, tree.firstChild[span + 1]!]
      return Array.from({ length: end - first }, (_, i) => first + i)
    }
    const isOnce = (span: number) => periodOf.has(names[span]!)
    const lift = (span: number): number[] =>
      childrenOf(span).flatMap((child) => (isOnce(child) ? lift(child) : child))
    for (let span = 0; span < tree.size; span++) {
      const name = nameNow(names[span]!)
      if (!wanted.has(name) || flows.outcomes?.failed(request, span)) continue
      const caller = callers.get(name) ?? newCaller()
      callers.set(name, caller)
      const children = childrenOf(span)
      const [start, end] = [times[2 * span]!, times[2 * span + 1]!]
      const uncovered = (by: readonly number[]) =>
        (end - start - coveredNs(times, by, start, end)) / NS
      const ownUs = uncovered(children)
      const hasOnce = children.some(isOnce)
      caller.own[period].push(ownUs)
      caller.without[period].push(
        hasOnce ? uncovered(children.filter((child) => !isOnce(child))) : ownUs,
      )
      caller.lifted[period].push(hasOnce ? uncovered(lift(span)) : ownUs)
      for (const child of children) {
        if (!isOnce(child)) continue
        const { entry, spans } = visitOf[child]!
        caller.called.set(names[child]!, 1 + (caller.called.get(names[child]!) ?? 0))
        if (child === entry || !spans.includes(child)) caller.isUncovered = true
      }
    }
  }
  return callers
}

function newCaller(): Caller {
  const two = (): Two<number[]> => [[], []]
  return { own: two(), without: two(), lifted: two(), called: new Map(), isUncovered: false }
}

/** Whether what a caller calls in one period only was there in the other: uncovered, or one level lower. */
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

/** One operation gone and one come of a service, called as often, that cover as much of the caller's time. */
function renameIn(
  { own, without, called }: Caller,
  {
    counted,
    periodOf,
  }: { counted: ReadonlyMap<string, Counted>; periodOf: ReadonlyMap<string, Period> },
): Two<string> | null {
  const [was, is] = [BEFORE, AFTER].map((period) =>
    [...called.keys()].filter((name) => periodOf.get(name) === period),
  ) as [string[], string[]]
  if (was.length !== 1 || is.length !== 1 || own.some(({ length }) => length < 2)) return null
  const pair = [was[0]!, is[0]!] as const
  if (counted.get(pair[0])!.service !== counted.get(pair[1])!.service) return null
  const share = (period: Period) => called.get(pair[period])! / own[period].length
  const coveredUs = (period: Period) => capped(without[period]).mean - capped(own[period]).mean
  const isAlike = (of: (period: Period) => number) =>
    Math.abs(of(AFTER) - of(BEFORE)) <= MAX_APART * Math.max(of(AFTER), of(BEFORE))
  return isAlike(share) && isAlike(coveredUs) ? pair : null
}

/** Moments of times, the slowest hundredth cut. */
function capped(times: readonly number[]) {
  const sorted = Float64Array.from(times).sort()
  const most = quantile(sorted, 1 - SLOWEST)
  return moments(sorted.map((time) => Math.min(most, time)))
}

/**
 * Tells of a request whose calls were lost: of which its trace has the called side apart, though the
 * caller is recorded. `undefined` where nothing was recorded apart.
 */
export const lostCalls = remembered((flows: FlowSet) => {
  const shapes = namedShapes(flows)
  const rootOf = (request: number) => shapes.get(flows.shapeOf[request]!)!.names[0]!
  // Of traces in several parts alone, where their parts begin: by each of these requests.
  const partsOf = new Map<number, Set<string>>()
  const firstIn = new Map<number, Map<string, number>>()
  flows.ids.forEach((id, request) => {
    const requests = getOrInsert(firstIn, flows.recordedIn[request]!, () => new Map())
    const first = requests.get(id)
    if (first === undefined) requests.set(id, request)
    else {
      const parts = getOrInsert(partsOf, first, () => new Set([rootOf(first)]))
      partsOf.set(request, parts.add(rootOf(request)))
    }
  })
  const callsOf = new Map<string, Set<string>>()
  const add = (caller: string, called: string) =>
    getOrInsert(callsOf, caller, () => new Set()).add(called)
  for (const { visits, names, tree } of shapes.values()) {
    for (let span = 1; span < tree.size; span++) add(names[tree.parent[span]!]!, names[span]!)
    for (const { spans, calls } of visits) {
      for (const called of calls.flatMap((call) => call.called)) {
        for (const span of spans) add(names[span]!, names[called]!)
      }
    }
  }
  return (request: number): ((caller: string) => boolean) | undefined => {
    const parts = partsOf.get(request)
    if (parts === undefined || parts.size < 2) return undefined
    return (caller) => {
      const calls = callsOf.get(caller)
      return calls !== undefined && [...parts].some((root) => calls.has(root))
    }
  }
})

/** Share of each period's spans whose caller's span was lost: so many of all are, if at random. */
export const lostSpans = remembered((flows: FlowSet): Two<number> => {
  const lost: [number, number] = [0, 0]
  const spans: [number, number] = [0, 0]
  const shapes = namedShapes(flows)
  const called = new Set<string>()
  for (const { names } of shapes.values()) for (const name of names.slice(1)) called.add(name)
  for (let request = 0; request < flows.size; request++) {
    const period = flows.period[request] as Period
    const { names } = shapes.get(flows.shapeOf[request]!)!
    spans[period] += names.length
    if (called.has(names[0]!)) lost[period]++
  }
  return [lost[BEFORE] / Math.max(1, spans[BEFORE]), lost[AFTER] / Math.max(1, spans[AFTER])]
})
