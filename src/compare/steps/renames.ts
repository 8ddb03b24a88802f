// Runs once a request and span of a shape: the loops index with `!`.

import { greatest, group, rollup, sum } from 'd3-array'
import { type Named, namedShapes } from '../../calls/visits.ts'
import { addTo, countBy, divided, getOrInsert } from '../../core/entries.ts'
import { remembered } from '../../core/remembered.ts'
import { spoken } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period, type Rename } from '../../flows/flow-set.ts'
import { stripIds } from '../../flows/label-parts.ts'
import { callName, type Operation } from '../../flows/node-labels.ts'
import { areFromSpans } from '../../flows/span-tree.ts'
import type { AttributeValue } from '../../traces/attributes.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import { SPAN_KINDS, type SpanTraceColumns } from '../../traces/span-columns.ts'
import { SpanTraces } from '../../traces/span-traces.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import {
  MAX_KEPT,
  MIN_KNOWN,
  MIN_SEEN,
  MIN_TAIL,
  MOST,
  NEARLY_ALL,
  NEGLIGIBLE,
  PART,
} from '../thresholds.ts'

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
const UNKNOWN = '?'

class Counts extends Map<string, number> {
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
    return own.filter(({ name, requests }) => requests >= MIN_SEEN && !known.has(name))
  }
  const come = onlyOf(after, before)
  const pairs = onlyOf(before, after).flatMap((was) =>
    come.flatMap((is) => (is.service === was.service ? [[was, is] as const] : [])),
  )
  const aloneOf = (some: typeof pairs) => {
    const times = countBy(some.flat(), (one) => one)
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
      own.filter((one) => one.service === service && one.requests >= MIN_SEEN),
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
  if (Math.min(was.requests, is.requests) < MIN_TAIL) return false
  const isKnown = [...was.calls.keys()].some((name) => !name.endsWith(` ${UNKNOWN}`))
  const isAsMany = Math.abs(is.share - was.share) <= PART * Math.max(was.share, is.share)
  return isKnown && isAsMany && areAlike(was.calls, is.calls) && areAlike(was.around, is.around)
}

