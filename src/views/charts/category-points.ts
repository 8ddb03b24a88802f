import type {
  StructuralLabel,
  StructuralMutations,
} from '../../compare/mutations/structural-mutations.ts'
import { tooltipText } from '../../core/shown-text.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { rootName } from './node-names.ts'

/** Names for legends, by label; drawn in this order. */
export const KIND_NAMES: Readonly<Record<StructuralLabel, string>> = {
  unchanged: 'no change beyond the threshold',
  precursor: 'precursor (lost requests)',
  'structural-mutation': 'structural mutation (gained requests)',
}

/** One point of the chart: the categories with these numbers of requests. */
export interface CategoryPoint {
  readonly before: number
  readonly after: number
  /** After minus before, after scaled if the stage was told to. */
  readonly change: number
  readonly kind: string
  /** How many categories stand here. */
  readonly categories: number
  /** The number of the category, or of the first few. */
  readonly ids: string
  /** Root of the category, or of the first few. */
  readonly root: string
}

const NAMED_TOGETHER = 3

/**
 * One point for each pair of counts that occurs, those with the largest change last: they are
 * drawn on top. Categories with the same counts share a point, which says how many they are.
 */
export function categoryPoints(structural: StructuralMutations): CategoryPoint[] {
  const { categories, changes } = structural
  const groups = new Map<string, number[]>()
  for (let category = 0; category < categories.size; category++) {
    const key = `${categories.count(category, BEFORE)} ${categories.count(category, AFTER)}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [category])
    else group.push(category)
  }
  return [...groups.values()]
    .map((group) => pointOf(structural, group))
    .sort((a, b) => Math.abs(a.change) - Math.abs(b.change))

  function pointOf(stage: StructuralMutations, group: readonly number[]): CategoryPoint {
    const first = group[0] as number
    const named = group.slice(0, NAMED_TOGETHER)
    const more = group.length > named.length ? ` and ${group.length - named.length} more` : ''
    const roots = [...new Set(named.map((category) => rootName(categories, category, 80)))]
    return {
      before: categories.count(first, BEFORE),
      after: categories.count(first, AFTER),
      change: Number((changes[first] as number).toPrecision(6)),
      kind: KIND_NAMES[stage.label(first)],
      categories: group.length,
      ids: `${named.join(', ')}${more}`,
      root: tooltipText(`${roots.join(', ')}${more}`),
    }
  }
}
