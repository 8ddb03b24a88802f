import { loadTraces } from '../../src/traces/load-traces.ts'
import type { TraceSet } from '../../src/traces/trace-set.ts'

/** Nodes 1.10 → 1.20 of trace 7; the second comes first in the file. */
export const DOT = `# 7  R: 4.0 usecs RT: 0.0 usecs
Digraph G {
1.20 [label="reply", status=3]
1.10 [label="call"]
1.10 -> 1.20 [label="R: 4.0 us"]
}
`

const span = (traceId: string, id: string, tags: object = {}) => ({
  traceId,
  id,
  tags,
  name: `op-${id}`,
  timestamp: 1_000_000,
  duration: 250,
  localEndpoint: { serviceName: 's' },
})

/** Spans b1 and b2 of trace a0, b1 of trace c0. */
export const SPANS = JSON.stringify([
  span('00a0', 'b1', { status: '3' }),
  span('00a0', 'b2'),
  span('c0', 'b1'),
])

/** Loads `traces` with tables of parameters beside them, called p0, p1 and so on. */
export function loadWith(
  traces: string,
  parameters: string | readonly string[],
  options: { readonly strict?: boolean } = {},
): Promise<TraceSet> {
  const tables = [parameters].flat().map((bytes, i) => ({ name: `p${i}`, bytes }))
  return loadTraces({ name: 'traces', bytes: traces }, { ...options, parameters: tables })
}

/** The attributes of each node or span, in the order of the set. */
export function attributesOf(set: TraceSet): Record<string, unknown>[] {
  const { attributes } = set
  const count =
    set.kind === 'spans'
      ? set.spans.parent.length
      : Array.from(set.shapeOf).reduce((sum, shape) => sum + set.shapes.nodeCount(shape), 0)
  return Array.from({ length: count }, (_, i) =>
    attributes === null ? {} : Object.fromEntries(attributes.entries(i)),
  )
}

/** What a load noted, as `code: place message`. */
export function notesOf(set: TraceSet): string[] {
  return set.quality().issues.map(({ code, place, message }) => {
    const { file = '', line = '', trace = '' } = place
    return `${code} ${file}:${line} ${trace}: ${message}`
  })
}
