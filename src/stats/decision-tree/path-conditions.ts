import type { SplitTest, TreeColumnInfo } from './tree-node.ts'

/** What a path says of one column, all its splits on it taken together. */
export type PathCondition =
  /** `above < value <= atMost`; either end may be missing, not both. */
  | {
      readonly kind: 'range'
      readonly column: string
      readonly above?: number
      readonly atMost?: number
    }
  /** The value is one of `levels`, whose positions are `codes`. */
  | {
      readonly kind: 'levels'
      readonly column: string
      readonly codes: readonly number[]
      readonly levels: readonly string[]
    }

/**
 * The conditions of a path after one more step, to child `child` of a split. A column that has a
 * condition keeps its place, and the narrower of both is kept.
 */
export function withStep(
  conditions: readonly PathCondition[],
  column: TreeColumnInfo,
  test: SplitTest,
  child: number,
): readonly PathCondition[] {
  const { name } = column
  const earlier = conditions.find((condition) => condition.column === name)
  const step = stepCondition(column, test, child, earlier)
  if (earlier === undefined) return [...conditions, step]
  return conditions.map((condition) => (condition === earlier ? step : condition))
}

function stepCondition(
  column: TreeColumnInfo,
  test: SplitTest,
  child: number,
  earlier: PathCondition | undefined,
): PathCondition {
  const { name } = column
  if (test.kind === 'threshold') {
    // Further down, thresholds lie within the range that the node has: the later one is narrower.
    const range = earlier?.kind === 'range' ? earlier : ({ kind: 'range', column: name } as const)
    return child === 0 ? { ...range, atMost: test.value } : { ...range, above: test.value }
  }
  const own = test.kind === 'branches' ? test.codes.slice(child, child + 1) : test.codes[child]
  const codes = own ?? []
  const names = column.kind === 'categorical' ? column.levels : []
  return { kind: 'levels', column: name, codes, levels: codes.map((code) => names[code] ?? '') }
}
