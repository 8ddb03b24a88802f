import type { FlowSet } from '../../flows/flow-set.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'
import { machineOf } from './label-parts.ts'

/** How long one operation took, by host, in one period: one value a request. */
export interface OperationSamples {
  /** What is timed, as it is shown. */
  readonly operation: string
  /** For each host that has any, its times in µs, ascending. */
  readonly byHost: ReadonlyMap<string, Float64Array>
}

/**
 * The times of each host's own work: durations of its spans by service and operation, each by its
 * own host's clock, so that clocks need not agree. Of trace-point graphs, and where spans are not at
 * hand, the latencies of edges that begin and end on the host.
 *
 * One value a request, the mean of its times there, so that samples stay independent: the blocks of one
 * file are written under one load.
 *
 * Periods are kept apart: a host that was there in one of them only is not compared with what others
 * did in the other. Spans without a host are left out.
 */
export function collectHostSamples(flows: FlowSet): OperationSamples[] {
  const samples = new SampleCollector()
  const { spanRows, spanOffsets } = flows
  if (spanRows === undefined || spanOffsets === undefined || flows.periods.length === 0) {
    collectEdges(flows, samples)
    return samples.finish()
  }
  const namers = flows.periods.map((traces) => spanNamer(traces as SpanTraces))
  for (let request = 0; request < flows.size; request++) {
    const period = flows.period[request] as number
    const index = flows.recordedIn[request] as number
    const nameOf = namers[index] as ReturnType<typeof spanNamer>
    const { durationUs } = (flows.periods[index] as SpanTraces).spans
    const end = spanOffsets[request + 1] as number
    for (let entry = spanOffsets[request] as number; entry < end; entry++) {
      const row = spanRows[entry] as number
      const { host, operation } = nameOf(row)
      if (host !== '') samples.add({ request, period }, operation, host, durationUs[row] as number)
    }
  }
  return samples.finish()
}

/** Names of a span's operation and host, each pair of codes put together once. */
function spanNamer({ spans, services, operations, hosts }: SpanTraces) {
  const known = new Map<number, string>()
  return (row: number) => {
    const service = spans.service[row] as number
    const operation = spans.operation[row] as number
    const key = service * operations.size + operation
    let name = known.get(key)
    if (name === undefined) {
      name = `${services.value(service)} ${operations.value(operation)}`.trim()
      known.set(key, name)
    }
    return { operation: name, host: hosts.value(spans.host[row] as number) }
  }
}

function collectEdges(flows: FlowSet, samples: SampleCollector): void {
  const { shapes, labels } = flows
  const nodes = Array.from({ length: labels.size }, (_, code) => {
    const { service, operation, phase } = labels.get(code)
    const step = phase === 'point' ? operation : `${service} ${operation} ${phase}`
    return { host: machineOf(labels.get(code)), step }
  })
  for (let request = 0; request < flows.size; request++) {
    const shape = flows.shapeOf[request] as number
    const period = flows.period[request] as number
    const codes = shapes.labels(shape)
    const [from, to] = [shapes.from(shape), shapes.to(shape)]
    flows.latencies(request).forEach((latencyUs, edge) => {
      const source = nodes[codes[from[edge] as number] as number] as (typeof nodes)[number]
      const target = nodes[codes[to[edge] as number] as number] as (typeof nodes)[number]
      if (source.host === '' || source.host !== target.host) return
      const operation = `${source.step} → ${target.step}`
      samples.add({ request, period }, operation, source.host, latencyUs)
    })
  }
}

/** Times of one operation on one host: those of the last request, and means of those before. */
class HostTimes {
  readonly #means: number[] = []
  #request = -1
  #sum = 0
  #count = 0

  add(request: number, timeUs: number): void {
    if (request !== this.#request) this.#close()
    this.#request = request
    this.#sum += timeUs
    this.#count++
  }

  finish(): Float64Array {
    this.#close()
    return Float64Array.from(this.#means).sort()
  }

  #close(): void {
    if (this.#count > 0) this.#means.push(this.#sum / this.#count)
    this.#sum = 0
    this.#count = 0
  }
}

class SampleCollector {
  readonly #periods: Map<string, Map<string, HostTimes>>[] = [new Map(), new Map()]

  /** Requests must come one after the other. */
  add(
    { request, period }: { readonly request: number; readonly period: number },
    operation: string,
    host: string,
    timeUs: number,
  ): void {
    const operations = this.#periods[period] as Map<string, Map<string, HostTimes>>
    let byHost = operations.get(operation)
    if (byHost === undefined) {
      byHost = new Map()
      operations.set(operation, byHost)
    }
    let times = byHost.get(host)
    if (times === undefined) {
      times = new HostTimes()
      byHost.set(host, times)
    }
    times.add(request, timeUs)
  }

  finish(): OperationSamples[] {
    return this.#periods.flatMap((operations) =>
      Array.from(operations, ([operation, byHost]) => ({
        operation,
        byHost: new Map(Array.from(byHost, ([host, times]) => [host, times.finish()] as const)),
      })),
    )
  }
}
