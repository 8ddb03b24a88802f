/**
 * What flowdelta's types promise of Arquero's tables (https://idl.uw.edu/arquero/api/). Arquero's own
 * declarations compile only with `skipLibCheck`.
 */

/** A value in a table, whose type Arquero does not know either. */
// biome-ignore lint/suspicious/noExplicitAny: rows are typed by nobody
type Value = any

/** A function of a row, a column's name, or an expression of Arquero's. */
type Expression = string | number | boolean | object | ((row: Value, parameters?: Value) => unknown)
/** Names or numbers of columns, or what `aq.desc`, `aq.all` and the like return. */
type Selection = Expression | readonly Expression[]
type Options = Record<string, Value>

export interface Table {
  readonly size: number
  numRows(): number
  numCols(): number
  totalRows(): number
  isFiltered(): boolean
  isGrouped(): boolean
  isOrdered(): boolean
  columnNames(filter?: (name: string, index: number) => boolean): string[]
  columnName(index: number): string
  columnIndex(name: string): number
  array(name: string, kind?: Value): Value
  get(name: string, row?: number): Value
  getter(name: string): (row?: number) => Value
  object(row?: number): Value
  objects(options?: Options): Value[]
  values(name: string): Iterable<Value>
  print(options?: Options | number): this
  indices(order?: boolean): Uint32Array
  scan(row: (row?: number, data?: Value, stop?: () => void) => void, order?: boolean): void
  [Symbol.iterator](): Iterator<Value>
}

export interface ColumnTable extends Table {
  column(name: string): { readonly length: number; at(row: number): Value }
  columnAt(index: number): { readonly length: number; at(row: number): Value }
  assign(...tables: Value[]): this
  count(options?: Options): this
  derive(values: Record<string, Expression>, options?: Options): this
  filter(criteria: Expression): this
  slice(start?: number | Expression, end?: number | Expression): this
  groupby(...keys: Selection[]): this
  orderby(...keys: Selection[]): this
  relocate(columns: Selection, options: Options): this
  rename(...columns: Value[]): this
  rollup(values?: Record<string, Expression>): this
  sample(size: number | Expression, options?: Options): this
  select(...columns: Selection[]): this
  ungroup(): this
  unorder(): this
  reify(indices?: number[] | Uint32Array): this
  dedupe(...keys: Selection[]): this
  impute(values: Record<string, Expression>, options?: Options): this
  fold(values: Selection, options?: Options): this
  pivot(keys: Selection, values: Selection, options?: Options): this
  spread(values: Selection, options?: Options): this
  unroll(values: Selection, options?: Options): this
  lookup(other: Value, on?: Value, ...values: Selection[]): this
  join(other: Value, on?: Value, values?: Value, options?: Options): this
  cross(other: Value, values?: Value, options?: Options): this
  semijoin(other: Value, on?: Value): this
  antijoin(other: Value, on?: Value): this
  concat(...tables: Value[]): this
  union(...tables: Value[]): this
  intersect(...tables: Value[]): this
  except(...tables: Value[]): this
  toCSV(options?: Options): string
  toHTML(options?: Options): string
  toJSON(options?: Options): string
  toMarkdown(options?: Options): string
}
