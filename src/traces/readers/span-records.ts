import { OptionError, type Place, TraceFormatError } from '../../core/errors.ts'
import { counted } from '../../core/words.ts'
import type { SpanKind, SpanStatus } from '../span-columns.ts'
import { durationBetween, type SpanLink } from '../span-traces-builder.ts'
import { peek } from '../trace-source.ts'
import { delimiterOf, readCsvRecords } from './csv-rows.ts'
import { readJsonElements } from './json-elements.ts'
import {
  type AttributeEntry,
  attributeOf,
  eventEntries,
  isJsonObject,
  type JsonObject,
  numberOrText,
  objectsIn,
  SERVER_ERROR,
  saidBy,
  textOf,
} from './json-values.ts'
import { otlpValue, type Reporter, reporterOf, STATUS_DESCRIPTION } from './otlp-values.ts'
import {
  type Enclosed,
  EVENTS,
  kindNamed,
  MAPS,
  NAMES,
  type Role,
  SPAN_FORMATS,
  type SpanFormat,
  saysYes,
  statusNamed,
} from './span-formats.ts'
import {
  type Field,
  inheritedValue,
  innerJson,
  LayoutLearner,
  plainValue,
  ROLES,
  type SpanLayout,
  valueAt,
} from './span-layout.ts'
import { microsOf, offsetOf, plainName } from './span-times.ts'
import type { ReadSink, TraceReader } from './trace-reader.ts'

/** Lists of spans within a span. */
const CHILDREN = new Set(['children', 'childspans', 'subsegments', 'nested'])
/** JSON is looked through so deep. */
const MAX_DEPTH = 64
/** Number of records that are looked at to learn the roles of their fields. */
const SAMPLED = 150
/** Whole numbers that a double does not hold, outside of texts. */
const LARGE = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+])-?(?:9\d{15}|\d{17,})(?![\d.eE])/g
const HAS_LARGE = /[:[,]\s*-?(?:9\d{15}|\d{17,})\s*[,}\]]/
const NO_PARENT = /^(?:0*|-1|root|none|null|nil|nan|undefined)$/i
const HOST_KEYS = ['hostname', 'host.name', 'k8s.node.name', 'ip']
const UNKNOWN: Reporter = { service: '', host: '', version: '', attributes: [] }

/** Way to read spans whose format, or columns, the user named. */
export interface SpanReading {
  /** Formats that are looked for first. */
  readonly formats?: readonly SpanFormat[]
  /** Whether no other format is looked for. */
  readonly isOnly?: boolean
}

/** Returns how to read spans, from the options. */
export function readingOf(format: string, columns: string | null): SpanReading {
  const named: SpanFormat | undefined = SPAN_FORMATS.find(({ name }) => name === format)
  if (columns !== null) return { formats: [columnsFormat(columns, named)], isOnly: true }
  return named === undefined ? {} : { formats: [named], isOnly: true }
}

/** Returns the format that `trace=tid,start=begin:ms` says; other roles are found by their names. */
function columnsFormat(text: string, named: SpanFormat | undefined): SpanFormat {
  const columns: { [role in Role]?: string } = {}
  for (const part of text.split(/,(?=\s*[a-z]+=)/)) {
    const [, role = '', column = ''] = /^\s*([a-z]+)\s*=\s*(.+?)\s*$/.exec(part) ?? []
    const known = ROLES.find((one) => one === role)
    if (known === undefined) {
      const expected = `parts as trace=NAME or start=NAME:ms, of ${ROLES.join(', ')}`
      throw new OptionError('columns', text, expected)
    }
    columns[known] = column
  }
  return { by: '', ...named, name: 'columns', has: [], columns: { ...named?.columns, ...columns } }
}

