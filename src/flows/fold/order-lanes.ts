import type { LazyColours } from './folded-colours.ts'
import type { FoldedGraph } from './folded-graph.ts'
import type { Lanes } from './grow-lanes.ts'

/**
 * The order in which lanes follow each other: along the edges between them; among those that
 * may begin, first what most others wait for, then what is entered from outside and not left; among
 * equals, by colour, so that the order of recording does not decide.
 *
 * @returns the lanes, first to last; `undefined` where they wait for each other in a circle
 */
export function orderLanes(
  graph: FoldedGraph,
  lanes: Lanes,
  colours: LazyColours,
): Uint32Array | undefined {
  const facts = laneFacts(graph, lanes)
  const { next, previous } = facts
  const fromEnd = depths(previous, next)
  if (fromEnd === undefined) return undefined
  const { entered, left } = facts
  const colour: (number | undefined)[] = []
  const colourOf = (lane: number) => {
    const known = colour[lane] ?? colours.ofSet(lanes.roles.map((nodes) => nodes[lane] as number))
    colour[lane] = known
    return known
  }
  const first = (a: number, b: number) =>
    (fromEnd[b] as number) - (fromEnd[a] as number) ||
    (entered[b] as number) - (entered[a] as number) ||
    (left[a] as number) - (left[b] as number) ||
    colourOf(a) - colourOf(b) ||
    a - b
  const waiting = Uint32Array.from(previous, (lane) => lane.length)
  const order: number[] = []
  const begin = Array.from(waiting, (_, lane) => lane).filter((lane) => waiting[lane] === 0)
  order.push(...begin.sort(first))
  for (let at = 0; at < order.length; at++) {
    const ready: number[] = []
    for (const lane of next[order[at] as number] as number[]) {
      waiting[lane] = (waiting[lane] as number) - 1
      if (waiting[lane] === 0) ready.push(lane)
    }
    order.push(...ready.sort(first))
  }
  return Uint32Array.from(order)
}

function laneFacts({ from, to, loops }: FoldedGraph, { count, laneOf }: Lanes) {
  const next: number[][] = Array.from({ length: count }, () => [])
  const previous: number[][] = Array.from({ length: count }, () => [])
  const entered = new Uint32Array(count)
  const left = new Uint32Array(count)
  for (let edge = 0; edge < from.length; edge++) {
    if (loops[edge] === 1) continue
    const a = laneOf[from[edge] as number] as number
    const b = laneOf[to[edge] as number] as number
    if (a === b) continue
    if (a < 0) entered[b] = (entered[b] as number) + 1
    else if (b < 0) left[a] = (left[a] as number) + 1
    else {
      ;(next[a] as number[]).push(b)
      ;(previous[b] as number[]).push(a)
    }
  }
  return { next, previous, entered, left }
}

/** How many lanes, at most, stand between a lane and one that waits for none. */
function depths(waitsFor: readonly number[][], then: readonly number[][]): Uint32Array | undefined {
  // Called with the lanes turned round, so that "waits for" is "is followed by".
  const waiting = Uint32Array.from(then, (lanes) => lanes.length)
  const depth = new Uint32Array(waiting.length)
  const ready: number[] = []
  waiting.forEach((count, lane) => {
    if (count === 0) ready.push(lane)
  })
  for (let at = 0; at < ready.length; at++) {
    const lane = ready[at] as number
    for (const other of waitsFor[lane] as number[]) {
      depth[other] = Math.max(depth[other] as number, (depth[lane] as number) + 1)
      waiting[other] = (waiting[other] as number) - 1
      if (waiting[other] === 0) ready.push(other)
    }
  }
  return ready.length === waiting.length ? depth : undefined
}
