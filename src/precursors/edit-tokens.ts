import type { CategoryStructure } from '../categories/category-structure.ts'
import type { Dictionary } from '../traces/dictionary.ts'

/**
 * How a structure becomes a string for the edit distance: its nodes depth first, or its edges in
 * that order, two tokens each (as the program of 2013 does).
 */
export type EditTokens = 'preorder' | 'edges'

/** The tokens of a structure; equal tokens in two structures get equal numbers. */
export function editTokens(
  structure: CategoryStructure,
  kind: EditTokens,
  dictionary: Dictionary,
): Uint32Array {
  return kind === 'edges' ? edgeTokens(structure, dictionary) : nodeTokens(structure, dictionary)
}

/**
 * Labels depth first. Where a join is reached again, a token that says so instead: without it, a
 * shared join and a private one read the same.
 */
function nodeTokens(structure: CategoryStructure, dictionary: Dictionary): Uint32Array {
  const { labels } = structure
  const tokens: number[] = []
  const entered = new Uint8Array(labels.length)
  for (const { node } of walkEdges(structure)) {
    const again = entered[node] === 1 ? 'again ' : 'node '
    entered[node] = 1
    tokens.push(dictionary.code(again + labels[node]))
  }
  return Uint32Array.from(tokens)
}

function edgeTokens(structure: CategoryStructure, dictionary: Dictionary): Uint32Array {
  const { labels } = structure
  const tokens: number[] = []
  for (const { node, from } of walkEdges(structure)) {
    if (from === null) continue
    tokens.push(dictionary.code(`node ${labels[from]}`), dictionary.code(`node ${labels[node]}`))
  }
  return Uint32Array.from(tokens)
}

/** Every edge once, depth first in canonical order; roots come with no edge. */
function* walkEdges({
  labels,
  from,
  to,
  preorder,
}: CategoryStructure): Generator<{ node: number; from: number | null }> {
  const rank = new Uint32Array(labels.length)
  preorder.forEach((node, at) => {
    rank[node] = at
  })
  const below: number[][] = labels.map(() => [])
  const hasEntry = new Uint8Array(labels.length)
  from.forEach((source, edge) => {
    below[source]?.push(to[edge] as number)
    hasEntry[to[edge] as number] = 1
  })
  const last = (a: number, b: number) => (rank[b] as number) - (rank[a] as number)
  const roots = preorder.filter((node) => hasEntry[node] === 0)
  const pending = roots.reverse().map((node) => ({ node, from: null as number | null }))
  const entered = new Uint8Array(labels.length)
  for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
    yield step
    if (entered[step.node] === 1) continue
    entered[step.node] = 1
    const source = step.node
    for (const node of (below[source] as number[]).sort(last)) pending.push({ node, from: source })
  }
}