/** Spans in JSON or CSV, read as a row of `SPAN_FORMATS` says, else as names and values of their fields look. */
export function spansReader(how: SpanReading = {}): TraceReader {
  return {
    format: 'spans',
    recognizes: (head) => isJson(head) || isConsole(head) || delimiterOf(head) !== undefined,
    async read(chunks, sink, file) {
      const { head, chunks: all } = await peek(chunks, 1 << 16)
      const text = new TextDecoder().decode(head)
      const isTable = !isJson(text) && !isConsole(text)
      const records = new SpanRecords(how, sink, file)
      if (isTable) {
        await readCsvRecords(all, {
          file,
          delimiter: delimiterOf(text) ?? ',',
          onHeader: (names) => records.requireColumns(names),
          onRecord: (record, line) => records.take(record, line),
          onBadRow: (code, message, line) =>
            sink.quality.skip({
              code,
              effect: 'span skipped',
              place: { file, line },
              message,
              next: 'Correct the row, or load without `strict` to leave it out',
            }),
        })
      } else {
        await readJsonElements(isJson(text) ? all : consoleJson(all), {
          file,
          quality: sink.quality,
          lost: 'span skipped',
          cutAt: ['', 'data', 'traces', 'Traces', 'hits', 'results', 'list'],
          ...(HAS_LARGE.test(text) ? { prepare: withLargeAsText } : {}),
          onElement: ({ value, line }) => records.take(value, line),
        })
      }
      return records.end()
    },
  }
}

const isJson = (head: string) => /^[\s\uFEFF]*[[{]\s*(?:["[{\]}\d-]|$|true|false|null)/.test(head)
/** Whether objects are written as the console of Node shows them. */
const isConsole = (head: string) =>
  /^\s*\{\s*(?:resource|traceId|instrumentationScope|name):\s/.test(head)

function withLargeAsText(json: string): string {
  return json.replace(LARGE, (found) => (found.startsWith('"') ? found : `"${found}"`))
}

/** Turns the output of Node's console into JSON. */
async function* consoleJson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder()
  let rest = ''
  const converted = (text: string) =>
    new TextEncoder().encode(
      text.replace(
        /'((?:[^'\\\n]|\\.)*)'|"(?:[^"\\\n]|\\.)*"|\[(?:Object|Array|Circular)[^\]]*\]|(?<=[{,]\s*|^\s*)([A-Za-z_$][\w$]*)(?=:\s)|\bundefined\b/gm,
        (found, single, key) =>
          single !== undefined
            ? JSON.stringify(single.replaceAll("\\'", "'"))
            : key !== undefined
              ? `"${key}"`
              : found.startsWith('"')
                ? found
                : 'null',
      ),
    )
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true })
    const end = rest.lastIndexOf('\n') + 1
    if (end > 0) yield converted(rest.slice(0, end))
    rest = rest.slice(end)
  }
  yield converted(rest + decoder.decode())
}

interface Visitor {
  isSpan(enclosed: Enclosed): boolean
  /** Takes records without spans that stand in a list with spans, or next to spans. */
  others?(records: readonly JsonObject[]): void
}

/** Goes through JSON to its records; of a span, nothing but children follow. */
function visit(value: unknown, around: Enclosed | null, visitor: Visitor, depth = 0): number {
  if (depth > MAX_DEPTH) return 0
  if (Array.isArray(value)) {
    let found = 0
    const others: JsonObject[] = []
    for (const one of value) {
      const within = visit(one, around, visitor, depth + 1)
      if (within === 0) others.push(...[one].flat(MAX_DEPTH).filter(isJsonObject))
      found += within
    }
    if (found > 0 && others.length > 0) visitor.others?.(others)
    return found
  }
  if (!isJsonObject(value)) return 0
  const rows = rowsOf(value)
  if (rows !== undefined) return visit(rows, around, visitor, depth + 1)
  const enclosed = { record: value, around }
  // An object that lists its spans is a trace.
  if (!Array.isArray(value['spans']) && visitor.isSpan(enclosed)) {
    let found = 1
    for (const key in value) {
      const inner = value[key]
      if (Array.isArray(inner) && CHILDREN.has(plainName(key).plain)) {
        found += visit(inner, enclosed, visitor, depth + 1)
      }
    }
    return found
  }
  let found = 0
  for (const key in value) {
    const inner = value[key]
    if (typeof inner === 'object' || typeof inner === 'string') {
      found += visit(innerJson(inner), enclosed, visitor, depth + 1)
    }
  }
  return found
}

