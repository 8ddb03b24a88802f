import type { AttributeValue } from '../src/traces/attributes.ts'
import { type GraphTraces, GraphTracesBuilder } from '../src/traces/graph-traces.ts'
import { QualityLog } from '../src/traces/quality.ts'
import type { SpanKind, SpanStatus } from '../src/traces/span-columns.ts'
import type { SpanTraces } from '../src/traces/span-traces.ts'
import { SpanTracesBuilder } from '../src/traces/span-traces-builder.ts'

/** A trace-point graph; the first node that nothing leads to is its root. */
export interface GraphSketch {
  readonly labels: readonly string[]
  readonly edges: readonly (readonly [from: number, to: number])[]
  /** One an edge; 1 µs each when left out. */
  readonly latencyUs?: readonly number[]
  /** The longest way through the graph when left out. */
  readonly responseTimeUs?: number
  readonly startUs?: number
  readonly id?: string
  /** What its root recorded. */
  readonly attributes?: Readonly<Record<string, AttributeValue>>
}

/** Trace-point graphs as a reader would load them. */
export function makeGraphs(
  graphs: readonly GraphSketch[],
  name = 'graphs',
  quality = new QualityLog(),
): GraphTraces {
  const builder = new GraphTracesBuilder()
  graphs.forEach((graph, i) => {
    const { labels, edges, id = `g${i}`, startUs = i } = rootFirst(graph)
    const latencyUs = Float64Array.from(graph.latencyUs ?? edges.map(() => 1))
    for (const [key, value] of Object.entries(graph.attributes ?? {})) {
      builder.addAttribute(0, key, value)
    }
    builder.add({
      id,
      startUs,
      latencyUs,
      responseTimeUs: graph.responseTimeUs ?? longestWay(labels.length, edges, latencyUs),
      nodeCount: labels.length,
      edgeCount: edges.length,
      labels: Uint32Array.from(labels, (label) => builder.labels.code(label)),
      from: Uint32Array.from(edges, ([from]) => from),
      to: Uint32Array.from(edges, ([, to]) => to),
    })
  })
  return builder.finish(name, quality)
}

function rootFirst(graph: GraphSketch): GraphSketch {
  const entered = new Set(graph.edges.map(([, to]) => to))
  const root = graph.labels.findIndex((_, node) => !entered.has(node))
  if (root <= 0) return graph
  const swap = (node: number) => (node === root ? 0 : node === 0 ? root : node)
  return {
    ...graph,
    labels: graph.labels.map((_, node) => graph.labels[swap(node)] as string),
    edges: graph.edges.map(([from, to]) => [swap(from), swap(to)] as const),
  }
}

function longestWay(
  nodes: number,
  edges: GraphSketch['edges'],
  latencyUs: ArrayLike<number>,
): number {
  const timeUs = new Float64Array(nodes)
  for (let changed = true; changed; ) {
    changed = false
    edges.forEach(([from, to], edge) => {
      const arrivalUs = (timeUs[from] as number) + (latencyUs[edge] as number)
      if (arrivalUs <= (timeUs[to] as number)) return
      timeUs[to] = arrivalUs
      changed = true
    })
  }
  return timeUs.reduce((latest, time) => Math.max(latest, time), 0)
}

/** A span; its service is called like it when left out. */
export interface SpanSketch {
  readonly trace?: string
  readonly id: string
  readonly parent?: string | null
  readonly service?: string
  readonly operation?: string
  readonly host?: string
  readonly kind?: SpanKind
  readonly status?: SpanStatus
  readonly followsFrom?: boolean
  /** Spans that it is linked to. */
  readonly links?: readonly { readonly trace: string; readonly id: string }[]
  readonly startUs: number
  readonly endUs: number
  readonly probability?: number
  readonly version?: string
  readonly attributes?: Readonly<Record<string, AttributeValue>>
}

/** Span trees as a reader would load them; times may be negative. */
export function makeSpans(
  spans: readonly SpanSketch[],
  name = 'spans',
  quality = new QualityLog(),
): SpanTraces {
  const builder = new SpanTracesBuilder(quality)
  for (const span of spans) {
    builder.add(
      {
        traceId: span.trace ?? 't',
        spanId: `span ${span.id}`,
        parentId: span.parent == null ? null : `span ${span.parent}`,
        service: span.service ?? span.id,
        operation: span.operation ?? 'call',
        host: span.host ?? '',
        kind: span.kind ?? 'internal',
        status: span.status ?? 'unset',
        startUs: span.startUs,
        durationUs: span.endUs - span.startUs,
        followsFrom: span.followsFrom ?? false,
        links: (span.links ?? []).map(({ trace, id }) => ({
          traceId: trace,
          spanId: `span ${id}`,
        })),
        probability: span.probability,
        version: span.version,
        attributes: Object.entries(span.attributes ?? {}),
      },
      {},
    )
  }
  return builder.finish(name)
}

/** Requests through these points one after the other, one for each response time. */
export function chains(
  points: readonly string[],
  responseTimesUs: readonly number[],
): GraphSketch[] {
  const edges = points.slice(1).map((_, i) => [i, i + 1] as const)
  return responseTimesUs.map((responseTimeUs) => ({
    labels: points,
    edges,
    responseTimeUs,
    latencyUs: edges.map(() => responseTimeUs / edges.length),
  }))
}

/** `count` response times with mean `meanUs`, evenly spread within 10 % of it. */
export function around(meanUs: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) =>
    count === 1 ? meanUs : meanUs * (0.9 + (0.2 * i) / (count - 1)),
  )
}

/** Noon of a day in 2023: spans that start later than this know their time of day. */
export const NOON_US = 1_700_000_000_000_000

/** Requests of one span each, 1 ms long, that arrive at these times; `sketch` says what else they are. */
export function requestsAt(
  startsUs: readonly number[],
  { trace = 'request', ...sketch }: Partial<SpanSketch> = {},
): SpanSketch[] {
  return startsUs.map((startUs, i) => ({
    id: 'web',
    trace: `${trace}-${String(i).padStart(6, '0')}`,
    startUs,
    endUs: startUs + 1000,
    ...sketch,
  }))
}

/** `count` times, `stepUs` apart. */
export function every(stepUs: number, count: number, fromUs = NOON_US): number[] {
  return Array.from({ length: count }, (_, i) => fromUs + i * stepUs)
}

/** The root of a request by `weighedSpans`, without its end. */
export type WeighedRoot = Required<Pick<SpanSketch, 'id' | 'trace' | 'service' | 'startUs'>> &
  Pick<SpanSketch, 'probability'>

/** Each request once with its weight, or as often as it weighs: roots of web, as far apart as asked. */
export function weighedSpans<Request extends { readonly weight: number }>(
  all: readonly Request[],
  { isRepeated, fromUs, everyUs = 1e6 }: { isRepeated: boolean; fromUs: number; everyUs?: number },
  spansOf: (request: Request, root: WeighedRoot) => SpanSketch[],
): SpanTraces {
  return makeSpans(
    all.flatMap((request, i) =>
      Array.from({ length: isRepeated ? request.weight : 1 }, (_, copy) => {
        const trace = `${fromUs} ${i} ${copy}`
        const root = { id: trace, trace, service: 'web', startUs: fromUs + i * everyUs }
        return spansOf(request, isRepeated ? root : { ...root, probability: 1 / request.weight })
      }).flat(),
    ),
  )
}
