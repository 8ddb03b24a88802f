// Runs once an edge of a shape: the loops index with `!`.
import { placesIn } from '../../traces/group-rows.ts'
import { neighborsOf, type ShapeGraph } from '../../traces/shape-table.ts'
import { type LabelOrder, structureHashes } from '../../traces/structure-hashes.ts'

/**
 * Edges that play the same part: usually one, or several if branches are identical.
 *
 * In folded flows a repeated part is one edge of the shape. A step from one round to the next is no edge of the shape,
 * because it would close a cycle. Such steps are edge classes of their own, after all others.
 */
export interface EdgeClass {
  /** Label of the node it starts from. */
  readonly from: string
  readonly to: string
  /** Counts edge classes between the same two labels, in preorder. */
  readonly occurrence: number
  /** The node it leads to waits for other edges as well. */
  readonly intoJoin: boolean
  /**
   * True if the edge leads from one round of a folded repetition to the next: from a portion to the following one, or
   * from the end of a loop's body back to its start.
   */
  readonly fromRoundBefore?: true
}

export interface CategoryStructure extends StructureOutline {
  /** Label of each node, hosts omitted if so chosen. */
  readonly labels: readonly string[]
  /** Labels without sizes and attributes, as numbers that mean the same in all structures. */
  readonly kindCodes: Uint32Array
  readonly kinds: readonly string[]
  readonly root: string
  readonly edgeClasses: readonly EdgeClass[]
  /** Number of each edge's class in `edgeClasses`. */
  readonly classOf: Uint32Array
  /** The nodes that each class leads from and to; of several the first in preorder. */
  readonly classFrom: Uint32Array
  readonly classTo: Uint32Array
  /** Key of each class, see `StructureColours`; one of a loop may be that of an edge as well. */
  readonly classKeys: Uint32Array
  /** Number of classes, the last ones, that are loops of folded flows. */
  readonly loops: number
}

/** A loop of a folded flow: its key, and the colours at its ends. */
export interface ColouredLoop {
  readonly key: number
  readonly from: number
  readonly to: number
}

interface StructureParts {
  readonly keys: Uint32Array
  /** Room for the number of each key's class. */
  readonly numbers: Uint32Array
  readonly colours: Uint32Array
  readonly loops: readonly ColouredLoop[]
  readonly labelTexts: readonly string[]
  readonly kindOf: readonly number[]
  readonly kindTexts: readonly string[]
}

export function describeStructure(
  outline: StructureOutline,
  { keys, numbers, colours, loops, labelTexts, kindOf, kindTexts }: StructureParts,
): CategoryStructure {
  const { labelCodes, from, to, preorder } = outline
  const rank = placesIn(preorder)
  const { firsts, classOf } = classesOf(inPreorder(outline, rank), keys, numbers)
  const behind = loopEnds(loops, colours, preorder).sort(
    (a, b) => rank[a.from]! - rank[b.from]! || rank[a.to]! - rank[b.to]!,
  )
  let labels: readonly string[] | undefined
  let kinds: readonly string[] | undefined
  let edgeClasses: readonly EdgeClass[] | undefined
  return {
    ...outline,
    root: labelTexts[labelCodes[0]!]!,
    kindCodes: labelCodes.map((code) => kindOf[code]!),
    loops: behind.length,
    classOf,
    classFrom: withLoops(
      firsts.map((edge) => from[edge]!),
      behind.map((loop) => loop.from),
    ),
    classTo: withLoops(
      firsts.map((edge) => to[edge]!),
      behind.map((loop) => loop.to),
    ),
    classKeys: withLoops(
      firsts.map((edge) => keys[edge]!),
      behind.map((loop) => loop.key),
    ),
    get labels() {
      labels ??= Array.from(labelCodes, (code) => labelTexts[code]!)
      return labels
    },
    get kinds() {
      kinds ??= Array.from(this.kindCodes, (code) => kindTexts[code]!)
      return kinds
    },
    get edgeClasses() {
      edgeClasses ??= describeClasses(this)
      return edgeClasses
    },
  }
}

/** Numbers edges of one key in the order given; lists the first of each. */
function classesOf(order: Uint32Array, keys: Uint32Array, numbers: Uint32Array) {
  const firsts = new Uint32Array(order.length)
  let count = 0
  for (const edge of order) {
    const key = keys[edge]!
    // The slot may hold a number from an earlier call.
    const known = numbers[key]!
    if (known < count && keys[firsts[known]!] === key) continue
    numbers[key] = count
    firsts[count++] = edge
  }
  return { firsts: firsts.subarray(0, count), classOf: keys.map((key) => numbers[key]!) }
}

/** Appends the values of the loops' classes to those of the edge classes. */
function withLoops(ofEdges: Uint32Array, ofLoops: readonly number[]): Uint32Array {
  return ofLoops.length === 0 ? ofEdges : Uint32Array.of(...ofEdges, ...ofLoops)
}

