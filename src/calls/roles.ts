// Runs once a span or edge of a request: the loops index with `!`.
import { getOrInsert } from '../core/entries.ts'
import { memoized, remembered } from '../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet } from '../flows/flow-set.ts'
import { place } from '../flows/node-labels.ts'
import { areFromSpans, NS } from '../flows/span-tree.ts'
import { CriticalPathFinder } from './critical-path.ts'
import { spanTimes } from './span-times.ts'
import { allVisits, type ShapeVisits } from './visits.ts'

/** Work or a call that takes some of a request's time. */
export interface Role {
  /** Work of a service, or a call: the way to another service and back, with that service where it recorded nothing. */
  readonly kind: 'work' | 'call'
  /** The service that works, or that is called. */
  readonly service: string
  /** The service that calls it; `null` for where requests begin. */
  readonly caller: string | null
  /** The operation; for trace points, both ends of the edge. */
  readonly operation: string
}

/** Mean times of a request in each role along its path, in µs; they add up to the mean response time. */
export interface RoleMeans {
  readonly roles: readonly Role[]
  readonly beforeUs: Float64Array
  readonly afterUs: Float64Array
  /** When a role's time on the path begins, since its request did: the order of the walk. */
  readonly startUs: Float64Array
}

/**
 * Averages over whole requests, each as often as it counts, whose latencies are known.
 *
 * @param options.omitHosts whether no role is at a host: trace points have no service then
 * @param isWanted of which requests; without it, of all
 */
export function roleMeans(
  flows: FlowSet,
  { omitHosts }: { omitHosts: boolean },
  isWanted?: Wanted,
): RoleMeans {
  return isWanted ? readMeans(flows, omitHosts, isWanted) : meansOf(flows)(omitHosts)
}

/** Whether a request counts. */
export type Wanted = (request: number) => boolean

const meansOf = remembered((flows: FlowSet) =>
  memoized((omitHosts: boolean) => readMeans(flows, omitHosts)),
)

function readMeans(flows: FlowSet, omitHosts: boolean, isWanted: Wanted = () => true): RoleMeans {
  const { roles, timesOf } = roleTimes(flows, omitHosts)
  const sums = [BEFORE, AFTER].map(() => new Float64Array(roles.length))
  const counts = [0, 0]
  const [starts, times] = [new Float64Array(roles.length), new Float64Array(roles.length)]
  for (let request = 0; request < flows.size; request++) {
    if (flows.isPart(request) || !hasTimes(flows, request) || !isWanted(request)) continue
    const period = flows.period[request]!
    const weight = flows.countOf(request)
    const own = sums[period]!
    counts[period]! += weight
    timesOf(request, (role, us, startUs) => {
      own[role]! += weight * us
      starts[role]! += weight * startUs
      times[role]! += weight
    })
  }
  const [beforeUs, afterUs] = sums.map((own, period) =>
    own.map((us) => us / Math.max(1, counts[period]!)),
  ) as [Float64Array, Float64Array]
  const startUs = starts.map((us, role) => us / (times[role]! || 1))
  return { roles, beforeUs, afterUs, startUs }
}

/**
 * Returns the roles that occur, and the times of a request along its path, with when each began since the request did:
 * these add up to its response time.
 */
function roleTimes(flows: FlowSet, omitHosts: boolean) {
  const { roles, ofShape } = rolesByShape(flows, omitHosts)
  const spans = areFromSpans(flows) ? spanTimes(flows) : null
  const finder = new CriticalPathFinder(flows)
  const timesOf = (request: number, see: (role: number, us: number, startUs: number) => void) => {
    const of = ofShape.get(flows.shapeOf[request]!)!
    if (spans === null) {
      for (const { edge, us, startUs } of finder.path(request)) see(of[edge]!, us, startUs)
      return
    }
    const [onPathNs, atNs] = [spans.onPath(request), spans.of(request)]
    for (let span = 0; span < onPathNs.length; span++) {
      if (onPathNs[span] !== 0) see(of[span]!, onPathNs[span]! / NS, atNs[2 * span]! / NS)
    }
  }
  return { roles, timesOf }
}

/** Whether the latencies of a request are known: a snapshot may carry those of some only. */
export function hasTimes({ latencyOffsets, shapes, shapeOf }: FlowSet, request: number): boolean {
  const known = latencyOffsets[request + 1]! - latencyOffsets[request]!
  return known === shapes.edgeCount(shapeOf[request]!)
}

/** Returns the roles that occur, and of each shape those of its spans, or of its edges between trace points. */
export function rolesByShape(flows: FlowSet, omitHosts: boolean) {
  const numbers = new Map<string, number>()
  const roles: Role[] = []
  const numberOf = (role: Role) => {
    const { kind, service, caller, operation } = role
    const key = JSON.stringify([kind, service, caller, operation])
    return getOrInsert(numbers, key, () => roles.push(role) - 1)
  }
  const visits = areFromSpans(flows) ? allVisits(flows) : null
  const ofShape = new Map<number, Uint32Array>()
  for (const shape of new Set(flows.shapeOf)) {
    const own =
      visits === null ? rolesOfEdges(flows, shape, omitHosts) : rolesOfSpans(visits.get(shape)!)
    ofShape.set(shape, Uint32Array.from(own, numberOf))
  }
  return { roles, ofShape }
}

function rolesOfSpans({ visitOf, operations }: ShapeVisits): Role[] {
  return visitOf.map(({ service: own, caller, calls }, span): Role => {
    const call = calls.find((one) => one.span === span && one.isWay)
    if (call === undefined) {
      const operation = operations[span]!
      return { kind: 'work', service: own, caller: caller?.service ?? null, operation }
    }
    const { service, operation } = call
    return { kind: 'call', service, caller: own, operation }
  })
}

/** Roles of the edges between trace points: work in one place, or a call of another. */
function rolesOfEdges({ shapes, labels }: FlowSet, shape: number, omitHosts: boolean): Role[] {
  const codes = shapes.labels(shape)
  const to = shapes.to(shape)
  return Array.from(shapes.from(shape), (source, edge): Role => {
    const from = labels.get(codes[source]!)
    const target = labels.get(codes[to[edge]!]!)
    const operation = `${from.operation} → ${target.operation}`
    const [caller, service] = omitHosts
      ? [from.service, target.service]
      : [place(from), place(target)]
    if (caller === service) return { kind: 'work', service, caller: null, operation }
    return { kind: 'call', service, caller, operation }
  })
}
