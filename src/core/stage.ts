import type { ColumnTable, Table } from 'arquero'
import { columnTable } from './arquero.ts'
import {
  completeBundle,
  Displayable,
  type HasMimeBundle,
  inspectDisplayable,
  inspectHook,
  jupyterHook,
  type MimeBundle,
} from './display.ts'
import { OptionError, requireArgument } from './errors.ts'
import { type Quantity, TIME } from './quantity.ts'
import { tableHtml, tableText } from './table-display.ts'
import { counted } from './words.ts'

/** A step of an analysis, immutable, with a table to look at; shown, it shows its table. */
export abstract class Stage extends Displayable {
  abstract table(): StageTable

  displayText(): string {
    return this.table().displayText()
  }

  mimeBundle(): MimeBundle {
    return this.table().mimeBundle()
  }
}

/** Returns the base class of stages whose columns are their fields: named, typed and described once. */
export function columnarStage<Columns extends object, Base extends Stage = Stage>(
  base: abstract new () => Stage = Stage,
) {
  abstract class ColumnarStage extends base {
    constructor(columns: Columns) {
      super()
      Object.assign(this, columns)
    }
  }
  return ColumnarStage as unknown as abstract new (
    columns: Columns,
  ) => Base & Readonly<Columns>
}

export type TableHtml = (table: Table) => string

let notebookHtml: TableHtml | undefined

/** Makes `next` the way tables show in notebooks; a plain HTML table without one. */
export function setTableHtml(next: TableHtml | undefined): void {
  notebookHtml = next
}

export function tableBundle(table: Table): MimeBundle {
  return { 'text/plain': tableText(table), 'text/html': (notebookHtml ?? tableHtml)(table) }
}

/** Types that Arquero's declarations do not cover: rows, values, and columns that `aq.names` names. */
// biome-ignore lint/suspicious/noExplicitAny: Arquero types no row and no value either.
type Untyped = any

/** An Arquero table that shows itself in a notebook; every verb gives another `StageTable`. */
export interface StageTable extends ColumnTable, HasMimeBundle {
  object(row?: number): Untyped
  objects(options?: Parameters<ColumnTable['objects']>[0]): Untyped[]
  rename(...columns: Untyped[]): this
  select(...columns: Untyped[]): this
  values(name: string): IterableIterator<Untyped>
  [Symbol.iterator](): IterableIterator<Untyped>
  displayText(): string
  [inspectHook](): string
  [jupyterHook](): MimeBundle
}

type StageTableClass = new (...columns: ConstructorParameters<typeof ColumnTable>) => StageTable

let stageTables: StageTableClass | undefined

function stageTableClass(): StageTableClass {
  stageTables ??= class extends columnTable() implements HasMimeBundle {
    // Arquero 8 prints ten rows whatever `limit` says.
    override print(options: Parameters<ColumnTable['print']>[0] = {}): this {
      const { limit = 10, ...rest } = typeof options === 'number' ? { limit: options } : options
      const rows = this.objects({ ...rest, limit, grouped: false })
      const { log, table } = console
      log(`${this[Symbol.toStringTag]}. Showing ${counted(rows.length, 'row')}.`)
      table(rows)
      return this
    }

    mimeBundle(): MimeBundle {
      return tableBundle(this)
    }

    displayText(): string {
      return tableText(this)
    }

    [inspectHook](): string {
      return inspectDisplayable(this)
    }

    [jupyterHook](): MimeBundle {
      return completeBundle(this)
    }
  } as unknown as StageTableClass
  return stageTables
}

export function isTable(value: unknown): value is ColumnTable {
  const { columnNames, numRows, getter } = (value ?? {}) as Partial<ColumnTable>
  return [columnNames, numRows, getter].every((verb) => typeof verb === 'function')
}

/**
 * Returns a table over `columns`, which are used as they are: arrays and typed arrays are not copied.
 *
 * `names` chooses and orders the columns; by default all of them, in the order of `columns`.
 * Throws an `OptionError` when a name has no column or the columns differ in length.
 *
 * @example
 * stageTable({ category: Int32Array.of(0, 1), root: ['read', 'write'] }).numRows() // 2
 */
export function stageTable(
  columns: Readonly<Record<string, ArrayLike<unknown>>>,
  names: readonly string[] = Object.keys(columns ?? {}),
): StageTable {
  requireArgument(
    'stageTable(columns)',
    columns,
    typeof columns === 'object' && columns !== null,
    'columns by name',
  )
  requireArgument('stageTable(columns, names)', names, Array.isArray(names), 'a list of names')
  const length = columns[names[0] ?? '']?.length ?? 0
  for (const name of names) {
    const column = columns[name]
    if (column == null) {
      throw new OptionError('names', name, `names among ${Object.keys(columns).join(', ')}`)
    }
    if (column.length !== length) {
      throw new OptionError(
        `columns.${name}`,
        `${column.length} values`,
        `${length} values, as many as column ${names[0]} has`,
      )
    }
  }
  // Arquero reads columns by `.at`, which every array and typed array has.
  const chosen = Object.fromEntries(names.map((name) => [name, columns[name]]))
  const Tables = stageTableClass()
  return new Tables(chosen as unknown as ConstructorParameters<typeof ColumnTable>[0], [...names])
}

/** Columns of time whatever is measured. */
const MOMENTS: readonly string[] = ['startUs']

/** Returns the name of a column of durations where it holds amounts of something else: `shiftTokens`. */
export function columnIn(name: string, { unit }: Quantity): string {
  if (unit === null || MOMENTS.includes(name)) return name
  const words = unit.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const camel = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return name.replace(/^responseTime(?=Us$)/, 'total').replace(/Us(?=2?$)/, camel)
}

/** Returns the table with its columns' names for amounts of `quantity`. */
export function tableIn(table: StageTable, quantity: Quantity): StageTable {
  if (quantity.unit === null) return table
  const names = table.columnNames().map((name) => [name, columnIn(name, quantity)])
  return table.rename(Object.fromEntries(names)) as StageTable
}

/**
 * Returns a table with one row for each of `rows`, whose amounts are of `quantity`. A column holds a field of each row,
 * or the result of a function of the row.
 */
export function rowTable<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (keyof Row & string) | ((row: Row, at: number) => unknown)>>,
  quantity: Quantity = TIME,
): StageTable {
  const made = Object.entries(columns).map(([name, column]) => [
    name,
    rows.map(typeof column === 'function' ? column : (row) => row[column]),
  ])
  return tableIn(stageTable(Object.fromEntries(made)), quantity)
}

type Names<Text> = Text extends `${infer First} ${infer Rest}` ? First | Names<Rest> : Text

/** Columns that are fields of the same name: `own('p q')` gives `{ p: 'p', q: 'q' }`. */
export function own<const Text extends string>(names: Text) {
  const columns = names.split(' ').map((name) => [name, name])
  return Object.fromEntries(columns) as { readonly [Name in Names<Text> & string]: Name }
}
