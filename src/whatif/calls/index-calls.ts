// Over every span of both periods: the loops index with `!`.
import { clockResolutionUs } from '../../flows/sibling-order.ts'
import { indexSpanCalls, type SpanCalls } from '../../flows/span-calls.ts'
import { SPAN_KINDS, type SpanTraces } from '../../traces/span-traces.ts'
import type { CallForest } from './call-forest.ts'
import { CallPaths } from './call-paths.ts'
import { requestRoots } from './request-roots.ts'

const SERVER = SPAN_KINDS.indexOf('server')
const CLIENT = SPAN_KINDS.indexOf('client')
const NONE = -1

/** The calls of several periods, their paths numbered alike. */
export interface IndexedCalls {
  readonly paths: CallPaths
  /** One a period. */
  readonly forests: readonly CallForest[]
  /** By name of `paths`: to how many µs the starts of its server's spans were cut; 0 for most. */
  readonly resolutionUs: Float64Array
}

/**
 * Turns spans into calls: a client span and the server span that is its only child become one call,
 * every other span a call of its own.
 *
 * Where no period says which spans are clients and servers, a span is a client that was called
 * within its own service and has a single child, in another service.
 *
 * Spans without a caller are roots, each of a request of its own; `requestRoots` says which of those
 * whose caller was lost are. A call that starts before
 * its caller keeps its times: offsets may be negative.
 *
 * @example
 * indexCalls([before, after]).forests[0].requestTrace.length // 5000
 */
export function indexCalls(periods: readonly SpanTraces[]): IndexedCalls {
  const paths = new CallPaths()
  const named = periods.some(({ spans }) => spans.kind.includes(CLIENT))
  const calls = periods.map(indexSpanCalls)
  const rootsOf = requestRoots(calls)
  const forests = calls.map((period, i) =>
    walkCalls(period, { serverOf: serversOf(period, named), roots: rootsOf[i]!, paths }),
  )
  return { paths, forests, resolutionUs: resolutionOfNames(calls, forests, paths) }
}

/** For every client span its server's span; −1 for all others. */
function serversOf({ traces, childOffsets, children }: SpanCalls, named: boolean): Int32Array {
  const { parent, kind, service, followsFrom } = traces.spans
  return parent.map((caller, span) => {
    const first = childOffsets[span]!
    if (childOffsets[span + 1]! - first !== 1) return NONE
    const child = children[first]!
    if (followsFrom[child] === 1) return NONE
    const isCall = named
      ? kind[span] === CLIENT && kind[child] === SERVER
      : caller >= 0 && service[caller] === service[span] && service[child] !== service[span]
    return isCall ? child : NONE
  })
}

