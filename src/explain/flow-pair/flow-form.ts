import type { Categories } from '../../compare/categories/categories.ts'
import { editTokens } from '../../compare/precursors/edit-tokens.ts'

/** An edge between two nodes of a form. */
export interface FormEdge {
  readonly from: number
  readonly to: number
  /** Number of its edge class in the category's structure. */
  readonly edgeClass: number
}

/**
 * The structure of a category with its nodes numbered depth first, so that it reads the same
 * however its requests were recorded.
 */
export interface FlowForm {
  readonly category: number
  /** For each node, its number in the category's structure. */
  readonly structureNodes: Uint32Array
  readonly labels: readonly string[]
  /** In the order of the nodes they lead from, then to. */
  readonly edges: readonly FormEdge[]
  /** For each node, those before it. */
  readonly parents: readonly (readonly number[])[]
  readonly children: readonly (readonly number[])[]
  /** Every node in the order of visits, and again at each further edge into it; see `editTokens`. */
  readonly tokens: Uint32Array
  /** For each token, its node. */
  readonly visits: Uint32Array
  /** For each token, the node it was come from; the node itself for a root. */
  readonly callers: Uint32Array
}

/** The form of a category's structure. */
export function flowForm(categories: Categories, category: number): FlowForm {
  const structure = categories.structure(category)
  const { preorder, labels, from, to, classOf } = structure
  const rank = new Uint32Array(labels.length)
  preorder.forEach((node, at) => {
    rank[node] = at
  })
  const rankOf = (node: number) => rank[node] as number
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
    ...{ category, edges, parents, children },
    structureNodes: preorder.slice(),
    labels: Array.from(preorder, (node) => labels[node] as string),
    tokens: editTokens(structure, 'preorder'),
    visits: structure.visits.map(rankOf),
    callers: structure.callers.map(rankOf),
  }
}

/** Which of two forms comes first, by what can be read in them; 0 when they are the same. */
export function compareForms(a: FlowForm, b: FlowForm): number {
  if (a.tokens.length !== b.tokens.length) return a.tokens.length - b.tokens.length
  for (let i = 0; i < a.tokens.length; i++) {
    if (a.tokens[i] === b.tokens[i]) continue
    const [first, second] = [tokenText(a, i), tokenText(b, i)]
    return first < second ? -1 : 1
  }
  for (let i = 0; i < a.edges.length && i < b.edges.length; i++) {
    const [first, second] = [a.edges[i] as FormEdge, b.edges[i] as FormEdge]
    const order = first.from - second.from || first.to - second.to
    if (order !== 0) return order
  }
  return a.edges.length - b.edges.length
}

function tokenText({ labels, tokens, visits }: FlowForm, at: number): string {
  return `${labels[visits[at] as number]}\n${(tokens[at] as number) % 2}`
}
