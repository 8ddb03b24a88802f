import { neighborsOf, type ShapeGraph } from '../../traces/shape-table.ts'
import { type LabelOrder, structureHashes } from '../../traces/structure-hashes.ts'

/** Data to compare one structure with others. */
export interface StructureOutline {
  /** The shape it is shown by; node and edge numbers are those of this shape. */
  readonly shape: number
  /** Label of each node, as a number that means the same in all structures of the categories. */
  readonly labelCodes: Uint32Array
  readonly from: Uint32Array
  readonly to: Uint32Array
  /** Every node once, depth first, children by label and then by structure. */
  readonly preorder: Uint32Array
  /** Nodes as in `preorder`, but joins come once for each edge into them. */
  readonly visits: Uint32Array
  /** For each visit, the node it came from; the node itself for a root. */
  readonly callers: Uint32Array
}

/** Walks every edge once, depth first; siblings by label, then by the part they play. */
export function depthFirst(
  graph: ShapeGraph,
  labelCodes: Uint32Array,
  { ranks, hashes: labelHashes }: LabelOrder,
): Pick<StructureOutline, 'preorder' | 'visits' | 'callers'> {
  const { below, above, nodes, edges } = graph
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
  const lastFirst = (a: number, b: number) => byPart(b, a)
  const entered = new Uint8Array(nodes)
  const preorder = new Uint32Array(nodes)
  const pending: number[] = []
  const pendingCallers: number[] = []
  for (let node = 0; node < nodes; node++) {
    if (above.offsets[node] === above.offsets[node + 1]) pending.push(node)
  }
  pending.sort((a, b) => (a === 0 ? 1 : b === 0 ? -1 : byPart(b, a)))
  for (const root of pending) pendingCallers.push(root)
  const visits = new Uint32Array(pending.length + edges)
  const callers = new Uint32Array(pending.length + edges)
  let first = 0
  let count = 0
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    visits[count] = node
    callers[count++] = pendingCallers.pop() as number
    if (entered[node] === 1) continue
    entered[node] = 1
    preorder[first++] = node
    const children = neighborsOf(below, node)
    for (const child of children.length > 1 ? children.toSorted(lastFirst) : children) {
      pending.push(child)
      pendingCallers.push(node)
    }
  }
  return { preorder, visits, callers }
}
