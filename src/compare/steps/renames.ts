// Runs once a request and span of a shape: the loops index with `!`.
import { group, rollup, sum } from 'd3-array'
import { type Named, namedShapes } from '../../calls/visits.ts'
import { getOrInsert } from '../../core/entries.ts'
import { remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet, type Period, type Rename } from '../../flows/flow-set.ts'
import type { Operation } from '../../flows/node-labels.ts'
import { areFromSpans } from '../../flows/span-tree.ts'
import { MAX_APART, MIN_RENAMED, MIN_SPANS } from './recorded-otherwise.ts'

/** Requests of one recording that begin with an operation. */
export interface RootCalls extends Operation {
  /** By `callName`. */
  readonly name: string
  readonly requests: number
  /** Share of all requests. */
  readonly share: number
  /** Share of them that make a call, by `callName`. */
  readonly calls: ReadonlyMap<string, number>
}

/** Operation of a call of which only the service is known. */
export const UNKNOWN = '?'

export class Counts extends Map<string, number> {
  add(name: string, requests: number): void {
    this.set(name, requests + (this.get(name) ?? 0))
  }

  shares(of: number): ReadonlyMap<string, number> {
    return new Map(Array.from(this, ([name, count]) => [name, count / of]))
  }
}

/** Returns the operations that whole requests of a period begin with, and their calls. */
export function callsOfRoots(flows: FlowSet, period: Period): RootCalls[] {
  if (!areFromSpans(flows)) return []
  const roots = new Map<string, Operation & { requests: number; calls: Counts }>()
  const whole = wholeOfShapes(flows, period)
  for (const [{ names, operations, visitOf }, requests] of whole) {
    const [operation, { service }] = [operations[0]!, visitOf[0]!]
    const newRoot = () => ({ service, operation, requests: 0, calls: new Counts() })
    const root = getOrInsert(roots, names[0]!, newRoot)
    root.requests += requests
    for (const name of new Set(names)) root.calls.add(name, requests)
  }
  const all = sum(whole.values())
  return Array.from(roots, ([name, { requests, calls, ...operation }]) => {
    calls.delete(name)
    return { ...operation, name, requests, share: requests / all, calls: calls.shares(requests) }
  })
}

/** Counts the whole requests of a period by shape. */
export function wholeOfShapes(flows: FlowSet, period: Period): Map<Named, number> {
  const requests = new Uint32Array(flows.shapes.size)
  flows.shapeOf.forEach((shape, request) => {
    if (flows.period[request] === period && !flows.isPart(request)) requests[shape]!++
  })
  const found = [...namedShapes(flows)].map(([shape, named]) => [named, requests[shape]!] as const)
  return new Map(found.filter(([, count]) => count > 0))
}

export interface RootOf extends Omit<RootCalls, 'operation'> {
  /** Share of them in which others call it, or are called, by operation. */
  readonly around?: ReadonlyMap<string, number>
}

/** Returns the calls of services in requests of a period, as if each service were the root. */
function callsOfServices(flows: FlowSet, period: Period): RootOf[] {
  if (!areFromSpans(flows)) return []
  const newService = () => ({ requests: 0, calls: new Counts(), around: new Counts() })
  const services = new Map<string, ReturnType<typeof newService>>()
  const whole = wholeOfShapes(flows, period)
  for (const [{ visits, operations }, requests] of whole) {
    const ofServices = rollup(
      visits,
      (own) => ({
        calls: new Set(own.flatMap(({ spans }) => spans.map((span) => operations[span]!))),
        around: new Set(
          own.flatMap(({ caller, calls }) => [
            ...(caller === null ? [] : [`by ${operations[caller.entry]}`]),
            ...calls.map(({ span, called: [one = span] }) => operations[one]!),
          ]),
        ),
      }),
      ({ service }) => service,
    )
    for (const [service, { calls, around }] of ofServices) {
      const known = getOrInsert(services, service, newService)
      known.requests += requests
      for (const call of calls) known.calls.add(call, requests)
      for (const call of around) known.around.add(call, requests)
    }
  }
  const all = sum(whole.values())
  return Array.from(services, ([name, { requests, calls, around }]) => ({
    service: '',
    name,
    requests,
    share: requests / all,
    calls: calls.shares(requests),
    around: around.shares(requests),
  }))
}

