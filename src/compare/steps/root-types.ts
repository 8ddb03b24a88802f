// Runs once a shape: the loops index with `!`.
import { group, rollups, sum } from 'd3-array'
import { remembered } from '../../core/remembered.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { FoldedFlows } from '../../flows/fold/folded-flows.ts'
import { areFromSpans, readTimesNs } from '../../flows/span-tree.ts'
import type { Operation } from './call-order.ts'
import { allVisits, type ShapeVisits } from './visits.ts'

/** Which type each request is of. */
export interface RootTypes {
  /** Service and operation of the root, without its host; of a catch-all, also what it calls. */
  readonly names: readonly string[]
  /** Number of each request's type. */
  readonly typeOf: Uint32Array
}

/** A root operation that this share of requests begin with may stand for several types. */
const MIN_CATCH_ALL = 0.9
/** Calls after a common one tell types apart only if this share of requests makes one of them. */
const MIN_GOING = 0.95
/** A call that this share of requests makes does not tell types apart. */
const MADE_BY_ALL = 0.99

/**
 * Tells types of requests apart by service and operation of the root; where nearly all requests
 * begin alike, as at a gateway, by the first call that not all of them make. Calls that come in
 * either order are as one.
 */
export const rootTypes = remembered((given: FlowSet): RootTypes => {
  const flows = given instanceof FoldedFlows ? given.unfolded : given
  const catchAll = catchAllRoot(flows)
  const numbers = new Map<string, number>()
  const ofShape = new Int32Array(flows.shapes.size).fill(-1)
  const typeOf = flows.shapeOf.map((shape) => {
    if (ofShape[shape]! < 0) {
      const [root, call] = [rootName(flows, shape), catchAll?.callOf.get(shape)]
      const calling = call === null ? `${root} that ends before` : `${root} → ${call}`
      const name = call === undefined ? root : calling
      if (!numbers.has(name)) numbers.set(name, numbers.size)
      ofShape[shape] = numbers.get(name)!
    }
    return ofShape[shape]!
  })
  return { names: [...numbers.keys()], typeOf }
})

function rootName({ shapes, labels }: FlowSet, shape: number): string {
  const { service, operation } = labels.get(shapes.labels(shape)[0]!)
  return service === '' ? operation : `${service} ${operation}`
}

/** Types of requests behind one root operation. */
export interface CatchAllRoot {
  /** Calls that requests of all types make first, named as by `callName`. */
  readonly common: ReadonlySet<string>
  /** Call that tells the type of each shape with this root; `null` if it ends before. */
  readonly callOf: ReadonlyMap<number, string | null>
}

/**
 * Returns the types of requests behind a root operation that nearly all requests begin with, or
 * `null` where there is no such root, or a single type.
 *
 * @param flows not folded
 */
export function catchAllRoot(flows: FlowSet): CatchAllRoot | null {
  if (!areFromSpans(flows)) return null
  const sample = new Map<number, number>()
  const requests = new Map<number, number>()
  for (const [request, shape] of flows.shapeOf.entries()) {
    requests.set(shape, (requests.get(shape) ?? 0) + 1)
    if (!sample.has(shape)) sample.set(shape, request)
  }
  for (const [, own] of group(sample.keys(), (shape) => rootName(flows, shape))) {
    if (sum(own, (shape) => requests.get(shape)!) < MIN_CATCH_ALL * flows.size) continue
    const visits = allVisits(flows)
    const routes = own.map((shape) => {
      const calls = calledBy(visits.get(shape)!, flows.latencies(sample.get(shape)!))
      return { shape, requests: requests.get(shape)!, calls }
    })
    return firstDistinctCalls(routes)
  }
  return null
}

export function callName({ service, operation }: Operation): string {
  return `${service} ${operation}`
}

/** What the first service calls, in the order of one request of the shape. */
function calledBy({ tree, visits, operations }: ShapeVisits, latencies: Float64Array): string[] {
  const times = new Float64Array(2 * tree.size)
  // A snapshot may carry the latencies of some requests only.
  if (latencies.length >= tree.from.length) readTimesNs(tree, latencies, times)
  return visits[0]!.calls
    .toSorted((a, b) => times[2 * a.span]! - times[2 * b.span]!)
    .map(({ span, service, called }) =>
      callName({ service, operation: operations[called[0] ?? span]! }),
    )
}

/** Calls of the first service in requests of one shape. */
interface Route {
  readonly shape: number
  readonly requests: number
  readonly calls: readonly string[]
}

function firstDistinctCalls(routes: readonly Route[]): CatchAllRoot | null {
  const common = new Set<string>()
  for (;;) {
    const rest = routes.map((route) => ({
      ...route,
      calls: route.calls.filter((call) => !common.has(call)),
    }))
    const going = rest.filter(({ calls }) => calls.length > 0)
    if (going.length === 0) return null
    const classOf = classesOf(going)
    const count = (some: readonly Route[]) => sum(some, ({ requests }) => requests)
    const classes = rollups(going, count, ({ calls }) => classOf(calls[0]!))
    const [usual, most] = classes.sort(([, a], [, b]) => b - a)[0]!
    if (most < MADE_BY_ALL * count(going)) {
      const isOptional = common.size > 0 && count(going) < MIN_GOING * count(rest)
      if (isOptional) return null
      const callOf = rest.map(
        ({ shape, calls: [call] }) => [shape, call === undefined ? null : classOf(call)] as const,
      )
      return { common, callOf: new Map(callOf) }
    }
    for (const { calls } of going) {
      for (const call of calls) if (classOf(call) === usual) common.add(call)
    }
  }
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