/** Numbers the calls request by request, callers first, and fills the columns. */
function walkCalls(
  calls: SpanCalls,
  { serverOf, roots, paths }: { serverOf: Int32Array; roots: Uint32Array; paths: CallPaths },
): CallForest {
  const { traces } = calls
  const { startUs, durationUs } = traces.spans
  const size = countCalls(calls, serverOf, roots)
  const columns = {
    requestOffsets: new Uint32Array(roots.length + 1),
    requestTrace: new Uint32Array(roots.length),
    weight: new Float64Array(roots.length).fill(1),
    request: new Uint32Array(size),
    parent: new Int32Array(size).fill(NONE),
    childOffsets: new Uint32Array(size + 1),
    children: new Uint32Array(size - roots.length),
    offsetUs: new Float64Array(size),
    latencyUs: new Float64Array(size),
    serverUs: new Float64Array(size),
    path: new Uint32Array(size),
    serverSpan: new Uint32Array(size),
    clientSpan: new Int32Array(size).fill(NONE),
    detached: new Uint8Array(size),
  }
  const nameOf = spanNames(traces, paths)
  const below: number[] = []
  let trace = 0
  let next = 0
  let children = 0

  const addCall = (caller: number, span: number): void => {
    const call = next++
    const server = serverOf[span]!
    const own = server < 0 ? span : server
    columns.serverSpan[call] = own
    if (server >= 0) columns.clientSpan[call] = span
    columns.latencyUs[call] = durationUs[span]!
    columns.serverUs[call] = durationUs[own]!
    const name = nameOf(own)
    if (caller < 0) {
      columns.path[call] = paths.root(name)
      return
    }
    columns.parent[call] = caller
    columns.path[call] = paths.child(columns.path[caller]!, name)
    const callerSpan = columns.serverSpan[caller]!
    columns.offsetUs[call] = startUs[span]! - startUs[callerSpan]!
    // By the recorded times of both: the server's span may be on another clock than its client's.
    const isOutside =
      startUs[span]! > startUs[callerSpan]! + durationUs[callerSpan]! ||
      startUs[span]! + durationUs[span]! < startUs[callerSpan]!
    columns.detached[call] = isOutside ? 1 : calls.detached[span]!
    columns.children[children++] = call
  }

  roots.forEach((root, request) => {
    while (traces.spanOffsets[trace + 1]! <= root) trace++
    columns.requestTrace[request] = trace
    const weight = traces.weight?.[trace]
    if (weight !== undefined && weight > 0) columns.weight[request] = weight
    let call = next
    addCall(NONE, root)
    for (; call < next; call++) {
      columns.request[call] = request
      columns.childOffsets[call] = children
      const span = columns.serverSpan[call]!
      const end = calls.childOffsets[span + 1]!
      below.length = 0
      for (let at = calls.childOffsets[span]!; at < end; at++) below.push(calls.children[at]!)
      sortByTime(below, startUs, durationUs)
      for (const child of below) addCall(call, child)
    }
    columns.requestOffsets[request + 1] = next
  })
  columns.childOffsets[size] = children
  return { traces, ...columns }
}

/** How many calls are below some roots, they included. */
function countCalls(
  { childOffsets, children }: SpanCalls,
  serverOf: Int32Array,
  roots: Uint32Array,
): number {
  let calls = 0
  const pending = Array.from(roots)
  for (let span = pending.pop(); span !== undefined; span = pending.pop()) {
    calls++
    const own = serverOf[span]! < 0 ? span : serverOf[span]!
    for (let at = childOffsets[own]!; at < childOffsets[own + 1]!; at++) pending.push(children[at]!)
  }
  return calls
}

/** The number of what a span is: kept by pairs of codes, so that a name is made once. */
function spanNames({ spans, services, operations }: SpanTraces, paths: CallPaths) {
  const known = new Map<number, number>()
  return (span: number): number => {
    const service = spans.service[span]!
    const operation = spans.operation[span]!
    const key = service * operations.size + operation
    let name = known.get(key)
    if (name === undefined) {
      name = paths.nameOf(services.value(service), operations.value(operation))
      known.set(key, name)
    }
    return name
  }
}

/** By start, then end, then row. They come sorted but for those that start before their caller. */
function sortByTime(rows: number[], startUs: Float64Array, durationUs: Float64Array): void {
  const compare = (a: number, b: number) =>
    startUs[a]! - startUs[b]! ||
    startUs[a]! + durationUs[a]! - startUs[b]! - durationUs[b]! ||
    a - b
  for (let i = 1; i < rows.length; i++) {
    if (compare(rows[i - 1]!, rows[i]!) > 0) {
      rows.sort(compare)
      return
    }
  }
}

function resolutionOfNames(
  calls: readonly SpanCalls[],
  forests: readonly CallForest[],
  paths: CallPaths,
): Float64Array {
  const names = forests.map(({ traces, serverSpan, path }) => {
    // Clients take part under one more name, so that they change nobody's.
    const ofSpans = new Uint32Array(traces.spans.parent.length).fill(paths.names)
    serverSpan.forEach((span, call) => {
      ofSpans[span] = paths.name(path[call]!)
    })
    return ofSpans
  })
  return clockResolutionUs(calls, names).slice(0, paths.names)
}
