import type { SpanTraces } from '../../traces/span-traces.ts'

/**
 * One period's calls in columns, one row a call. A client span and the server span below it are one
 * call. The calls of a request are next to each other, its root first, and callers come before what
 * they call.
 *
 * Times are only compared on one clock: a call's children are placed on the clock of the server that
 * makes them. What passes between client and server is known as a duration alone: `latencyUs` less
 * `serverUs`, and less than 0 where the server goes on after it has answered.
 */
export interface CallForest {
  readonly traces: SpanTraces
  /** The calls of request `i` are rows `requestOffsets[i]` to `requestOffsets[i + 1]`. */
  readonly requestOffsets: Uint32Array
  /** Row of the trace of each request; a trace may have several roots, each a request. */
  readonly requestTrace: Uint32Array
  /** How many requests each stands for: 1 / sampling probability, 1 where none was recorded. */
  readonly weight: Float64Array
  /** The request of each call. */
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
  /** What is called, and by whom: numbers of `CallPaths`, of the server side. */
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
