import { type GraphTraces, GraphTracesBuilder } from '../../src/traces/graph-traces.ts'
import { QualityLog } from '../../src/traces/quality.ts'
import { dotReader } from '../../src/traces/readers/dot.ts'
import { SpanTracesBuilder } from '../../src/traces/span-traces-builder.ts'

/** Reads DOT from memory, in pieces of `chunkBytes`. */
export async function readDot(
  text: string,
  { strict = false, chunkBytes = Number.POSITIVE_INFINITY } = {},
): Promise<GraphTraces> {
  const quality = new QualityLog({ strict })
  const graphs = new GraphTracesBuilder()
  const spans = new SpanTracesBuilder(quality)
  const bytes = new TextEncoder().encode(text)
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.slice(at, at + chunkBytes)
  }
  await dotReader.read(chunks(), { spans, graphs, quality }, 'traces.dot')
  return graphs.finish('traces', quality)
}

/** What one trace holds, readably: labels, and edges with their latencies. */
export function graphOf(traces: GraphTraces, trace = 0) {
  const shape = traces.shapeOf[trace] as number
  const labels = Array.from(traces.shapes.labels(shape), (code) => traces.labels[code] as string)
  const to = traces.shapes.to(shape)
  const firstLatency = traces.latencyOffsets[trace] as number
  const edges = Array.from(traces.shapes.from(shape), (from, edge) => [
    labels[from] as string,
    labels[to[edge] as number] as string,
    traces.latencyUs[firstLatency + edge] as number,
  ])
  return {
    id: traces.ids[trace],
    labels,
    edges,
    startUs: traces.startUs[trace],
    responseTimeUs: traces.responseTimeUs[trace],
  }
}

/** Everything that was read and noted, to compare one reading with another. */
export function everything(traces: GraphTraces) {
  const { issues, counts, skippedTraces } = traces.quality()
  return {
    graphs: traces.ids.map((_, trace) => graphOf(traces, trace)),
    issues,
    counts: [...counts],
    skippedTraces,
  }
}

/** A graph of two nodes and one edge, with `# id` before it. */
export function smallGraph(id: string): string {
  return `# ${id}  R: 10.5 usecs RT: 3.25 usecs
Digraph G {
${id}.1 [label="e1__t3__CALL\\nDEFAULT"]
${id}.2 [label="e1__t3__REPLY\\nDEFAULT"]
${id}.1 -> ${id}.2 [label="R: 10.5 us"]
}
`
}
