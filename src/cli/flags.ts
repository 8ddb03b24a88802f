import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  FlowdeltaError,
  nearestName,
  type OptionAdvice,
  type OptionError,
  show,
} from '../core/errors.ts'
import {
  custom,
  flagged,
  type OptionRow,
  type OptionsOf,
  type OptionTable,
} from '../core/options.ts'
import { MIN_HELP_WIDTH } from './printing.ts'

export type Flags = Readonly<Record<string, unknown>>

/** Values of a table's flags, as commander gives them: `undefined` where the default is `null`. */
export type FlagsOf<Table extends OptionTable> = {
  readonly [Name in keyof Table]: null extends Table[Name]['default']
    ? Exclude<Table[Name]['default'], null> | undefined
    : Table[Name]['default']
}

/** Shows the help of a command with all of its flags. */
export const HELP_ALL = '--help-all'

class OptionFlag extends Option {
  readonly option: string

  constructor(name: string, row: OptionRow<unknown>) {
    super(flagText(name, row), sentence(row))
    this.option = name
    if (row.isRare === true) RARE.add(this)
    if (row.isRequired === true) this.makeOptionMandatory()
    if (row.isHidden === true) this.hideHelp()
    if (row.conflictsWith !== undefined) this.conflicts([...row.conflictsWith])
    // Without a parser, commander collects the values of several.
    if (row.isSwitch || (this.variadic && row.default === null)) return
    // No help says how an empty object is written.
    if (typeof row.default !== 'object' || Array.isArray(row.default)) this.default(row.default)
    const words = row.choices.filter((choice) => choice !== null)
    if ('enum' in row.schema) this.choices(words).argParser((text) => choice(words, text))
    else if (Array.isArray(row.default)) {
      // Given more than once, a list grows.
      this.argParser((text, before: unknown) => [
        ...(before === row.default ? [] : (before as readonly unknown[])),
        ...(parsed(row, text) as readonly unknown[]),
      ])
    } else this.argParser((text, before) => parsed(row, text, before))
  }
}

export function addOptions(command: Command, ...tables: readonly OptionTable[]): Command {
  for (const flag of flagsOf(...tables)) command.addOption(flag)
  return command
}

/** Returns the same options, which `--help` leaves to `--help-all` but for some. */
export function rarely<Table extends OptionTable>(
  table: Table,
  ...but: readonly (keyof Table)[]
): Table {
  return withAll(table, (name) => ({ isRare: !but.includes(name) }))
}

/** Options that `--help` leaves to `--help-all`; they are suggested for misspelt ones all the same. */
const RARE = new WeakSet<Option>()

/** Defines a flag that takes several names of files, or addresses. */
export function paths(flag: string, sentence: string): OptionRow<readonly string[] | null> {
  return custom({ default: null, flag, sentence, expected: 'names of files', accepts: () => true })
}

/** Returns the same options, which must be given. */
export function required<Table extends OptionTable>(table: Table): Table {
  return withAll(table, () => ({ isRequired: true }))
}

function withAll<Table extends OptionTable>(
  table: Table,
  more: (name: string) => Partial<OptionRow<unknown>>,
): Table {
  const rows = Object.entries(table).map(([name, row]) => [name, { ...row, ...more(name) }])
  return Object.fromEntries(rows) as Table
}

