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

export interface CategoryStructure extends StructureOutline {
  /** Label of each node, hosts omitted if so chosen. */
  readonly labels: readonly string[]
  readonly root: string
  readonly edgeClasses: readonly EdgeClass[]
  /** Number of each edge's class in `edgeClasses`. */
  readonly classOf: Uint32Array
  /** The nodes that each class leads from and to; of several the first in preorder. */
  readonly classFrom: Uint32Array
  readonly classTo: Uint32Array
  /** Key of each class, see `StructureColours`; one of a loop may be that of an edge as well. */
  readonly classKeys: Uint32Array
  /** How many classes, the last ones, are loops of folded flows. */
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
  readonly colours: Uint32Array
  readonly loops: readonly ColouredLoop[]
  readonly labelTexts: readonly string[]
}

export function describeStructure(
  outline: StructureOutline,
  { keys, colours, loops, labelTexts }: StructureParts,
): CategoryStructure {
  const { labelCodes, from, to, preorder } = outline
  const rank = placesIn(preorder)
  const numbers = new Map<number, number>()
  const firsts: number[] = []
  for (const edge of inPreorder(outline, rank)) {
    if (numbers.has(keys[edge]!)) continue
    numbers.set(keys[edge]!, firsts.length)
    firsts.push(edge)
  }
  const behind = loopEnds(loops, colours, preorder).sort(
    (a, b) => rank[a.from]! - rank[b.from]! || rank[a.to]! - rank[b.to]!,
  )
  const column = (own: Uint32Array, end: 'from' | 'to' | 'key') => {
    const values = new Uint32Array(firsts.length + behind.length)
    for (let number = 0; number < firsts.length; number++) values[number] = own[firsts[number]!]!
    behind.forEach((loop, i) => {
      values[firsts.length + i] = loop[end]
    })
    return values
  }
  let labels: readonly string[] | undefined
  let edgeClasses: readonly EdgeClass[] | undefined
  return {
    ...outline,
    root: labelTexts[labelCodes[0]!]!,
    loops: behind.length,
    classOf: keys.map((key) => numbers.get(key)!),
    classFrom: column(from, 'from'),
    classTo: column(to, 'to'),
    classKeys: column(keys, 'key'),
    get labels() {
      labels ??= Array.from(labelCodes, (code) => labelTexts[code]!)
      return labels
    },
    get edgeClasses() {
      edgeClasses ??= describeClasses(this)
      return edgeClasses
    },
  }
}

const MAX_LABELS = 2 ** 26

/** The edges by where they start and then by where they end, in preorder. */
function inPreorder({ from, to, preorder }: StructureOutline, rank: Uint32Array): Uint32Array {
  const byEnd = groupRows(
    to.map((node) => rank[node]!),
    preorder.length,
  ).rows
  const starts = byEnd.map((edge) => rank[from[edge]!]!)
  return groupRows(starts, preorder.length).rows.map((at) => byEnd[at]!)
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
