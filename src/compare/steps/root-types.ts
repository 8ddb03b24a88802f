// Runs once a shape: the loops index with `!`.

import { group, groups, sum } from 'd3-array'
import { spanTimes } from '../../calls/span-times.ts'
import {
  allVisits,
  callsOf,
  type MadeCall,
  operationAt,
  requestsOfShapes,
} from '../../calls/visits.ts'
import { remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { callName } from '../../flows/node-labels.ts'
import { areFromSpans } from '../../flows/span-tree.ts'
import { twoProportionsTest } from '../../stats/two-proportions.ts'
import { isTestable } from '../../stats/two-sample.ts'
import { ALL, NEARLY_ALL, SURE_LEVEL } from '../thresholds.ts'
import { recordedOtherwise } from './recorded-otherwise.ts'

export interface RootTypes {
  /**
   * Service and operation of the root, without its host; if it has several types, also the call that distinguishes
   * them.
   */
  readonly names: readonly string[]
  readonly typeOf: Uint32Array
  /** Types of requests that end before they show theirs, one a root. */
  readonly unknown: ReadonlySet<number>
}

/**
 * Types of requests by service and operation of the root, and by the first call below it that not all
 * make, as behind a gateway or of GraphQL. Calls in either order are as one.
 */
export const rootTypes = remembered((given: FlowSet): RootTypes => {
  const flows = recordedFlows(given)
  const { callOf } = rootCalls(flows)
  const numbers = new Map<string, number>()
  const ofShape = new Int32Array(flows.shapes.size).fill(-1)
  const unknown = new Set<number>()
  const typeOf = flows.shapeOf.map((shape) => {
    if (ofShape[shape]! < 0) {
      const [root, call] = [rootName(flows, shape), callOf.get(shape)]
      const calling = call === null ? `${root} that ends before` : `${root} → ${call}`
      const name = call === undefined ? root : calling
      if (!numbers.has(name)) numbers.set(name, numbers.size)
      ofShape[shape] = numbers.get(name)!
      if (call === null) unknown.add(ofShape[shape]!)
    }
    return ofShape[shape]!
  })
  return { names: [...numbers.keys()], typeOf, unknown }
})

/** Whether a type of requests from spans has enough of them: their steps are tested, whatever categories are. */
export function hasTestableType(flows: FlowSet): boolean {
  if (!areFromSpans(recordedFlows(flows))) return false
  const { names, typeOf } = rootTypes(flows)
  const counts = names.map((): [number, number] => [0, 0])
  typeOf.forEach((type, request) => {
    counts[type]![flows.period[request]!]!++
  })
  return counts.some(([before, after]) => isTestable(before, after))
}

export function rootName({ shapes, labels }: FlowSet, shape: number): string {
  const { service, operation } = labels.get(shapes.labels(shape)[0]!)
  return service === '' ? operation : `${service} ${operation}`
}

export interface RootCalls {
  /** For each root with several types, by `callName`, the calls that distinguish them. */
  readonly telling: ReadonlyMap<string, ReadonlySet<string>>
  /** If nearly all requests begin with one root: calls that all its types make first. */
  readonly common: ReadonlySet<string>
  /**
   * For each shape whose root has several types: the call that tells its type, `null` if the request ends before it.
   */
  readonly callOf: ReadonlyMap<number, string | null>
}

/**
 * Separates calls that depend on the request from calls that a service chooses. After a chosen call, requests go on as
 * most do (a cache that misses), or the call occurs in one period only. Calls common to all from the root on lead to a
 * choice, but the first call may have decided.
 */
export const rootCalls = remembered((flows: FlowSet): RootCalls => {
  const telling = new Map<string, ReadonlySet<string>>()
  const callOf = new Map<number, string | null>()
  let common: ReadonlySet<string> = new Set()
  if (!areFromSpans(flows)) return { telling, common, callOf }
  const sample = new Map<number, number>()
  for (const [request, shape] of flows.shapeOf.entries()) {
    if (!sample.has(shape)) sample.set(shape, request)
  }
  const requests = requestsOfShapes(flows)
  const visits = allVisits(flows)
  const { through } = recordedOtherwise(flows)
  const callsAt = (shape: number, span: number): Route => {
    const own = visits.get(shape)!
    const times = spanTimes(flows).of(sample.get(shape)!)
    // A snapshot may carry the latencies of some requests only.
    const startOf = ({ span }: MadeCall) => times[2 * span] ?? 0
    const made = callsOf(own, span, (one) => through.has(callName(operationAt(own, one)))).sort(
      (a, b) => startOf(a) - startOf(b),
    )
    const calls = made.map(({ callee }) => callName(callee))
    return {
      shape,
      requests: requests.get(shape)!,
      calls,
      next: made[0]?.called[0] ?? made[0]?.span ?? span,
    }
  }
  const rootOf = (shape: number) => callName(operationAt(visits.get(shape)!, 0))
  for (const [root, shapes] of group(sample.keys(), rootOf)) {
    const routes = shapes.map((shape) => callsAt(shape, 0))
    const first = firstDistinctCalls(routes, count(routes) >= NEARLY_ALL * flows.size)
    if (first.callOf !== null) telling.set(root, first.telling)
    if (first.callOf !== null && first.common.size > 0) common = first.common
    let found = first.callOf
    for (let on = routes; found === null; ) {
      const way = on[0]!.calls[0]
      const going = on.filter(({ calls }) => calls.length === 1 && calls[0] === way)
      if (way === undefined || count(going) < ALL * count(on)) break
      on = going.map(({ shape, next }) => callsAt(shape, next))
      found = firstDistinctCalls(on, false).callOf
    }
    if (found === null) continue
    for (const shape of shapes) callOf.set(shape, found.get(shape) ?? null)
  }
  return { telling, common, callOf }
})

interface Route {
  readonly shape: number
  readonly requests: readonly [before: number, after: number]
  /** In the order of one request of the shape. */
  readonly calls: readonly string[]
  /** Node that the first call leads to. */
  readonly next: number
}

/** @param isCatchAll whether calls after those that all make may tell types apart, too */
function firstDistinctCalls(given: readonly Route[], isCatchAll: boolean) {
  const common = new Set<string>()
  const none = new Set<string>()
  for (let routes = given; ; ) {
    const rest = routes.map((route) => ({
      ...route,
      calls: route.calls.filter((call) => !common.has(call)),
    }))
    const going = rest.filter(({ calls }) => calls.length > 0)
    if (going.length === 0) return { common, telling: none, callOf: null }
    const classOf = classesOf(going)
    const classes = groups(going, ({ calls }) => classOf(calls[0]!)).sort(
      ([, a], [, b]) => count(b) - count(a),
    )
    const add = (name: string) => {
      for (const { calls } of going)
        for (const call of calls) if (classOf(call) === name) common.add(call)
    }
    const [usual, ownUsual] = classes[0]!
    const detours = classes.filter(([name, own]) => name !== usual && isDetour(own, ownUsual))
    const ofOnePeriod = [...new Set(going.map(({ calls }) => calls[0]!))]
      .map((call) => [call, going.filter(({ calls }) => calls.includes(call))] as const)
      .filter(([, own]) => isOfOnePeriod(own, rest))
    if (detours.length + ofOnePeriod.length > 0) {
      for (const [name] of detours) add(name)
      for (const [call] of ofOnePeriod) common.add(call)
      const apart = new Set(ofOnePeriod.flatMap(([, own]) => own.map(({ shape }) => shape)))
      const others = rest.filter(({ shape }) => !apart.has(shape))
      routes = others.length > 0 ? others : rest
    } else if (count(ownUsual) >= ALL * count(going)) {
      add(usual)
    } else {
      const isFirst = common.size === 0
      const isOptional =
        !(isCatchAll && isFirst) &&
        (!(isCatchAll || isFirst) || count(going) < NEARLY_ALL * count(rest))
      const callOf = rest.map(
        ({ shape, calls: [call] }) => [shape, call === undefined ? null : classOf(call)] as const,
      )
      const telling = new Set(going.map(({ calls }) => calls[0]!))
      return { common, telling, callOf: isOptional ? null : new Map(callOf) }
    }
  }
}

function count(routes: readonly Route[], period?: typeof BEFORE | typeof AFTER): number {
  return sum(routes, ({ requests }) => (period === undefined ? sum(requests) : requests[period]))
}

/** Whether requests go the usual ways once they have made calls that these never make. */
function isDetour(routes: readonly Route[], usual: readonly Route[]): boolean {
  const known = new Set(usual.flatMap(({ calls }) => calls))
  const ways = new Set(usual.map(({ calls }) => calls.join()))
  const isUsual = ({ calls }: Route) => ways.has(calls.filter((call) => known.has(call)).join())
  return count(routes.filter(isUsual)) >= ALL * count(routes)
}

/** Whether only one of two periods has requests of a kind, by more than chance. */
function isOfOnePeriod(own: readonly Route[], all: readonly Route[]): boolean {
  const [x1, x2] = [count(own, BEFORE), count(own, AFTER)]
  const [n1, n2] = [count(all, BEFORE), count(all, AFTER)]
  if (n1 === 0 || n2 === 0) return false
  const isIn = Math.min(x1 / n1, x2 / n2) > (1 - ALL) * Math.max(x1 / n1, x2 / n2)
  return !isIn && twoProportionsTest(x1, n1, x2, n2).p < SURE_LEVEL
}

/** Names each first call; those that come in either order have one name. */
function classesOf(routes: readonly Route[]): (call: string) => string {
  const firsts = [...new Set(routes.map(({ calls }) => calls[0]!))].sort()
  const later = new Map(firsts.map((call) => [call, new Set<string>()]))
  for (const { calls } of routes) for (const call of calls) later.get(calls[0]!)!.add(call)
  const names = new Map(firsts.map((call) => [call, call]))
  for (const a of firsts) {
    for (const b of firsts) {
      if (!later.get(a)!.has(b) || !later.get(b)!.has(a)) continue
      const [kept, gone] = [names.get(a)!, names.get(b)!]
      for (const [call, name] of names) if (name === gone) names.set(call, kept)
    }
  }
  return (call) => names.get(call) ?? call
}
