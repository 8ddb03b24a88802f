// Over every span of both periods: the loops index with `!`.

import { sum } from 'd3-array'
import { getOrInsert } from '../core/entries.ts'
import { FlowdeltaError, nearestName, OptionError, requireStage } from '../core/errors.ts'
import { remembered } from '../core/remembered.ts'
import { clockResolution } from '../flows/clocks/clock-resolution.ts'
import { indexSpanCalls, type SpanCalls } from '../flows/span-calls.ts'
import { groupRows } from '../traces/group-rows.ts'
import { finishColumns, growingColumns } from '../traces/growing-columns.ts'
import { SelectableTraces } from '../traces/selection/selectable-traces.ts'
import { CLIENT, NO_PARENT, PARENT_MISSING, SERVER } from '../traces/span-columns.ts'
import type { SpanTraces } from '../traces/span-traces.ts'
import type { TraceSet } from '../traces/trace-set.ts'
import { CallPaths } from './call-paths.ts'

const NONE = -1

/** Calls of several periods that share one numbering of paths. */
export interface IndexedCalls {
  readonly paths: CallPaths
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
export function indexCalls(
  periods: readonly SpanTraces[],
  population: Population = {},
): IndexedCalls {
  const paths = new CallPaths()
  const named = periods.some(({ spans }) => spans.kind.includes(CLIENT))
  const calls = periods.map((traces) => indexSpanCalls(traces))
  const serverOf = calls.map((period) => serversOf(period, named))
  const rootsOf =
    population.service || population.operation || population.caller
      ? calls.map((period, i) => callsAsRequests(period, serverOf[i]!, population))
      : requestRoots(calls)
  const forests = calls.map((period, i) =>
    walkCalls(period, { serverOf: serverOf[i]!, roots: rootsOf[i]!, paths }),
  )
  return { paths, forests, resolutionUs: resolutionOfNames(periods, paths) }
}

/** Calls that count as requests, instead of those from outside. Omitted or empty names match any. */
export interface Population {
  readonly service?: string
  readonly operation?: string
  /** The service that calls. */
  readonly caller?: string
}

/**
 * Returns the rows of the spans that are calls of a population, ascending: calls into a service from another one, or
 * from outside. Of calls within each other, the outermost.
 *
 * @throws OptionError where there is none
 */
function callsAsRequests(
  { traces }: SpanCalls,
  serverOf: Int32Array,
  { service = '', operation = '', caller = '' }: Population,
): Uint32Array {
  const { spans, services, operations } = traces
  const serviceOf = (span: number) => (span < 0 ? '' : services.value(spans.service[span]!))
  const isServed = new Uint8Array(serverOf.length)
  for (const server of serverOf) if (server >= 0) isServed[server] = 1
  const entries = Array.from(serverOf, (server, span) => {
    const own = server < 0 ? span : server
    const from = serviceOf(server < 0 ? spans.parent[span]! : span)
    const isEntry = isServed[span] === 0 && (server >= 0 || from !== serviceOf(own))
    if (!isEntry) return undefined
    const called = { service: serviceOf(own), operation: operations.value(spans.operation[own]!) }
    return { ...called, caller: from, isLost: spans.parent[span] === PARENT_MISSING && server < 0 }
  })
  // A span without its caller may be a step inside a call. It counts as a call only if spans with callers do.
  const kindOf = (entry: Required<Population>) => JSON.stringify([entry.service, entry.operation])
  const kinds = new Set(entries.flatMap((entry) => (entry && !entry.isLost ? kindOf(entry) : [])))
  const matches = Uint8Array.from(entries, (entry) => {
    if (entry === undefined || (entry.isLost && kinds.size > 0 && !kinds.has(kindOf(entry))))
      return 0
    const fits =
      (service === '' || entry.service === service) &&
      (operation === '' || entry.operation === operation) &&
      (caller === '' || entry.caller === caller)
    return fits ? 1 : 0
  })
  const isWithin = (span: number) => {
    for (let at = spans.parent[span]!; at >= 0; at = spans.parent[at]!) if (matches[at]) return true
    return false
  }
  const roots = Uint32Array.from(matches.keys()).filter((span) => matches[span] && !isWithin(span))
  if (roots.length > 0) return roots
  for (const [option, name] of Object.entries({ service, operation, caller })) {
    const known = new Set(entries.flatMap((entry) => entry?.[option as keyof Population] || []))
    if (name === '' || known.has(name)) continue
    const meant = nearestName(name, [...known])
    const all = [...known].sort()
    const listed = `${all.slice(0, 30).join(', ')}${all.length > 30 ? ' …' : ''}`
    const expected = meant === undefined ? `one of ${listed}` : `${meant}, or another of ${listed}`
    throw new OptionError(option, name, expected)
  }
  throw new OptionError(
    'service, operation, caller',
    [service, operation, caller].filter((name) => name !== '').join(', '),
    `names that ${shownName(traces)} has calls of together`,
  )
}

/** Returns the server's span of every client span; −1 for all others. */
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
  const endUs = (span: number) => startUs[span]! + durationUs[span]!
  const byTime = (a: number, b: number) => startUs[a]! - startUs[b]! || endUs(a) - endUs(b) || a - b
  const servedBy = (span: number) => (serverOf[span]! < 0 ? span : serverOf[span]!)
  const walked = growingColumns({ span: 'u32', parent: 'i32', request: 'u32' })
  const add = (span: number, parent: number, request: number) => {
    walked.span.push(span)
    walked.parent.push(parent)
    walked.request.push(request)
  }
  const requestOffsets = new Uint32Array(roots.length + 1)
  roots.forEach((root, request) => {
    let call = walked.span.length
    add(root, NONE, request)
    for (; call < walked.span.length; call++) {
      const span = servedBy(walked.span.values[call]!)
      const below = calls.children.subarray(calls.childOffsets[span], calls.childOffsets[span + 1])
      // They come sorted but for those that start before their caller.
      for (const child of below.length < 2 ? below : below.slice().sort(byTime))
        add(child, call, request)
    }
    requestOffsets[request + 1] = call
  })
  const { span, parent, request } = finishColumns(walked)
  const serverSpan = span.map(servedBy)
  const nameOf = spanNames(traces, paths)
  const path = new Uint32Array(span.length)
  const offsetUs = new Float64Array(span.length)
  const detached = new Uint8Array(span.length)
  span.forEach((own, call) => {
    const caller = parent[call]!
    path[call] = paths.child(caller < 0 ? null : path[caller]!, nameOf(serverSpan[call]!))
    if (caller < 0) return
    const around = serverSpan[caller]!
    offsetUs[call] = startUs[own]! - startUs[around]!
    // Compares the recorded times of both: the server's span may be on another clock than its client's.
    const isOutside = startUs[own]! > endUs(around) || endUs(own) < startUs[around]!
    detached[call] = isOutside ? 1 : calls.detached[own]!
  })
  const requestTrace = tracesOf(traces, roots)
  const { offsets: childOffsets, rows: children } = groupRows(parent, span.length)
  return {
    traces,
    requestOffsets,
    requestTrace,
    weight: Float64Array.from(requestTrace, (trace) => traces.weight?.[trace] || 1),
    request,
    parent,
    childOffsets,
    children,
    offsetUs,
    latencyUs: Float64Array.from(span, (own) => durationUs[own]!),
    serverUs: Float64Array.from(serverSpan, (own) => durationUs[own]!),
    path,
    serverSpan,
    clientSpan: Int32Array.from(span, (own) => (serverOf[own]! < 0 ? NONE : own)),
    detached,
  }
}

