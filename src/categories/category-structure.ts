import type { StructureOutline } from './structure-outline.ts'

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
export interface CategoryStructure extends StructureOutline {
  /** Label of each node, hosts omitted if so chosen. */
  readonly labels: readonly string[]
  readonly root: string
  readonly edgeClasses: readonly EdgeClass[]
  /** Number of each edge's class in `edgeClasses`. */
  readonly classOf: Uint32Array
  /** Number of the edge class of each key that `edgeKeys` gives. */
  readonly classNumbers: ReadonlyMap<number, number>
}

/** More colours than there ever are. */
const COLOURS = 2 ** 26

/** Describes the structure of a category, given the colours of its nodes and their labels. */
export function describeStructure(
  outline: StructureOutline,
  colours: Uint32Array,
  labels: readonly string[],
): CategoryStructure {
  const { from, to, preorder } = outline
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
    ...outline,
    ...{ labels, classNumbers },
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
