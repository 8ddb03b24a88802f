import { InternalError } from '../../core/errors.ts'
import type { Neighbors, ShapeGraph } from '../../traces/shape-table.ts'

/**
 * A hash of the part each node of a shape plays: of its label, all that follows it, and all that
 * leads to it. Unlike colours, hashes do not depend on which requests came first, so they can
 * order siblings with equal labels the same way in every run. They may collide; only order
 * depends on them.
 *
 * @param labelHashes a hash of each node's label
 */
export function structureHashes(
  { nodes, order, acyclic, below, above }: ShapeGraph,
  labelHashes: Float64Array,
): Float64Array {
  if (!acyclic) throw new InternalError('a flow has a cycle')
  const hashes = labelHashes.map(mix)
  let before = 0
  for (let found = new Set(hashes).size; found > before; found = new Set(hashes).size) {
    before = found
    for (let at = nodes - 1; at >= 0; at--) regather(hashes, order[at] as number, below)
    for (let at = 0; at < nodes; at++) regather(hashes, order[at] as number, above)
  }
  return hashes
}

/** Mixes the sum of its neighbours' hashes into a node's, so that their order plays no part. */
function regather(hashes: Float64Array, node: number, { offsets, nodes }: Neighbors): void {
  let sum = 1
  for (let entry = offsets[node] as number; entry < (offsets[node + 1] as number); entry++) {
    sum = (sum + mix(hashes[nodes[entry] as number] as number)) % 2 ** 52
  }
  hashes[node] = mix((hashes[node] as number) + mix(sum))
}

/** Scrambles a non-negative number into an integer below 2⁵². */
function mix(value: number): number {
  const low = Math.imul((value >>> 0) ^ 0x9e3779b9, 0x85ebca6b)
  const high = Math.imul(((value / 2 ** 32) >>> 0) ^ low, 0xc2b2ae35)
  const spread = Math.imul(low ^ (high >>> 15), 0x27d4eb2f)
  return ((high ^ (spread >>> 13)) >>> 12) * 2 ** 32 + (spread >>> 0)
}
