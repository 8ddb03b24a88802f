// Over every root of all periods: the loops index with `!`.
import type { SpanCalls } from '../../flows/span-calls.ts'
import { NO_PARENT } from '../../traces/span-traces.ts'

/**
 * The rows of the spans that are requests, one list a period.
 *
 * A span whose caller was lost is part of a request, not one: counted as one, a lost span would make
 * several short requests of a long one. It is a request only where its trace has no root of its own,
 * and where it is of a kind that is a root elsewhere (a caller that is not traced handed its id on),
 * or where no trace at all has a root (nothing above was traced).
 */
export function requestRoots(periods: readonly SpanCalls[]): Uint32Array[] {
  const kinds = new Set<string>()
  for (const { traces, roots } of periods) {
    for (const root of roots) if (isOwn(traces.spans.parent, root)) kinds.add(kindOf(traces, root))
  }
  return periods.map(({ traces, roots }) => {
    const { spanOffsets, spans } = traces
    const hasOwn = new Uint8Array(traces.size)
    const traceOf = new Uint32Array(roots.length)
    let trace = 0
    roots.forEach((root, i) => {
      while (spanOffsets[trace + 1]! <= root) trace++
      traceOf[i] = trace
      if (isOwn(spans.parent, root)) hasOwn[trace] = 1
    })
    return roots.filter(
      (root, i) =>
        isOwn(spans.parent, root) ||
        kinds.size === 0 ||
        (hasOwn[traceOf[i]!] === 0 && kinds.has(kindOf(traces, root))),
    )
  })
}

function isOwn(parent: Int32Array, root: number): boolean {
  return parent[root] === NO_PARENT
}

function kindOf({ spans, services, operations }: SpanCalls['traces'], span: number): string {
  const service = services.value(spans.service[span]!)
  return JSON.stringify([service, operations.value(spans.operation[span]!)])
}
