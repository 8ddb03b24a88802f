import { type GraphTraces, GraphTracesBuilder } from '../../src/traces/graph-traces.ts'
import { QualityLog } from '../../src/traces/quality.ts'
import { type HdfsRequest, type HdfsWorkload, hdfsRequests } from './hdfs-requests.ts'

/** Simulated requests as traces, as if they had been loaded. A write's root has its `size` in bytes. */
export function hdfsTraces(workload: HdfsWorkload = {}, name = 'hdfs'): GraphTraces {
  const builder = new GraphTracesBuilder()
  for (const request of hdfsRequests(workload)) {
    const { graph, timesUs, startUs, bytes } = request
    const { labels, from, to } = graph
    if (bytes > 0) builder.addAttribute(0, 'size', bytes)
    builder.add({
      id: `hdfs-${builder.size}`,
      startUs,
      from,
      to,
      latencyUs: latencies(request),
      responseTimeUs: timesUs[labels.length - 1] as number,
      nodeCount: labels.length,
      edgeCount: from.length,
      labels: Uint32Array.from(labels, (label) => builder.labels.code(label)),
    })
  }
  return builder.finish(name, new QualityLog())
}

/** The same as Spectroscope's DOT, graph by graph. */
export function* hdfsDot(workload: HdfsWorkload = {}): Generator<string> {
  let number = 0
  for (const request of hdfsRequests(workload)) yield dotOf(request, ++number)
}

/** From a trace point to the next: waiting for others included, as recorded edges do. */
function latencies({ graph: { from, to }, timesUs }: HdfsRequest): Float64Array {
  return Float64Array.from(
    from,
    (source, edge) => (timesUs[to[edge] as number] as number) - (timesUs[source] as number),
  )
}

function dotOf(request: HdfsRequest, number: number): string {
  const { graph, timesUs, startUs, bytes } = request
  const { labels, from, to } = graph
  const latencyUs = latencies(request)
  const responseTimeUs = (timesUs[labels.length - 1] as number).toFixed(6)
  const lines = [
    `# ${number}  R: ${responseTimeUs} usecs RT: ${startUs.toFixed(6)} usecs`,
    'Digraph G {',
    ...labels.map((label, node) => {
      const size = node === 0 && bytes > 0 ? `, size=${bytes}` : ''
      return `${number}.${node} [label="${label}"${size}]`
    }),
    ...Array.from(
      from,
      (source, edge) =>
        `${number}.${source} -> ${number}.${to[edge]} [label="R: ${(latencyUs[edge] as number).toFixed(6)} us"]`,
    ),
  ]
  return `${lines.join('\n')}\n}\n\n`
}
