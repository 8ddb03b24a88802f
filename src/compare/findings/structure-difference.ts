import type { Categories } from '../categories/categories.ts'
import { labelDifference } from '../precursors/label-difference.ts'
import { answeredCall } from './answered-call.ts'
import type { StructureChange, StructureMove } from './finding.ts'

type Change = StructureChange['change']

/**
 * Where two structures part: the first nodes of each part that only one of them has, with the node
 * that both have before it. Where they have the same nodes in another order, the edges that only
 * one of them has stand for the difference.
 */
export function structureDifference(
  categories: Categories,
  { from, to }: StructureMove,
): StructureChange[] {
  if (from === to) return [rootChange(categories, to)]
  const { added, removed } = labelDifference(categories.structure(from), categories.structure(to))
  if (added.length === 0 && removed.length === 0) return orderDifference(categories, from, to)
  const names = (labels: typeof added) => new Set(labels.map(({ label }) => label))
  return [
    ...entries(categories, { category: to, wanted: names(added), change: 'added' }),
    ...entries(categories, { category: from, wanted: names(removed), change: 'removed' }),
  ]
}

function rootChange(categories: Categories, category: number): StructureChange {
  const node = categories.nodeLabel(category, 0)
  const label = categories.structure(category).root
  return { change: 'added', label, node, after: null, answered: null }
}

/** Edges into nodes with one of `wanted` labels from nodes with another, one a label. */
function entries(
  categories: Categories,
  { category, wanted, change }: { category: number; wanted: ReadonlySet<string>; change: Change },
): StructureChange[] {
  const { labels, preorder, from, to } = categories.structure(category)
  const rank = new Uint32Array(labels.length)
  preorder.forEach((node, at) => {
    rank[node] = at
  })
  const first = new Map<string, number>()
  to.forEach((node, edge) => {
    const label = labels[node] as string
    const source = from[edge] as number
    if (!wanted.has(label) || wanted.has(labels[source] as string)) return
    const known = first.get(label)
    const isFirst =
      known === undefined || (rank[source] as number) < (rank[from[known] as number] as number)
    if (isFirst) first.set(label, edge)
  })
  return [...first.values()]
    .sort((a, b) => (rank[from[a] as number] as number) - (rank[from[b] as number] as number))
    .map((edge) => edgeChange(categories, { category, edge, change }))
}

function orderDifference(categories: Categories, from: number, to: number): StructureChange[] {
  const names = (category: number) => {
    const structure = categories.structure(category)
    const name = (node: number | undefined) => structure.labels[node as number]
    return Array.from(structure.from, (source, edge) =>
      JSON.stringify([name(source), name(structure.to[edge])]),
    )
  }
  const [before, after] = [names(from), names(to)]
  const only = (category: number, edges: string[], others: string[], change: Change) => {
    const known = new Set(others)
    return edges.flatMap((name, edge) =>
      known.has(name) ? [] : [edgeChange(categories, { category, edge, change })],
    )
  }
  return [...only(to, after, before, 'added'), ...only(from, before, after, 'removed')]
}

function edgeChange(
  categories: Categories,
  { category, edge, change }: { category: number; edge: number; change: Change },
): StructureChange {
  const { labels, from, to } = categories.structure(category)
  const source = from[edge] as number
  const target = to[edge] as number
  const node = categories.nodeLabel(category, target)
  return {
    ...{ change, node, label: labels[target] as string },
    after: { label: labels[source] as string, node: categories.nodeLabel(category, source) },
    answered: answeredCall(categories, { category, at: source, service: node.service }),
  }
}
