// Reads the value of a code once a split: indexes with `!`.
import type { CodedColumn } from './coded-column.ts'
import type { SplitTest, TreeSplit } from './tree-node.ts'

/** A split that a criterion decided on, and how to divide the rows by it. */
export interface SplitChoice extends Omit<TreeSplit<never>, 'kind' | 'children'> {
  readonly codes: Int32Array
  readonly childOf: (code: number) => number
  /** Number of children. */
  readonly width: number
}

/** How a test divides the codes of a column. */
export type CodeDivision = Pick<SplitChoice, 'test' | 'codes' | 'childOf' | 'width'>

/**
 * Up to `lastCode` and above it. The threshold that is shown is the largest value of the whole data
 * up to the middle between `lastCode` and `nextCode`, its neighbour in the node: a value somebody
 * has seen, and one that later data next to the gap do not overturn.
 */
export function divideByThreshold(
  { codes, values }: CodedColumn,
  lastCode: number,
  nextCode: number,
): CodeDivision {
  const middle = values[lastCode]! / 2 + values[nextCode]! / 2
  let shown = lastCode
  while (shown + 1 < nextCode && values[shown + 1]! <= middle) shown++
  return {
    test: { kind: 'threshold', value: values[shown]! },
    ...{ codes, childOf: (code) => (code <= lastCode ? 0 : 1), width: 2 },
  }
}

/** One child for each of the codes. */
export function divideByBranches(column: CodedColumn, branches: readonly number[]): CodeDivision {
  const test: SplitTest = { kind: 'branches', codes: branches }
  return { ...{ test, width: branches.length }, ...byTable(column, branches.map(single)) }
}

/** One child for each of two sets of codes. */
export function divideBySets(
  column: CodedColumn,
  sets: readonly [readonly number[], readonly number[]],
): CodeDivision {
  return { ...{ test: { kind: 'set', codes: sets }, width: 2 }, ...byTable(column, sets) }
}

const single = (code: number) => [code]

function byTable({ codes, size }: CodedColumn, children: readonly (readonly number[])[]) {
  const table = new Int32Array(size).fill(-1)
  for (const [child, own] of children.entries()) for (const code of own) table[code] = child
  return { codes, childOf: (code: number) => table[code]! }
}
