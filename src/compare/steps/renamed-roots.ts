// Runs once a span of a request: the loops index with `!`.
import { sum } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { areFromSpans } from '../../flows/span-tree.ts'
import { MAX_APART, MIN_SPANS, namedShapes } from './recorded-otherwise.ts'
import type { Operation } from './visits.ts'

/** Requests of one recording that begin with an operation. */
export interface RootCalls extends Operation {
  /** By `callName`. */
  readonly name: string
  readonly requests: number
  /** Of all requests. */
  readonly share: number
  /** Share of them that make a call, by `callName`. */
  readonly calls: ReadonlyMap<string, number>
}

/** What whole requests of a period begin with, and call. */
export function callsOfRoots(flows: FlowSet, period: Period): RootCalls[] {
  if (!areFromSpans(flows)) return []
  const shapes = namedShapes(flows)
  const roots = new Map<string, Operation & { requests: number; calls: Map<string, number> }>()
  let all = 0
  flows.shapeOf.forEach((shape, request) => {
    if (flows.period[request] !== period || flows.isPart(request)) return
    const { names, operations, visitOf } = shapes.get(shape)!
    const [operation, { service }] = [operations[0]!, visitOf[0]!]
    const newRoot = () => ({ service, operation, requests: 0, calls: new Map<string, number>() })
    const root = getOrInsert(roots, names[0]!, newRoot)
    root.requests++
    all++
    for (const name of new Set(names)) root.calls.set(name, 1 + (root.calls.get(name) ?? 0))
  })
  return Array.from(roots, ([name, { requests, calls, ...operation }]) => {
    calls.delete(name)
    const shares = Array.from(calls, ([call, count]) => [call, count / requests] as const)
    return { ...operation, name, requests, share: requests / all, calls: new Map(shares) }
  })
}

type RootOf = Omit<RootCalls, 'operation'>

/**
 * Pairs roots of one recording only that stand for each other: of the same service, as many requests, which
 * call the same, and no other is.
 */
export function renamesBetween<Root extends RootOf>(
  before: readonly Root[],
  after: readonly Root[],
): (readonly [was: Root, is: Root])[] {
  const onlyOf = (own: readonly Root[], others: readonly Root[]) => {
    const known = new Set(others.flatMap(({ name, calls }) => [name, ...calls.keys()]))
    return own.filter(({ name, requests }) => requests >= MIN_SPANS && !known.has(name))
  }
  const gone = onlyOf(before, after).filter(({ calls }) => calls.size > 0)
  const pairs = gone.flatMap((was) =>
    onlyOf(after, before)
      .filter((is) => standsFor(was, is))
      .map((is) => [was, is] as const),
  )
  return pairs.filter(
    ([was, is]) => pairs.filter((pair) => pair[0] === was || pair[1] === is).length === 1,
  )
}

function standsFor(was: RootOf, is: RootOf): boolean {
  if (was.service !== is.service) return false
  const shares = [...new Set([...was.calls.keys(), ...is.calls.keys()])].map((name) => [
    was.calls.get(name) ?? 0,
    is.calls.get(name) ?? 0,
  ])
  const most = sum(shares, (pair) => Math.max(...pair))
  const apart = most - sum(shares, (pair) => Math.min(...pair))
  const isAsMany = Math.abs(is.share - was.share) <= MAX_APART * Math.max(was.share, is.share)
  return isAsMany && apart <= MAX_APART * most
}

/** Root operations that are called otherwise after. */
export const renamedRoots = remembered((flows: FlowSet) =>
  renamesBetween(callsOfRoots(flows, BEFORE), callsOfRoots(flows, AFTER)).map(
    ([{ service, operation }, is]) => ({ service, operation, renamed: is.operation }),
  ),
)
