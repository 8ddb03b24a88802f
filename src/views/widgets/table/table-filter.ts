import { fieldLiteral, patternSource, textLiteral } from '../../../core/code-literals.ts'
import { isDuration } from '../../../core/table-cells.ts'
import {
  isFilterable,
  type NumberColumn,
  type TableColumn,
  type WordColumn,
} from './table-columns.ts'

/** Which rows stay, and the same as an Arquero expression of the row `d`. */
export interface RowFilter {
  test(row: number): boolean
  readonly code: string
}

/** What was written cannot be understood; what could be is said in its place. */
export interface FilterProblem {
  readonly problem: string
}

type Compare = '>' | '>=' | '<' | '<=' | '===' | '!=='

const UNITS: Readonly<Record<string, number>> = {
  ...{ µs: 1, μs: 1, us: 1, ms: 1e3, s: 1e6, min: 60e6, h: 3600e6 },
}
const AMOUNT = String.raw`([-−]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(µs|μs|us|ms|s|min|h)?`
const COMPARISON = new RegExp(`^(>=|≥|<=|≤|!=|≠|=|>|<)\\s*${AMOUNT}$`, 'i')
const RANGE = new RegExp(`^${AMOUNT}\\s*\\.\\.\\s*${AMOUNT}$`, 'i')
const PLAIN = new RegExp(`^${AMOUNT}$`, 'i')
const SIGNS: Readonly<Record<string, Compare>> = {
  ...{ '>': '>', '<': '<', '>=': '>=', '≥': '>=', '<=': '<=', '≤': '<=' },
  ...{ '=': '===', '!=': '!==', '≠': '!==' },
}

/** What is written for one column; `null` when nothing is. */
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

/** What is written for all columns: rows in which any of them fits; `null` when nothing is. */
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
  if (column.kind === 'boolean')
    return equalsFilter(column, sign === '!=' ? '!==' : '===', word || text)
  return sign === undefined
    ? containsFilter(column, text)
    : equalsFilter(column, sign === '!=' ? '!==' : '===', word)
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
  // No row has a word that is not there.
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
    return amount === null ? null : compared(column, [[SIGNS[sign] as Compare, amount]])
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

/** All numbers that are written like this with as many decimals: what is shown can be found. */
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
  conditions: readonly (readonly [sign: Compare, amount: number])[],
): RowFilter {
  const field = fieldLiteral(name)
  const isOrder = conditions.every(([sign]) => sign !== '===' && sign !== '!==')
  // In JavaScript null is more than -1; here it is nothing.
  const guard = nulls > 0 && isOrder ? [`${field} != null`] : []
  const code = [...guard, ...conditions.map(([sign, amount]) => `${field} ${sign} ${amount}`)]
  const tests = conditions.map(([sign, amount]) => comparison(numbers, sign, amount))
  const [first, second] = tests as [RowTest, RowTest?]
  return {
    test: second === undefined ? first : (row) => first(row) && second(row),
    code: code.length === 1 ? (code[0] as string) : `(${code.join(' && ')})`,
  }
}

type RowTest = (row: number) => boolean

function comparison(numbers: Float64Array, sign: Compare, amount: number): RowTest {
  const at = (row: number) => numbers[row] as number
  switch (sign) {
    case '>':
      return (row) => at(row) > amount
    case '>=':
      return (row) => at(row) >= amount
    case '<':
      return (row) => at(row) < amount
    case '<=':
      return (row) => at(row) <= amount
    case '===':
      return (row) => at(row) === amount
    case '!==':
      return (row) => at(row) !== amount
  }
}

/** An amount in the unit of the column; `null` for a unit where there is none. */
function amountOf({ name }: NumberColumn, size: string, unit: string | undefined): number | null {
  const number = Number(size.replaceAll(',', '').replace('−', '-'))
  if (unit === undefined) return Number.isFinite(number) ? number : null
  const step = UNITS[unit.toLowerCase()]
  return isDuration(name) && step !== undefined ? Number((number * step).toPrecision(15)) : null
}
