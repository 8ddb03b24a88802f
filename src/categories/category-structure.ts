import { neighboursOf, ShapeGraph } from '../traces/shape-graph.ts'
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
}

const COLOURS = 2 ** 26

/** Describes a category by one of its shapes, and finds the edge classes of all of them. */
export class StructureDescriber {
  readonly #shapes: ShapeTable
  readonly #labelOf: Uint32Array
  readonly #labelTexts: readonly string[]
  readonly #graph = new ShapeGraph()

  constructor(shapes: ShapeTable, labels: { of: Uint32Array; texts: readonly string[] }) {
    this.#shapes = shapes
    this.#labelOf = labels.of
    this.#labelTexts = labels.texts
  }

  describe(coloured: ColouredShape): CategoryStructure {
    const { shape } = coloured
    const from = this.#shapes.from(shape).slice()
    const to = this.#shapes.to(shape).slice()
    const labels = Array.from(
      this.#shapes.labels(shape),
      (label) => this.#labelTexts[this.#labelOf[label] as number] as string,
    )
    const graph = this.#graph.load(this.#shapes, shape)
    const preorder = depthFirst(graph, { labels, hashes: structureHashes(graph, labels) })
    const keys = this.classKeys(coloured, preorder)
    const classOf = this.classOfEdges(coloured, keys)
    const firstEdges = keys.map((_, number) => classOf.indexOf(number))
    return {
      ...{ shape, labels, from, to, preorder },
      root: labels[0] as string,
      edgeClasses: describeClasses(firstEdges, { labels, from, to }),
      classOf,
    }
  }

  /** The keys of the edge classes of a shape, in the order that preorder meets them. */
  classKeys({ shape, colours }: ColouredShape, preorder: readonly number[]): number[] {
    const rank = new Uint32Array(colours.length)
    preorder.forEach((node, at) => {
      rank[node] = at
    })
    const from = this.#shapes.from(shape)
    const to = this.#shapes.to(shape)
    const edges = Array.from(from, (_, edge) => edge).sort(
      (a, b) =>
        (rank[from[a] as number] as number) - (rank[from[b] as number] as number) ||
        (rank[to[a] as number] as number) - (rank[to[b] as number] as number),
    )
    return [...new Set(edges.map((edge) => classKey(colours, from[edge], to[edge])))]
  }

  /** The number of each edge's class, for any shape of the category that `keys` are of. */
  classOfEdges({ shape, colours }: ColouredShape, keys: readonly number[]): Uint32Array {
    const numbers = new Map(keys.map((key, number) => [key, number]))
    const to = this.#shapes.to(shape)
    return this.#shapes
      .from(shape)
      .map((from, edge) => numbers.get(classKey(colours, from, to[edge])) as number)
  }
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

function classKey(colours: Uint32Array, from: number | undefined, to: number | undefined): number {
  return (colours[from as number] as number) * COLOURS + (colours[to as number] as number)
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
