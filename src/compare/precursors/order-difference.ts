import { graphDepths } from '../../core/graph-depths.ts'

export interface StepGraph {
  readonly size: number
  readonly from: ArrayLike<number>
  readonly to: ArrayLike<number>
}

/**
 * Change in how two steps lie in time, in a flow and another that has both. `'in turn'`: the second now follows the
 * first; before, neither waited for the other. `'together'`: the reverse. `'reordered'`: the second follows the first;
 * before, the first followed the second. `'not waited for'`: nothing waits for the second any more; its former
 * successor now follows the first. `'waited for'`: the reverse.
 */
export interface OrderChange {
  readonly kind: 'in turn' | 'together' | 'reordered' | 'not waited for' | 'waited for'
  /** Numbers in the flow after. */
  readonly first: number
  readonly second: number
}

/** Flows with more steps are not compared: pairs grow with their square. */
const MAX_STEPS = 2000

/**
 * Returns the shared steps (`matches`) whose order differs: pairs that are neighbors in one of the orders. Exchanged
 * flows give the same pairs.
 */
export function orderDifference(
  before: StepGraph,
  after: StepGraph,
  matches: Iterable<readonly [before: number, after: number]>,
): OrderChange[] {
  if (Math.max(before.size, after.size) > MAX_STEPS) return []
  const toAfter = new Int32Array(before.size).fill(-1)
  const toBefore = new Int32Array(after.size).fill(-1)
  for (const [one, other] of matches) {
    toAfter[one] = other
    toBefore[other] = one
  }
  const [were, are] = [reachable(before), reachable(after)]
  const [endedBefore, endAfter] = [leaves(before), leaves(after)]
  const found: OrderChange[] = []
  eachEdge(after, (first, second) => {
    const [one, other] = [toBefore[first] as number, toBefore[second] as number]
    if (one < 0 || other < 0 || were(one, other)) return
    if (were(other, one)) found.push({ kind: 'reordered', first, second })
    else if (endedBefore.has(one) && !endAfter.has(first)) {
      found.push({ kind: 'waited for', first: second, second: first })
    } else found.push({ kind: 'in turn', first, second })
  })
  eachEdge(before, (one, other) => {
    const [first, second] = [toAfter[one] as number, toAfter[other] as number]
    if (first < 0 || second < 0 || are(first, second)) return
    if (are(second, first)) {
      const isKnown = found.some((known) => known.first === second && known.second === first)
      if (!isKnown) found.push({ kind: 'reordered', first: second, second: first })
    } else if (endAfter.has(first) && !endedBefore.has(one)) {
      found.push({ kind: 'not waited for', first: second, second: first })
    } else found.push({ kind: 'together', first, second })
  })
  return found
}

function eachEdge({ from, to }: StepGraph, visit: (from: number, to: number) => void): void {
  for (let edge = 0; edge < from.length; edge++) visit(from[edge] as number, to[edge] as number)
}

function leaves({ size, from }: StepGraph): Set<number> {
  const left = new Set(Array.from({ length: size }, (_, step) => step))
  for (let edge = 0; edge < from.length; edge++) left.delete(from[edge] as number)
  return left.size === 1 ? new Set() : left
}

export function reachable({ size, from, to }: StepGraph): (from: number, to: number) => boolean {
  const words = (size + 31) >>> 5
  const earlier = new Uint32Array(size * words)
  const depth = graphDepths(size, from, to)
  const edges = Array.from(from, (_, edge) => edge).sort(
    (a, b) => (depth[from[a] as number] as number) - (depth[from[b] as number] as number),
  )
  for (const edge of edges) {
    const [source, target] = [from[edge] as number, to[edge] as number]
    for (let word = 0; word < words; word++) {
      const at = target * words + word
      earlier[at] = (earlier[at] as number) | (earlier[source * words + word] as number)
    }
    const own = target * words + (source >>> 5)
    earlier[own] = (earlier[own] as number) | (1 << (source & 31))
  }
  return (one, other) =>
    (((earlier[other * words + (one >>> 5)] as number) >>> (one & 31)) & 1) === 1
}
