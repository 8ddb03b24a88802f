import type { Categories } from '../../compare/categories/categories.ts'
import { editTokens } from '../../compare/precursors/match-precursors.ts'

export interface FormEdge {
  readonly from: number
  readonly to: number
  readonly edgeClass: number
}

/** A category's structure, nodes numbered depth first: the same however it was recorded. */
export interface FlowForm {
  readonly category: number
  readonly structureNodes: Uint32Array
  readonly labels: readonly string[]
  /** Labels without sizes and attributes: what nodes are matched by. */
  readonly kinds: readonly string[]
  readonly edges: readonly FormEdge[]
  readonly parents: readonly (readonly number[])[]
  readonly children: readonly (readonly number[])[]
  /** Every node in the order of visits, and again at each further edge into it; see `editTokens`. */
  readonly tokens: Uint32Array
  readonly visits: Uint32Array
  /** For each token, the node it was come from; the node itself for a root. */
  readonly callers: Uint32Array
}

export function flowForm(categories: Categories, category: number): FlowForm {
  const structure = categories.structure(category)
  const { preorder, labels, kinds, kindCodes, from, to, classOf } = structure
  const ranks = new Map(Array.from(preorder, (node, at) => [node, at]))
  const rankOf = (node: number) => ranks.get(node) as number
  const edges = Array.from(from, (source, edge) => ({
    from: rankOf(source),
    to: rankOf(to[edge] as number),
    edgeClass: classOf[edge] as number,
  })).sort((a, b) => a.from - b.from || a.to - b.to)
  const lists = (): number[][] => labels.map(() => [])
  const [parents, children] = [lists(), lists()]
  for (const edge of edges) {
    children[edge.from]?.push(edge.to)
    parents[edge.to]?.push(edge.from)
  }
  return {
    category,
    edges,
    parents,
    children,
    structureNodes: preorder.slice(),
    labels: Array.from(preorder, (node) => labels[node] as string),
    kinds: Array.from(preorder, (node) => kinds[node] as string),
    tokens: editTokens({ ...structure, labelCodes: kindCodes }, 'preorder'),
    visits: structure.visits.map(rankOf),
    callers: structure.callers.map(rankOf),
  }
}
