import { InternalError } from '../core/errors.ts'
import type { Neighbors, ShapeGraph } from './shape-table.ts'

/**
 * Hashes each node's role: its label, its successors and its predecessors. Unlike colors, hashes do not depend on which
 * requests came first, so they order siblings the same way in every run. They may collide.
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

function regather(hashes: Float64Array, node: number, { offsets, nodes }: Neighbors): void {
  let sum = 1
  for (let entry = offsets[node] as number; entry < (offsets[node + 1] as number); entry++) {
    sum = (sum + mix(hashes[nodes[entry] as number] as number)) % 2 ** 52
  }
  hashes[node] = mix((hashes[node] as number) + mix(sum))
}

function mix(value: number): number {
  const low = Math.imul((value >>> 0) ^ 0x9e3779b9, 0x85ebca6b)
  const high = Math.imul(((value / 2 ** 32) >>> 0) ^ low, 0xc2b2ae35)
  const spread = Math.imul(low ^ (high >>> 15), 0x27d4eb2f)
  return ((high ^ (spread >>> 13)) >>> 12) * 2 ** 32 + (spread >>> 0)
}

export interface LabelOrder {
  readonly ranks: Uint32Array
  /** Hash of each label's text, below 2⁴⁷. */
  readonly hashes: Float64Array
}

export function labelOrder(texts: readonly string[]): LabelOrder {
  const ranks = new Uint32Array(texts.length)
  texts
    .map((text, code) => ({ text, code }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .forEach(({ code }, rank) => {
      ranks[code] = rank
    })
  return { ranks, hashes: Float64Array.from(texts, hashText) }
}

export function hashText(text: string): number {
  let hash = 17
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) % 2 ** 47
  return hash
}
