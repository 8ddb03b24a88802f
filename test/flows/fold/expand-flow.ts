// Runs once a span, node or edge: the loops index with `!`.

import type { FoldedFlows } from '../../../src/flows/fold/folded-flows.ts'
import type {
  EdgeNote,
  FlowGraph,
  FoldedGraph,
  WhichLanes,
} from '../../../src/flows/fold/folded-graph.ts'

/** A flow's structure in words: node labels, and edges as pairs of positions. */
interface ExpandedFlow {
  readonly labels: readonly string[]
  readonly edges: readonly (readonly [from: number, to: number])[]
}

/**
 * The structure that a folded flow had before it was folded: the same nodes and edges as were
 * recorded, perhaps in another order. Node 0 is the root.
 */
export function expandFlow(flows: FoldedFlows, request: number): ExpandedFlow {
  const folded = flows.folded(request)
  const shape = flows.shapeOf[request]!
  const { shapes } = flows
  const graph =
    folded === undefined
      ? { labels: shapes.labels(shape), from: shapes.from(shape), to: shapes.to(shape) }
      : expandGraph(folded)
  return {
    labels: Array.from(graph.labels, (label) => flows.labels.text(label)),
    edges: Array.from(graph.from, (from, edge) => [from, graph.to[edge]!] as const),
  }
}

/** All latencies that were recorded for a logical edge of a request: one a lane that has it. */
export function recordedSamples(flows: FoldedFlows, request: number, edge: number): Float64Array {
  const logicalOf = flows.logicalOf(request)
  return flows.unfolded.latencies(request).filter((_, at) => (logicalOf?.[at] ?? at) === edge)
}

/** A repetition while it is unfolded: each copy of a lane has its own of those within it. */
interface Instance {
  readonly of: number
}

interface Growing {
  labels: number[]
  inside: (readonly Instance[])[]
  from: number[]
  to: number[]
  notes: (readonly { readonly note: EdgeNote; readonly instance: Instance }[])[]
}

/**
 * Unfolds what `foldGraph` folded: gives a graph that is the same structure as the one it was
 * given, nodes and edges perhaps in another order. Node 0 is the root.
 */
export function expandGraph(graph: FoldedGraph): FlowGraph {
  const instances = graph.repetitions.map((_, of): Instance => ({ of }))
  const instanceOf = (repetition: number) => instances[repetition]!
  let current: Growing = {
    labels: [...graph.labels],
    inside: graph.inside.map((stack) => stack.map(instanceOf)),
    from: [...graph.from],
    to: [...graph.to],
    notes: graph.notes.map((said) =>
      said.map((note) => ({ note, instance: instanceOf(note.repetition) })),
    ),
  }
  for (let number = graph.repetitions.length - 1; number >= 0; number--) {
    current = unfold(current, graph, number)
  }
  const { labels, from, to } = current
  return {
    labels: Uint32Array.from(labels),
    from: Uint32Array.from(from),
    to: Uint32Array.from(to),
  }
}

function unfold(folded: Growing, { repetitions }: FoldedGraph, number: number): Growing {
  const { times = 1, within = [] } = repetitions[number] ?? {}
  const copyOf = instanceCopies(new Set(within))
  const next: Growing = { labels: [], inside: [], from: [], to: [], notes: [] }
  /** Where each node's copies begin: lane i's is i further on. */
  const start: number[] = []
  folded.labels.forEach((label, node) => {
    const stack = folded.inside[node]!
    const instance = stack.at(-1)
    start.push(next.labels.length)
    const lanes = instance?.of === number ? times : 1
    for (let lane = 0; lane < lanes; lane++) {
      next.labels.push(label)
      next.inside.push(
        instance?.of === number
          ? stack.slice(0, -1).map((outer) => copyOf(outer, instance, lane))
          : stack,
      )
    }
  })
  folded.from.forEach((source, edge) => {
    const said = folded.notes[edge] as Growing['notes'][0]
    const from = start[source]!
    const to = start[folded.to[edge]!]!
    // Two where the edge leads from one instance to another that was folded together with it.
    const own = said.filter(({ instance }) => instance.of === number)
    const others = said.filter(({ instance }) => instance.of !== number)
    const atEnd = (end: 'from' | 'to') =>
      own.find(({ note }) => note.side === 'inside' || note.side === end)?.instance
    for (const [a, b] of lanePairs(own, times)) {
      next.from.push(from + Math.max(a, 0))
      next.to.push(to + Math.max(b, 0))
      next.notes.push(
        others.map(({ note, instance }) => {
          const [lane, outer] = note.side === 'to' ? [b, atEnd('to')] : [a, atEnd('from')]
          const copy = outer === undefined ? instance : copyOf(instance, outer, lane)
          return { note, instance: copy }
        }),
      )
    }
  })
  return next
}

/** The lanes that an edge joins, start and end; -1 where that end is outside. */
function lanePairs(own: Growing['notes'][0], times: number): (readonly [number, number])[] {
  const [first] = own
  if (first?.note.side === 'inside') {
    const { offset } = first.note
    return Array.from({ length: times - offset }, (_, lane) => [lane, lane + offset] as const)
  }
  const [starts, ends] = (['from', 'to'] as const).map((end) => {
    const found = own.find(({ note }) => note.side === end)?.note
    return found === undefined || found.side === 'inside' ? [-1] : lanesOf(found.lanes, times)
  }) as [number[], number[]]
  return starts.flatMap((start) => ends.map((end) => [start, end] as const))
}

function lanesOf(which: WhichLanes, times: number): number[] {
  if (which === 'first') return [0]
  return which === 'last' ? [times - 1] : Array.from({ length: times }, (_, lane) => lane)
}

/** For each lane of an instance, its own copies of the repetitions within it. */
function instanceCopies(within: ReadonlySet<number>) {
  const known = new Map<Instance, Map<Instance, Instance[]>>()
  return (inner: Instance, outer: Instance, lane: number): Instance => {
    if (!within.has(inner.of)) return inner
    const byInner = known.get(outer) ?? new Map<Instance, Instance[]>()
    known.set(outer, byInner)
    const lanes = byInner.get(inner) ?? []
    byInner.set(inner, lanes)
    const copy = lanes[lane] ?? { of: inner.of }
    lanes[lane] = copy
    return copy
  }
}
