import {
  custom,
  defineOptions,
  flag,
  type OptionsOf,
  oneOf,
  optionalText,
} from '../core/options.ts'
import type { LoadProgress } from './readers/open-file.ts'
import { SPAN_FORMATS, type SpanFormatName } from './readers/span-formats.ts'
import { FILE_FORMATS } from './readers/trace-reader.ts'
import type { TraceSource } from './trace-source.ts'

const SPAN_FORMAT_NAMES: readonly SpanFormatName[] = SPAN_FORMATS.map(({ name }) => name)
const FORMATS = [...FILE_FORMATS, ...SPAN_FORMAT_NAMES] as const

export type TraceFormat = (typeof FORMATS)[number]

export const LOAD_OPTIONS = defineOptions({
  name: optionalText(
    'Name of the period in messages and charts, or null for the name of the first file',
    null,
  ),
  format: oneOf(['auto', ...FORMATS], {
    default: 'auto',
    sentence: 'Format of all files; auto recognizes each by its content',
    flag: 'format <format>',
  }),
  strict: flag({ default: false, sentence: 'Stop at the first trace or span that cannot be used' }),
  columns: optionalText(
    "Meaning of span fields in JSON or CSV, with time units: 'trace=tid,start=begin:ms,duration=took:us'; other fields are found by name",
    'columns <roles>',
  ),
  parameters: custom<TraceSource | readonly TraceSource[]>({
    default: [],
    accepts: (value) => value !== null,
    expected: 'files, as for the traces',
    sentence:
      'Tables of low-level parameters (CSV) that become attributes of trace points or spans',
  }),
  series: custom<TraceSource | readonly TraceSource[]>({
    default: [],
    accepts: (value) => value !== null,
    expected: 'files, as for the traces',
    flag: 'series <file>',
    parse: (text) => [text],
    sentence:
      'Monitoring series to add to spans as attributes, by host and time; CSV with columns time, host and one per series, or JSON of a Prometheus query_range; may be given more than once',
  }),
  logs: custom<TraceSource | readonly TraceSource[]>({
    default: [],
    accepts: (value) => value !== null,
    expected: 'files, as for the traces',
    sentence:
      'Logs whose records name their trace (and span); they become trace points of their requests',
  }),
  resourceAttributes: flag({
    default: false,
    sentence:
      'Add all attributes of OTLP resources and tags of Jaeger processes to their spans, as resource.<key>; by default only those that locate a service, such as resource.k8s.pod.name',
  }),
  joinLinks: flag({
    default: false,
    sentence:
      'Join traces that begin with a link to a span of another trace (OTLP links, references of Jaeger) with it into one request; it does not wait for them',
  }),
  where: optionalText(
    "Keep the requests that meet conditions: 'tenant.tier = enterprise and duration > 500ms' or 'cart is called'; see `traces.where`",
    'where <conditions>',
  ),
  between: optionalText(
    "Keep the requests that arrived within a time range: '2026-10-01T10:00Z..11:00Z', or '5min..10min' after the start of the recording",
    'between <from..to>',
  ),
  threads: flag({
    default: true,
    sentence: 'Read files of 1 MB and more in their own thread, so that two periods load at once',
    flag: null,
  }),
  onProgress: custom<((progress: LoadProgress) => void) | null>({
    default: null,
    accepts: (value) => value === null || typeof value === 'function',
    expected: 'a function or null',
    sentence: 'Function called from time to time while files are read',
  }),
  signal: custom<AbortSignal | null>({
    default: null,
    accepts: (value) => value === null || value instanceof AbortSignal,
    expected: 'an AbortSignal or null',
    sentence: 'Signal that stops the load when it is aborted; its reason is thrown',
  }),
})

export type LoadOptions = Partial<OptionsOf<typeof LOAD_OPTIONS>>
