import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { requireOneOf } from '../../stats/require-option.ts'
import { LogTemplates } from './drain/log-templates.ts'
import { type MiningOptions, resolveMining } from './drain/masks.ts'
import { type ClockOptions, LogClock, TIME_UNITS, type TimeUnit } from './log-clock.ts'

export const LOG_FORMATS = ['jsonl', 'csv', 'logfmt', 'text', 'log4j', 'otlp'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

/**
 * Which fields of JSON lines, logfmt and CSV hold what. In the header line of CSV capitals do not
 * matter: `Time` is `time`, unless there is both.
 */
export interface LogFields {
  /** Default: the first there is of `time`, `timestamp`, `ts`, `@timestamp`, `datetime`. */
  readonly time?: string
  /** Default: the first there is of `event`, `name`, `msg`, `message`, `body`; the last three are free text. */
  readonly name?: string
  /**
   * One field: it makes a state message, whose variable is the message's name. Several: the message is
   * an event, and each a state variable `name.field`. Default: `value`.
   */
  readonly value?: string | readonly string[]
  /** As option `instance`. */
  readonly instance?: string
}

export interface LogReadOptions {
  /** The format of all files, or `'auto'`: each is recognised by its content. Default: `'auto'`. */
  readonly format?: LogFormat | 'auto'
  /**
   * What an instance is: `'path'`, each file or directory that is named, with everything below it, or
   * the name of a field (of an attribute in OTLP, of a group in `template`) whose value says which
   * instance a message is of. Default: `fields.instance`, else the group `instance` where a template
   * has one, else `'path'`.
   */
  readonly instance?: string
  /** Default: see `LogFields`. */
  readonly fields?: LogFields
  /**
   * How lines of text are made: regular expressions with named groups, of which the first that matches
   * counts. `time` is needed; `name` is the name as it stands there, `message` free text, of which
   * the name is mined, and `component` goes before it; `value` makes a state message, `instance` says
   * which instance. Any other group that is a number is a state variable `name.group`. Makes the
   * format `'text'`. Default: a time at the start of the line and free text behind it.
   */
  readonly template?: RegExp | string | readonly (RegExp | string)[]
  /**
   * How free text becomes names: `'mined'`, by templates that are mined from all the logs; `'none'`, the
   * text is the name; or the templates of a reading before, maybe edited. Default: `'mined'`.
   */
  readonly templates?: 'mined' | 'none' | LogTemplates
  /** How templates are mined. Default: see `MiningOptions`. */
  readonly mining?: MiningOptions
  /** Of dates that say none: `'UTC'`, `'+02:00'`, `'Europe/Berlin'`. Default: `'UTC'`. */
  readonly timeZone?: string
  /**
   * How dates are written, in log4j's letters (`dd.MM.yyyy HH:mm:ss,SSS`), or `'auto'`: ISO 8601, syslog,
   * access logs and other usual ways are recognised. Default: `'auto'`.
   */
  readonly dateFormat?: string
  /**
   * The unit of times that are numbers. `'auto'` goes by the first of a file: below 10⁸ microseconds
   * since some start; else since 1970, in seconds, milliseconds (from 10¹¹), microseconds (from 10¹⁴)
   * or nanoseconds (from 10¹⁷). In text, `12.345678` is seconds, as the kernel writes them. Default:
   * `'auto'`.
   */
  readonly timeUnit?: TimeUnit
}

/** Options with their defaults, and what follows from them. */
export interface ReadSettings extends ClockOptions {
  readonly format: LogFormat | 'auto'
  /** The field, `undefined` for the path. */
  readonly instance: string | undefined
  readonly time: readonly string[]
  readonly name: readonly string[]
  /** The field that makes a state message. */
  readonly value: string | undefined
  /** Fields that are state variables beside an event. */
  readonly numbers: readonly string[]
  readonly template: readonly RegExp[]
  readonly templates: 'mined' | 'none' | LogTemplates
  readonly mining: Required<MiningOptions>
  /** Whether what a field of this name holds is free text. */
  isText(field: string): boolean
}

const OPTIONS = [
  ...['format', 'instance', 'fields', 'template', 'templates', 'mining', 'timeZone'],
  ...['dateFormat', 'timeUnit'],
]
const TIME = ['time', 'timestamp', 'ts', '@timestamp', 'datetime']
const NAME = ['event', 'name', 'msg', 'message', 'body']
const FREE_TEXT = new Set(['msg', 'message', 'body'])

/** @throws OptionError, FlowdeltaError for an option that is unknown or cannot be */
export function readSettings(options: LogReadOptions): ReadSettings {
  rejectUnknownOptions(options, OPTIONS)
  const { fields = {}, templates, mining = {}, timeZone = 'UTC', dateFormat = 'auto' } = options
  const { timeUnit = 'auto', format = 'auto' } = options
  rejectUnknownOptions(fields, ['time', 'name', 'value', 'instance'])
  requireOneOf('format', format, ['auto', ...LOG_FORMATS])
  requireOneOf('timeUnit', timeUnit, TIME_UNITS)
  if (templates !== undefined && !(templates instanceof LogTemplates)) {
    requireOneOf('templates', templates, ['mined', 'none'])
  }
  const template = templatesOf(options.template)
  if (template.length > 0 && format !== 'auto' && format !== 'text') {
    throw new OptionError('format', format, "'text' where option template is given")
  }
  const grouped = template.some(({ source }) => source.includes('(?<instance>'))
  const instance = options.instance ?? fields.instance ?? (grouped ? 'instance' : 'path')
  if (fields.instance !== undefined && instance !== fields.instance) {
    throw new OptionError(
      'instance',
      instance,
      'the same as option fields.instance, or one of both',
    )
  }
  const { value = 'value' } = fields
  const isOneValue = typeof value === 'string'
  const settings: ReadSettings = {
    ...{ timeZone, dateFormat, timeUnit, template },
    format: template.length > 0 ? 'text' : format,
    instance: instance === 'path' ? undefined : instance,
    time: fields.time === undefined ? TIME : [fields.time],
    name: fields.name === undefined ? NAME : [fields.name],
    value: isOneValue ? value : undefined,
    numbers: isOneValue ? [] : value,
    templates: templates ?? 'mined',
    mining: resolveMining(mining),
    isText: (field) => FREE_TEXT.has(field) || (templates !== undefined && field === fields.name),
  }
  // A time zone or a date format that cannot be is an error now, not with the first file.
  new LogClock(settings)
  return settings
}

function templatesOf(template: LogReadOptions['template']): readonly RegExp[] {
  if (template === undefined) return []
  const all = typeof template === 'string' || template instanceof RegExp ? [template] : template
  return all.map((one) => {
    const compiled = compiledTemplate(one)
    const { source } = compiled
    if (!source.includes('(?<time>')) throw badTemplate(one, 'a group (?<time>…)')
    if (!source.includes('(?<name>') && !source.includes('(?<message>')) {
      throw badTemplate(one, 'a group (?<name>…) or (?<message>…)')
    }
    return compiled
  })
}

function compiledTemplate(template: RegExp | string): RegExp {
  if (template instanceof RegExp) {
    // With these flags a match would begin where the one of the line before ended.
    return new RegExp(template.source, template.flags.replace(/[gy]/g, ''))
  }
  try {
    return new RegExp(template)
  } catch (error) {
    throw new OptionError(
      'template',
      template,
      `a regular expression that JavaScript can read: ${(error as Error).message}`,
    )
  }
}

function badTemplate(template: unknown, needed: string): OptionError {
  return new OptionError('template', template, `a regular expression with ${needed}`)
}
