import { InternalError } from '../errors.ts'
import { neighboursOf, ShapeGraph } from '../traces/shape-graph.ts'
import type { ShapeTable } from '../traces/shape-table.ts'
import type { ColouredShape } from './structure-colours.ts'

/**
 * Whether two shapes with equal keys are the same structure, by trying to match their nodes one by
 * one, callers first, colour by colour; a node's partner must be below its caller's partner. Where
 * branches are identical the first try succeeds; adversarial structures can take long, so the
 * steps are bounded.
 *
 * @returns `undefined` when `budget` steps did not decide
 */
export function sameStructure(
  shapes: ShapeTable,
  [a, b]: readonly [ColouredShape, ColouredShape],
  budget = 1e6,
): boolean | undefined {
  const graphA = new ShapeGraph().load(shapes, a.shape)
  if (!graphA.acyclic) throw new InternalError(`shape ${a.shape} has a cycle`)
  const { above: aboveA, nodes } = graphA
  const order = graphA.order.subarray(0, nodes)
  const { above: aboveB, below: belowB } = new ShapeGraph().load(shapes, b.shape)
  const rootsB = Uint32Array.from({ length: nodes }, (_, node) => node).filter(
    (node) => neighboursOf(aboveB, node).length === 0,
  )
  const partner = new Int32Array(order.length).fill(-1)
  const taken = new Uint8Array(order.length)
  /** For each depth, how many candidates were tried. */
  const tried = new Uint32Array(order.length + 1)
  let depth = 0
  for (let steps = 0; depth < order.length; ) {
    const node = order[depth] as number
    const callersA = neighboursOf(aboveA, node)
    const [caller] = callersA
    const candidates =
      caller === undefined ? rootsB : neighboursOf(belowB, partner[caller] as number)
    if ((partner[node] as number) >= 0) {
      taken[partner[node] as number] = 0
      partner[node] = -1
    }
    let matched = false
    while (!matched && (tried[depth] as number) < candidates.length) {
      const candidate = candidates[tried[depth] as number] as number
      tried[depth] = (tried[depth] as number) + 1
      if (taken[candidate] === 1 || b.colours[candidate] !== a.colours[node]) continue
      if (++steps > budget) return undefined
      const callers = callersA.map((parent) => partner[parent] as number)
      if (!sameMembers(callers, neighboursOf(aboveB, candidate))) continue
      partner[node] = candidate
      taken[candidate] = 1
      matched = true
    }
    if (matched) tried[++depth] = 0
    else if (depth-- === 0) return false
  }
  return true
}

function sameMembers(a: Uint32Array, b: Uint32Array): boolean {
  if (a.length !== b.length) return false
  if (a.length === 1) return a[0] === b[0]
  const sorted = b.slice().sort()
  return a.sort().every((value, i) => value === sorted[i])
}