const MAX_LABELS = 2 ** 26

/** Returns the edges by where they start and then by where they end, in preorder. */
function inPreorder({ from, to }: StructureOutline, rank: Uint32Array): Uint32Array {
  const edges = new Uint32Array(from.length)
  for (let edge = 0; edge < edges.length; edge++) edges[edge] = edge
  return byRank(byRank(edges, to, rank), from, rank)
}

/** Sorts edges by the rank of the node at one end, by counting; equal ones stay as they stand. */
function byRank(edges: Uint32Array, end: Uint32Array, rank: Uint32Array): Uint32Array {
  const next = new Uint32Array(rank.length + 1)
  for (let edge = 0; edge < end.length; edge++) next[rank[end[edge]!]! + 1]!++
  for (let node = 0; node < rank.length; node++) next[node + 1]! += next[node]!
  const sorted = new Uint32Array(edges.length)
  for (let at = 0; at < edges.length; at++) sorted[next[rank[end[edges[at]!]!]!]!++] = edges[at]!
  return sorted
}

function loopEnds(
  loops: readonly ColouredLoop[],
  colours: Uint32Array,
  preorder: Uint32Array,
): ColouredLoop[] {
  const first = new Map<number, number>()
  for (const node of loops.length === 0 ? [] : preorder) {
    if (!first.has(colours[node]!)) first.set(colours[node]!, node)
  }
  return loops.map(({ key, from, to }) => ({ key, from: first.get(from)!, to: first.get(to)! }))
}

function describeClasses({
  labels,
  labelCodes,
  to,
  classFrom,
  classTo,
  loops,
}: CategoryStructure): EdgeClass[] {
  const entries = new Uint32Array(labels.length)
  for (let edge = 0; edge < to.length; edge++) entries[to[edge]!]!++
  const plain = classFrom.length - loops
  const seen = new Map<number, number>()
  return Array.from(classFrom, (source, number) => {
    const target = classTo[number]!
    const pair = labelCodes[source]! * MAX_LABELS + labelCodes[target]!
    const occurrence = seen.get(pair) ?? 0
    seen.set(pair, occurrence + 1)
    const described = {
      from: labels[source]!,
      to: labels[target]!,
      occurrence,
      intoJoin: entries[target]! > 1,
    }
    return number < plain ? described : { ...described, fromRoundBefore: true }
  })
}

/** Data to compare one structure with others. */
export interface StructureOutline {
  /** The shape it is shown by; node and edge numbers are those of this shape. */
  readonly shape: number
  /** Label of each node, as a number that means the same in all structures of the categories. */
  readonly labelCodes: Uint32Array
  readonly from: Uint32Array
  readonly to: Uint32Array
  /** Every node once, depth first, children by label and then by structure. */
  readonly preorder: Uint32Array
  /** Nodes as in `preorder`, but joins come once for each edge into them. */
  readonly visits: Uint32Array
  /** For each visit, the node it came from; the node itself for a root. */
  readonly callers: Uint32Array
}

/** Walks every edge once, depth first; siblings by label, then by the part they play. */
export function depthFirst(
  graph: ShapeGraph,
  labelCodes: Uint32Array,
  { ranks, hashes: labelHashes }: LabelOrder,
): Pick<StructureOutline, 'preorder' | 'visits' | 'callers'> {
  const { below, above, nodes, edges } = graph
  let hashes: Float64Array | undefined
  const byPart = (a: number, b: number) => {
    const byLabel =
      (ranks[labelCodes[a] as number] as number) - (ranks[labelCodes[b] as number] as number)
    if (byLabel !== 0) return byLabel
    hashes ??= structureHashes(
      graph,
      Float64Array.from(labelCodes, (code) => labelHashes[code] as number),
    )
    return (hashes[a] as number) - (hashes[b] as number)
  }
  const lastFirst = (a: number, b: number) => byPart(b, a)
  const entered = new Uint8Array(nodes)
  const preorder = new Uint32Array(nodes)
  const pending: number[] = []
  const pendingCallers: number[] = []
  for (let node = 0; node < nodes; node++) {
    if (above.offsets[node] === above.offsets[node + 1]) pending.push(node)
  }
  pending.sort((a, b) => (a === 0 ? 1 : b === 0 ? -1 : byPart(b, a)))
  for (const root of pending) pendingCallers.push(root)
  const visits = new Uint32Array(pending.length + edges)
  const callers = new Uint32Array(pending.length + edges)
  let first = 0
  let count = 0
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    visits[count] = node
    callers[count++] = pendingCallers.pop() as number
    if (entered[node] === 1) continue
    entered[node] = 1
    preorder[first++] = node
    const children = neighborsOf(below, node)
    for (const child of children.length > 1 ? children.toSorted(lastFirst) : children) {
      pending.push(child)
      pendingCallers.push(node)
    }
  }
  return { preorder, visits, callers }
}
