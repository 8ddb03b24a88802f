import { neighboursOf, type ShapeGraph } from '../traces/shape-graph.ts'
import type { LabelOrder } from './label-order.ts'
import { structureHashes } from './structure-hashes.ts'

/** What it takes to compare one structure with others. */
export interface StructureOutline {
  /** The shape it is shown by; node and edge numbers are those of this shape. */
  readonly shape: number
  /** Label of each node, as a number that means the same in all structures of the categories. */
  readonly labelCodes: Uint32Array
  readonly from: Uint32Array
  readonly to: Uint32Array
  /** Every node once, depth first, children by label and then by structure. */
  readonly preorder: readonly number[]
}

/** Every node once, depth first; siblings by label, then by the part they play. */
export function depthFirst(
  graph: ShapeGraph,
  labelCodes: Uint32Array,
  { ranks, hashes: labelHashes }: LabelOrder,
): number[] {
  const { below, above, nodes } = graph
  let hashes: Float64Array | undefined
  const byPart = (a: number, b: number) => {
    const byLabel =
      (ranks[labelCodes[a] as number] as number) - (ranks[labelCodes[b] as number] as number)
    if (byLabel !== 0) return byLabel
    hashes ??= structureHashes(
      graph,
      Float64Array.from(labelCodes, (code) => labelHashes[code] as number),
    )
    return (hashes[a] as number) - (hashes[b] as number)
  }
  const entered = new Uint8Array(nodes)
  const preorder: number[] = []
  const pending: number[] = []
  for (let node = 0; node < nodes; node++) {
    if (above.offsets[node] === above.offsets[node + 1]) pending.push(node)
  }
  pending.sort((a, b) => (a === 0 ? 1 : b === 0 ? -1 : byPart(b, a)))
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (entered[node] === 1) continue
    entered[node] = 1
    preorder.push(node)
    const first = pending.length
    for (const child of neighboursOf(below, node)) if (entered[child] === 0) pending.push(child)
    if (pending.length - first < 2) continue
    const next = pending.splice(first).sort((a, b) => byPart(b, a))
    for (const child of next) pending.push(child)
  }
  return preorder
}
