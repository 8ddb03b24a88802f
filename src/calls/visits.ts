// Runs once a span of a shape: the loops index with `!`.
import { rollup } from 'd3-array'
import { getOrInsert } from '../core/entries.ts'
import { remembered } from '../core/remembered.ts'
import type { FlowSet } from '../flows/flow-set.ts'
import { callName, type Operation, operationOf, place } from '../flows/node-labels.ts'
import { messageReceivers, messageSenders, type SpanTree, spanTree } from '../flows/span-tree.ts'
import { CLIENT, SERVER } from '../traces/span-columns.ts'
import { unrecordedCallees } from './unrecorded-callees.ts'

export interface OutgoingCall {
  /** Span at the caller; the called span itself where the caller recorded none. */
  readonly span: number
  readonly service: string
  /** First spans at the called service; none where it recorded none. */
  readonly called: readonly number[]
  /** The called operation; what its caller calls it where the called service recorded none. */
  readonly operation: string
  /** Whether its caller recorded it, so that the way there and back has a time of its own. */
  readonly isWay: boolean
  /** Whether it is a message, whose sender does not wait for its receiver. */
  readonly isMessage: boolean
}

export interface Visit {
  readonly service: string
  /** Operation of its first span. */
  readonly operation: string
  /** Operation of the visit that called it; empty for the root. */
  readonly callingOperation: string
  /** First span of the visit, after any relays. */
  readonly entry: number
  /** The caller's side of the call that it answers; its first span where none was recorded. */
  readonly atCaller: number
  readonly caller: Visit | null
  /** Whether it received a message, or was called by a receiver: no request waits for it. */
  readonly isOfMessage: boolean
  /** Own spans without those of calls, callers first; none where all but a call of it was lost. */
  readonly spans: readonly number[]
  readonly calls: readonly OutgoingCall[]
}

export interface ShapeVisits {
  readonly tree: SpanTree
  readonly visits: readonly Visit[]
  /** Visit of each span; a call belongs to its caller's, and a relay does. */
  readonly visitOf: readonly Visit[]
  readonly services: readonly string[]
  readonly operations: readonly string[]
}

/** Calls per request from which times are per call, and a service has several values of an attribute. */
export const SEVERAL = 1.2

/** Smallest share of an operation's calls from which it relays, or calls its own service. */
const MIN_ALIKE = 0.95

/** Roles of operations, as the kinds of their spans tell them. */
export interface SpanRoles {
  /**
   * Operations, by `callName`, whose spans only hand a call on, as sidecars record them: server spans to
   * another server span of their service, client spans from another client span of theirs.
   */
  readonly relays: ReadonlySet<string>
  /** Calls between instances of one service: the operations of both of its sides, by `peerName`. */
  readonly peers: ReadonlySet<string>
}

export const spanRoles = remembered((flows: FlowSet): SpanRoles => {
  if (flows.relays !== undefined) {
    return { relays: new Set(flows.relays), peers: new Set(flows.peers) }
  }
  const { spanRows, spanOffsets, shapeOf, recordedIn, periods } = flows
  const requests = rollup(
    shapeOf.keys(),
    (own) => ({ first: own[0]!, count: own.length }),
    (request) => shapeOf[request]!,
  )
  const relays = new Shares()
  const peers = new Shares()
  for (const [shape, { first, count }] of requests) {
    const traces = periods[recordedIn[first]!]
    if (traces?.kind !== 'spans' || spanRows === undefined || spanOffsets === undefined) continue
    const spans = spansOf(flows, shape)
    const { tree, services } = spans
    const kindOf = (span: number) => traces.spans.kind[spanRows[spanOffsets[first]! + span]!]
    for (let span = 1; span < tree.size; span++) {
      const parent = tree.parent[span]!
      const isOwn = services[parent] === services[span]
      if (isOwn && kindOf(parent) === CLIENT) {
        peers.add(peerName(spans, span), count, kindOf(span) === SERVER)
      }
      const [child, end] = [tree.firstChild[span]!, tree.firstChild[span + 1]!]
      if (child === end) continue
      const isAlone = end === child + 1
      const isOnly = tree.firstChild[parent + 1]! - tree.firstChild[parent]! === 1
      const isIn = !isOwn && services[child] === services[span]
      const isOut = isOwn && services[child] !== services[span]
      const isRelay = isIn
        ? isAlone && kindOf(span) === SERVER && kindOf(child) === SERVER
        : isOut && isOnly && kindOf(parent) === CLIENT && kindOf(span) === CLIENT
      relays.add(nameOf(spans, span), count, isRelay)
    }
  }
  return { relays: relays.likely(), peers: peers.likely() }
})

/** Counts, by name, the items with a property and all items. */
class Shares {
  readonly #counts = new Map<string, [are: number, all: number]>()

