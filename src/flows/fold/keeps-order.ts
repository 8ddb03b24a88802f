import type { FoldStep } from './fold-lanes.ts'
import type { EdgeRows, FoldedGraph } from './folded-graph.ts'

/**
 * Whether, of the steps outside, one leads to another through the folded lane only if it did so
 * before: then all that is folded can be given times such that nothing comes before what it waits
 * for. Lanes that are entered only at the first and left only at the last, but do not hand over from
 * the first to the last, would lead from what enters to what leaves though it need not have waited.
 *
 * @param rows edges by the node they start at, of both graphs
 */
export function keepsOrder(
  { before, after, nodeOf, sources }: FoldStep,
  rows: { before: EdgeRows; after: EdgeRows },
): boolean {
  const number = after.repetitions.length - 1
  const entering = new Set<number>()
  const leaving = new Set<number>()
  let isPlain = true
  after.notes.forEach((said, edge) => {
    const note = said.find(({ repetition }) => repetition === number)
    if (note === undefined || after.loops[edge] === 1) return
    if (note.side === 'inside' ? note.offset > 0 : note.lanes !== 'all') isPlain = false
    if (note.side === 'to') entering.add(sources[after.from[edge] as number] as number)
    if (note.side === 'from') leaving.add(sources[after.to[edge] as number] as number)
  })
  if (isPlain) return true
  for (const source of entering) {
    const reachedNow = reachedFrom(after, rows.after, { start: nodeOf[source] as number })
    const wanted = new Set(
      [...leaving].filter((target) => reachedNow[nodeOf[target] as number] === 1),
    )
    const reached = reachedFrom(before, rows.before, { start: source, wanted })
    for (const target of wanted) if (reached[target] === 0) return false
  }
  return true
}

/** 1 for the nodes that a node leads to; not all of them once those wanted are found. */
function reachedFrom(
  { to, labels }: FoldedGraph,
  below: EdgeRows,
  { start, wanted }: { start: number; wanted?: ReadonlySet<number> },
): Uint8Array {
  const reached = new Uint8Array(labels.length)
  const pending = [start]
  let missing = wanted?.size ?? labels.length
  for (let node = pending.pop(); node !== undefined && missing > 0; node = pending.pop()) {
    const end = below.offsets[node + 1] as number
    for (let entry = below.offsets[node] as number; entry < end; entry++) {
      const target = to[below.edges[entry] as number] as number
      if (reached[target] === 1) continue
      reached[target] = 1
      if (wanted?.has(target)) missing--
      pending.push(target)
    }
  }
  return reached
}
