import { codeText } from './code-literals.ts'
import { InternalError, OptionError, rejectUnknownOptions, show } from './errors.ts'

/** Part of a JSON schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>

/** One option: all that is known about it, but for its name, which is its key in the table. */
export interface OptionRow<T> {
  readonly default: T
  readonly sentence: string
  /** Unit or thing counted, such as `'µs'` or `'requests'`. */
  readonly unit: string | null
  /** Commander's notation without dashes; `null` hides it; undefined derives it from the name. */
  readonly flag: string | null | undefined
  /** Whether it is switched on and off, so that its flag takes no value. */
  readonly isSwitch: boolean
  /** Whether `--help` leaves its flag to `--help-all`. */
  readonly isRare?: boolean
  /** Whether its flag takes the name of a file, whose text `parse` reads. */
  readonly isFile?: boolean
  /** Words that it takes, in addition to numbers if it takes those. */
  readonly choices: readonly (string | null)[]
  /** Values that it takes, as a noun phrase for messages: `'a share from 0 to 1'`. */
  readonly expected: string
  readonly schema: JsonSchema
  accepts(value: unknown): boolean
  /** Whether its flag must be given. */
  readonly isRequired?: boolean
  /** Whether no help lists its flag. */
  readonly isHidden?: boolean
  /** Options whose flags cannot be given beside its own. */
  readonly conflictsWith?: readonly string[]
  /** Reads a flag's text; the result may be unacceptable. `before` is what the same flag gave before. */
  parse(text: string, before?: unknown): unknown
}

export type OptionTable = Readonly<Record<string, OptionRow<unknown>>>

export type OptionsOf<Table extends OptionTable> = {
  readonly [Name in keyof Table]: Table[Name]['default']
}

interface Common<T> {
  readonly default: T
  readonly sentence: string
  readonly unit?: string
  readonly flag?: string | null
}

interface Range {
  readonly min?: number
  readonly max?: number
}

interface Instead<Word> {
  readonly or: Word
}

/** Defines options; types, checks, flags and docs are derived. Throws for a wrong default. */
export function defineOptions<Table extends OptionTable>(table: Table): Table {
  for (const [name, row] of Object.entries(table)) {
    if (row.accepts(row.default)) continue
    throw new InternalError(`option ${name} rejects its default, ${show(row.default)}`)
  }
  return Object.freeze(table)
}

/** Makes the option of a number between limits, or of `or` in place of one. */
interface NumericOption {
  (row: Common<number> & Range): OptionRow<number>
  <const Word extends string | null>(
    row: Common<number | Word> & Range & Instead<Word>,
  ): OptionRow<number | Word>
}

/** A whole number; at least 1 unless `min` says otherwise. */
export const count = numericOption('a whole number', { min: 1, max: Number.MAX_SAFE_INTEGER })

export const number = numericOption('a number', {
  min: Number.NEGATIVE_INFINITY,
  max: Number.POSITIVE_INFINITY,
})

/** A share, from 0 to 1 unless `max` says otherwise. */
export const share = numericOption('a share', { min: 0, max: 1 })

/** Defines an option for a maximum: a whole number, at least `min`. */
export function most(at: number, unit: string, sentence: string, min = 1): OptionRow<number> {
  return count({ default: at, min, unit, sentence })
}

/** Defines an option for a whole number from 1 on, or `null` for none. */
export function optionalCount(sentence: string, unit?: string): OptionRow<number | null> {
  return count({ default: null, or: null, sentence, ...(unit !== undefined && { unit }) })
}

/** Defines an option for a number from 0 on, or `null` for none. */
export function optionalNumber(sentence: string): OptionRow<number | null> {
  return count({ default: null, or: null, min: 0, sentence })
}

export function level(row: Common<number>): OptionRow<number> {
  return {
    ...common({ unit: 'level', ...row }),
    expected: 'a level between 0 and 1',
    schema: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
    accepts: (value) => typeof value === 'number' && value > 0 && value < 1,
    parse: numberFrom,
  }
}

