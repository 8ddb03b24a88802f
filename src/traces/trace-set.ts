import type { GraphTraces } from './graph-traces.ts'
import type { SpanTraces } from './span-traces.ts'

/** The traces of one period: span trees, or trace-point graphs, which are flows already. */
export type TraceSet = SpanTraces | GraphTraces
