import type { GraphTraces } from './graph-traces.ts'
import type { SpanTraces } from './span-traces.ts'

/**
 * The traces of one period, in columns. Either span trees (OTLP, Jaeger, Zipkin, CSV), from which
 * `buildFlows` makes flows, or trace-point graphs (Spectroscope's DOT), which are flows already.
 */
export type TraceSet = SpanTraces | GraphTraces
