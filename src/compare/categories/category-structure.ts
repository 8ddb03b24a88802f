// Runs once an edge of a shape: the loops index with `!`.
import { groupRows, placesIn } from '../../traces/group-rows.ts'
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
  const rank = placesIn(preorder)
  const keys = edgeKeys(colours, from, to)
  const classEnds: ClassEnds[] = []
  const classNumbers = new Map<number, number>()
  for (const edge of inPreorder(outline, rank)) {
    const key = keys[edge]!
    if (classNumbers.has(key)) continue
    classNumbers.set(key, classEnds.length)
    classEnds.push({ from: from[edge]!, to: to[edge]! })
  }
  const plain = classEnds.length
  const loopNumbers = new Map<number, number>()
  const ends = loopEnds(loops, colours, preorder).sort(
    (a, b) => rank[a.from]! - rank[b.from]! || rank[a.to]! - rank[b.to]!,
  )
  for (const { key, ...each } of ends) {
    loopNumbers.set(key, classEnds.length)
    classEnds.push(each)
  }
  return {
    ...outline,
    ...{ labels, classEnds, classNumbers, loopNumbers },
    root: labels[0] as string,
    edgeClasses: describeClasses(classEnds, { labels, outline, plain }),
    classOf: Uint32Array.from(keys, (key) => classNumbers.get(key) as number),
  }
}

/** The edges by where they start and then by where they end, in preorder: sorted by counting. */
function inPreorder({ from, to, preorder }: StructureOutline, rank: Uint32Array): Uint32Array {
  const byEnd = groupRows(
    to.map((node) => rank[node]!),
    preorder.length,
  ).rows
  const byStart = groupRows(
    byEnd.map((edge) => rank[from[edge]!]!),
    preorder.length,
  ).rows
  return byStart.map((at) => byEnd[at]!)
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
  {
    labels,
    outline: { to, labelCodes },
    plain,
  }: { labels: readonly string[]; outline: StructureOutline; plain: number },
): EdgeClass[] {
  const entries = new Uint32Array(labels.length)
  for (let edge = 0; edge < to.length; edge++) entries[to[edge]!]!++
  const seen = new Map<number, number>()
  return ends.map((each, number) => {
    // Labels are fewer than colours.
    const pair = labelCodes[each.from]! * COLOURS + labelCodes[each.to]!
    const occurrence = seen.get(pair) ?? 0
    seen.set(pair, occurrence + 1)
    const described = {
      from: labels[each.from] as string,
      to: labels[each.to] as string,
      occurrence,
      intoJoin: entries[each.to]! > 1,
    }
    return number < plain ? described : { ...described, fromRoundBefore: true }
  })
}
