import { fieldLiteral, patternSource, textLiteral } from '../../../core/code-literals.ts'
import { isDuration } from '../../../core/table-cells.ts'
import {
  isFilterable,
  isSortable,
  type NumberColumn,
  type TableColumn,
  type TableData,
  type WordColumn,
} from './table-columns.ts'

/** State of a table as its reader has set it; columns are called by their number. */
export interface TableState {
  /** Text searched in every column. */
  readonly search: string
  /** Filter written for each column. */
  readonly filters: readonly string[]
  /** Columns to sort by, the most important first; the table's own order if empty. */
  readonly sort: readonly SortKey[]
  readonly hidden: readonly number[]
}

export interface SortKey {
  readonly column: number
  readonly descending: boolean
}

/** Returns the state at first: the table's own order and all of its rows. */
export function untouched(columns: readonly TableColumn[]): TableState {
  return { search: '', filters: columns.map(() => ''), sort: [], hidden: [] }
}

/** Returns the filters of a state, without those that cannot be understood. */
export function stateFilters(
  columns: readonly TableColumn[],
  { search, filters }: Pick<TableState, 'search' | 'filters'>,
): RowFilter[] {
  const found = [
    ...columns.map((column, i) => columnFilter(column, filters[i] ?? '')),
    searchFilter(columns, search),
  ]
  return found.filter((filter) => filter !== null && 'test' in filter)
}

/** Returns the rows that all filters keep, in the table's own order. */
export function keptRows(rows: number, filters: readonly RowFilter[]): Uint32Array {
  const kept = new Uint32Array(rows)
  let count = 0
  for (let row = 0; row < rows; row++) {
    if (filters.every((filter) => filter.test(row))) kept[count++] = row
  }
  return kept.subarray(0, count)
}

/** Sorts rows: missing values last, equal ones in the order that Arquero gives them. */
export function sortedRows(
  kept: Uint32Array,
  columns: readonly TableColumn[],
  { sort, origin }: { sort: readonly SortKey[]; origin: readonly number[] | null },
): Uint32Array {
  const orders = sort.flatMap(({ column, descending }) => {
    const known = columns[column]
    return known === undefined || !isSortable(known) ? [] : [columnOrder(known, descending)]
  })
  if (orders.length === 0) return kept
  const place = (row: number) => origin?.[row] ?? row
  orders.push((a, b) => place(a) - place(b))
  return kept.slice().sort((a, b) => {
    for (const order of orders) {
      const difference = order(a, b)
      if (difference !== 0) return difference
    }
    return 0
  })
}

/** Returns the keys after a click on a column: numbers begin with the largest, words with A. */
export function nextSort(
  sort: readonly SortKey[],
  { column, known, andThen }: { column: number; known: TableColumn; andThen: boolean },
): readonly SortKey[] {
  const first = 'numbers' in known
  const before = sort.find((key) => key.column === column)
  const next =
    before === undefined
      ? [{ column, descending: first }]
      : before.descending === first
        ? [{ column, descending: !first }]
        : []
  if (!andThen) return next
  return before === undefined
    ? [...sort, ...next]
    : sort.flatMap((key) => (key === before ? next : [key]))
}

/** Compares as Arquero does, except that missing values come last both ways. */
function columnOrder(column: TableColumn, descending: boolean): (a: number, b: number) => number {
  const places = 'words' in column ? placesOfWords(column) : column.numbers
  const sign = descending ? -1 : 1
  return (a, b) => {
    const u = places[a] as number
    const v = places[b] as number
    if (u < v) return -sign
    if (u > v) return sign
    if (u === v) return 0
    const missing = Number(Number.isNaN(u)) - Number(Number.isNaN(v))
    if (missing !== 0) return missing
    return sign * (Number(column.isNull(b)) - Number(column.isNull(a)))
  }
}

function placesOfWords({ words, codes }: WordColumn) {
  const order = words.map((_, code) => code)
  const byWord = (a: number, b: number) => ((words[a] as string) < (words[b] as string) ? -1 : 1)
  const places = new Float64Array(words.length)
  for (const [place, code] of order.sort(byWord).entries()) places[code] = place
  return Float64Array.from(codes, (code) => places[code] ?? Number.NaN)
}

/**
 * Returns the Arquero expression for the rows shown:
 * `table.filter(d => d.requests > 100).orderby(aq.desc('contributionUs'))`.
 */
