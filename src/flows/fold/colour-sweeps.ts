import type { EdgeRows } from './folded-graph.ts'

/** An acyclic graph to colour. */
export interface SweptGraph {
  readonly from: Uint32Array
  readonly to: Uint32Array
  /** The nodes such that every edge leads forward. */
  readonly order: Uint32Array
  readonly below: EdgeRows
  readonly above: EdgeRows
}

const END = 2 ** 53

/**
 * Colours that say of each node what leads to it and all that follows it: refined along the edges
 * and against them until no more colours appear. Colours are whole numbers below 2^53, hashed, the
 * same in every graph; equal colours almost certainly mean equal parts. Iterative.
 *
 * @param start colours to begin with, one a node
 * @param said what is known of each edge; nothing when left out
 *
 * Source: `spec.md` §6; colour refinement (1-dimensional Weisfeiler-Leman).
 */
export function sweepColours(
  graph: SweptGraph,
  start: Float64Array,
  said?: Float64Array,
): Float64Array {
  let colours = start
  let swept: Float64Array = new Float64Array(start.length)
  let distinct = 0
  for (let now = countDistinct(colours); now > distinct; now = countDistinct(colours)) {
    distinct = now
    for (const side of [0, 1]) {
      sweep(graph, side, { colours, swept, said })
      ;[colours, swept] = [swept, colours === start ? new Float64Array(start.length) : colours]
    }
    if (distinct === colours.length) break
  }
  return colours
}

/** Each node's colour with those of its neighbours on one side, which are swept before it. */
function sweep(
  { from, to, order, below, above }: SweptGraph,
  side: number,
  {
    colours,
    swept,
    said,
  }: { colours: Float64Array; swept: Float64Array; said: Float64Array | undefined },
): void {
  const { offsets, edges } = side === 0 ? below : above
  const far = side === 0 ? to : from
  for (let at = 0; at < order.length; at++) {
    const node = order[side === 0 ? order.length - 1 - at : at] as number
    const end = offsets[node + 1] as number
    let around = side
    for (let entry = offsets[node] as number; entry < end; entry++) {
      const edge = edges[entry] as number
      const colour = swept[far[edge] as number] as number
      around = addMod(around, mix(colour, said === undefined ? side : (said[edge] as number)))
    }
    swept[node] = mix(colours[node] as number, around)
  }
}

/** The sum of two whole numbers below 2^53, again below 2^53: in whatever order, the same. */
export function addMod(a: number, b: number): number {
  return a < END - b ? a + b : a - (END - b)
}

/** Two whole numbers below 2^53 as one, in the manner of murmur3. */
export function mix(a: number, b: number): number {
  const [first, second] = [b | 0, (b / 2 ** 32) | 0]
  let low = (a ^ 0x9e3779b9) | 0
  let high = ((a / 2 ** 32) ^ 0x85ebca6b) | 0
  low = Math.imul(low ^ first, 0x9e3779b1)
  high = Math.imul(high ^ first, 0x5f356495)
  low ^= high >>> 15
  high ^= low >>> 13
  low = Math.imul(low ^ second, 0x9e3779b1)
  high = Math.imul(high ^ second, 0x5f356495)
  low ^= high >>> 15
  high ^= low >>> 13
  low = Math.imul(low ^ (low >>> 16), 0x85ebca77)
  high = Math.imul(high ^ (high >>> 15), 0xc2b2ae3d)
  return (low >>> 0) + ((high ^ (low >>> 11)) & 0x1fffff) * 2 ** 32
}

/** A text as a whole number below 2^53. */
export function hashText(text: string): number {
  let hash = text.length
  for (let at = 0; at < text.length; at++) hash = mix(hash, text.charCodeAt(at))
  return hash
}

function countDistinct(colours: Float64Array): number {
  const sorted = colours.slice().sort()
  let distinct = sorted.length > 0 ? 1 : 0
  for (let i = 1; i < sorted.length; i++) if (sorted[i] !== sorted[i - 1]) distinct++
  return distinct
}
