import type { StructureOutline } from '../categories/structure-outline.ts'

/**
 * How a structure becomes a string for the edit distance: its nodes depth first, or its edges in
 * that order, two tokens each (as the program of 2013 does).
 */
export type EditTokens = 'preorder' | 'edges'

/** The root has no edge into it. */
const NO_NODE = -1

/**
 * The tokens of a structure, from 0 to twice the number of labels less one. A node's token is
 * twice its label's number; with `'preorder'`, one more where a join is reached again: without
 * that, a shared join and a private one would read the same.
 */
export function editTokens(outline: StructureOutline, kind: EditTokens): Uint32Array {
  const { labelCodes, from } = outline
  const label = (node: number) => 2 * (labelCodes[node] as number)
  const tokens = new Uint32Array(labelCodes.length + 2 * from.length)
  let count = 0
  walkEdges(outline, (node, caller, again) => {
    if (kind === 'preorder') tokens[count++] = label(node) + (again ? 1 : 0)
    else if (caller !== NO_NODE) {
      tokens[count++] = label(caller)
      tokens[count++] = label(node)
    }
  })
  return tokens.slice(0, count)
}

/** Visits every edge once, depth first in canonical order; roots come without a caller. */
function walkEdges(
  { labelCodes, from, to, preorder }: StructureOutline,
  visit: (node: number, caller: number, again: boolean) => void,
): void {
  const rank = new Uint32Array(labelCodes.length)
  preorder.forEach((node, at) => {
    rank[node] = at
  })
  const below: number[][] = Array.from(labelCodes, () => [])
  const hasEntry = new Uint8Array(labelCodes.length)
  for (let edge = 0; edge < from.length; edge++) {
    below[from[edge] as number]?.push(to[edge] as number)
    hasEntry[to[edge] as number] = 1
  }
  const lastFirst = (a: number, b: number) => (rank[b] as number) - (rank[a] as number)
  const nodes = preorder.filter((node) => hasEntry[node] === 0).reverse()
  const callers = nodes.map(() => NO_NODE)
  const entered = new Uint8Array(labelCodes.length)
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    visit(node, callers.pop() as number, entered[node] === 1)
    if (entered[node] === 1) continue
    entered[node] = 1
    for (const next of (below[node] as number[]).sort(lastFirst)) {
      nodes.push(next)
      callers.push(node)
    }
  }
}