export function tableCode(
  { name, rows, totalRows, isGrouped }: TableData,
  columns: readonly TableColumn[],
  state: TableState,
): string {
  const filters = stateFilters(columns, state).map(({ code }) => code)
  const all = filters.length > 1 ? filters.map(inParentheses) : filters
  const keys = state.sort.flatMap(({ column, descending }) => sortCode(columns[column], descending))
  const shown = columns.filter((_, i) => !state.hidden.includes(i))
  return [
    name,
    rows < totalRows ? `${isGrouped ? '.ungroup()' : ''}.slice(0, ${rows})` : '',
    all.length === 0 ? '' : `.filter(d => ${all.join(' && ')})`,
    keys.length === 0 ? '' : `.orderby(${keys.join(', ')})`,
    shown.length === columns.length
      ? ''
      : `.select(${shown.map((column) => textLiteral(column.name)).join(', ')})`,
  ].join('')
}

function inParentheses(code: string): string {
  return code.includes(' || ') ? `(${code})` : code
}

function sortCode(column: TableColumn | undefined, descending: boolean): string[] {
  if (column === undefined || !isSortable(column)) return []
  const name = textLiteral(column.name)
  if (descending) return [`aq.desc(${name})`]
  const field = fieldLiteral(column.name)
  // Arquero puts missing values first; only NaN differs from itself.
  const missing = [
    ...(column.nulls > 0 ? [`${field} == null`] : []),
    ...('numbers' in column && column.hasNaN ? [`${field} !== ${field}`] : []),
  ]
  return [...(missing.length > 0 ? [`d => ${missing.join(' || ')}`] : []), name]
}

/** A test of rows, and the same as an Arquero expression of the row `d`. */
export interface RowFilter {
  test(row: number): boolean
  readonly code: string
}

/** An explanation of what could be written instead. */
export interface FilterProblem {
  readonly problem: string
}

const UNITS: Readonly<Record<string, number>> = {
  µs: 1,
  μs: 1,
  us: 1,
  ms: 1e3,
  s: 1e6,
  min: 60e6,
  h: 3600e6,
}
const AMOUNT = String.raw`([-−]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(µs|μs|us|ms|s|min|h)?`
const COMPARISON = new RegExp(`^(>=|≥|<=|≤|!=|≠|=|>|<)\\s*${AMOUNT}$`, 'i')
const RANGE = new RegExp(`^${AMOUNT}\\s*\\.\\.\\s*${AMOUNT}$`, 'i')
const PLAIN = new RegExp(`^${AMOUNT}$`, 'i')
const COMPARE = {
  '>': (a: number, b: number) => a > b,
  '>=': (a: number, b: number) => a >= b,
  '<': (a: number, b: number) => a < b,
  '<=': (a: number, b: number) => a <= b,
  '===': (a: number, b: number) => a === b,
  '!==': (a: number, b: number) => a !== b,
}
type Sign = keyof typeof COMPARE
const SIGNS: Readonly<Record<string, Sign>> = {
  '>': '>',
  '<': '<',
  '>=': '>=',
  '≥': '>=',
  '<=': '<=',
  '≤': '<=',
  '=': '===',
  '!=': '!==',
  '≠': '!==',
}

/** Reads the filter written for one column; `null` when nothing is. */
export function columnFilter(
  column: TableColumn,
  written: string,
): RowFilter | FilterProblem | null {
  const text = written.trim()
  if (text === '' || !isFilterable(column)) return null
  if ('words' in column) return wordFilter(column, text)
  const filter = numberFilter(column, text)
  const example = isDuration(column.name) ? '> 1 ms' : '> 100'
  return filter ?? { problem: `Write a number, ${example}, or 2..5.` }
}

/** Reads the search of all columns, which keeps rows where any of them fits; `null` for none. */
export function searchFilter(columns: readonly TableColumn[], written: string): RowFilter | null {
  const text = written.trim()
  if (text === '') return null
  const isComparison = COMPARISON.test(text) || RANGE.test(text)
  const filters = columns.flatMap((column) => {
    if (!isFilterable(column)) return []
    if ('words' in column) {
      return isComparison || column.kind === 'boolean' ? [] : [containsFilter(column, text)]
    }
    return numberFilter(column, text) ?? []
  })
  return {
    test: (row) => filters.some((filter) => filter.test(row)),
    code: filters.length === 0 ? 'false' : filters.map(({ code }) => code).join(' || '),
  }
}

