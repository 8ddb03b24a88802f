import { neighboursOf, type ShapeGraph } from '../traces/shape-graph.ts'
import type { ShapeTable } from '../traces/shape-table.ts'
import type { ColouredShape } from './structure-colours.ts'
import { structureHashes } from './structure-hashes.ts'

/** Edges that play the same part: usually one, more where branches are identical. */
export interface EdgeClass {
  /** Label of the node it starts from. */
  readonly from: string
  readonly to: string
  /** Counts edge classes between the same two labels, in preorder. */
  readonly occurrence: number
  /** The node it leads to waits for other edges as well. */
  readonly intoJoin: boolean
}

/** The structure that all requests of a category share. */
export interface CategoryStructure {
  /** The shape it is shown by; node and edge numbers are those of this shape. */
  readonly shape: number
  /** Label of each node, hosts omitted if so chosen. */
  readonly labels: readonly string[]
  readonly root: string
  readonly from: Uint32Array
  readonly to: Uint32Array
  /** Every node once, depth first, children by label and then by structure. */
  readonly preorder: readonly number[]
  readonly edgeClasses: readonly EdgeClass[]
  /** Number of each edge's class in `edgeClasses`. */
  readonly classOf: Uint32Array
  /** Number of the edge class of each key that `edgeKeys` gives. */
  readonly classNumbers: ReadonlyMap<number, number>
}

/** More colours than there ever are. */
const COLOURS = 2 ** 26

/** Describes the structure of a category by one of its shapes, whose nodes are coloured. */
export function describeStructure(
  { shape, colours }: ColouredShape,
  { shapes, graph, labels }: { shapes: ShapeTable; graph: ShapeGraph; labels: readonly string[] },
): CategoryStructure {
  const from = shapes.from(shape).slice()
  const to = shapes.to(shape).slice()
  const preorder = depthFirst(graph, { labels, hashes: structureHashes(graph, labels) })
  const rank = new Uint32Array(labels.length)
  preorder.forEach((node, at) => {
    rank[node] = at
  })
  const byRank = (a: number, b: number) =>
    (rank[from[a] as number] as number) - (rank[from[b] as number] as number) ||
    (rank[to[a] as number] as number) - (rank[to[b] as number] as number)
  const edges = Array.from(from, (_, edge) => edge).sort(byRank)
  const keys = edgeKeys(colours, from, to)
  const classNumbers = new Map<number, number>()
  const firstEdges: number[] = []
  for (const edge of edges) {
    const key = keys[edge] as number
    if (classNumbers.has(key)) continue
    classNumbers.set(key, firstEdges.length)
    firstEdges.push(edge)
  }
  return {
    ...{ shape, labels, from, to, preorder, classNumbers },
    root: labels[0] as string,
    edgeClasses: describeClasses(firstEdges, { labels, from, to }),
    classOf: Uint32Array.from(keys, (key) => classNumbers.get(key) as number),
  }
}

/** What makes edges of one class: the colours at their ends, as one number an edge. */
export function edgeKeys(colours: Uint32Array, from: Uint32Array, to: Uint32Array): Float64Array {
  return Float64Array.from(
    from,
    (source, edge) =>
      (colours[source] as number) * COLOURS + (colours[to[edge] as number] as number),
  )
}

/** Every node once, depth first; siblings by label, then by the part they play. */
function depthFirst(
  { below, above }: ShapeGraph,
  { labels, hashes }: { labels: readonly string[]; hashes: Float64Array },
): number[] {
  const byPart = (a: number, b: number) =>
    compareText(labels[a] as string, labels[b] as string) ||
    (hashes[a] as number) - (hashes[b] as number)
  const entered = new Uint8Array(labels.length)
  const preorder: number[] = []
  const roots = labels
    .map((_, node) => node)
    .filter((node) => neighboursOf(above, node).length === 0)
  const pending = roots.sort((a, b) => (a === 0 ? -1 : b === 0 ? 1 : byPart(a, b))).reverse()
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (entered[node] === 1) continue
    entered[node] = 1
    preorder.push(node)
    const next = Array.from(neighboursOf(below, node)).filter((child) => entered[child] === 0)
    pending.push(...next.sort(byPart).reverse())
  }
  return preorder
}

function describeClasses(
  edges: readonly number[],
  { labels, from, to }: { labels: readonly string[]; from: Uint32Array; to: Uint32Array },
): EdgeClass[] {
  const entries = new Uint32Array(labels.length)
  for (const node of to) entries[node] = (entries[node] as number) + 1
  const seen = new Map<string, number>()
  return edges.map((edge) => {
    const source = labels[from[edge] as number] as string
    const target = labels[to[edge] as number] as string
    const pair = JSON.stringify([source, target])
    const occurrence = seen.get(pair) ?? 0
    seen.set(pair, occurrence + 1)
    const intoJoin = (entries[to[edge] as number] as number) > 1
    return { from: source, to: target, occurrence, intoJoin }
  })
}

/** By UTF-16 code units: the same on every machine, whatever its language. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
