import type { CategoryStructure } from '../categories/category-structure.ts'
import { InternalError } from '../errors.ts'

/**
 * The number of the edge class of each edge of a structure. Classes are numbered in the order in
 * which a preorder of the nodes meets their first edge; edges are of one class when their ends
 * play the same part, which only identical branches do.
 */
export function edgeClassNumbers(structure: CategoryStructure): Uint32Array {
  const { from, to, edgeClasses } = structure
  const order = edgesInPreorder(structure)
  const numbers = new Uint32Array(from.length)
  if (edgeClasses.length === from.length) {
    order.forEach((edge, number) => {
      numbers[edge] = number
    })
    return numbers
  }
  const parts = nodeParts(structure)
  const known = new Map<string, number>()
  for (const edge of order) {
    const key = `${parts[from[edge] as number]} ${parts[to[edge] as number]}`
    const number = known.get(key) ?? known.size
    known.set(key, number)
    numbers[edge] = number
  }
  if (known.size !== edgeClasses.length) {
    throw new InternalError(
      `a flow has ${known.size} edge classes, its category ${edgeClasses.length}`,
    )
  }
  return numbers
}

function edgesInPreorder({ preorder, from, to }: CategoryStructure): number[] {
  const rank = new Uint32Array(preorder.length)
  preorder.forEach((node, at) => {
    rank[node] = at
  })
  const rankOf = (node: number | undefined) => rank[node as number] as number
  return Array.from(from, (_, edge) => edge).sort(
    (a, b) => rankOf(from[a]) - rankOf(from[b]) || rankOf(to[a]) - rankOf(to[b]),
  )
}

/** A number for each node, equal for two when labels, all that follows and all that leads there are. */
function nodeParts({ labels, from, to }: CategoryStructure): number[] {
  const below = labels.map((): number[] => [])
  const above = labels.map((): number[] => [])
  from.forEach((source, edge) => {
    below[source]?.push(to[edge] as number)
    above[to[edge] as number]?.push(source)
  })
  const order = topological(below, above)
  let parts = numbered(labels)
  for (let distinct = 0; new Set(parts).size > distinct; ) {
    distinct = new Set(parts).size
    parts = sweep(order.slice().reverse(), parts, below)
    parts = sweep(order, parts, above)
  }
  return parts
}

/** Tells nodes apart by the new numbers of their neighbours on one side. */
function sweep(
  order: readonly number[],
  parts: readonly number[],
  next: readonly (readonly number[])[],
): number[] {
  const codes = new Map<string, number>()
  const swept: number[] = []
  for (const node of order) {
    const seen = (next[node] as readonly number[]).map((other) => swept[other] as number)
    const meaning = `${parts[node]} ${seen.sort((a, b) => a - b).join()}`
    const code = codes.get(meaning) ?? codes.size
    codes.set(meaning, code)
    swept[node] = code
  }
  return swept
}

function topological(
  below: readonly (readonly number[])[],
  above: readonly (readonly number[])[],
): number[] {
  const waiting = above.map(({ length }) => length)
  const order = waiting.flatMap((count, node) => (count === 0 ? [node] : []))
  for (let at = 0; at < order.length; at++) {
    for (const node of below[order[at] as number] as readonly number[]) {
      waiting[node] = (waiting[node] as number) - 1
      if (waiting[node] === 0) order.push(node)
    }
  }
  return order
}

function numbered(labels: readonly string[]): number[] {
  const codes = new Map<string, number>()
  return labels.map((label) => {
    const code = codes.get(label) ?? codes.size
    codes.set(label, code)
    return code
  })
}
