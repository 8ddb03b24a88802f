import type { FoldedGraph } from './folded-graph.ts'

/** Which nodes may stand for each other in lanes, and which kinds come first. */
export interface NodeKinds {
  readonly of: Uint32Array
  readonly count: number
  /** Nodes of each kind. */
  readonly sizes: Uint32Array
  /** The order of kinds, which must not hang on the order of nodes. */
  readonly rank: Uint32Array
}

/**
 * Nodes are of one kind when they have equal labels and were folded equally often.
 *
 * @param labelRank the order of labels, by label code
 */
export function nodeKinds({ labels, inside, repetitions }: FoldedGraph, labelRank: Uint32Array) {
  const numbers = new Map<string | number, number>()
  const ranks: { label: number; folded: string }[] = []
  const of = new Uint32Array(labels.length)
  for (let node = 0; node < labels.length; node++) {
    const label = labels[node] as number
    const stack = inside[node] as readonly number[]
    const folded =
      stack.length === 0 ? '' : stack.map((number) => repetitions[number]?.times).join(' ')
    const key = folded === '' ? label : `${label} ${folded}`
    let kind = numbers.get(key)
    if (kind === undefined) {
      kind = numbers.size
      numbers.set(key, kind)
      ranks.push({ label: labelRank[label] as number, folded })
    }
    of[node] = kind
  }
  return describeKinds(
    of,
    ranks
      .map((_, kind) => kind)
      .sort((a, b) => {
        const [x, y] = [ranks[a], ranks[b]] as [(typeof ranks)[0], (typeof ranks)[0]]
        return x.label - y.label || (x.folded < y.folded ? -1 : x.folded > y.folded ? 1 : 0)
      }),
  )
}

/** Kinds told apart further by a number a node; kinds of equal rank are told apart by it. */
export function refineKinds(kinds: NodeKinds, keyOf: (node: number) => string): NodeKinds {
  const numbers = new Map<string, number>()
  const seen: { rank: number; key: string }[] = []
  const of = kinds.of.map((kind, node) => {
    const key = `${kind}:${keyOf(node)}`
    let number = numbers.get(key)
    if (number === undefined) {
      number = numbers.size
      numbers.set(key, number)
      seen.push({ rank: kinds.rank[kind] as number, key: keyOf(node) })
    }
    return number
  })
  const order = seen
    .map((_, kind) => kind)
    .sort((a, b) => {
      const [x, y] = [seen[a], seen[b]] as [(typeof seen)[0], (typeof seen)[0]]
      return x.rank - y.rank || (x.key < y.key ? -1 : x.key > y.key ? 1 : 0)
    })
  return describeKinds(of, order)
}

function describeKinds(of: Uint32Array, order: readonly number[]): NodeKinds {
  const sizes = new Uint32Array(order.length)
  for (let node = 0; node < of.length; node++) {
    const kind = of[node] as number
    sizes[kind] = (sizes[kind] as number) + 1
  }
  const rank = new Uint32Array(order.length)
  order.forEach((kind, at) => {
    rank[kind] = at
  })
  return { of, count: order.length, sizes, rank }
}
