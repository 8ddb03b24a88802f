// Runs once a span of a request: the loops index with `!`.

import { sum } from 'd3-array'
import { namedShapes, requestsOfShapes } from '../../calls/visits.ts'
import { addTo, getOrInsert } from '../../core/entries.ts'
import { memoized, remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { twoProportionsTest } from '../../stats/two-proportions.ts'
import { LEVEL } from '../thresholds.ts'

/**
 * Returns a test for lost calls of a request: calls whose called side, or whose own calls, appear separately in its
 * trace, although the caller is recorded. `undefined` if the trace has no separate parts.
 */
export const lostCalls = remembered((flows: FlowSet) => {
  const shapes = namedShapes(flows)
  const namesOf = (request: number) => shapes.get(flows.shapeOf[request]!)!.names
  // Requests of traces that consist of several parts.
  const partsOf = new Map<number, number[]>()
  const firstIn = new Map<number, Map<string, number>>()
  flows.ids.forEach((id, request) => {
    const requests = getOrInsert(firstIn, flows.recordedIn[request]!, () => new Map())
    const first = requests.get(id)
    if (first === undefined) requests.set(id, request)
    else {
      const parts = getOrInsert(partsOf, first, () => [first])
      parts.push(request)
      partsOf.set(request, parts)
    }
  })
  const callersOf = new Map<string, Set<string>>()
  // A span within the work of another may be lost itself; its calls then appear separately, too.
  const aroundOf = new Map<string, Set<string>>()
  const add = (known: typeof callersOf, caller: string, called: string) =>
    getOrInsert(known, called, () => new Set()).add(caller)
  for (const { visits, names, tree } of shapes.values()) {
    for (let span = 1; span < tree.size; span++) {
      add(callersOf, names[tree.parent[span]!]!, names[span]!)
    }
    for (const { spans, calls } of visits) {
      const own = [...spans, ...calls.flatMap(({ span, called }) => [span, ...called])]
      for (const span of spans) {
        for (const one of own) if (one > span) add(aroundOf, names[span]!, names[one]!)
      }
    }
  }
  const lackingIn = memoized((parts: readonly number[]): ReadonlySet<string> => {
    const roots = new Set(parts.map((request) => namesOf(request)[0]!))
    if (roots.size < 2) return new Set()
    const present = new Set(parts.flatMap((request) => namesOf(request)))
    const lacking = new Set([...roots].flatMap((root) => [...(aroundOf.get(root) ?? [])]))
    const pending = new Set(roots)
    for (const called of pending) {
      for (const caller of callersOf.get(called) ?? []) {
        lacking.add(caller)
        if (!present.has(caller)) pending.add(caller)
      }
    }
    return lacking
  })
  return (request: number): ((caller: string) => boolean) | undefined => {
    const parts = partsOf.get(request)
    if (parts === undefined) return undefined
    const lacking = lackingIn(parts)
    return lacking.size === 0 ? undefined : (caller) => lacking.has(caller)
  }
})

/** Whether spans of a request's trace were lost, so missing calls are unknown. */
export const lostSome = remembered((flows: FlowSet) => {
  const traceOf = (request: number) => `${flows.recordedIn[request]} ${flows.ids[request]}`
  const parts = [...flows.ids.keys()].filter((request) => flows.isPart(request))
  const traces = new Set(parts.map(traceOf))
  return (request: number): boolean => traces.size > 0 && traces.has(traceOf(request))
})

type Shares = readonly [before: number, after: number]

/** Share of the spans of a service, or of all, that were lost in each period. */
export interface LostShares {
  readonly all: Shares
  /** Whether more were lost in one period than in the other. */
  readonly differ: boolean
  readonly ofService: ReadonlyMap<string, Shares>
}

/**
 * Estimates the share of lost spans from separate parts. Over all spans: the share whose caller's span was lost, which
 * equals the share of lost spans if losses are random. For a service: the share among the calls of its spans.
 */
export const lostShares = remembered((flows: FlowSet): LostShares => {
  const shapes = namedShapes(flows)
  const requests = requestsOfShapes(flows)
  const callers = new Map<string, Map<string, number>>()
  const all = { called: [0, 0] as [number, number], apart: [0, 0] as [number, number] }
  const ofService = new Map<string, typeof all>()
  const add = (service: string, what: keyof typeof all, counts: Shares, share = 1) => {
    const own = getOrInsert(ofService, service, (): typeof all => ({
      called: [0, 0],
      apart: [0, 0],
    }))
    for (const period of [BEFORE, AFTER]) own[what][period]! += share * counts[period]
  }
  for (const [shape, counts] of requests) {
    const { names, services, tree } = shapes.get(shape)!
    for (let span = 0; span < tree.size; span++) {
      for (const period of [BEFORE, AFTER] as const) all.called[period] += counts[period]
      if (span === 0) continue
      const caller = services[tree.parent[span]!]!
      add(caller, 'called', counts)
      const of = getOrInsert(callers, names[span]!, () => new Map<string, number>())
      addTo(of, caller, counts[BEFORE] + counts[AFTER])
    }
  }
  for (const [shape, counts] of requests) {
    const of = callers.get(shapes.get(shape)!.names[0]!)
    if (of === undefined) continue
    for (const period of [BEFORE, AFTER] as const) all.apart[period] += counts[period]
    const total = sum(of.values())
    for (const [caller, count] of of) add(caller, 'apart', counts, count / total)
  }
  const shareOf = (apart: Shares, among: (period: Period) => number): Shares => [
    apart[BEFORE] / Math.max(1, among(BEFORE)),
    apart[AFTER] / Math.max(1, among(AFTER)),
  ]
  const { apart, called } = all
  return {
    all: shareOf(all.apart, (period) => all.called[period]),
    differ:
      twoProportionsTest(apart[BEFORE], called[BEFORE], apart[AFTER], called[AFTER]).p < LEVEL,
    ofService: new Map(
      Array.from(ofService, ([service, { called, apart }]) => [
        service,
        shareOf(apart, (period) => called[period] + apart[period]),
      ]),
    ),
  }
})