export function flag(row: Common<boolean>): OptionRow<boolean> {
  return {
    ...common(row),
    isSwitch: true,
    expected: 'true or false',
    schema: { type: 'boolean' },
    accepts: (value) => typeof value === 'boolean',
    parse: (text) => (text === 'true' ? true : text === 'false' ? false : text),
  }
}

/** Defines an option for one of some words; `null` among them stands for none. */
export function oneOf<const Word extends string | null>(
  choices: readonly Word[],
  row: Common<Word>,
): OptionRow<Word> {
  return {
    ...common(row),
    choices,
    expected: anyOf(choices.map(word)),
    schema: { enum: choices },
    accepts: (value) => (choices as readonly unknown[]).includes(value),
    parse: (text) => text,
  }
}

/** Defines an option for one of some words, or `null` for none. */
export function optionalWord<const Word extends string>(
  words: readonly Word[],
  sentence: string,
): OptionRow<Word | null> {
  return oneOf<Word | null>([null, ...words], { default: null, sentence })
}

/** Defines an option for any text; `or: null` if there may be none. */
export function text(row: Common<string>): OptionRow<string>
export function text(row: Common<string | null> & Instead<null>): OptionRow<string | null>
export function text(row: Common<unknown> & { readonly or?: null }): OptionRow<unknown> {
  const orNull = row.or === null
  return {
    ...common(row),
    choices: orNull ? [null] : [],
    expected: orNull ? 'a text or null' : 'a text',
    schema: { type: orNull ? ['string', 'null'] : 'string' },
    accepts: (value) => typeof value === 'string' || (orNull && value === null),
    parse: (given) => given,
  }
}

/** Defines an option for a text, or `null` for none. */
export function optionalText(sentence: string, flag?: string | null): OptionRow<string | null> {
  return text({ default: null, or: null, sentence, ...(flag !== undefined && { flag }) })
}

export function list(row: Common<readonly string[]>): OptionRow<readonly string[]> {
  return {
    ...common(row),
    expected: `a list of ${row.unit ?? 'texts'}`,
    schema: { type: 'array', items: { type: 'string' } },
    accepts: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
    parse: (given) => given.split(',').map((each) => each.trim()),
  }
}

/** Defines an option for a function, an object, or anything else with a check of its own. It has no flag by default. */
export function custom<T>({
  accepts,
  expected,
  schema = {},
  parse = (given) => given,
  isFile = false,
  ...row
}: Common<T> & {
  readonly isFile?: boolean
  readonly accepts: (value: unknown) => boolean
  readonly expected: string
  readonly schema?: JsonSchema
  readonly parse?: (text: string, before: T) => unknown
}): OptionRow<T> {
  const read = (given: string, before: unknown) => parse(given, before as T)
  return { ...common({ flag: null, ...row }), expected, schema, accepts, parse: read, isFile }
}

/** Returns all options of a table: those given, checked, and defaults; `undefined` counts as not given. */
export function readOptions<Table extends OptionTable, Given extends Partial<OptionsOf<Table>>>(
  table: Table,
  given?: Given,
  path = '',
): OptionsOf<Table> {
  const values: Readonly<Record<string, unknown>> = given === undefined ? {} : given
  rejectUnknownOptions(values, Object.keys(table), path)
  const read = Object.entries(table).map(([name, row]) => {
    const value = values[name]
    if (value === undefined) return [name, row.default]
    if (!row.accepts(value)) throw new OptionError(path + name, value, row.expected)
    return [name, value]
  })
  return Object.fromEntries(read) as OptionsOf<Table>
}

export function changeOptions<Table extends OptionTable, Given extends Partial<OptionsOf<Table>>>(
  table: Table,
  options: OptionsOf<Table>,
  changes: Given,
): OptionsOf<Table> {
  rejectUnknownOptions(changes, Object.keys(table))
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  return readOptions(table, { ...options, ...Object.fromEntries(given) })
}