/** Returns the rows of a table in JSON as records: a data frame, or columns and rows in separate lists. */
function rowsOf(value: JsonObject): JsonObject[] | undefined {
  const { schema, data, fields, columns, meta, rows } = value
  if (!schema && !fields && !columns && !meta) return undefined
  const described = objectsIn(isJsonObject(schema) ? schema['fields'] : fields)
  if (described.length > 0 && described.every(({ name }) => typeof name === 'string')) {
    const columnar = isJsonObject(data) ? data['values'] : described.map(({ values }) => values)
    if (Array.isArray(columnar) && columnar.every(Array.isArray)) {
      const names = described.map(({ name }) => textOf(name))
      return Array.from(columnar[0] ?? [], (_, row) =>
        Object.fromEntries(names.map((name, i) => [name, (columnar[i] as unknown[])?.[row]])),
      )
    }
  }
  const heads = Array.isArray(columns) ? columns : Array.isArray(meta) ? meta : []
  const lines = [rows, data, value['values']].find(Array.isArray)
  if (heads.length === 0 || !Array.isArray(lines) || !lines.every(Array.isArray)) return undefined
  const names = heads.map((head) => (isJsonObject(head) ? textOf(head['name']) : textOf(head)))
  return lines.map((line) =>
    Object.fromEntries(names.map((name, i) => [name, (line as unknown[])[i]])),
  )
}

/** Fields that have been read for their roles; the tree of those within others. */
type Taken = Map<string, Taken | true>

/** Reads records as spans, once enough of them say what their fields stand for. */
class SpanRecords {
  readonly #how: SpanReading
  readonly #sink: ReadSink
  readonly #file: string
  readonly #learner: LayoutLearner
  #waiting: { readonly value: unknown; readonly line: number }[] = []
  #sampled = 0
  #layout: SpanLayout | undefined
  #taken: Taken = new Map()
  #line = 0
  /** Reporters of the last resources: each appears in many spans, or in one. */
  #reporters: { readonly of: object; readonly reporter: Reporter }[] = []
  readonly #unfinished = new Map<string, number>()
  readonly #warned = new Map<string, { count: number; first: unknown; line: number }>()

  constructor(how: SpanReading, sink: ReadSink, file: string) {
    this.#how = how
    this.#sink = sink
    this.#file = file
    this.#learner = new LayoutLearner(how.formats ?? [], how.isOnly ?? false)
  }

