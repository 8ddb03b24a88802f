// Runs once an edge of a shape: the loops index with `!`.
import type { StructureOutline } from './structure-outline.ts'

/**
 * Edges that play the same part: usually one, more where branches are identical.
 *
 * In folded flows a part that is repeated is one edge of the shape, but a step from one round to the
 * next is none: it would close a cycle. Such steps are edge classes of their own, behind all others.
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
   * There where it leads from the round before, of what is folded, to the next: from a portion to
   * that behind it, or from the end of a loop's body back to its start.
   */
  readonly fromRoundBefore?: true
}

/** The structure that all requests of a category share. */
export interface CategoryStructure extends StructureOutline {
  /** Label of each node, hosts omitted if so chosen. */
  readonly labels: readonly string[]
  readonly root: string
  readonly edgeClasses: readonly EdgeClass[]
  /** Number of each edge's class in `edgeClasses`. */
  readonly classOf: Uint32Array
  /** The nodes that each class leads from and to; of several the first in preorder. */
  readonly classEnds: readonly ClassEnds[]
  /** Number of the edge class of each key that `edgeKeys` gives. */
  readonly classNumbers: ReadonlyMap<number, number>
  /** The same for the loops of folded flows. */
  readonly loopNumbers: ReadonlyMap<number, number>
}

/** Where an edge class starts and ends: nodes of a category's structure. */
export interface ClassEnds {
  readonly from: number
  readonly to: number
}

/** More colours than there ever are. */
const COLOURS = 2 ** 26

/**
 * Describes the structure of a category, given the colours of its nodes and their labels.
 *
 * @param loops the loops of folded flows, by the colours at their ends, see `edgeKeys`
 */
export function describeStructure(
  outline: StructureOutline,
  colours: Uint32Array,
  { labels, loops }: { labels: readonly string[]; loops: ReadonlySet<number> },
): CategoryStructure {
  const { from, to, preorder } = outline
  const rank = new Uint32Array(labels.length)
  preorder.forEach((node, at) => {
    rank[node] = at
  })
  const byRank = (a: ClassEnds, b: ClassEnds) =>
    (rank[a.from] as number) - (rank[b.from] as number) ||
    (rank[a.to] as number) - (rank[b.to] as number)
  const keys = edgeKeys(colours, from, to)
  const endsOf = (edge: number) => ({ from: from[edge] as number, to: to[edge] as number })
  const edges = Array.from(keys, (key, edge) => ({ key, ...endsOf(edge) })).sort(byRank)
  const classEnds: ClassEnds[] = []
  const number = (ends: readonly (ClassEnds & { key: number })[]) => {
    const numbers = new Map<number, number>()
    for (const { key, ...each } of ends) {
      if (numbers.has(key)) continue
      numbers.set(key, classEnds.length)
      classEnds.push(each)
    }
    return numbers
  }
  const classNumbers = number(edges)
  const plain = classEnds.length
  const loopNumbers = number(loopEnds(loops, colours, preorder).sort(byRank))
  return {
    ...outline,
    ...{ labels, classEnds, classNumbers, loopNumbers },
    root: labels[0] as string,
    edgeClasses: describeClasses(classEnds, { labels, to, plain }),
    classOf: Uint32Array.from(keys, (key) => classNumbers.get(key) as number),
  }
}

/** The first nodes of these colours, for each loop. */
function loopEnds(loops: ReadonlySet<number>, colours: Uint32Array, preorder: Uint32Array) {
  if (loops.size === 0) return []
  const first = new Map<number, number>()
  for (const node of preorder) {
    const colour = colours[node] as number
    if (!first.has(colour)) first.set(colour, node)
  }
  return Array.from(loops, (key) => ({
    key,
    from: first.get(Math.floor(key / COLOURS)) as number,
    to: first.get(key % COLOURS) as number,
  }))
}

/** What makes edges of one class: the colours at their ends, as one number an edge. */
export function edgeKeys(
  colours: Uint32Array,
  from: ArrayLike<number>,
  to: ArrayLike<number>,
): Float64Array {
  const keys = new Float64Array(from.length)
  for (let edge = 0; edge < keys.length; edge++) {
    keys[edge] = colours[from[edge]!]! * COLOURS + colours[to[edge]!]!
  }
  return keys
}

function describeClasses(
  ends: readonly ClassEnds[],
  { labels, to, plain }: { labels: readonly string[]; to: Uint32Array; plain: number },
): EdgeClass[] {
  const entries = new Uint32Array(labels.length)
  for (const node of to) entries[node] = (entries[node] as number) + 1
  const seen = new Map<string, number>()
  return ends.map((each, number) => {
    const source = labels[each.from] as string
    const target = labels[each.to] as string
    const pair = JSON.stringify([source, target])
    const occurrence = seen.get(pair) ?? 0
    seen.set(pair, occurrence + 1)
    const intoJoin = (entries[each.to] as number) > 1
    const described = { from: source, to: target, occurrence, intoJoin }
    return number < plain ? described : { ...described, fromRoundBefore: true }
  })
}