export function pickOptions<Table extends OptionTable, Given extends OptionsOf<Table>>(
  table: Table,
  options: Given,
): OptionsOf<Table> {
  const values: Readonly<Record<string, unknown>> = options
  const picked = Object.keys(table).map((name) => [name, values[name]])
  return Object.fromEntries(picked) as OptionsOf<Table>
}

/** Returns the options that have a flag. */
export function flagged<Table extends OptionTable>(table: Table): OptionTable {
  return Object.fromEntries(Object.entries(table).filter(([, { flag }]) => flag !== null))
}

/** Writes the options that differ from their defaults as an object in code; `''` where none does. */
export function optionsCode<Table extends OptionTable>(
  table: Table,
  options: Partial<OptionsOf<Table>>,
): string {
  const values: Readonly<Record<string, unknown>> = options
  const differing = Object.entries(table).flatMap(([name, row]) => {
    const value = codeText(values[name] === undefined ? row.default : values[name])
    return value === codeText(row.default) ? [] : [`${name}: ${value}`]
  })
  return differing.length === 0 ? '' : `{ ${differing.join(', ')} }`
}

export function optionsSchema(table: OptionTable): JsonSchema {
  const properties = Object.entries(table).map(([name, { sentence, unit, schema }]) => [
    name,
    { description: unit === null ? sentence : `${sentence} (${unit})`, ...schema },
  ])
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: Object.keys(table),
    additionalProperties: false,
  }
}

function common<T>(row: Common<T>) {
  return {
    default: row.default,
    sentence: row.sentence,
    unit: row.unit ?? null,
    flag: row.flag,
    isSwitch: false,
    choices: [],
  }
}

function numericOption(noun: string, limits: Required<Range>): NumericOption {
  const whole = noun === 'a whole number'
  const isNumber = whole ? Number.isSafeInteger : Number.isFinite
  const option = ({
    min = limits.min,
    max = limits.max,
    or,
    ...row
  }: Common<unknown> & Range & Partial<Instead<string | null>>): OptionRow<unknown> => {
    const accepts = (value: unknown) =>
      typeof value === 'number' && isNumber(value) && value >= min && value <= max
    const range = {
      ...(Math.abs(min) < Number.MAX_SAFE_INTEGER && { minimum: min }),
      ...(Math.abs(max) < Number.MAX_SAFE_INTEGER && { maximum: max }),
    }
    const schema = { type: whole ? 'integer' : 'number', ...range }
    const things = row.unit === undefined ? noun : `${noun} of ${row.unit}`
    const expected = `${things}${rangeText(range)}`
    if (or === undefined) return { ...common(row), expected, schema, accepts, parse: numberFrom }
    return {
      ...common(row),
      choices: [or],
      expected: `${expected}${expected.includes(',') ? ',' : ''} or ${word(or)}`,
      schema: { anyOf: [schema, { enum: [or] }] },
      accepts: (value) => value === or || accepts(value),
      parse: (given) => (given.toLowerCase() === or ? or : numberFrom(given)),
    }
  }
  return option as NumericOption
}

function rangeText({ minimum, maximum }: { minimum?: number; maximum?: number }): string {
  if (minimum === undefined) return maximum === undefined ? '' : `, ${maximum} or less`
  return maximum === undefined ? `, ${minimum} or more` : ` from ${minimum} to ${maximum}`
}

function numberFrom(given: string): number {
  return given.trim() === '' ? Number.NaN : Number(given)
}

function word(choice: string | null): string {
  return choice === null ? 'null' : `'${choice}'`
}

/** `a, b or c`. */
function anyOf(words: readonly string[]): string {
  return words.length < 2
    ? words.join('')
    : `${words.slice(0, -1).join(', ')} or ${words[words.length - 1]}`
}
