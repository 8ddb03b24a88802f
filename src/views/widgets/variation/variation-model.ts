import { squaredVariation } from '../../../compare/categories/categories.ts'
import type { Comparison } from '../../../compare/comparison.ts'
import type { StructuralLabel } from '../../../compare/mutations/find-structural-mutations.ts'
import { AFTER, BEFORE, type Period } from '../../../flows/flow-set.ts'
import { rootName } from '../../charts/node-names.ts'

/** What is known of a category, as a column each of `comparison.categories.table()`. */
export const MEASURES = [
  'before',
  'after',
  'beforeMeanUs',
  'afterMeanUs',
  'beforeC2',
  'afterC2',
] as const

/** What lies across and what lies up. */
export type Axes = readonly [across: Measure, up: Measure]

/** A column to lay categories out by. */
export type Measure = (typeof MEASURES)[number]

/** What the explorer of variation carries into a page; entry `i` of each list is category `i`. */
export interface VariationData {
  /** `null` where a category has none: no mean without requests, no C² of a single one. */
  readonly measures: Readonly<Record<Measure, readonly (number | null)[]>>
  readonly names: readonly string[]
  /** Which of `names` a category has. */
  readonly nameOf: readonly number[]
  readonly structural: readonly StructuralLabel[]
  /** Change of its number of requests, scaled if the comparison does. */
  readonly changes: readonly number[]
  /** p of its response times; `null` where there are too few requests for a test. */
  readonly p: readonly (number | null)[]
  /** Categories whose response times changed. */
  readonly responseTime: readonly number[]
  /** Only categories of more requests than this are in the distribution. */
  readonly large: number
  /** What the comparison is called in code. */
  readonly name: string
  /** What lies across and up in the beginning. */
  readonly axes: Axes
}

/** A category in the distribution of one period. */
export interface CurvePoint {
  readonly category: number
  readonly c2: number
  /** Share of the period's large categories that vary as little or less. */
  readonly share: number
}

const LONGEST_NAME = 200

/** Takes what there is to see of its categories out of a comparison. */
export function variationData(
  { categories, structural, responseTime }: Comparison,
  { large, name, axes }: Pick<VariationData, 'large' | 'name' | 'axes'>,
): VariationData {
  const ids = Array.from({ length: categories.size }, (_, category) => category)
  const names = new Map<string, number>()
  const nameOf = ids.map((category) => {
    const text = rootName(categories, category, LONGEST_NAME)
    const number = names.get(text) ?? names.size
    names.set(text, number)
    return number
  })
  const moments = (period: Period) =>
    ids.map((category) => categories.responseTimeMoments(category, period))
  const [before, after] = [moments(BEFORE), moments(AFTER)]
  return {
    ...{ large, name, axes, nameOf, names: [...names.keys()] },
    measures: {
      before: before.map(({ count }) => count),
      after: after.map(({ count }) => count),
      beforeMeanUs: before.map(({ mean }) => finiteOrNull(mean)),
      afterMeanUs: after.map(({ mean }) => finiteOrNull(mean)),
      beforeC2: before.map((of) => finiteOrNull(squaredVariation(of))),
      afterC2: after.map((of) => finiteOrNull(squaredVariation(of))),
    },
    structural: ids.map((category) => structural.label(category)),
    changes: Array.from(structural.changes, (change) => Number(change.toPrecision(6))),
    p: ids.map((category) => {
      const { testable, p } = responseTime.test(category)
      return testable ? Number(p.toPrecision(3)) : null
    }),
    responseTime: responseTime.mutations,
  }
}

function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

/** What a category is called. */
export function nameOf({ names, nameOf: numbers }: VariationData, category: number): string {
  return names[numbers[category] as number] as string
}

/** A measure of a category; `NaN` where it has none. */
export function measured({ measures }: VariationData, measure: Measure, category: number): number {
  return measures[measure][category] ?? Number.NaN
}

/** The distribution of C² over the large categories of one period, ascending. */
export function curveOf(data: VariationData, period: Period): readonly CurvePoint[] {
  const [count, c2] =
    period === BEFORE ? (['before', 'beforeC2'] as const) : (['after', 'afterC2'] as const)
  const found = data.nameOf
    .map((_, category) => ({ category, c2: measured(data, c2, category) }))
    .filter(
      (point) => measured(data, count, point.category) > data.large && !Number.isNaN(point.c2),
    )
    .sort((a, b) => a.c2 - b.c2 || a.category - b.category)
  return found.map((point, i) => ({ ...point, share: (i + 1) / found.length }))
}
