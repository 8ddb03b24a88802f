import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  CompositePropagator,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from '@opentelemetry/core'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BasicTracerProvider,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from '@opentelemetry/semantic-conventions'
import { anchoredClock } from './clock.ts'
import { keepLog } from './log.ts'
import { seededIds } from './seeded-ids.ts'
import { useClock } from './span.ts'
import { SpanBuffer } from './span-buffer.ts'

/** How one process traces itself. Plain data: it is handed over on the command line. */
export interface Tracing {
  readonly service: string
  readonly host: string
  /** Version of the service; by default it has none. */
  readonly version?: string
  readonly seed: string
  /** Share of requests traced, decided at the root (head sampling), 0 to 1. */
  readonly sample: number
  /** See `readClockAnchorNs`; text, because JSON has no big integers. */
  readonly clockAnchorNs: string
  /** Whether it keeps a log. */
  readonly logs?: boolean
}

/** Installs the OpenTelemetry SDK in this process; the answer holds the spans it will end. */
export function startTracing(tracing: Tracing): SpanBuffer {
  const buffer = new SpanBuffer()
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      [ATTR_SERVICE_NAME]: tracing.service,
      'host.name': tracing.host,
      ...(tracing.version === undefined ? {} : { [ATTR_SERVICE_VERSION]: tracing.version }),
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(tracing.sample) }),
    idGenerator: seededIds(tracing.seed),
    spanProcessors: [buffer],
  })
  const clock = anchoredClock(BigInt(tracing.clockAnchorNs))
  useClock(clock)
  if (tracing.logs === true) keepLog(tracing.service, clock)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(
    new CompositePropagator({
      propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
    }),
  )
  trace.setGlobalTracerProvider(provider)
  return buffer
}
