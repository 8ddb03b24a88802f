// Run for every affected call of every what-if: the loops index with `!`.

/**
 * Who waits for whom, ready to be computed: nodes with the same predecessors share one set of them,
 * a synchronisation point, so that k calls after k others cost 2k steps and not k².
 */
export interface WaitPlan {
  readonly nodes: number
  /** Nodes such that each comes after its predecessors. */
  readonly order: Uint32Array
  /** The set that each node waits for, −1 for none. */
  readonly waitsFor: Int32Array
  /** The set that the reply waits for, −1 for none. */
  readonly replyWaitsFor: number
  /** The nodes of set `i` are entries `setOffsets[i]` to `setOffsets[i + 1]`. */
  readonly setOffsets: Uint32Array
  readonly setNodes: Uint32Array
}

/** A plan of direct predecessors. Lists that are the same object, or hold the same, become one set. */
export function waitPlan(
  order: Uint32Array,
  predecessors: readonly (readonly number[])[],
  returnPredecessors: readonly number[],
): WaitPlan {
  const sets: (readonly number[])[] = []
  const sameLists = new Map<readonly number[], number>()
  const sameContents = new Map<string, number>()
  const setOf = (nodes: readonly number[]): number => {
    if (nodes.length === 0) return -1
    let set = sameLists.get(nodes)
    if (set !== undefined) return set
    const text = nodes.join()
    set = sameContents.get(text)
    if (set === undefined) {
      set = sets.push(nodes) - 1
      sameContents.set(text, set)
    }
    sameLists.set(nodes, set)
    return set
  }
  const waitsFor = Int32Array.from(predecessors, setOf)
  const replyWaitsFor = setOf(returnPredecessors)
  const setOffsets = new Uint32Array(sets.length + 1)
  sets.forEach((nodes, set) => {
    setOffsets[set + 1] = setOffsets[set]! + nodes.length
  })
  const setNodes = new Uint32Array(setOffsets[sets.length]!)
  sets.forEach((nodes, set) => {
    setNodes.set(nodes, setOffsets[set]!)
  })
  return { nodes: order.length, order, waitsFor, replyWaitsFor, setOffsets, setNodes }
}

/** When the last node of a set is over. */
export function setEnd(plan: WaitPlan, set: number, endUs: Float64Array): number {
  const end = plan.setOffsets[set + 1]!
  let last = Number.NEGATIVE_INFINITY
  for (let at = plan.setOffsets[set]!; at < end; at++) {
    const us = endUs[plan.setNodes[at]!]!
    if (us > last) last = us
  }
  return last
}