  /** Checks that a table has the columns that somebody named. */
  requireColumns(names: readonly string[]): void {
    const [format] = this.#how.formats ?? []
    if (this.#how.isOnly !== true || format === undefined) return
    const missing = Object.entries(format.columns ?? {}).flatMap(([role, columns]) =>
      [columns]
        .flat()
        .map((column) => column.replace(/:(ns|us|ms|s)$/, ''))
        .filter((column) => !names.includes(column))
        .map((column) => `${column} (${role})`),
    )
    if (missing.length === 0) return
    const problem = `The header line has no column ${missing.join(', ')}; it has ${names.join(', ')}`
    throw new TraceFormatError(
      problem,
      { file: this.#file, line: 1 },
      'Name the columns that it has',
      {
        format: null,
        columns: null,
      },
    )
  }

  take(value: unknown, line: number): void {
    if (this.#layout !== undefined) {
      this.#read(value, line)
      return
    }
    this.#waiting.push({ value, line })
    const isSpan = (enclosed: Enclosed) => {
      if (this.#sampled >= SAMPLED) return true
      const found = this.#learner.take(enclosed)
      if (found) this.#sampled++
      return found
    }
    visit(value, null, { isSpan })
    if (this.#sampled >= SAMPLED) this.#learn()
  }

  /** Ends, and returns the name of the format that the spans were in. */
  end(): string | undefined {
    if (this.#layout === undefined && this.#waiting.length > 0) this.#learn()
    const { quality } = this.#sink
    for (const [trace, count] of this.#unfinished) {
      const message = `${counted(count, 'span')} without a duration (one way, or never finished), taken as 0 µs long`
      quality.note('no-duration', { file: this.#file, trace }, message)
    }
    for (const [trace, { count, first, line }] of this.#warned) {
      const message = `Jaeger warns about ${counted(count, 'span')}, first: ${textOf(first) || JSON.stringify(first)}`
      quality.note('jaeger-warning', { file: this.#file, line, trace }, message)
    }
    return this.#layout?.format.name
  }

  #learn(): void {
    const { quality } = this.#sink
    for (const { value, line } of this.#waiting) this.#noteErrors(value, line)
    try {
      this.#layout = this.#learner.learn(this.#file)
    } catch (error) {
      // An error in a server's answer tells more than the fields that the answer lacks.
      if (quality.firstIn(this.#file) === undefined && !this.#learner.isEmpty) throw error
      return
    }
    const { isGuess, doubts } = this.#layout
    if (isGuess) {
      const message = `No known format: read by the names of the fields: ${this.#layout.describe()}. Option \`columns\` says otherwise`
      quality.note('read-by-fields', { file: this.#file }, message)
    }
    for (const doubt of doubts)
      quality.note(
        'unit-in-doubt',
        { file: this.#file },
        `${doubt}. Option \`columns\` says otherwise (start=…:ms)`,
      )
    for (const fields of Object.values(this.#layout.fields)) {
      for (const { paths } of fields) for (const path of paths) take(this.#taken, path)
    }
    for (const { value, line } of this.#waiting) this.#read(value, line)
    this.#waiting = []
  }

  #noteErrors(value: unknown, line: number): void {
    if (Array.isArray(value)) for (const one of value.slice(0, 10)) this.#noteErrors(one, line)
    if (!isJsonObject(value)) return
    for (const error of objectsIn(value['errors'])) {
      this.#sink.quality.note(
        SERVER_ERROR,
        { file: this.#file },
        `the server says: ${saidBy(error)}`,
      )
    }
  }

  #read(value: unknown, line: number): void {
    const layout = this.#layout
    if (layout === undefined) return
    const { rewrite } = layout.format
    this.#line = line
    visit(value, null, {
      isSpan: (enclosed) => {
        const { record, around } = enclosed
        if (!layout.isSpan(record)) return false
        if (rewrite === undefined) this.#readSpan(enclosed, layout)
        else {
          for (const one of rewrite(record, around)) this.#readSpan({ record: one, around }, layout)
        }
        return true
      },
      others: (records) => {
        for (const record of records) this.#noteOther(record, layout)
      },
    })
  }

  /** Notes a trace without spans, or a record that is none, among others. */
  #noteOther(record: JsonObject, { fields }: SpanLayout): void {
    const [field] = fields.trace
    const trace = field && textOf(valueAt(record, field.paths[0] ?? []))
    if (trace) {
      this.#sink.quality.skip({
        code: 'unreadable-trace',
        effect: 'trace skipped',
        place: { ...this.#place(), trace },
        message: 'A trace has no spans',
        next: 'Export it again, or load without `strict` to leave this out',
      })
      return
    }
    const message = `A record among the spans is no span: it has ${Object.keys(record).slice(0, 9).join(', ') || 'no fields'}`
    this.#sink.quality.note('not-spans', this.#place(), message)
  }

  #readSpan(enclosed: Enclosed, layout: SpanLayout): void {
    const { fields, format } = layout
    const { record } = enclosed
    const { spans } = this.#sink
    const first = (role: Role): readonly [value: unknown, field: Field | undefined] => {
      const all = fields[role]
      for (let i = 0; i < all.length; i++) {
        const field = all[i] as Field
        const value = fieldValue(role, enclosed, field)
        if (value !== undefined && value !== null && value !== '') return [value, field]
      }
      return NOTHING
    }
    const text = (role: Role) => textOf(first(role)[0])
    const traceId = idOf(text('trace'))
    const entries: AttributeEntry[] = []
    this.#addAttributes(record, format, entries)
    const told = toldBy(entries)
    const service = text('service')
    const [described] = first('resource')
    const reporter = this.#reporterOf(described)
    const [start, startField] = first('start')
    const startUs = startField ? offsetOf(start, startField.unit, spans.clock) : Number.NaN
    const duration = this.#durationOf(first, startUs)
    const isUnfinished = duration === undefined && format.mayLackDuration === true
    if (isUnfinished) this.#unfinished.set(traceId, (this.#unfinished.get(traceId) ?? 0) + 1)
    const { warnings } = record
    if (warnings && Array.isArray(warnings) && warnings.length > 0) {
      const known = this.#warned.get(traceId) ?? { count: 0, first: warnings[0], line: this.#line }
      known.count++
      this.#warned.set(traceId, known)
    }
    const message = text('message')
    const status = statusOf(first, entries, told)
    if (message !== '' && status !== 'ok') entries.push([STATUS_DESCRIPTION, message])
    const state = text('tracestate')
    if (state !== '' && state !== '[]') entries.push(['w3c.tracestate', state])
    entries.push(...reporter.attributes)
    const parent = this.#parentOf(enclosed, traceId, first, layout)
    const operation = text('operation')
    const named = service || reporter.service
    spans.add(
      {
        traceId,
        spanId: idOf(text('span')),
        ...parent,
        followsFrom: parent.followsFrom || isUnfinished,
        service: format.serviceOf?.(named) ?? named,
        operation: format.operationOf?.(operation) ?? operation,
        host: text('host') || reporter.host,
        version: text('version') || reporter.version,
        kind: kindNamed(first('kind')[0], format.internalKind) ?? told.kind ?? 'internal',
        status,
        startUs,
        durationUs: isUnfinished ? 0 : (duration ?? Number.NaN),
        attributes: entries,
        probability: told.probability,
      },
      this.#place(),
    )
  }

  #place(): Place {
    return { file: this.#file, line: this.#line }
  }

  /** Returns a duration in µs; undefined if a span has neither an end nor a duration. */
  #durationOf(
    first: (role: Role) => readonly [unknown, Field | undefined],
    startUs: number,
  ): number | undefined {
    const [end, endField] = first('end')
    const [duration, field] = first('duration')
    const isFiner =
      field !== undefined &&
      endField !== undefined &&
      FINENESS[field.unit] < FINENESS[endField.unit]
    if (endField !== undefined && !isFiner) {
      return durationBetween(startUs, offsetOf(end, endField.unit, this.#sink.spans.clock))
    }
    if (field === undefined) return undefined
    const us = microsOf(duration, field.unit)
    return field.unit === 'us' ? us : Math.round(us * 1e3) / 1e3
  }

  #parentOf(
    { around }: Enclosed,
    traceId: string,
    first: (role: Role) => readonly [unknown, Field | undefined],
    layout: SpanLayout,
  ) {
    const { fields } = layout
    let child: JsonObject | undefined
    let followed: JsonObject | undefined
    const links: SpanLink[] = []
    for (const one of fields.references.length === 0
      ? []
      : objectsIn(innerJson(first('references')[0]))) {
      const { traceID, refType } = one
      if (traceID !== undefined && traceID !== traceId) links.push(linkOf(traceID, one['spanID']))
      else if (refType === 'CHILD_OF') child ??= one
      else if (refType === 'FOLLOWS_FROM') followed ??= one
    }
    for (const link of fields.links.length === 0 ? [] : objectsIn(innerJson(first('links')[0]))) {
      const { context } = link
      const { traceId, trace_id, spanId, span_id } = isJsonObject(context) ? context : link
      links.push(linkOf(traceId ?? trace_id, spanId ?? span_id))
    }
    const said = textOf((child ?? followed)?.['spanID']) || textOf(first('parent')[0])
    const isRoot =
      NO_PARENT.test(said) || (layout.format.rootsNameTrace === true && idOf(said) === traceId)
    const nested =
      around !== null && isRoot && layout.isSpan(around.record) ? outerId(around, layout) : null
    return {
      parentId: isRoot ? nested : idOf(said),
      followsFrom: child === undefined && followed !== undefined,
      links,
    }
  }

  #reporterOf(described: unknown): Reporter {
    const value = innerJson(described)
    if (typeof value !== 'object' || value === null) return UNKNOWN
    for (const known of this.#reporters) if (known.of === value) return known.reporter
    const entries: AttributeEntry[] = []
    addValue('', value, entries)
    const reporter = reporterOf(entries, {
      hostKeys: HOST_KEYS,
      keep: this.#sink.resourceAttributes,
    })
    if (this.#reporters.length === 16) this.#reporters = []
    this.#reporters.push({ of: value, reporter })
    return reporter
  }

  #addAttributes(record: JsonObject, format: SpanFormat, entries: AttributeEntry[]): void {
    if (format.attributes === undefined) addFields(record, '', this.#taken, entries)
    else {
      for (const name of format.attributes) {
        const value =
          record[name] ?? (name.includes('.') ? valueAt(record, name.split('.')) : undefined)
        if (value !== undefined && value !== null)
          addField(name.split('.').at(-1) ?? name, name, value, entries)
      }
      if (format.attributes.includes('Events.Name')) addColumnarEvents(record, entries)
    }
  }
}

const NOTHING = [undefined, undefined] as const
const FINENESS = { ns: 0, us: 1, ms: 2, s: 3 } as const

function idOf(text: string): string {
  return text.startsWith('0x') ? text.slice(2) : text
}

function linkOf(traceId: unknown, spanId: unknown) {
  return { traceId: idOf(textOf(traceId)), spanId: idOf(textOf(spanId)) }
}

function outerId({ record }: Enclosed, { fields }: SpanLayout): string | null {
  const [field] = fields.span
  return (field && idOf(textOf(valueAt(record, field.paths[0] ?? [])))) || null
}

function fieldValue(role: Role, enclosed: Enclosed, { paths }: Field): unknown {
  const [path = []] = paths
  if (paths.length === 1) return inheritedValue(role, enclosed, path)
  const texts = paths.map((one) => textOf(valueAt(enclosed.record, one)))
  return texts.includes('') ? undefined : texts.join('.')
}

function take(taken: Taken, [key = '', ...inner]: readonly string[]): void {
  if (inner.length === 0 || taken.get(key) === true) {
    taken.set(key, true)
    return
  }
  const within = taken.get(key)
  const next: Taken = within instanceof Map ? within : new Map()
  taken.set(key, next)
  take(next, inner)
}

/** Adds all fields but those that have a role, each by its path. */
function addFields(
  record: JsonObject,
  prefix: string,
  taken: Taken | undefined,
  entries: AttributeEntry[],
): void {
  for (const key in record) {
    const read = taken?.get(key)
    if (read === true || (read === undefined && isOtherTime(key))) continue
    const value = record[key]
    if (value === undefined || value === null || value === '') continue
    const { plain } = plainName(key)
    if (isJsonObject(value)) {
      addFields(value, MAPS.has(plain) ? prefix : `${prefix}${key}.`, read, entries)
    } else if (!(Array.isArray(value) && CHILDREN.has(plain)))
      addField(key, `${prefix}${key}`, value, entries)
  }
}

/** Whether a field repeats a time that was read. */
function isOtherTime(key: string): boolean {
  const { plain } = plainName(key)
  return NAMES.start.includes(plain) || NAMES.end.includes(plain)
}

/** Adds a field: a map or list of attributes, a list of events, or a value. */
function addField(key: string, name: string, given: unknown, entries: AttributeEntry[]): void {
  const { plain } = plainName(key)
  const isMap = MAPS.has(plain)
  const value = isMap || EVENTS.has(plain) ? innerJson(given) : plainValue(given)
  if (Array.isArray(value) && EVENTS.has(plain)) for (const event of value) addEvent(event, entries)
  else addValue(isMap ? '' : name, value, entries)
}

function addValue(name: string, value: unknown, entries: AttributeEntry[]): void {
  if (value === null || value === undefined) return
  if (isJsonObject(value)) {
    for (const key in value) addValue(name === '' ? key : `${name}.${key}`, value[key], entries)
  } else if (Array.isArray(value)) {
    const listed = objectsIn(value)
    if (
      listed.length > 0 &&
      listed.every((one) => typeof (one['key'] ?? one['Key']) === 'string')
    ) {
      for (const one of listed) addTag(one, entries)
    } else if (value.length > 0 && name !== '') entries.push([name, attributeOf(value)])
  } else if (name !== '' && value !== '')
    entries.push([name, typeof value === 'string' ? numberOrText(value) : attributeOf(value)])
}

/** Adds a tag as a typed value: some senders write numbers and truth values as text. */
function addTag(
  { key, Key, type, value, Value, vStr }: JsonObject,
  entries: AttributeEntry[],
): void {
  const name = textOf(key ?? Key)
  const said = value ?? Value ?? vStr
  const plain = isJsonObject(said) ? otlpValue(said) : said
  if (plain === undefined || plain === null) return
  const isNumber = type === 'int64' || type === 'float64'
  if (typeof plain !== 'string' || type === 'string') entries.push([name, attributeOf(plain)])
  else if (type === 'bool') entries.push([name, plain === 'true'])
  else if (isNumber && plain !== '' && isExact(plain)) entries.push([name, Number(plain)])
  else entries.push([name, isNumber ? plain : numberOrText(plain)])
}

function isExact(digits: string): boolean {
  const value = Number(digits)
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
}

/** Adds what happened within a span: a text, or a name with attributes. */
function addEvent(event: unknown, entries: AttributeEntry[]): void {
  if (!isJsonObject(event)) return
  const { name, value, fields, attributes, attributeMap, data } = event
  const own: AttributeEntry[] = []
  addValue('', fields ?? attributes ?? attributeMap ?? data, own)
  const said = textOf(name) || textOf(value)
  const naming =
    said === ''
      ? (own.find(([key]) => key === 'event') ?? own.find(([key]) => key === 'message'))
      : undefined
  const others = naming === undefined ? own : own.filter((entry) => entry !== naming)
  entries.push(...eventEntries(naming === undefined ? said : String(naming[1]), others))
}

/** Adds events that stand in a column of names and one of attributes. */
function addColumnarEvents(record: JsonObject, entries: AttributeEntry[]): void {
  const [names, attributes] = ['Events.Name', 'Events.Attributes'].map((name) =>
    innerJson(record[name]),
  )
  if (!Array.isArray(names)) return
  names.forEach((name, i) => {
    addEvent({ name, attributes: Array.isArray(attributes) ? attributes[i] : undefined }, entries)
  })
}

/** Facts about the span itself that its attributes give. */
interface Told {
  kind?: SpanKind | undefined
  status?: SpanStatus | undefined
  probability?: number | undefined
}

/** Reads, and removes, attributes on the span itself for which other formats have fields. */
function toldBy(entries: AttributeEntry[]): Told {
  const told: Told = {}
  let sampler: unknown
  let parameter: unknown
  let kept = 0
  for (const entry of entries) {
    const [key, value] = entry
    let isRead = false
    if (key === 'span.kind') {
      told.kind = kindNamed(value)
      isRead = true
    } else if (key === 'otel.status_code') {
      if (told.status === undefined) told.status = statusNamed(value)
      isRead = true
    } else if (key === 'error') {
      const text = String(value)
      if (text !== 'false') told.status = 'error'
      isRead = text === 'true' || text === 'false' || text === ''
    } else if (key === 'internal.span.format') isRead = true
    else if (key === 'sampler.type') sampler = value
    else if (key === 'sampler.param') parameter = value
    if (!isRead) entries[kept++] = entry
  }
  entries.length = kept
  if (sampler === 'const') told.probability = 1
  else if (sampler === 'probabilistic') {
    const probability = parameter === undefined || parameter === '' ? Number.NaN : Number(parameter)
    if (probability > 0 && probability <= 1) told.probability = probability
  }
  return told
}

function statusOf(
  first: (role: Role) => readonly [unknown, Field | undefined],
  entries: AttributeEntry[],
  told: Told,
): SpanStatus {
  const [error] = first('error')
  const [success] = first('success')
  const [status] = first('status')
  const byCode = status === undefined ? 'unset' : statusNamed(status, entries)
  const text = textOf(error)
  if (saysYes(error) === true) {
    if (!/^(?:true|1|yes)$/i.test(text) && text !== '') entries.push(['error', text])
    return 'error'
  }
  if (saysYes(success) === false) return 'error'
  if (byCode !== 'unset') return byCode
  return told.status ?? (saysYes(success) === true ? 'ok' : 'unset')
}
