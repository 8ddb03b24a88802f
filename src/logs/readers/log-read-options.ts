import { FlowdeltaError } from '../../core/errors.ts'
import {
  custom,
  defineOptions,
  list,
  type OptionsOf,
  oneOf,
  optionalText,
  readOptions,
  text,
} from '../../core/options.ts'
import type { DerivedStates } from '../features/log-builder.ts'
import { readDivision } from './divided-logs.ts'
import { LogTemplates } from './drain/log-templates.ts'
import { LogClock, TIME_UNITS } from './log-clock.ts'

export const LOG_FORMATS = ['jsonl', 'csv', 'logfmt', 'text', 'log4j', 'otlp', 'json'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

/**
 * Fields of JSON lines, logfmt and CSV that hold the parts of a message. In the header line of CSV
 * capitals do not matter: `Time` is `time`, unless there is both.
 */
export const LOG_FIELD_OPTIONS = defineOptions({
  time: optionalText('Field of times; by default time, timestamp, ts, @timestamp or datetime'),
  name: optionalText(
    'Field of names; by default event, name, msg, message or body, of which the last three are free text',
  ),
  value: text({
    default: 'value',
    sentence: 'Field that makes a message a state message',
    flag: null,
  }),
})
export type LogFields = Partial<OptionsOf<typeof LOG_FIELD_OPTIONS>>

export const LOG_READ_OPTIONS = defineOptions({
  format: oneOf(['auto', ...LOG_FORMATS], {
    default: 'auto',
    sentence: "Format of all files; 'auto' recognizes each by its content",
    flag: 'format <name>',
  }),
  instance: optionalText(
    "Field or OTLP attribute that names a message's instance, or 'path' for its file or directory",
    'instance <field>',
  ),
  window: optionalText(
    "Makes each time window an instance of its own: '1m', '30s'",
    'window <duration>',
  ),
  splitAt: optionalText(
    "Divides one source into before and after at a time: '2026-10-01T11:15Z', or '11:15Z' on the day it begins",
    'split-at <time>',
  ),
  badIf: optionalText(
    "Divides the instances of one source by conditions on fields, which hold after: 'duration_ms > 100 and route = /cart'",
    'bad-if <conditions>',
  ),
  waits: oneOf(['auto', 'always', 'never'], {
    default: 'auto',
    sentence:
      "Adds states `ms until EVENT`, the time since the previous message; 'auto' does so for requests that `badIf` divides",
    flag: 'waits <when>',
  }),
  exclude: list({
    default: [],
    sentence:
      'Variables to leave out because only the environment changes them: names, with * for anything',
    flag: 'exclude <name,...>',
  }),
  derive: custom<DerivedStates>({
    default: {},
    sentence:
      "States to add, computed from others of an instance: { 'bytes each': (of) => of('bytes') / of('sent') }",
    accepts: (value) =>
      typeof value === 'object' &&
      value !== null &&
      Object.values(value).every((one) => typeof one === 'function'),
    expected: 'an object of functions',
  }),
  fields: custom<LogFields>({
    default: {},
    sentence: 'Fields of JSON lines, logfmt and CSV that hold time, name and value',
    accepts: (value) => typeof value === 'object' && value !== null,
    expected: 'an object { time, name, value }',
    parse: logFields,
  }),
  templates: custom<'mined' | 'none' | LogTemplates | null>({
    default: null,
    sentence:
      "Names of free text: 'mined' from all the logs (default), 'none' for the text itself, or templates of an earlier reading",
    accepts: (value) =>
      value === null || value === 'mined' || value === 'none' || value instanceof LogTemplates,
    expected: "'mined', 'none' or LogTemplates",
  }),
  timeZone: text({
    default: 'UTC',
    sentence: "Time zone of dates without one: 'UTC', '+02:00', 'CET'",
    flag: 'time-zone <zone>',
  }),
  dateFormat: text({
    default: 'auto',
    sentence:
      "How dates are written, in log4j's letters: 'dd.MM.yyyy HH:mm:ss,SSS'; 'auto' recognizes usual ways",
    flag: 'date-format <pattern>',
  }),
  timeUnit: oneOf(TIME_UNITS, {
    default: 'auto',
    sentence: "Unit of times that are numbers; 'auto' goes by the size of the first",
    flag: 'time-unit <unit>',
  }),
})
export type LogReadOptions = Partial<OptionsOf<typeof LOG_READ_OPTIONS>>

export type ReadSettings = ReturnType<typeof readSettings>

const FREE_TEXT = new Set(['msg', 'message', 'body'])

/** @throws OptionError, FlowdeltaError for an option that is unknown or cannot be */
export function readSettings(given: LogReadOptions) {
  const options = readOptions(LOG_READ_OPTIONS, given)
  const { format, templates, timeZone, dateFormat, timeUnit, waits, badIf, window } = options
  const fields = readOptions(LOG_FIELD_OPTIONS, options.fields, 'fields.')
  const instance = options.instance ?? 'path'
  const division = readDivision(options)
  const settings = {
    timeZone,
    dateFormat,
    timeUnit,
    format,
    instance: instance === 'path' ? undefined : instance,
    division,
    asked: [
      ...(instance === 'path' ? [] : [instance]),
      ...(division?.badIf ?? []).map(({ attribute }) => attribute),
    ],
    hasWaits: waits === 'always' || (waits === 'auto' && badIf !== null && window === null),
    time: fields.time,
    name: fields.name,
    value: fields.value,
    templates: templates ?? 'mined',
    isText: (field: string) =>
      FREE_TEXT.has(field) || (templates !== null && field === fields.name),
  }
  // A time zone or a date format that cannot be is an error now, not with the first file.
  new LogClock(settings)
  return settings
}

function logFields(given: string): LogFields {
  const pairs = given.split(',').map((pair) => pair.split('=', 2).map((part) => part.trim()))
  const wrong = pairs.find(([role = '', field = '']) => !(role in LOG_FIELD_OPTIONS) || !field)
  if (wrong === undefined) return Object.fromEntries(pairs)
  const message = `${JSON.stringify(wrong.join('='))} is none of time=FIELD, name=FIELD, value=FIELD.`
  throw new FlowdeltaError(message, {}, 'option')
}