/** Returns the trace of each of some spans, which ascend. */
function tracesOf({ spanOffsets }: SpanTraces, spans: Uint32Array): Uint32Array {
  let trace = 0
  return spans.map((span) => {
    while (spanOffsets[trace + 1]! <= span) trace++
    return trace
  })
}

/** Returns the number of a span's name. Numbers are kept by pairs of codes, so each name is made once. */
function spanNames({ spans, services, operations }: SpanTraces, paths: CallPaths) {
  const known = new Map<number, number>()
  return (span: number): number => {
    const service = spans.service[span]!
    const operation = spans.operation[span]!
    const key = service * operations.size + operation
    return getOrInsert(known, key, () =>
      paths.nameOf(services.value(service), operations.value(operation)),
    )
  }
}

function resolutionOfNames(periods: readonly SpanTraces[], paths: CallPaths): Float64Array {
  const resolution = clockResolution(periods)
  return Float64Array.from(
    { length: paths.names },
    (_, name) => resolution.get(paths.named(name).service)?.overlapUs ?? 0,
  )
}

/**
 * Returns the rows of the spans that are requests, one list a period.
 *
 * A span whose caller was lost is part of a request, not one: counted as one, a lost span would make several short
 * requests of a long one. It is a request if its trace has no root of its own and spans of its kind are roots elsewhere
 * (an untraced caller handed its id on), or if no trace has a root at all (nothing above was traced).
 */
function requestRoots(periods: readonly SpanCalls[]): Uint32Array[] {
  const kindOf = ({ spans, services, operations }: SpanTraces, span: number) =>
    JSON.stringify([services.value(spans.service[span]!), operations.value(spans.operation[span]!)])
  const isOwn = ({ spans }: SpanTraces, root: number) => spans.parent[root] === NO_PARENT
  const kinds = new Set<string>()
  for (const { traces, roots } of periods) {
    for (const root of roots) if (isOwn(traces, root)) kinds.add(kindOf(traces, root))
  }
  return periods.map(({ traces, roots }) => {
    if (kinds.size === 0) return roots
    const traceOf = tracesOf(traces, roots)
    const whole = new Set(traceOf.filter((_, i) => isOwn(traces, roots[i]!)))
    return roots.filter(
      (root, i) =>
        isOwn(traces, root) || (!whole.has(traceOf[i]!) && kinds.has(kindOf(traces, root))),
    )
  })
}

