// Runs once an edge of a shape: the loops index with `!`.
import { getOrInsert } from '../../core/entries.ts'
import type { LoopEnds } from '../../flows/fold/folded-flows.ts'
import { placesIn } from '../../traces/group-rows.ts'
import { neighborsOf, ShapeGraph, type ShapeTable } from '../../traces/shape-table.ts'
import { type LabelOrder, labelOrder, structureHashes } from '../../traces/structure-hashes.ts'
import type { StructureColours } from './structure-colours.ts'

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
interface ColouredLoop {
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

function describeStructure(
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

interface CatalogContents {
  readonly shapes: ShapeTable
  readonly colours: StructureColours
  /** For each label code of the shapes, the index of its text. */
  readonly labelOf: Uint32Array
  readonly labelTexts: readonly string[]
  /** For each of these texts, the index of the text without size and attributes. */
  readonly kindOf: readonly number[]
  readonly kindTexts: readonly string[]
  /** The shape that each category is shown by. */
  readonly representatives: readonly number[]
  readonly categoryOfShape: readonly (number | undefined)[]
  /** Loops of a shape of folded flows, which are not among its edges; `undefined` for other flows. */
  readonly loopsOf: ((shape: number) => LoopEnds) | undefined
}

/** The structures of categories, each described when it is first asked for. */
export class StructureCatalog {
  readonly #contents: CatalogContents
  readonly #graph = new ShapeGraph()
  readonly #labelOrder: LabelOrder
  readonly #outlines = new Map<number, StructureOutline>()
  readonly #structures = new Map<number, CategoryStructure>()
  readonly #preorders = new Map<number, Uint32Array>()
  /** Class of each key of `#numbered`; other keys hold their last value. */
  #numbers = new Uint32Array(1024)
  #numbered = -1
  #shapesOf: readonly (readonly number[])[] | undefined

  constructor(contents: CatalogContents) {
    this.#contents = contents
    this.#labelOrder = labelOrder(contents.labelTexts)
  }

  get size(): number {
    return this.#contents.representatives.length
  }

  /** Returns the shape that a category is shown by. */
  shape(category: number): number {
    const shape = this.#contents.representatives[category]
    if (shape === undefined) {
      const known = this.size === 0 ? 'none' : `0 to ${this.size - 1}`
      throw new RangeError(`There is no category ${category}; there are ${known}.`)
    }
    return shape
  }

  root(category: number): string {
    return this.#contents.labelTexts[this.#rootLabel(category)] as string
  }

  kind(category: number): string {
    const { kindOf, kindTexts } = this.#contents
    return kindTexts[kindOf[this.#rootLabel(category)] as number] as string
  }

  #rootLabel(category: number): number {
    const { shapes, labelOf } = this.#contents
    return labelOf[shapes.labels(this.shape(category))[0] as number] as number
  }

  get labelCount(): number {
    return this.#contents.labelTexts.length
  }

  outline(category: number): StructureOutline {
    return getOrInsert(this.#outlines, category, () => this.#describe(this.shape(category)))
  }

  #describe(shape: number): StructureOutline {
    const { shapes, labelOf } = this.#contents
    const labelCodes = shapes.labels(shape).map((label) => labelOf[label] as number)
    const graph = this.#graph.load(shapes, shape)
    const ends = { from: shapes.from(shape), to: shapes.to(shape) }
    return { shape, labelCodes, ...ends, ...depthFirst(graph, labelCodes, this.#labelOrder) }
  }

  /** Returns the nodes of any shape depth first; see `Categories.preorderOf`. */
  preorder(shape: number): Uint32Array {
    return getOrInsert(this.#preorders, shape, () => this.#describe(shape).preorder)
  }

  structure(category: number): CategoryStructure {
    return getOrInsert(this.#structures, category, () => {
      const outline = this.outline(category)
      const { colours, labelTexts, kindOf, kindTexts } = this.#contents
      const ofNodes = colours.colour(outline.shape).colours
      const keys = colours.edgeKeys(ofNodes, outline.from, outline.to)
      const loops = this.#loops(category)
      const numbers = this.#roomFor(keys)
      this.#numbered = category
      const texts = { labelTexts, kindOf, kindTexts }
      return describeStructure(outline, { keys, numbers, colours: ofNodes, loops, ...texts })
    })
  }

  /** Returns, for any shape, the number of each edge's class in its category's structure. */
  classOfEdges(shape: number): Uint32Array {
    const { shapes, colours, categoryOfShape } = this.#contents
    const category = categoryOfShape[shape] as number
    if (shape === this.shape(category)) return this.structure(category).classOf.slice()
    const numbers = this.#classNumbers(category)
    const ofNodes = colours.colour(shape).colours
    const classes = colours.edgeKeys(ofNodes, shapes.from(shape), shapes.to(shape))
    for (let edge = 0; edge < classes.length; edge++) {
      classes[edge] = numbers[classes[edge] as number] as number
    }
    return classes
  }

  #classNumbers(category: number): Uint32Array {
    if (category === this.#numbered) return this.#numbers
    const { classKeys, loops } = this.structure(category)
    const numbers = this.#roomFor(classKeys)
    for (let number = 0; number < classKeys.length - loops; number++) {
      numbers[classKeys[number] as number] = number
    }
    this.#numbered = category
    return numbers
  }

  #roomFor(keys: Uint32Array): Uint32Array {
    const end = keys.reduce((most, key) => Math.max(most, key + 1), 0)
    if (end > this.#numbers.length) this.#numbers = new Uint32Array(2 * end)
    return this.#numbers
  }

  /** Returns, for the loops of a shape of folded flows, the numbers of their classes. */
  classOfLoops(shape: number, { from, to }: LoopEnds): Uint32Array {
    const { colours, categoryOfShape } = this.#contents
    const { classKeys, loops } = this.structure(categoryOfShape[shape] as number)
    const plain = classKeys.length - loops
    const numbers = new Map(Array.from(classKeys.subarray(plain), (key, i) => [key, plain + i]))
    const keys = colours.edgeKeys(colours.colour(shape).colours, from, to)
    return keys.map((key) => numbers.get(key) as number)
  }

  #loops(category: number): readonly ColouredLoop[] {
    const { colours, loopsOf, categoryOfShape } = this.#contents
    if (loopsOf === undefined) return []
    const found = new Map<number, ColouredLoop>()
    this.#shapesOf ??= shapesByCategory(categoryOfShape, this.size)
    for (const shape of this.#shapesOf[category] as readonly number[]) {
      const { from, to } = loopsOf(shape)
      const ofNodes = colours.colour(shape).colours
      colours.edgeKeys(ofNodes, from, to).forEach((key, loop) => {
        const [start, end] = [from[loop] as number, to[loop] as number]
        found.set(key, { key, from: ofNodes[start] as number, to: ofNodes[end] as number })
      })
    }
    return [...found.values()]
  }
}

function shapesByCategory(categoryOfShape: readonly (number | undefined)[], size: number) {
  const shapes: number[][] = Array.from({ length: size }, () => [])
  categoryOfShape.forEach((category, shape) => {
    if (category !== undefined) shapes[category]?.push(shape)
  })
  return shapes
}