  add(name: string, count: number, is: boolean): void {
    const known = getOrInsert(this.#counts, name, (): [number, number] => [0, 0])
    if (is) known[0] += count
    known[1] += count
  }

  likely(): ReadonlySet<string> {
    const likely = [...this.#counts].filter(([, [are, all]]) => are >= MIN_ALIKE * all)
    return new Set(likely.map(([name]) => name))
  }
}

/**
 * Divides spans into visits of services. A span of a service whose calls all go to one other service is the caller's
 * side of a call. So is a span without calls if its operation names such calls of the same service elsewhere, or a
 * callee that records no spans; calls of other services may go anywhere. Relays are on the way of a call. Instances of
 * one service that call each other are visited apart. Sending a message is work of its sender, which does not wait for
 * the receiver.
 */
export const allVisits = remembered((flows: FlowSet): ReadonlyMap<number, ShapeVisits> => {
  const shapes = [...new Set(flows.shapeOf)].map((shape) => ({
    shape,
    spans: spansOf(flows, shape),
  }))
  const calleeOf = new Map<string, string | null>()
  const roles = spanRoles(flows)
  for (const { spans } of shapes) {
    for (let span = 1; span < spans.tree.size; span++) {
      const callee = answeredBy(spans, span, roles)
      if (callee === null) continue
      const name = nameOf(spans, span)
      const known = calleeOf.get(name)
      calleeOf.set(name, known === undefined || known === callee ? callee : null)
    }
  }
  for (const one of unrecordedCallees(flows)) calleeOf.set(callName(one), one.callee)
  return new Map(shapes.map(({ shape, spans }) => [shape, divide(spans, calleeOf, roles)]))
})

type Spans = ReturnType<typeof spansOf>

function nameOf({ services, operations }: Spans, span: number): string {
  return callName({ service: services[span]!, operation: operations[span]! })
}

/** Returns the operations of a span and of that which called it, of one service. */
function peerName(spans: Spans, span: number): string {
  return `${nameOf(spans, span)}\n${spans.operations[spans.tree.parent[span]!]}`
}

function spansOf(flows: FlowSet, shape: number) {
  const tree = spanTree(flows, shape)
  const codes = flows.shapes.labels(shape)
  const [senders, receivers] = [messageSenders(flows), messageReceivers(flows)]
  const labels = Array.from({ length: tree.size }, (_, span) => flows.labels.get(codes[2 * span]!))
  const names = labels.map((label) => callName(operationOf(label)))
  return {
    tree,
    services: labels.map(place),
    operations: labels.map(({ operation }) => operation),
    isSending: names.map((name) => senders.has(name)),
    isReceiving: names.map((name) => receivers.has(name)),
  }
}

/** Returns the one service that all calls of a span go to, another or to its peers; `null` if there is none. */
function answeredBy(spans: Spans, span: number, { peers, relays }: SpanRoles): string | null {
  const { tree, services, isSending } = spans
  const parent = tree.parent[span]!
  if (parent < 0 || services[parent] !== services[span] || isSending[span]) return null
  const isThrough = (one: number) =>
    services[one] === services[span] && relays.has(nameOf(spans, one))
  const [first, ...others] = childrenOf(spans, span, isThrough)
  if (first === undefined) return null
  const callee = services[first]!
  const isCallee = (child: number) =>
    services[child] === callee && (callee !== services[span] || peers.has(peerName(spans, child)))
  return isCallee(first) && others.every(isCallee) ? callee : null
}

function divide(
  spans: Spans,
  calleeOf: ReadonlyMap<string, string | null>,
  roles: SpanRoles,
): ShapeVisits {
  const { tree, services, operations, isSending, isReceiving } = spans
  const isRelay = (span: number) =>
    roles.relays.has(nameOf(spans, span)) && tree.firstChild[span] !== tree.firstChild[span + 1]
  const callOf = (span: number, service: string, called: readonly number[]): OutgoingCall => ({
    span,
    service,
    called,
    operation: operations[called[0] ?? span]!,
    isWay: called[0] !== span,
    isMessage: called.some((one) => isReceiving[one]),
  })
  const visits: (Visit & { spans: number[]; calls: OutgoingCall[] })[] = []
  const visitOf: (typeof visits)[number][] = []
  const isCall = new Uint8Array(tree.size)
  for (let span = 0; span < tree.size; span++) {
    const parent = tree.parent[span]!
    const around = parent < 0 ? null : visitOf[parent]!
    const service = services[span]!
    // A span entered by a call within a service is not the caller's side of another span of the same name.
    const isPeer =
      around !== null && around.entry !== parent && roles.peers.has(peerName(spans, span))
    if (around !== null && service === around.service && !isPeer) {
      visitOf[span] = around
      if (isCall[parent] === 1 && isRelay(span)) {
        isCall[span] = 1
        continue
      }
      const [first, end] = [tree.firstChild[span]!, tree.firstChild[span + 1]!]
      const isLeaf = first === end && !isSending[span]
      const unrecorded = isLeaf ? calleeOf.get(nameOf(spans, span)) : null
      const callee = answeredBy(spans, span, roles) ?? unrecorded
      if (callee == null) around.spans.push(span)
      else {
        isCall[span] = 1
        around.calls.push(callOf(span, callee, childrenOf({ tree }, span, isRelay)))
      }
      continue
    }
    if (around !== null && isRelay(span)) {
      visitOf[span] = around
      if (isCall[parent] === 0) {
        around.calls.push(callOf(span, service, childrenOf({ tree }, span, isRelay)))
      }
      isCall[span] = 1
      continue
    }
    if (around !== null && isCall[parent] === 0) around.calls.push(callOf(span, service, [span]))
    const visit: (typeof visits)[number] = {
      service,
      operation: operations[span]!,
      callingOperation: around?.operation ?? '',
      entry: span,
      atCaller: around?.calls.find(({ called }) => called.includes(span))?.span ?? span,
      caller: around,
      isOfMessage: around !== null && (around.isOfMessage || isReceiving[span]!),
      spans: [span],
      calls: [],
    }
    visitOf[span] = visit
    visits.push(visit)
    // A call whose caller was lost is no work: the visit that made it is known by its calls alone.
    if (span > 0) continue
    const called = childrenOf({ tree }, span, isRelay)
    const callee = calleeOf.get(nameOf(spans, span)) ?? service
    if (callee === service || !called.every((one) => services[one] === callee)) continue
    isCall[span] = 1
    visit.spans.pop()
    visit.calls.push(callOf(span, callee, called))
  }
  return { tree, visits, visitOf, services, operations }
}

export interface Named extends ShapeVisits {
  readonly names: readonly string[]
}

/** Returns the operations of each shape's requests, by `callName`. */
export const namedShapes = remembered(
  (flows: FlowSet): ReadonlyMap<number, Named> =>
    new Map(
      Array.from(allVisits(flows), ([shape, visits]) => {
        const { services, operations } = visits
        const names = operations.map((operation, span) =>
          callName({ service: services[span]!, operation }),
        )
        return [shape, { ...visits, names }]
      }),
    ),
)

/** Returns how many requests of each period have a shape; shapes in the order of their first requests. */
export const requestsOfShapes = remembered((flows: FlowSet) => {
  const requests = new Map<number, [before: number, after: number]>()
  flows.shapeOf.forEach((shape, request) => {
    const counts = getOrInsert(requests, shape, (): [number, number] => [0, 0])
    counts[flows.period[request] as 0 | 1]++
  })
  return requests as ReadonlyMap<number, readonly [before: number, after: number]>
})

/** Returns the spans that a span calls; a span that it is looked through gives way to its own calls. */
export function childrenOf(
  shape: Pick<ShapeVisits, 'tree'>,
  span: number,
  isThrough?: (span: number) => boolean,
): number[] {
  const { firstChild } = shape.tree
  const [first, end] = [firstChild[span]!, firstChild[span + 1]!]
  const children = Array.from({ length: end - first }, (_, i) => first + i)
  if (isThrough === undefined) return children
  return children.flatMap((one) => (isThrough(one) ? childrenOf(shape, one, isThrough) : one))
}

/** Call made by a span: the caller's side of it, and the called operations. */
export interface MadeCall {
  readonly span: number
  /** First spans at the called service; the span itself where the call stays within a service. */
  readonly called: readonly number[]
  readonly callee: Operation
  /** Timed by the clock of another service alone: the caller's side of it was not recorded. */
  readonly isRemote: boolean
}

/** Returns the calls of a span: operations of its own service, or, through the caller's side, of others. */
export function callsOf(
  spans: ShapeVisits,
  span: number,
  isThrough?: (span: number) => boolean,
): MadeCall[] {
  const { visitOf } = spans
  const made: MadeCall[] = []
  for (const child of childrenOf(spans, span, isThrough)) {
    const call = visitOf[span]!.calls.find((one) => one.span === child)
    const called = call?.called ?? [child]
    const isRemote = call !== undefined && called[0] === child
    const callees = called.map((callee) => operationAt(spans, callee))
    const unrecorded = { service: call?.service ?? '', operation: spans.operations[child]! }
    for (const callee of callees.length === 0 ? [unrecorded] : callees) {
      made.push({ span: child, called, callee, isRemote })
    }
  }
  return made
}

export function operationAt({ visitOf, operations }: ShapeVisits, span: number): Operation {
  return { service: visitOf[span]!.service, operation: operations[span]! }
}
