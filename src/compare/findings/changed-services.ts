import type { Categories } from '../categories/categories.ts'
import { place } from '../edges/edge-pool.ts'
import type { StructureMove } from './finding.ts'
import { COMMON } from './group-moves.ts'

/** Services that most requests of `moves` now pass and did not before, and the reverse. */
export function changedServices(categories: Categories, moves: readonly StructureMove[]) {
  const gained = new Map<string, number>()
  const lost = new Map<string, number>()
  let all = 0
  for (const { from, to, requests } of moves) {
    const [before, after] = [placesOf(categories, from), placesOf(categories, to)]
    all += requests
    for (const name of after) if (!before.has(name)) add(gained, name, requests)
    for (const name of before) if (!after.has(name)) add(lost, name, requests)
  }
  const most = (tally: ReadonlyMap<string, number>) =>
    [...tally].flatMap(([name, requests]) => (requests >= COMMON * all ? [name] : []))
  return { gained: most(gained), lost: most(lost) }
}

/** Where a category's nodes are, in the order in which a request comes by. */
function placesOf(categories: Categories, category: number): Set<string> {
  const { preorder } = categories.structure(category)
  const places = Array.from(preorder, (node) => place(categories.nodeLabel(category, node)))
  return new Set(places.filter((name) => name !== ''))
}

function add(tally: Map<string, number>, name: string, requests: number): void {
  tally.set(name, (tally.get(name) ?? 0) + requests)
}
