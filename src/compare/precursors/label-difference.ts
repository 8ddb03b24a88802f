import { requireFields } from '../../core/errors.ts'
import type { CategoryStructure } from '../categories/category-structure.ts'

/** A label that one structure has more often than the other. */
export interface LabelCount {
  readonly label: string
  /** Number of additional nodes with it. */
  readonly count: number
}

type LabeledNodes = Pick<CategoryStructure, 'preorder' | 'labels'>

/** Labels that only a mutation's structure has, and those that only its precursor's has. */
export interface LabelDifference {
  readonly added: readonly LabelCount[]
  readonly removed: readonly LabelCount[]
}

/**
 * Returns the node labels by which two structures differ, in the order that the structures meet them. It is quick to
 * read and says nothing of position; what stands where is for the graph comparison.
 *
 * @example
 * labelDifference(categories.structure(precursor), categories.structure(mutation)).added
 */
export function labelDifference(before: LabeledNodes, after: LabeledNodes): LabelDifference {
  for (const one of [before, after]) {
    requireFields('labelDifference(before, after)', one, 'preorder', 'labels')
  }
  const counts = new Map<string, number>()
  const count = ({ preorder, labels }: LabeledNodes, step: number) => {
    for (const node of preorder) {
      const label = labels[node] as string
      counts.set(label, (counts.get(label) ?? 0) + step)
    }
  }
  count(after, 1)
  count(before, -1)
  const entries = [...counts].map(([label, difference]) => ({ label, count: difference }))
  return {
    added: entries.filter(({ count }) => count > 0),
    removed: entries
      .filter(({ count }) => count < 0)
      .map(({ label, count }) => ({ label, count: -count })),
  }
}
