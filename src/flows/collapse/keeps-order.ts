import type { FoldStep } from './fold-lanes.ts'
import { type EdgeRows, edgeRows, type FoldedGraph } from './folded-graph.ts'

/**
 * Whether, of the steps outside, one leads to another through the folded lane only if it did so
 * before: then all that is folded can be given times such that nothing comes before what it waits
 * for. Lanes that are entered only at the first and left only at the last, but do not hand over from
 * the first to the last, would lead from what enters to what leaves though it need not have waited.
 */
export function keepsOrder({ before, after, nodeOf, laneOf }: FoldStep): boolean {
  const number = after.repetitions.length - 1
  const isPlain = after.notes.every((said, edge) => {
    const note = said.find(({ repetition }) => repetition === number)
    if (note === undefined || after.loops[edge] === 1) return true
    return note.side === 'inside' ? note.offset === 0 : note.lanes === 'all'
  })
  if (isPlain) return true
  const rows = [before, after].map(({ from, labels, loops }) =>
    edgeRows(from, labels.length, loops),
  ) as [EdgeRows, EdgeRows]
  const isOutside = (node: number) => laneOf[node] === -1
  const entering = new Set<number>()
  const leaving = new Set<number>()
  before.from.forEach((source, edge) => {
    const target = before.to[edge] as number
    if (before.loops[edge] === 1 || isOutside(source) === isOutside(target)) return
    if (isOutside(source)) entering.add(source)
    else leaving.add(target)
  })
  for (const source of entering) {
    const reached = reachedFrom(before, rows[0], source)
    const reachedNow = reachedFrom(after, rows[1], nodeOf[source] as number)
    for (const target of leaving) {
      if (reachedNow[nodeOf[target] as number] === 1 && reached[target] === 0) return false
    }
  }
  return true
}

/** 1 for the nodes that a node leads to. */
function reachedFrom({ to, labels }: FoldedGraph, below: EdgeRows, start: number): Uint8Array {
  const reached = new Uint8Array(labels.length)
  const pending = [start]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const end = below.offsets[node + 1] as number
    for (let entry = below.offsets[node] as number; entry < end; entry++) {
      const target = to[below.edges[entry] as number] as number
      if (reached[target] === 1) continue
      reached[target] = 1
      pending.push(target)
    }
  }
  return reached
}