function areAlike(was: RootCalls['calls'] = new Map(), is: RootCalls['calls'] = new Map()) {
  const shares = [...new Set([...was.keys(), ...is.keys()])].map((name) => [
    was.get(name) ?? 0,
    is.get(name) ?? 0,
  ])
  const most = sum(shares, (pair) => Math.max(...pair))
  const apart = most - sum(shares, (pair) => Math.min(...pair))
  return apart <= PART * most
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
      return others <= NEGLIGIBLE * spans
    })
  let [gone, come] = [onlyIn(BEFORE), onlyIn(AFTER)]
  const ofServiceOf = (others: readonly Recorded[]) => {
    const services = new Set(others.map(({ service }) => service))
    return ({ service, spans }: Recorded) => spans >= MIN_SEEN && services.has(service)
  }
  const most = (own: readonly Recorded[]) =>
    [...own].sort((a, b) => b.spans - a.spans).slice(0, MAX_KEPT)
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
      if (one.spans === MAX_KEPT) return
      one.spans++
      for (const [key, value] of traces.attributes.entries(
        spanRows[spanOffsets[request]! + span]!,
      )) {
        const values = getOrInsert(one.said, key, () => new Map<AttributeValue, number>())
        addTo(values, value, 1)
      }
    })
  }
  return new Map(
    Array.from(asked, ([name, { spans, said }]) => {
      const ofAll = Array.from(said, ([key, values]) => {
        const most = [...values].find(([, count]) => count >= NEARLY_ALL * spans)
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

/** Attributes that name an operation whatever the name of its span: the last of each list, with its context. */
const NAMING = [
  ['http.route'],
  ['url.template'],
  ['rpc.service', 'rpc.method'],
  ['db.query.summary'],
  ['messaging.destination.template'],
]
const METHODS = ['http.request.method', 'http.method']
/** The method that a name begins with. */
const VERB = /^(?:GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH)(?= )/
/** The placeholder of an id, as in templates of routes. */
const ID = '{id}'
/** Sets parts of a name apart, and is kept. */
const PARTS = /([/ ])/
/** A part of a template of a route: `{cart}`, `:cart`, `<int:cart>`, `*`. */
const TEMPLATE = /^(?:\{.*\}|:\w+|<.*>|\*+|#|\$\w+)$/

/** Spans of a service and kind with the same name and the same attributes that name operations. */
interface Spelled {
  /** Order among all. */
  readonly order: number
  readonly service: string
  readonly operation: string
  readonly method: string
  /** Values of `NAMING`; `undefined` for none. */
  readonly said: readonly (string | undefined)[]
  /** Number of spans, before and after. */
  readonly spans: [number, number]
  /** Common name in both periods; `null` while it keeps its own. */
  renamed: string | null
}

type Periods = readonly [runs: readonly TraceSet[], after: TraceSet]

interface Renamed {
  readonly periods: Periods
  readonly renames: readonly Rename[]
}

/**
 * Gives operations one name in both periods if their spans have another name in one, or names that contain ids: that of
 * an attribute (`http.route` …), else the common part of their names without ids. A service's spans of one kind keep
 * their names where these are those of the other period.
 */
export function withCommonNames([runs, after]: Periods): Renamed {
  const recordings = [...runs, after].filter((traces) => traces.kind === 'spans')
  const unchanged = { periods: [runs, after] as const, renames: [] }
  if (recordings.length <= runs.length) return unchanged
  const periodOf = (traces: SpanTraces) => (traces === after ? AFTER : BEFORE)
  const asked = kindsApart(recordings, periodOf)
  if (asked.size === 0) return unchanged
  const groups = new Map<string, Map<string, Spelled>>()
  let order = 0
  const namedOf = new Map(
    recordings.map((traces) => {
      const readers = NAMING.map((names) => names.map((name) => traces.attributes.reader(name)))
      const methods = METHODS.flatMap((name) => traces.attributes.reader(name) ?? [])
      const { service, operation, kind } = traces.spans
      const found = Array.from(operation, (code, span): Spelled | null => {
        const own = traces.services.value(service[span]!)
        const group = groupOf(own, kind[span]!)
        if (!asked.has(group)) return null
        const name = traces.operations.value(code)
        const said = readers.map((own) => {
          const values = own.map((read) => read?.(span)?.toString() ?? '')
          return values.at(-1) === '' ? undefined : spoken(values).join('/')
        })
        const recorded = methods.map((read) => read(span)).find((one) => one !== undefined)
        const method = (recorded ?? VERB.exec(name)?.[0] ?? '').toString().toUpperCase()
        const members = getOrInsert(groups, group, () => new Map<string, Spelled>())
        const named = getOrInsert(members, JSON.stringify([name, method, said]), () => ({
          ...{ order: order++, service: own, operation: name, method, said, renamed: null },
          spans: [0, 0] as [number, number],
        }))
        named.spans[periodOf(traces)]++
        return named
      })
      return [traces as TraceSet, found] as const
    }),
  )
  // Callers come first.
  const renames = [...groups.values()]
    .flatMap((members) => renamesOf([...members.values()]))
    .sort((a, b) => a.order - b.order)
  if (renames.length === 0) return unchanged
  const renamed = (traces: TraceSet) => rename(traces, namedOf.get(traces) ?? [])
  return { periods: [runs.map(renamed), renamed(after)], renames }
}

function groupOf(service: string, kind: number): string {
  return `${SPAN_KINDS[kind]} ${service}`
}

/** Services and kinds of spans whose names are not those of the other period. */
function kindsApart(
  recordings: readonly SpanTraces[],
  periodOf: (traces: SpanTraces) => number,
): Set<string> {
  const counts = new Map<string, Map<string, [number, number]>>()
  for (const traces of recordings) {
    const { service, operation, kind } = traces.spans
    const period = periodOf(traces)
    const codes = new Map<number, [number, number]>()
    for (let span = 0; span < operation.length; span++) {
      const kinds = service[span]! * SPAN_KINDS.length + kind[span]!
      const of = getOrInsert(codes, kinds * traces.operations.size + operation[span]!, () => {
        const group = groupOf(traces.services.value(service[span]!), kind[span]!)
        const names = getOrInsert(counts, group, () => new Map<string, [number, number]>())
        const name = traces.operations.value(operation[span]!)
        return getOrInsert(names, name, (): [number, number] => [0, 0])
      })
      of[period]!++
    }
  }
  const apart = [...counts].filter(
    ([, names]) => inBoth(names.values()) && commonShare(names.values()) < NEARLY_ALL,
  )
  return new Set(apart.map(([group]) => group))
}

function inBoth(counts: Iterable<readonly [number, number]>): boolean {
  const all = [...counts]
  return [BEFORE, AFTER].every((period) => all.some((one) => one[period]! > 0))
}

/** Returns the share of the spans of both periods that have the same names, as often. */
function commonShare(counts: Iterable<readonly [number, number]>): number {
  const all = [...counts]
  const [before, after] = [BEFORE, AFTER].map((period) => sum(all, (one) => one[period]!))
  return sum(all, ([was, is]) => Math.min(was / before!, is / after!))
}

/** Names what spans of one service and kind do in both periods, and lists the lost names. */
function renamesOf(members: readonly Spelled[]): (Rename & Pick<Spelled, 'order'>)[] {
  const renames: (Rename & Pick<Spelled, 'order'>)[] = []
  const isOpen = ({ renamed }: Spelled) => renamed === null
  const join = (own: readonly Spelled[], name: string) => {
    const names = new Set(own.map(({ operation }) => operation))
    const most = greatest(own, (one) => (one.operation === name ? -1 : sum(one.spans)))!
    for (const one of own) one.renamed = name
    names.delete(name)
    if (names.size === 0) return
    const { service, operation, order } = most
    renames.push({ service, operation, renamed: name, names: names.size, order })
  }
  for (const at of NAMING.keys()) {
    const known = members.filter((one) => isOpen(one) && one.said[at] !== undefined)
    for (const own of groupsOf(known, ({ said }) => said[at]!)) {
      const isOfMethods = own.every(({ method }) => method !== '')
      const parts = isOfMethods ? groupsOf(own, ({ method }) => method) : [own]
      for (const part of parts.filter(areApart)) {
        const { method, said } = part[0]!
        join(part, nameOf(part, isOfMethods ? `${method} ${said[at]}` : said[at]!))
      }
    }
  }
  for (const own of groupsOf(members.filter(isOpen), ({ operation }) => withoutIds(operation))) {
    if (areApart(own)) join(own, nameOf(own, withoutIds(own[0]!.operation)))
  }
  for (const [name, own] of templatesOf(members.filter(isOpen))) join(own, nameOf(own, name))
  return renames
}

function groupsOf(members: readonly Spelled[], keyOf: (one: Spelled) => string): Spelled[][] {
  return [...group(members, keyOf).values()]
}

/** Whether spans that are one operation are called otherwise in one period, or each by a rare name of its own. */
function areApart(own: readonly Spelled[]): boolean {
  const byName = rollup(
    own,
    (same) => [BEFORE, AFTER].map((period) => sum(same, ({ spans }) => spans[period]!)),
    ({ operation }) => operation,
  )
  const counts = [...byName.values()] as [number, number][]
  if (counts.length < 2) return false
  if (!inBoth(counts)) return counts.every((one) => sum(one) < MIN_TAIL)
  const common = counts.filter(
    (one) =>
      Math.min(...one) > NEGLIGIBLE * Math.max(...one) &&
      (counts.length < MIN_KNOWN || Math.min(...one) >= MIN_TAIL),
  )
  return [BEFORE, AFTER].some(
    (period) => sum(common, (one) => one[period]!) < MOST * sum(counts, (one) => one[period]!),
  )
}

/** Returns the only name after, or before; else a template of a route; else the common part of the names. */
function nameOf(own: readonly Spelled[], common: string): string {
  for (const period of [AFTER, BEFORE]) {
    const some = own.filter(({ spans }) => spans[period]! > 0)
    const names = new Set(some.map(({ operation }) => operation))
    if (names.size === 1) return some[0]!.operation
  }
  const isTemplate = ({ operation }: Spelled) =>
    operation.split(PARTS).some((one) => TEMPLATE.test(one))
  return greatest(own.filter(isTemplate), ({ spans }) => sum(spans))?.operation ?? common
}

/** Returns a name with `{id}` in place of templates, numbers and hashes; of parts of paths, all that have digits. */
function withoutIds(name: string): string {
  const parts = name.split(PARTS)
  return parts
    .map((part, i) => {
      if (TEMPLATE.test(part)) return ID
      if (!/\d/.test(part)) return part
      const stripped = stripIds(part)
      return parts[i - 1] === '/' || stripped === part ? ID : stripped.replaceAll('#', ID)
    })
    .join('')
}

/** Groups names whose parts have many rare values by their common parts: `GET /users/{id}`. */
function templatesOf(members: readonly Spelled[]): Map<string, Spelled[]> {
  const found = new Map<string, Spelled[]>()
  const partsOf = new Map(members.map((one) => [one, one.operation.split(PARTS)]))
  const countOf = (own: readonly Spelled[]) => sum(own, ({ spans }) => sum(spans))
  const visit = (some: readonly Spelled[], at: number, prefix: string, isTemplate: boolean) => {
    const [ended, open] = divided(some, (one) => partsOf.get(one)!.length <= at)
    if (isTemplate && ended.length > 0) found.set(prefix, ended)
    const children = group(open, (one) => partsOf.get(one)![at]!)
    const rare = [...children].filter(([, same]) => countOf(same) < MIN_TAIL)
    const own = rare.flatMap(([, same]) => same)
    const isId = prefix !== '' && rare.length >= MIN_KNOWN && countOf(own) > countOf(open) / 2
    if (isId) visit(own, at + 1, prefix + ID, true)
    for (const [part, same] of children) {
      if (isId && rare.some(([one]) => one === part)) continue
      visit(same, at + 1, prefix + part, isTemplate)
    }
  }
  visit(members, 0, '', false)
  return found
}

function rename(traces: TraceSet, named: readonly (Spelled | null)[]): TraceSet {
  if (traces.kind !== 'spans' || !named.some((one) => one !== null && one.renamed !== null))
    return traces
  const operations = new Dictionary([...traces.operations.values])
  const operation = traces.spans.operation.map((code, span) => {
    const name = named[span]?.renamed ?? null
    return name === null ? code : operations.code(name)
  })
  const columns = { ...traces, operations, spans: { ...traces.spans, operation } }
  return new SpanTraces(traces.name, columns, traces.quality())
}

/** Returns traces whose services or operations have other names, as those of the other period have. */
export function renameIn<Traces extends TraceSet>(
  traces: Traces,
  renames: readonly Rename[],
): Traces {
  if (traces.kind !== 'spans') return traces
  const known = new Map(
    renames.map(({ service, operation, renamed }) => [keyOf(service, operation), renamed]),
  )
  const { spans, services, operations, serviceLogs } = traces
  const renamed = ({ values }: Dictionary) =>
    new RenamedDictionary(values, (service) => known.get(keyOf(service)) ?? service)
  const named = new Dictionary([...operations.values])
  const codes = new Map<number, number>()
  const operation = spans.operation.map((code, span) => {
    const of = spans.service[span] as number
    return getOrInsert(codes, of * operations.size + code, () => {
      const recorded = operations.value(code)
      return named.code(known.get(keyOf(services.value(of), recorded)) ?? recorded)
    })
  })
  const columns: SpanTraceColumns = {
    ...traces,
    services: renamed(services),
    operations: named,
    spans: { ...spans, operation },
    serviceLogs: serviceLogs && { ...serviceLogs, services: renamed(serviceLogs.services) },
  }
  return new SpanTraces(traces.name, columns, traces.quality()) as Traces
}

/** Names that can be found as they were recorded, too. */
class RenamedDictionary extends Dictionary {
  readonly #recorded: ReadonlyMap<string, number>

  constructor(recorded: readonly string[], renamed: (recorded: string) => string) {
    super(recorded.map(renamed))
    this.#recorded = new Map(recorded.map((value, code) => [value, code]))
  }

  override find(value: string): number | undefined {
    return super.find(value) ?? this.#recorded.get(value)
  }
}

function keyOf(service: string, operation: string | null = null): string {
  return JSON.stringify([service, operation])
}
