import { type RandomSource, randomSource } from '../../../src/stats/random.ts'
import type { AttributeValue } from '../../../src/traces/attributes.ts'
import { QualityLog } from '../../../src/traces/quality.ts'
import type { SpanKind } from '../../../src/traces/span-columns.ts'
import type { SpanTraces } from '../../../src/traces/span-traces.ts'
import { SpanTracesBuilder } from '../../../src/traces/span-traces-builder.ts'

/** A service: what it does itself, and what it calls. */
export interface ServiceSketch {
  /** Median of the time before each call and before the reply, µs. */
  readonly ownUs: number
  /** Services it calls. */
  readonly calls: readonly string[]
  /** Whether it makes its calls at the same time instead of one after the other. */
  readonly parallel?: boolean
}

export interface ServiceTraceOptions {
  readonly services: Readonly<Record<string, ServiceSketch>>
  /** The service that requests come to. */
  readonly root: string
  readonly requests: number
  readonly seed: number
  readonly name?: string
  /** Median of a way over the network, µs. */
  readonly networkUs?: number
  /** What is different about some services: µs more in the server, or on the network, per call. */
  readonly slower?: Readonly<
    Record<string, { readonly serverUs?: number; readonly networkUs?: number }>
  >
  /** Hosts of each service; each call is served by one of them at random. */
  readonly hosts?: number
  /** µs more in the server on host `service-0`, of any service. */
  readonly slowHostUs?: number
  /** Share of requests that find all in the cache of the root, which then calls nothing. */
  readonly hitRate?: number
}

/** Traces of simulated services: every call has a client and a server span. Times are log-normal. */
export function serviceTraces(options: ServiceTraceOptions): SpanTraces {
  const { requests, seed, name = 'simulated', root, hitRate = 0 } = options
  const builder = new SpanTracesBuilder(new QualityLog())
  const random = randomSource(seed)
  let atUs = builder.clock.offsetOfMicros(1_700_000_000_000_000)
  for (let request = 0; request < requests; request++) {
    atUs += 20_000 * -Math.log(1 - random.next())
    const hit = random.next() < hitRate
    const trace = new TraceWriter(builder, `request-${request}`, { options, random })
    trace.serve(root, atUs, { parentId: null, hit })
  }
  return builder.finish(name)
}

class TraceWriter {
  readonly #builder: SpanTracesBuilder
  readonly #traceId: string
  readonly #options: ServiceTraceOptions
  readonly #random: RandomSource
  #spans = 0

  constructor(
    builder: SpanTracesBuilder,
    traceId: string,
    { options, random }: { readonly options: ServiceTraceOptions; readonly random: RandomSource },
  ) {
    this.#builder = builder
    this.#traceId = traceId
    this.#options = options
    this.#random = random
  }

  /** Serves a call from `startUs` on; gives when it ends. */
  serve(
    service: string,
    startUs: number,
    { parentId, hit = false }: { readonly parentId: string | null; readonly hit?: boolean },
  ): number {
    const { services, slower, hosts = 1, slowHostUs = 0 } = this.#options
    const sketch = services[service]
    if (sketch === undefined) throw new Error(`there is no service ${service}`)
    const spanId = this.#nextId()
    const hostNumber = this.#random.integer(hosts)
    let atUs = startUs + (slower?.[service]?.serverUs ?? 0)
    if (hostNumber === 0) atUs += slowHostUs
    let endUs = atUs
    for (const called of hit ? [] : sketch.calls) {
      const sentUs = atUs + this.#time(sketch.ownUs)
      const doneUs = this.#call(service, called, sentUs, spanId)
      endUs = Math.max(endUs, doneUs)
      if (!sketch.parallel) atUs = doneUs
    }
    endUs = Math.max(endUs, atUs) + this.#time(sketch.ownUs)
    this.#write(spanId, parentId, {
      service,
      host: `${service}-${hostNumber}`,
      kind: 'server',
      startUs,
      endUs,
      attributes: parentId === null ? [['cache.hit', hit]] : [],
    })
    return endUs
  }

  #call(caller: string, called: string, sentUs: number, parentId: string): number {
    const { networkUs = 200, slower } = this.#options
    const spanId = this.#nextId()
    const extraUs = (slower?.[called]?.networkUs ?? 0) / 2
    const arrivedUs = sentUs + this.#time(networkUs) + extraUs
    const repliedUs = this.serve(called, arrivedUs, { parentId: spanId })
    const endUs = repliedUs + this.#time(networkUs) + extraUs
    this.#write(spanId, parentId, {
      service: caller,
      host: `${caller}-0`,
      kind: 'client',
      startUs: sentUs,
      endUs,
      operation: `call ${called}`,
      attributes: [],
    })
    return endUs
  }

  #write(
    spanId: string,
    parentId: string | null,
    span: {
      readonly service: string
      readonly operation?: string
      readonly host: string
      readonly kind: SpanKind
      readonly startUs: number
      readonly endUs: number
      readonly attributes: readonly (readonly [string, AttributeValue])[]
    },
  ): void {
    const { service, operation = `serve ${span.service}`, startUs, endUs } = span
    this.#builder.add(
      {
        traceId: this.#traceId,
        spanId,
        parentId,
        service,
        operation,
        startUs,
        host: span.host,
        kind: span.kind,
        status: 'unset',
        followsFrom: false,
        durationUs: endUs - startUs,
        attributes: span.attributes,
      },
      {},
    )
  }

  #nextId(): string {
    return `span ${this.#spans++}`
  }

  #time(medianUs: number): number {
    return this.#random.logNormal(Math.log(medianUs), 0.3)
  }
}
