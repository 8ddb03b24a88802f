// Runs once a span of a shape: the loops index with `!`.
import type { FlowSet } from '../../flows/flow-set.ts'
import { type SpanTree, spanTree } from '../../flows/span-tree.ts'
import { place } from '../edges/edge-pool.ts'

/** A call that a visit makes to other services. */
export interface OutgoingCall {
  /** Span at the caller; the called span itself where the caller recorded none. */
  readonly span: number
  /** First spans at the called services. */
  readonly called: readonly number[]
}

/** What a service does from being called to its reply. */
export interface Visit {
  readonly service: string
  /** First span. */
  readonly entry: number
  /** Visit that called; `null` for that of the root. */
  readonly caller: Visit | null
  /** Its own spans but those of calls, callers first. */
  readonly spans: number[]
  readonly calls: OutgoingCall[]
}

/** The spans of one shape, by what services do. */
export interface ShapeVisits {
  readonly tree: SpanTree
  /** Callers first. */
  readonly visits: readonly Visit[]
  /** Visit of each span. */
  readonly visitOf: readonly Visit[]
  /** Operation of each span. */
  readonly operations: readonly string[]
}

/**
 * Divides the spans of a shape into visits of services. A span whose calls all go to other services,
 * and that another span of its service made, is the caller's side of these calls.
 *
 * @param flows built from spans and not folded
 */
export function shapeVisits(flows: FlowSet, shape: number): ShapeVisits {
  const tree = spanTree(flows, shape)
  const codes = flows.shapes.labels(shape)
  const labels = Array.from({ length: tree.size }, (_, span) => flows.labels.get(codes[2 * span]!))
  const services = labels.map(place)
  const visits: Visit[] = []
  const visitOf: Visit[] = []
  const callOf: (OutgoingCall & { called: number[] })[] = []
  for (let span = 0; span < tree.size; span++) {
    const parent = tree.parent[span]!
    const around = parent < 0 ? null : visitOf[parent]!
    if (around !== null && services[span] === around.service) {
      visitOf[span] = around
      if (isCallersSide(tree, services, span)) {
        const call = { span, called: [] }
        callOf[span] = call
        around.calls.push(call)
      } else around.spans.push(span)
      continue
    }
    const service = services[span]!
    const visit: Visit = { service, entry: span, caller: around, spans: [span], calls: [] }
    visitOf[span] = visit
    visits.push(visit)
    if (callOf[parent] !== undefined) callOf[parent].called.push(span)
    else around?.calls.push({ span, called: [span] })
  }
  return { tree, visits, visitOf, operations: labels.map(({ operation }) => operation) }
}

function isCallersSide({ firstChild }: SpanTree, services: readonly string[], span: number) {
  const [first, end] = [firstChild[span]!, firstChild[span + 1]!]
  for (let child = first; child < end; child++) {
    if (services[child] === services[span]) return false
  }
  return end > first
}
