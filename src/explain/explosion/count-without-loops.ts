import type { Categories } from '../../compare/categories/categories.ts'

/**
 * How many categories there are when it does not matter how often something is repeated: those whose
 * flows have the same edges between the same labels, each however often, count as one.
 *
 * A lower bound of what folding loops leaves, without folding: good enough to tell whether loop
 * counts are what makes categories many.
 */
export function countWithoutLoops(categories: Categories): number {
  const seen = new Set<string>()
  for (let category = 0; category < categories.size; category++) {
    const { labelCodes, from, to } = categories.outline(category)
    const edges = new Set<number>()
    for (let edge = 0; edge < from.length; edge++) {
      const source = labelCodes[from[edge] as number] as number
      edges.add(source * categories.labelCount + (labelCodes[to[edge] as number] as number))
    }
    const nodes = [...new Set(labelCodes)].sort((a, b) => a - b)
    seen.add(`${nodes.join(' ')}|${[...edges].sort((a, b) => a - b).join(' ')}`)
  }
  return seen.size
}