/**
 * One period's calls in columns, one row a call. A client span and the server span below it are one call. The calls of
 * a request are next to each other, its root first, and callers come before callees.
 *
 * Times are only compared on one clock: a call's children are placed on the clock of the server that makes them. The
 * time between client and server is known only as a duration: `latencyUs` less `serverUs`. It is below 0 if the server
 * goes on after it has answered.
 */
export interface CallForest {
  readonly traces: SpanTraces
  /** The calls of request `i` are rows `requestOffsets[i]` to `requestOffsets[i + 1]`. */
  readonly requestOffsets: Uint32Array
  /** Row of the trace of each request; a trace may have several roots, each a request. */
  readonly requestTrace: Uint32Array
  /** Number of requests that each stands for: 1 / sampling probability, or 1 if none was recorded. */
  readonly weight: Float64Array
  readonly request: Uint32Array
  /** Row of the caller, −1 for roots. */
  readonly parent: Int32Array
  /** The calls that call `i` makes are entries `childOffsets[i]` to `childOffsets[i + 1]`. */
  readonly childOffsets: Uint32Array
  /** Rows of calls; those of one caller by start, then end, then order of recording. */
  readonly children: Uint32Array
  /** Start of a call since its caller's server side began, µs; 0 for roots. */
  readonly offsetUs: Float64Array
  /** Duration as its caller sees it (of the client span), µs. */
  readonly latencyUs: Float64Array
  /** Duration as its server sees it, µs; equal to `latencyUs` where only one side was recorded. */
  readonly serverUs: Float64Array
  /** Called operation and its callers: numbers of `CallPaths`, for the server side. */
  readonly path: Uint32Array
  /** Row of the server's span; of the only one where only one was recorded. */
  readonly serverSpan: Uint32Array
  /** Row of the client's span, −1 where only one was recorded. */
  readonly clientSpan: Int32Array
  /**
   * 1 where the caller does not wait for the call: producers, consumers, spans that only follow
   * from their parent, and spans that lie wholly outside it.
   */
  readonly detached: Uint8Array
}

/** Returns when each call began at its server, in µs on the clock of its period. */
export const callStartsUs = remembered(({ serverSpan, traces }: CallForest) =>
  Float64Array.from(serverSpan, (span) => traces.spans.startUs[span]!),
)

/** Returns when each request began at its server, in µs on the clock of its period. */
export function requestStartsUs(forest: CallForest): Float64Array {
  const startsUs = callStartsUs(forest)
  return Float64Array.from(forest.requestTrace, (_, i) => startsUs[forest.requestOffsets[i]!]!)
}

/** Whether requests of a period stand for other than one each. */
const isWeighted = remembered(({ weight }: CallForest) => weight.some((own) => own !== 1))

/** Returns the number of requests that each given one stands for; undefined if each stands for one. */
export function requestWeights(
  forest: CallForest,
  requests: ArrayLike<number>,
): Float64Array | undefined {
  const { weight } = forest
  return isWeighted(forest) ? Float64Array.from(requests, (one) => weight[one]!) : undefined
}

/**
 * Returns the number of calls that each given one stands for: as many as its request; undefined if each stands for one.
 */
export function callWeights(
  forest: CallForest,
  calls: ArrayLike<number>,
): Float64Array | undefined {
  const { request, weight } = forest
  return isWeighted(forest)
    ? Float64Array.from(calls, (call) => weight[request[call]!]!)
    : undefined
}

/** Returns the number of requests that a period's requests stand for. */
export function stoodFor({ weight }: CallForest): number {
  return Math.round(sum(weight))
}

/** The folders of a path: of one from a root or from here, or to a file with an extension. */
const FOLDERS = /^(?:[a-z]+:)?[\\/.].*[\\/](?=[^\\/]+$)|^.*[\\/](?=[^\\/\s]+\.\w+$)/i

/** Returns the name of a period; of one that is named for its file, without the folders. */
export function shownName({ name }: TraceSet): string {
  return name.replace(FOLDERS, '')
}

/**
 * Returns the traces if they record calls between services.
 *
 * @param which name of the traces in the error
 * @throws FlowdeltaError for graphs of trace points, and if there are no traces
 */
export function requireSpans(traces: TraceSet, which = traces?.name): SpanTraces {
  requireStage(which ?? 'traces', traces, SelectableTraces)
  const named = which.includes(traces.name) ? which : `${which} (${traces.name})`
  if (traces.kind !== 'spans') {
    throw new FlowdeltaError(
      `The traces of ${named} are graphs of trace points, which do not say who calls whom. Give traces of spans.`,
    )
  }
  if (traces.size > 0) return traces
  throw new FlowdeltaError(
    `There are no traces in ${named}. Load some; quality() says what was left out.`,
  )
}
