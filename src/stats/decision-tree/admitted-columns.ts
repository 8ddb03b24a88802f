import { FlowdeltaError } from '../../core/errors.ts'
import { type CodedColumn, codeColumn } from './coded-column.ts'
import type { TreeColumn } from './tree-column.ts'
import type { LeftOutColumn } from './tree-node.ts'

/** C4.5's share of rows from which on a categorical column has too many values. */
const MANY_VALUES = 0.3

interface Admitted {
  readonly columns: readonly CodedColumn[]
  readonly leftOut: readonly LeftOutColumn[]
}

/**
 * The columns that may be split on, coded, and why the others may not.
 *
 * With `limitValues`, a categorical column with more values than 0.3 times the rows is left out,
 * unless all columns are so (Quinlan's rule): splitting on it would give each row a branch.
 *
 * @throws FlowdeltaError for a name to exclude that no column has.
 */
export function admittedColumns(
  all: readonly TreeColumn[],
  rows: number,
  exclude: readonly string[],
  limitValues: boolean,
): Admitted {
  requireNames(all, exclude)
  const excluded = new Set(exclude)
  const coded = all.filter(({ name }) => !excluded.has(name)).map(codeColumn)
  const tooMany = ({ kind, present }: CodedColumn) =>
    kind === 'categorical' && present > MANY_VALUES * rows
  const limit = limitValues && !coded.every(tooMany)
  const leftOut: LeftOutColumn[] = [...excluded].map((column) => ({ column, reason: 'excluded' }))
  const columns = coded.filter((column) => {
    const { present, name } = column
    if (present === 0) leftOut.push({ column: name, reason: 'empty' })
    else if (present === 1) leftOut.push({ column: name, reason: 'constant' })
    else if (limit && tooMany(column)) leftOut.push({ column: name, reason: 'too-many-values' })
    else return true
    return false
  })
  return { columns, leftOut }
}

function requireNames(columns: readonly TreeColumn[], exclude: readonly string[]): void {
  const names = new Set(columns.map(({ name }) => name))
  const unknown = exclude.find((name) => !names.has(name))
  if (unknown === undefined) return
  const known = [...names].slice(0, 10).join(', ')
  throw new FlowdeltaError(
    `Option exclude names the column ${JSON.stringify(unknown)}, which is not there. Give names of columns, such as ${known || 'none: there are no columns'}.`,
  )
}
