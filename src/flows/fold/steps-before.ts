import type { EdgeRows, FoldedGraph } from './folded-graph.ts'

/** Lists longer than this, in all, are not made: the flow is too tangled for it to be worth while. */
const MOST_ENTRIES = 2 ** 21

/**
 * For each step where branches of a lane join, all steps of the lane that lead there; undefined for
 * other nodes, and where lists would be too long.
 *
 * @param isStep 1 for nodes that are lanes' steps
 */
export function stepsBeforeJoins(
  { from, labels }: FoldedGraph,
  above: EdgeRows,
  isStep: Uint8Array,
): readonly (Uint32Array | undefined)[] {
  const before: (Uint32Array | undefined)[] = new Array(labels.length)
  const seen = new Int32Array(labels.length).fill(-1)
  let entries = 0
  for (let node = 0; node < labels.length; node++) {
    if (isStep[node] === 0 || stepsAbove(node).length < 2) continue
    const found: number[] = []
    const pending = stepsAbove(node)
    for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
      if (seen[step] === node) continue
      seen[step] = node
      found.push(step)
      pending.push(...stepsAbove(step))
    }
    entries += found.length
    if (entries > MOST_ENTRIES) return before
    before[node] = Uint32Array.from(found)
  }
  return before

  function stepsAbove(node: number): number[] {
    const edges = above.edges.subarray(above.offsets[node], above.offsets[node + 1])
    return Array.from(edges, (edge) => from[edge] as number).filter((step) => isStep[step] === 1)
  }
}