function wordFilter(column: WordColumn, text: string): RowFilter {
  const [, sign, word = ''] = /^(!?=)\s*(.*)$/s.exec(text) ?? []
  const compare = sign === '!=' ? '!==' : '==='
  if (column.kind === 'boolean') return equalsFilter(column, compare, word || text)
  return sign === undefined ? containsFilter(column, text) : equalsFilter(column, compare, word)
}

function containsFilter({ name, words, codes }: WordColumn, text: string): RowFilter {
  const source = patternSource(text)
  const pattern = new RegExp(source, 'i')
  const fits = Uint8Array.from(words, (word) => (pattern.test(word) ? 1 : 0))
  return {
    test: (row) => fits[codes[row] as number] === 1,
    code: `aq.op.match(${fieldLiteral(name)}, /${source}/i, 0)`,
  }
}

function equalsFilter(
  { name, kind, words, codes }: WordColumn,
  sign: '===' | '!==',
  word: string,
): RowFilter {
  // A code that no row has.
  const code = words.includes(word) ? words.indexOf(word) : -2
  const literal = kind === 'boolean' ? String(word === 'true') : textLiteral(word)
  return {
    test: sign === '===' ? (row) => codes[row] === code : (row) => codes[row] !== code,
    code: `${fieldLiteral(name)} ${sign} ${literal}`,
  }
}

function numberFilter(column: NumberColumn, text: string): RowFilter | null {
  const [, sign, size = '', unit] = COMPARISON.exec(text) ?? []
  if (sign !== undefined) {
    const amount = amountOf(column, size, unit)
    return amount === null ? null : compared(column, [[SIGNS[sign] as Sign, amount]])
  }
  const [, from, fromUnit, to = '', toUnit] = RANGE.exec(text) ?? []
  if (from !== undefined) {
    const ends = [amountOf(column, from, fromUnit ?? toUnit), amountOf(column, to, toUnit)] as const
    if (ends[0] === null || ends[1] === null) return null
    return compared(column, [
      ['>=', ends[0]],
      ['<=', ends[1]],
    ])
  }
  const [, plain, plainUnit] = PLAIN.exec(text) ?? []
  const amount = plain === undefined ? null : amountOf(column, plain, plainUnit)
  if (plain === undefined || amount === null) return null
  return column.isInteger && plainUnit === undefined
    ? compared(column, [['===', amount]])
    : rounded(column, { plain, amount, step: UNITS[plainUnit?.toLowerCase() ?? ''] ?? 1 })
}

/** Keeps numbers that are shown like this with as many decimals. */
function rounded(
  column: NumberColumn,
  { plain, amount, step }: { plain: string; amount: number; step: number },
): RowFilter {
  const [, decimals = '', exponent = '0'] = /^[^.e]*\.?(\d*)(?:e(.*))?$/i.exec(plain) ?? []
  const half = (step * 10 ** (Number(exponent) - decimals.length)) / 2
  const clean = (value: number) => Number(value.toPrecision(12))
  return compared(column, [
    ['>=', clean(amount - half)],
    ['<', clean(amount + half)],
  ])
}

function compared(
  { name, numbers, nulls }: NumberColumn,
  conditions: readonly (readonly [sign: Sign, amount: number])[],
): RowFilter {
  const field = fieldLiteral(name)
  const isOrder = conditions.every(([sign]) => sign !== '===' && sign !== '!==')
  // In JavaScript null > -1; a missing value is not.
  const guard = nulls > 0 && isOrder ? [`${field} != null`] : []
  const code = [...guard, ...conditions.map(([sign, amount]) => `${field} ${sign} ${amount}`)]
  return {
    test: (row) =>
      conditions.every(([sign, amount]) => COMPARE[sign](numbers[row] as number, amount)),
    code: code.length === 1 ? (code[0] as string) : `(${code.join(' && ')})`,
  }
}

/** Returns an amount in the unit of the column; `null` for a unit that it has not. */
function amountOf({ name }: NumberColumn, size: string, unit: string | undefined): number | null {
  const number = Number(size.replaceAll(',', '').replace('−', '-'))
  if (unit === undefined) return Number.isFinite(number) ? number : null
  const step = UNITS[unit.toLowerCase()]
  return isDuration(name) && step !== undefined ? Number((number * step).toPrecision(15)) : null
}
