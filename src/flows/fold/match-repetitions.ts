import type { FoldedGraph } from './folded-graph.ts'
import type { Lanes } from './grow-lanes.ts'

/** For each lane, which repetition in it corresponds to which of the first lane. */
export type RepetitionMatch = readonly ReadonlyMap<number, number>[]

/**
 * Whether repetitions folded before stand in lanes such that lanes can be folded, too: each lies
 * wholly within one lane and has its like in all others, or else holds parts of all lanes alike.
 *
 * @param order the lanes, first to last
 * @returns for each lane, in order, the first lane's repetition for each of its own
 */
export function matchRepetitions(
  graph: FoldedGraph,
  lanes: Lanes,
  order: Uint32Array,
): RepetitionMatch | undefined {
  if (graph.repetitions.length === 0) return Array.from(order, () => new Map())
  const members = new Map<number, number>()
  for (const stack of graph.inside) {
    for (const repetition of stack) members.set(repetition, (members.get(repetition) ?? 0) + 1)
  }
  const first = order[0] as number
  const owner = new Map<number, number>()
  const match: Map<number, number>[] = []
  for (const lane of order) {
    const likes = new Map<number, number>()
    const found = new Map<number, number>()
    for (const nodes of lanes.roles) {
      const model = graph.inside[nodes[first] as number] as readonly number[]
      const own = graph.inside[nodes[lane] as number] as readonly number[]
      for (const [at, repetition] of own.entries()) {
        const like = model[at] as number
        if ((likes.get(repetition) ?? like) !== like) return undefined
        likes.set(repetition, like)
        found.set(repetition, (found.get(repetition) ?? 0) + 1)
      }
    }
    if (new Set(likes.values()).size !== likes.size) return undefined
    for (const [repetition, like] of likes) {
      if (lane !== first && repetition === like) continue
      if ((owner.get(repetition) ?? lane) !== lane) return undefined
      owner.set(repetition, lane)
      const whole = found.get(repetition) === members.get(repetition)
      if (!whole && repetition !== like) return undefined
    }
    match.push(likes)
  }
  return withoutShared(match)
}

/** Drops the repetitions that hold parts of several lanes; `undefined` where only some lanes do. */
function withoutShared(match: readonly Map<number, number>[]): RepetitionMatch | undefined {
  for (const repetition of [...(match[0] as Map<number, number>).keys()]) {
    const sharing = match.filter((likes) => likes.get(repetition) === repetition).length
    if (sharing === 1) continue
    if (sharing !== match.length) return undefined
    for (const likes of match) likes.delete(repetition)
  }
  return match
}
