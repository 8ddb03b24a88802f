// Runs once a request and span of a shape: the loops index with `!`.
import { group, rollup, sum } from 'd3-array'
import { type Named, namedShapes } from '../../calls/visits.ts'
import { getOrInsert } from '../../core/entries.ts'
import { remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet, type Period, type Rename } from '../../flows/flow-set.ts'
import { callName, type Operation } from '../../flows/node-labels.ts'
import { areFromSpans } from '../../flows/span-tree.ts'
import type { AttributeValue } from '../../traces/attributes.ts'
import {
  MAX_APART,
  MAX_IN_OTHER,
  MIN_OF_ALL,
  MIN_RENAMED,
  MIN_SPANS,
} from './recorded-otherwise.ts'

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
function wholeOfShapes(flows: FlowSet, period: Period): Map<Named, number> {
  const requests = new Uint32Array(flows.shapes.size)
  flows.shapeOf.forEach((shape, request) => {
    if (flows.period[request] === period && !flows.isPart(request)) requests[shape]!++
  })
  const found = [...namedShapes(flows)].map(([shape, named]) => [named, requests[shape]!] as const)
  return new Map(found.filter(([, count]) => count > 0))
}

interface RootOf extends Omit<RootCalls, 'operation'> {
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
function oneForSeveral<Root extends RootOf>(
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

type Wholes = ReadonlyMap<Named, number>

/** An operation of one recording. */
interface Recorded extends Operation {
  readonly name: string
  readonly spans: number
}

interface OperationCalls extends RootOf, Operation {
  /** Names of operations that lead to it, or that it leads to. */
  readonly way: ReadonlySet<string>
}

/** Attributes with the same value in nearly all spans of an operation, by its name. */
type Said = ReadonlyMap<string, ReadonlyMap<string, AttributeValue>>

/** Names that hold ids make thousands: those with the most spans are looked at. */
const MAX_NAMES = 200
/** Number of spans that show the properties of all. */
const MAX_ASKED = 200

/**
 * Finds operations that have another name after. Their callees may be renamed, too: a callee counts by its service
 * alone until its former name is known.
 */
export const renamedOperations = remembered((flows: FlowSet): Rename[] => {
  if (!areFromSpans(flows)) return []
  const wholes = [wholeOfShapes(flows, BEFORE), wholeOfShapes(flows, AFTER)] as const
  const recorded = [operationsOf(wholes[BEFORE]), operationsOf(wholes[AFTER])] as const
  const onlyIn = (period: Period) =>
    [...recorded[period].values()].filter(({ name, spans }) => {
      const others = recorded[period === BEFORE ? AFTER : BEFORE].get(name)?.spans ?? 0
      return others <= MAX_IN_OTHER * spans
    })
  let [gone, come] = [onlyIn(BEFORE), onlyIn(AFTER)]
  const ofServiceOf = (others: readonly Recorded[]) => {
    const services = new Set(others.map(({ service }) => service))
    return ({ service, spans }: Recorded) => spans >= MIN_RENAMED && services.has(service)
  }
  const most = (own: readonly Recorded[]) =>
    [...own].sort((a, b) => b.spans - a.spans).slice(0, MAX_NAMES)
  gone = most(gone.filter(ofServiceOf(come)))
  come = most(come.filter(ofServiceOf(gone)))
  if (gone.length === 0) return []
  const said = [saidBy(flows, BEFORE), saidBy(flows, AFTER)] as const
  const nowCalled = new Map(
    [...gone, ...come].map((one) => [one.name, callName({ ...one, operation: UNKNOWN })]),
  )
  const renamed = new Map<string, string>()
  for (let known = -1; known < renamed.size; ) {
    known = renamed.size
    const before = callsOf(gone, { wholes: wholes[BEFORE], all: recorded[BEFORE], nowCalled })
    const after = callsOf(come, { wholes: wholes[AFTER], all: recorded[AFTER], nowCalled })
    const pairs = renamesBetween(before, after, (...pair) => saySame(pair, { recorded, said }))
    for (const [was, is] of pairs) {
      renamed.set(was.name, is.operation)
      for (const { name } of [was, is]) nowCalled.set(name, is.name)
      gone = gone.filter(({ name }) => name !== was.name)
      come = come.filter(({ name }) => name !== is.name)
    }
  }
  const [before, after] = [gone, come].map((own, period) =>
    callsOf(own, { wholes: wholes[period as Period], all: recorded[period]!, nowCalled }),
  ) as [OperationCalls[], OperationCalls[]]
  for (const [one, several] of oneForSeveral(before, after)) {
    for (const { name } of several) renamed.set(name, one.operation)
  }
  // Callers come first.
  return recorded.flatMap((own) =>
    Array.from(own.values()).flatMap(({ name, service, operation }) => {
      const now = renamed.get(name)
      return now === undefined ? [] : { service, operation, renamed: now }
    }),
  )
})

function operationsOf(wholes: Wholes): Map<string, Recorded> {
  const found = new Map<string, Recorded & { spans: number }>()
  for (const [{ names, services, operations }, requests] of wholes) {
    names.forEach((name, span) => {
      const newOne = () => ({
        name,
        service: services[span]!,
        operation: operations[span]!,
        spans: 0,
      })
      getOrInsert(found, name, newOne).spans += requests
    })
  }
  return found
}

function callsOf(
  own: readonly Recorded[],
  {
    wholes,
    all,
    nowCalled,
  }: {
    wholes: Wholes
    all: ReadonlyMap<string, Recorded>
    nowCalled: ReadonlyMap<string, string>
  },
): OperationCalls[] {
  const nameNow = (name: string) => nowCalled.get(name) ?? name
  const newOne = () => ({
    calls: new Counts(),
    around: new Counts(),
    way: new Set<string>(),
    callers: new Set<string>(),
    isFirst: false,
  })
  const found = new Map(own.map(({ name }) => [name, newOne()]))
  for (const [{ names, tree }, requests] of wholes) {
    const calls = names.map((name) => (found.has(name) ? new Set<string>() : null))
    names.forEach((name, span) => {
      const one = found.get(name)
      const callers = new Set<string>()
      let isCalled = false
      for (let up = tree.parent[span]!; up >= 0; up = tree.parent[up]!) {
        const above = names[up]!
        calls[up]?.add(nameNow(name))
        found.get(above)?.way.add(name)
        if (one === undefined) continue
        // If the caller was itself recorded in one period only, its number of calls says nothing.
        if (!isCalled && !found.has(above)) one.callers.add(above)
        isCalled ||= !found.has(above)
        callers.add(nameNow(above))
        one.way.add(above)
      }
      if (one !== undefined && !isCalled) one.isFirst = true
      for (const caller of callers) one?.around.add(caller, requests)
    })
    names.forEach((name, span) => {
      for (const call of calls[span] ?? []) found.get(name)!.calls.add(call, requests)
    })
  }
  const requests = sum(wholes.values())
  return own.map(({ name, service, operation, spans }) => {
    const { calls, around, way, callers, isFirst } = found.get(name)!
    const chances = (isFirst ? requests : 0) + sum(callers, (caller) => all.get(caller)!.spans)
    return {
      service,
      operation,
      name,
      requests: spans,
      share: spans / chances,
      calls: calls.shares(spans),
      around: around.shares(spans),
      way,
    }
  })
}

function saidBy(flows: FlowSet, period: Period): Said {
  const { periods, recordedIn, shapeOf, spanRows, spanOffsets } = flows
  const asked = new Map<string, { spans: number; said: Map<string, Map<AttributeValue, number>> }>()
  const shapes = namedShapes(flows)
  for (let request = 0; spanRows && spanOffsets && request < flows.size; request++) {
    const traces = periods[recordedIn[request]!]
    if (flows.period[request] !== period || traces?.kind !== 'spans') continue
    shapes.get(shapeOf[request]!)!.names.forEach((name, span) => {
      const one = getOrInsert(asked, name, () => ({ spans: 0, said: new Map() }))
      if (one.spans === MAX_ASKED) return
      one.spans++
      for (const [key, value] of traces.attributes.entries(
        spanRows[spanOffsets[request]! + span]!,
      )) {
        const values = getOrInsert(one.said, key, () => new Map<AttributeValue, number>())
        values.set(value, 1 + (values.get(value) ?? 0))
      }
    })
  }
  return new Map(
    Array.from(asked, ([name, { spans, said }]) => {
      const ofAll = Array.from(said, ([key, values]) => {
        const most = [...values].find(([, count]) => count >= MIN_OF_ALL * spans)
        return most === undefined ? [] : [[key, most[0]] as const]
      })
      return [name, new Map(ofAll.flat())]
    }),
  )
}

/** Whether two operations say the same of themselves, as no other does but those on their way, and nothing else. */
function saySame(
  pair: readonly [OperationCalls, OperationCalls],
  {
    recorded,
    said,
  }: {
    recorded: readonly [ReadonlyMap<string, Recorded>, ReadonlyMap<string, Recorded>]
    said: readonly [Said, Said]
  },
): boolean {
  const [was, is] = pair
  const [says, now] = [said[BEFORE].get(was.name), said[AFTER].get(is.name)]
  if (!says || !now || !areAlike(was.around, is.around)) return false
  const both = [...says.keys()].filter((key) => now.has(key))
  const same = both.filter((key) => says.get(key) === now.get(key))
  const othersOf = (period: number) =>
    [...recorded[period]!.values()].filter(({ name }) => name !== pair[period]!.name)
  // Values that changed for a whole service, such as its version, do not distinguish its operations.
  const isOfService = (key: string) =>
    pair.every(({ name, service }, period) => {
      const values = othersOf(period)
        .filter((one) => one.service === service)
        .flatMap((one) => said[period]!.get(one.name)?.get(key) ?? [])
      const own = said[period]!.get(name)!.get(key)
      return values.length > 0 && values.every((value) => value === own)
    })
  const isOther = (period: number) =>
    othersOf(period).some(
      ({ name }) =>
        !was.way.has(name) &&
        !is.way.has(name) &&
        same.every((key) => said[period]!.get(name)?.get(key) === says.get(key)),
    )
  return (
    same.length > 0 &&
    both.every((key) => same.includes(key) || isOfService(key)) &&
    ![BEFORE, AFTER].some(isOther)
  )
}
