import { neighborsOf, ShapeGraph, type ShapeTable } from '../../traces/shape-table.ts'
import type { ColouredShape } from './structure-colours.ts'

/**
 * Matches the nodes of two shapes with equal keys, each next one a neighbour of the one matched
 * last: a wrong turn shows within a few steps. `undefined` when `budget` steps did not decide.
 */
export function sameStructure(
  shapes: ShapeTable,
  [a, b]: readonly [ColouredShape, ColouredShape],
  budget = 1e6,
): boolean | undefined {
  const graphA = new ShapeGraph().load(shapes, a.shape)
  const graphB = new ShapeGraph().load(shapes, b.shape)
  const plan = matchingPlan(graphA)
  const everyNode = Uint32Array.from({ length: graphB.nodes }, (_, node) => node)
  const partner = new Int32Array(graphA.nodes).fill(-1)
  const owner = new Int32Array(graphB.nodes).fill(-1)
  /** For each depth, how many candidates were tried. */
  const tried = new Uint32Array(plan.length + 1)
  let depth = 0
  for (let steps = 0; depth < plan.length; ) {
    const { node, anchor, side } = plan[depth] as Step
    const candidates = anchor < 0 ? everyNode : neighborsOf(graphB[side], partner[anchor] as number)
    if ((partner[node] as number) >= 0) {
      owner[partner[node] as number] = -1
      partner[node] = -1
    }
    let matched = false
    while (!matched && (tried[depth] as number) < candidates.length) {
      const candidate = candidates[tried[depth] as number] as number
      tried[depth] = (tried[depth] as number) + 1
      if ((owner[candidate] as number) >= 0 || b.colours[candidate] !== a.colours[node]) continue
      if (++steps > budget) return undefined
      if (!fits(graphA, graphB, { node, candidate, partner, owner })) continue
      partner[node] = candidate
      owner[candidate] = node
      matched = true
    }
    if (matched) tried[++depth] = 0
    else if (depth-- === 0) return false
  }
  return true
}

interface Step {
  readonly node: number
  /** A node that was matched before, -1 for the first of a connected part. */
  readonly anchor: number
  readonly side: 'below' | 'above'
}

function matchingPlan(graph: ShapeGraph): Step[] {
  const plan: Step[] = []
  const planned = new Uint8Array(graph.nodes)
  for (let start = 0; start < graph.nodes; start++) {
    const pending: Step[] = [{ node: start, anchor: -1, side: 'below' }]
    for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
      const { node } = step
      if (planned[node] === 1) continue
      planned[node] = 1
      plan.push(step)
      for (const side of ['above', 'below'] as const) {
        for (const next of neighborsOf(graph[side], node)) {
          if (planned[next] === 0) pending.push({ node: next, anchor: node, side })
        }
      }
    }
  }
  return plan
}

function fits(
  graphA: ShapeGraph,
  graphB: ShapeGraph,
  {
    node,
    candidate,
    partner,
    owner,
  }: { node: number; candidate: number; partner: Int32Array; owner: Int32Array },
): boolean {
  return (['above', 'below'] as const).every((side) => {
    const expected = matchedAmong(neighborsOf(graphA[side], node), partner)
    const found = neighborsOf(graphB[side], candidate).filter(
      (other) => (owner[other] as number) >= 0,
    )
    return sameMembers(expected, found)
  })
}

function matchedAmong(neighbours: Uint32Array, partner: Int32Array): Uint32Array {
  return neighbours
    .filter((other) => (partner[other] as number) >= 0)
    .map((other) => partner[other] as number)
}

function sameMembers(a: Uint32Array, b: Uint32Array): boolean {
  if (a.length !== b.length) return false
  if (a.length <= 1) return a[0] === b[0]
  b.sort()
  return a.sort().every((value, i) => value === b[i])
}