/**
 * Pairs roots of one recording only that stand for each other: of the same service, as many requests, which
 * call the same, and no other is; or of which `isSame` knows.
 */
export function renamesBetween<Root extends RootOf>(
  before: readonly Root[],
  after: readonly Root[],
  isSame: (was: Root, is: Root) => boolean = () => false,
): (readonly [was: Root, is: Root])[] {
  const onlyOf = (own: readonly Root[], others: readonly Root[]) => {
    const known = new Set(others.flatMap(({ name, calls }) => [name, ...calls.keys()]))
    return own.filter(({ name, requests }) => requests >= MIN_RENAMED && !known.has(name))
  }
  const come = onlyOf(after, before)
  const pairs = onlyOf(before, after).flatMap((was) =>
    come.flatMap((is) => (is.service === was.service ? [[was, is] as const] : [])),
  )
  const aloneOf = (some: typeof pairs) => {
    const times = rollup(
      some.flat(),
      (own) => own.length,
      (one) => one,
    )
    return some.filter((pair) => pair.every((one) => times.get(one) === 1))
  }
  const same = aloneOf(pairs.filter((pair) => isSame(...pair)))
  const paired = new Set(same.flat())
  const others = pairs.filter((pair) => !pair.some((one) => paired.has(one)))
  return [...same, ...aloneOf(others.filter((pair) => standsFor(...pair)))]
}

/**
 * Finds of each service the one name of a recording that stands for all names of the other, as they come
 * after it went: `[one, several]`.
 */
export function oneForSeveral<Root extends RootOf>(
  before: readonly Root[],
  after: readonly Root[],
): (readonly [one: Root, several: readonly Root[]])[] {
  const services = group([...before, ...after], ({ service }) => service)
  return [...services.keys()].flatMap((service) => {
    const [gone, come] = [before, after].map((own) =>
      own.filter((one) => one.service === service && one.requests >= MIN_RENAMED),
    ) as [Root[], Root[]]
    return [
      { some: gone, others: come },
      { some: come, others: gone },
    ].flatMap(({ some: [one, ...more], others }) => {
      const isOne = one !== undefined && more.length === 0 && others.length > 1
      return isOne && standsFor(one, together(others)) ? [[one, others] as const] : []
    })
  })
}

/** Merges operations as if they had one name. */
function together(own: readonly RootOf[]): RootOf {
  const [{ name, service }] = own as readonly [RootOf]
  const requests = sum(own, (one) => one.requests)
  const mean = (sharesOf: (one: RootOf) => ReadonlyMap<string, number> | undefined) => {
    const counts = new Counts()
    for (const one of own) {
      for (const [key, share] of sharesOf(one) ?? []) counts.add(key, share * one.requests)
    }
    return counts.shares(requests)
  }
  return {
    name,
    service,
    requests,
    share: sum(own, ({ share }) => share),
    calls: mean(({ calls }) => calls),
    around: mean(({ around }) => around),
  }
}

function standsFor(was: RootOf, is: RootOf): boolean {
  if (Math.min(was.requests, is.requests) < MIN_SPANS) return false
  const isKnown = [...was.calls.keys()].some((name) => !name.endsWith(` ${UNKNOWN}`))
  const isAsMany = Math.abs(is.share - was.share) <= MAX_APART * Math.max(was.share, is.share)
  return isKnown && isAsMany && areAlike(was.calls, is.calls) && areAlike(was.around, is.around)
}

export function areAlike(was: RootCalls['calls'] = new Map(), is: RootCalls['calls'] = new Map()) {
  const shares = [...new Set([...was.keys(), ...is.keys()])].map((name) => [
    was.get(name) ?? 0,
    is.get(name) ?? 0,
  ])
  const most = sum(shares, (pair) => Math.max(...pair))
  const apart = most - sum(shares, (pair) => Math.min(...pair))
  return apart <= MAX_APART * most
}

/** Services that are called otherwise after: the same operations, called by and calling the same. */
export const renamedServices = remembered((flows: FlowSet): Rename[] =>
  renamesBetween(callsOfServices(flows, BEFORE), callsOfServices(flows, AFTER)).map(
    ([was, is]) => ({ service: was.name, operation: null, renamed: is.name }),
  ),
)