/** Makes `--help` a screen: flags that matter first, each in a clause; `--help-all` says everything. */
export function addHelpAll(command: Command, args: readonly string[]): void {
  for (const each of command.options) each.description = inFlags(command.options, each.description)
  const left = command.options.filter((each) => RARE.has(each))
  if (left.length > 0 && args.some((arg) => /^(--help|-h|help)$/.test(arg))) {
    for (const each of left) each.hideHelp()
    command
      .configureHelp({
        minWidthToWrap: MIN_HELP_WIDTH,
        optionDescription: ({ description }) =>
          /^.*?(?=[;:]\s|, and say|\s\(|$)/.exec(description)?.[0] ?? description,
      })
      .addHelpText(
        'after',
        `\n${left.length} more options, and all details: flowdelta ${command.name()} ${HELP_ALL}`,
      )
  }
}

export function optionsFrom<Table extends OptionTable>(
  table: Table,
  flags: Flags,
): Partial<OptionsOf<Table>> {
  const given = Object.entries(table).flatMap(([name, row]) => {
    const value = row.flag === null ? undefined : flags[new OptionFlag(name, row).attributeName()]
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(given) as Partial<OptionsOf<Table>>
}

export function flagsOf(...tables: readonly OptionTable[]): readonly Option[] {
  return tables.flatMap((table) =>
    Object.entries(flagged(table)).map(([name, row]) => new OptionFlag(name, row)),
  )
}

export function adviceFlags(flags: readonly Option[], advice: OptionAdvice): string[] {
  const found = Object.entries(advice).flatMap(([option, value]) => {
    const flag = flagOf(flags, option.split('.')[0])
    if (flag === undefined) return []
    return [value === null ? flag.flags : value === true ? `${flag.long}` : `${flag.long} ${value}`]
  })
  return [...new Set(found)]
}

/**
 * Returns a message with the names that options have on the command line, which in code stand between backticks; behind
 * it those of its advice that it does not name.
 */
export function inFlags(
  flags: readonly Option[],
  message: string,
  advice: OptionAdvice = {},
): string {
  const given = (code: string) => {
    const [, name, path = '', value = ''] = OPTION.exec(code) ?? []
    const long = flagOf(flags, name)?.long
    if (long === undefined || long === null) return []
    const field = path === '' ? '' : ` ${path.slice(1)}=…`
    return [`${long}${field} ${value.replace(/['"[\]]|^true$|^false$/g, '')}`.trimEnd()]
  }
  const text = message.replace(/`([^`]+)`/g, (whole, code: string) => {
    const parts = code.split(/, (?=\w+: )/)
    const found = parts.flatMap(given)
    return found.length === parts.length ? found.join(' ') : whole
  })
  const isNamed = (flag: string) => text.includes(flag.split(' ', 1)[0] as string)
  const more = adviceFlags(flags, advice).filter((flag) => !isNamed(flag))
  if (more.length === 0) return text
  return `${text}${text.endsWith('.') ? '' : '.'} On the command line: ${more.join(', ')}.`
}

/** Option as written in code: `omitHosts`, `fields.time` or `concurrency: 'none'`. */
const OPTION = /^([A-Za-z]\w*)((?:\.\w+)*)(?:: (.+))?$/

function flagOf(flags: readonly Option[], option: string | undefined): Option | undefined {
  return flags.find(
    (each) => (each instanceof OptionFlag ? each.option : each.attributeName()) === option,
  )
}

export function choice(words: readonly string[], text: string): string {
  if (words.includes(text)) return text
  const meant = nearestName(text, words)
  const hint = meant === undefined ? '' : `Did you mean ${meant}? `
  throw new InvalidArgumentError(`${hint}Allowed choices are ${words.join(', ')}.`)
}

/** Returns which flag was probably meant by one that a command has not; `''` if there is none. */
export function misspeltFlag(command: Command, args: readonly string[]): string {
  const known = command.options.flatMap(({ long }) => long ?? [])
  for (const arg of args) {
    const [flag = ''] = arg.split('=')
    if (!flag.startsWith('--') || known.includes(flag)) continue
    const meant = nearestName(flag, known)
    if (meant !== undefined) return `(Did you mean ${meant} instead of ${flag}?)\n`
  }
  return ''
}

/** Says that a single file needs its period; `''` for anything else. */
export function unflaggedFile(command: Command, [, file, next]: readonly string[]): string {
  if (!isPath(file) || isPath(next)) return ''
  if (!command.options.some(({ long }) => long === '--split')) return ''
  return `(Say which period ${file} is: --before or --after. If it holds both, divide it with --split.)\n`
}

/** Flags that name the periods, or divide one source that all paths are of. */
const NAMES_PERIODS = /^--(before|after|good|bad|split|propose|split-at|bad-if)(=|$)/

/** Reads two paths behind the name of a command as the periods before and after, unless flags say otherwise. */
export function withPeriods([name = '', before, after, ...flags]: readonly string[]): string[] {
  const given = [name, before, after].filter((arg) => arg !== undefined)
  const isPair = isPath(before) && isPath(after) && !isPath(flags[0])
  if (!isPair || flags.some((flag) => NAMES_PERIODS.test(flag))) return [...given, ...flags]
  return [name, '--before', before, '--after', after, ...flags]
}

function isPath(arg: string | undefined): arg is string {
  return arg !== undefined && !arg.startsWith('-')
}

export function flagMessage(command: Command, { option, value, expected }: OptionError): string {
  const [name = option, ...path] = option.split('.')
  const found = flagOf(command.options, name)
  const words = [found?.long ?? `Option ${name}`, ...path].join(' ')
  return `${words} is ${value === undefined ? 'missing' : show(value)}. Give ${expected}.`
}

function flagText(name: string, row: OptionRow<unknown>): string {
  const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  if (row.isSwitch) return row.default === true ? `--no-${kebab}` : `--${row.flag ?? kebab}`
  return `--${row.flag ?? `${kebab} <${row.unit ?? 'n'}>`}`
}

/** Returns the sentence of a flag; for a switch that is on by default, the sentence of its negation. */
function sentence(row: OptionRow<unknown>): string {
  if (!row.isSwitch || row.default !== true) return row.sentence
  return `Do not ${row.sentence.charAt(0).toLowerCase()}${row.sentence.slice(1)}`
}

function textOfFile(name: string): string {
  try {
    return readFileSync(name, 'utf8')
  } catch (problem) {
    const { code } = problem as NodeJS.ErrnoException
    throw new InvalidArgumentError(`It cannot be read (${code}). Give the name of a file.`)
  }
}

function parsed(row: OptionRow<unknown>, text: string, before?: unknown): unknown {
  const value = row.isFile ? row.parse(textOfFile(text)) : readValue(row, text, before)
  if (row.accepts(value)) return value
  throw new InvalidArgumentError(`Give ${row.expected}.`)
}

function readValue(row: OptionRow<unknown>, text: string, before: unknown): unknown {
  try {
    return row.parse(text, before)
  } catch (problem) {
    throw problem instanceof FlowdeltaError ? new InvalidArgumentError(problem.message) : problem
  }
}
