import type { ShapeTable } from '../traces/shape-table.ts'
import { topologicalOrder } from '../traces/topological-order.ts'
import { type ColouredShape, neighbours } from './structure-colours.ts'

/**
 * Whether two shapes with equal keys are the same structure, by trying to match their nodes one by
 * one, callers first, colour by colour. Where branches are identical the first try succeeds;
 * adversarial structures can take long, so the steps are bounded.
 *
 * @returns `undefined` when `budget` steps did not decide
 */
export function sameStructure(
  shapes: ShapeTable,
  [a, b]: readonly [ColouredShape, ColouredShape],
  budget = 1e6,
): boolean | undefined {
  const order = topologicalOrder(shapes, a.shape) as Uint32Array
  const parentsA = neighbours(order.length, shapes.to(a.shape), shapes.from(a.shape))
  const parentsB = neighbours(order.length, shapes.to(b.shape), shapes.from(b.shape))
  const byColour = new Map<number, number[]>()
  b.colours.forEach((colour, node) => {
    const group = byColour.get(colour)
    if (group === undefined) byColour.set(colour, [node])
    else group.push(node)
  })
  const partner = new Int32Array(order.length).fill(-1)
  const taken = new Uint8Array(order.length)
  /** For each depth, how many candidates were tried. */
  const tried = new Uint32Array(order.length + 1)
  let depth = 0
  for (let steps = 0; depth < order.length; ) {
    const node = order[depth] as number
    const candidates = byColour.get(a.colours[node] as number) ?? []
    if ((partner[node] as number) >= 0) {
      taken[partner[node] as number] = 0
      partner[node] = -1
    }
    let matched = false
    while (!matched && (tried[depth] as number) < candidates.length) {
      if (++steps > budget) return undefined
      const candidate = candidates[tried[depth] as number] as number
      tried[depth] = (tried[depth] as number) + 1
      if (taken[candidate] === 1) continue
      const callers = (parentsA[node] as number[]).map((parent) => partner[parent] as number)
      if (!sameMembers(callers, parentsB[candidate] as number[])) continue
      partner[node] = candidate
      taken[candidate] = 1
      matched = true
    }
    if (matched) tried[++depth] = 0
    else if (depth-- === 0) return false
  }
  return true
}

function sameMembers(a: number[], b: readonly number[]): boolean {
  if (a.length !== b.length) return false
  if (a.length === 1) return a[0] === b[0]
  a.sort((x, y) => x - y)
  const sorted = b.slice().sort((x, y) => x - y)
  return a.every((value, i) => value === sorted[i])
}
