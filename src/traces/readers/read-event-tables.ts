import { EpochClock } from '../epoch-clock.ts'
import { SPAN_STATUSES } from '../span-traces.ts'
import { type CsvFile, readCsvTable } from './csv-rows.ts'
import { EventColumns, FatherColumns, NO_FATHER } from './event-forest.ts'
import { addEventSpans } from './event-spans.ts'
import type { EventTables, EventWords } from './event-tables.ts'
import { type AttributeEntry, numberOrText } from './json-values.ts'
import { nanosOfDigits, requireTimeUnit } from './span-times.ts'
import type { ReadSink } from './trace-reader.ts'

const KEPT_WORDS = 1000

interface EventTableFiles {
  readonly events: CsvFile
  readonly edges: CsvFile
  readonly traces: CsvFile | undefined
}

/**
 * Reads event graphs kept as tables into span trees: the parent is the event of its group around it
 * in time, else the group's father. Left out: rows that cannot be read, copies. Noted: groups with
 * a second father, loose edges, numbers other than the table of traces says.
 */
export async function readEventTables(
  files: EventTableFiles,
  tables: EventTables,
  sink: ReadSink,
): Promise<void> {
  requireTimeUnit('tables.timeUnit', tables.timeUnit ?? 'ns')
  const run = { files, tables, sink, events: new EventColumns(), fathers: new FatherColumns() }
  const traces = await readTraces(run)
  await readEvents(run, traces)
  await readEdges(run, traces)
  const { events, fathers } = run
  addEventSpans(events, fathers, {
    sink,
    eventFile: files.events.name,
    edgeFile: files.edges.name,
    starts: traces?.startsOf(events.traces.values),
    startsEpochNs: traces?.clock.epochNs,
  })
  traces?.check(events.traces.values)
}

interface Run {
  readonly files: EventTableFiles
  readonly tables: EventTables
  readonly sink: ReadSink
  readonly events: EventColumns
  readonly fathers: FatherColumns
}

function tableOf(table: string, { delimiter = ',' }: EventTables) {
  const next = `Name its columns: loadTraces(directory, { format: 'event-tables', tables: { ${table}: { … } } })`
  return { table, delimiter, next }
}

async function readTraces({ files, tables, sink }: Run): Promise<TraceTable | undefined> {
  if (tables.traces === undefined || files.traces === undefined) return undefined
  const { file: _, ...columns } = tables.traces
  const hasStarts = columns.firstSeen !== undefined
  const traces = new TraceTable(sink, { file: files.traces.name, hasStarts })
  const table = { ...tableOf('traces', tables), columns }
  await readCsvTable(files.traces, table, {
    quality: sink.quality,
    onRow: (field, line) =>
      traces.add(field('traceId'), {
        line,
        firstSeen: field('firstSeen'),
        events: countOf(field('events')),
        edges: countOf(field('edges')),
      }),
  })
  return traces
}

async function readEvents(
  { files, tables, sink: { quality }, events }: Run,
  traces: TraceTable | undefined,
): Promise<void> {
  const { timeUnit = 'ns' } = tables
  const { file: _, attributes = [], ...parts } = tables.events
  const describe = described(tables)
  const columns = { ...parts, ...attributeColumns(attributes) }
  const table = { ...tableOf('events', tables), columns, rest: parts.text }
  await readCsvTable<keyof typeof parts | `attribute ${string}`>(files.events, table, {
    quality,
    onRow(field, line) {
      const traceId = field('traceId')
      const start = nanosOfDigits(field('start'), timeUnit)
      const end = nanosOfDigits(field('end'), timeUnit)
      const problem = problemOf(field, start, end)
      traces?.found(traceId, 'events')
      if (problem !== undefined) {
        quality.skip({
          code: 'unusable-event',
          effect: 'span skipped',
          message: problem,
          place: { file: files.events.name, line, trace: traceId },
          next: 'Correct the event, or load without `strict` to leave it out',
        })
        return
      }
      const [host, hostAddress] = [field('host'), field('hostAddress')]
      if (hostAddress !== '' && host !== '') events.hostByAddress.set(hostAddress, host)
      const words = parts.text === undefined ? undefined : describe(field('text'))
      if (host !== '') events.addAttribute('host', host)
      for (const [key, value] of words?.attributes ?? []) events.addAttribute(key, value)
      for (const [key, value] of attributesOf(attributes, field)) events.addAttribute(key, value)
      events.operation.push(events.operations.code(field('operation')))
      events.service.push(events.services.code(field('service')))
      events.host.push(events.hosts.code(host))
      events.status.push(SPAN_STATUSES.indexOf(words?.status ?? 'unset'))
      events.startUs.push(events.clock.offsetOfNanos(start))
      events.endUs.push(events.clock.offsetOfNanos(end))
      events.durationUs.push(Number(BigInt(end) - BigInt(start)) / 1e3)
      events.line.push(line)
      events.group.push(events.groupCode(traceId, field('group')))
    },
  })
}

async function readEdges(
  { files, tables, sink: { quality }, events, fathers }: Run,
  traces: TraceTable | undefined,
): Promise<void> {
  const { timeUnit = 'ns', rootIds = ['', '0'] } = tables
  const { file: _, ...columns } = tables.edges
  await readCsvTable(
    files.edges,
    { ...tableOf('edges', tables), columns },
    {
      quality,
      onRow(field, line) {
        const [traceId, father, child] = [field('traceId'), field('father'), field('child')]
        traces?.found(traceId, 'edges')
        const place = { file: files.edges.name, line, trace: traceId }
        const childGroup = events.groupCode(traceId, child)
        const isRoot = rootIds.includes(father) || /^0+$/.test(father)
        const start = nanosOfDigits(field('fatherStart'), timeUnit)
        if (!isRoot && start === '' && columns.fatherStart !== undefined) {
          const shown = JSON.stringify(field('fatherStart'))
          quality.skip({
            code: 'bad-row',
            effect: 'span skipped',
            place,
            message: `Father ${father} of ${child} has start ${shown}, which is not a time`,
            next: 'Correct the edge, or load without `strict` to leave it out',
          })
          return
        }
        const fatherGroup = isRoot ? NO_FATHER : events.groupCode(traceId, father)
        const startUs = start === '' ? Number.NaN : events.clock.offsetOfNanos(start)
        if (fathers.add(childGroup, fatherGroup, { startUs, line })) return
        const message = `${child} has a second father, ${father}; the first one counts`
        quality.note('second-father', place, message)
      },
    },
  )
}

/** What a text says, remembered: most events say what many others say. */
function described({ describe }: EventTables): (text: string) => EventWords {
  const known = new Map<string, EventWords>()
  return (text) => {
    const words =
      known.get(text) ??
      (describe === undefined ? { status: 'unset', attributes: [['text', text]] } : describe(text))
    if (known.size === KEPT_WORDS) known.clear()
    known.set(text, words)
    return words
  }
}

function problemOf(
  field: (part: 'traceId' | 'group' | 'operation' | 'start' | 'end') => string,
  start: string,
  end: string,
): string | undefined {
  const event = `Event ${field('operation')}`
  if (field('traceId') === '') return 'An event has no trace id'
  if (field('group') === '') return `${event} has no group`
  for (const [part, nanos] of [
    ['start', start],
    ['end', end],
  ] as const) {
    const shown = JSON.stringify(field(part))
    if (nanos === '') return `${event} has ${part} ${shown}, which is not a time`
  }
  const early = Number(BigInt(start) - BigInt(end)) / 1e3
  return early > 0 ? `${event} ends ${early} µs before it starts` : undefined
}

interface ListedTrace {
  readonly line: number
  readonly firstSeen: string
  readonly events: number | undefined
  readonly edges: number | undefined
}

class TraceTable {
  readonly clock = new EpochClock()
  readonly #quality: ReadSink['quality']
  readonly #file: string
  readonly #hasStarts: boolean
  readonly #traces = new Map<
    string,
    ListedTrace & { readonly startUs: number; readonly found: { events: number; edges: number } }
  >()

  constructor({ quality }: ReadSink, { file, hasStarts }: { file: string; hasStarts: boolean }) {
    this.#quality = quality
    this.#file = file
    this.#hasStarts = hasStarts
  }

  add(trace: string, listed: ListedTrace): void {
    const startUs = this.#hasStarts ? this.#startUs(listed) : Number.NaN
    this.#traces.set(trace, { ...listed, startUs, found: { events: 0, edges: 0 } })
  }

  found(trace: string, what: 'events' | 'edges'): void {
    const listed = this.#traces.get(trace)
    if (listed !== undefined) listed.found[what]++
  }

  /** When each trace began, µs by `clock`, or `NaN`; undefined where it never is known. */
  startsOf(traces: readonly string[]): Float64Array | undefined {
    if (!this.#hasStarts) return undefined
    const starts = Float64Array.from(traces, (id) => this.#traces.get(id)?.startUs ?? Number.NaN)
    return starts.every(Number.isNaN) ? undefined : starts
  }

  /** Notes traces of which more or less was found than the table says. */
  check(traces: readonly string[]): void {
    for (const [trace, { line, found, events = found.events, edges = found.edges }] of this
      .#traces) {
      const place = { file: this.#file, line, trace }
      if (found.events === 0) {
        this.#quality.skip({
          code: 'no-events',
          effect: 'trace skipped',
          place,
          message: 'The trace is listed but has no events',
          next: 'Look for the missing events, or load without `strict` to leave the trace out',
        })
      } else if (events !== found.events || edges !== found.edges) {
        const message = `The trace has ${found.events} events and ${found.edges} edges where ${events} and ${edges} are listed`
        this.#quality.note('incomplete-trace', place, message)
      }
    }
    for (const trace of traces) {
      if (this.#traces.has(trace)) continue
      const place = { file: this.#file, trace }
      this.#quality.note('unlisted-trace', place, 'The trace is not in the table of traces')
    }
  }

  #startUs({ firstSeen, line }: ListedTrace): number {
    const ms = Date.parse(`${firstSeen.trim().replace(' ', 'T')}Z`)
    if (!Number.isNaN(ms)) return this.clock.offsetOfMicros(ms * 1e3)
    const message = `${JSON.stringify(firstSeen)} is not a time of day; the trace begins with others of its host`
    this.#quality.note('bad-time', { file: this.#file, line }, message)
    return Number.NaN
  }
}

function countOf(text = ''): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined
}

/** Columns to keep as parameters, kept apart from the parts that have names of their own. */
function attributeColumns(names: readonly string[]): {
  [part: `attribute ${string}`]: string
} {
  return Object.fromEntries(names.map((name) => [`attribute ${name}`, name]))
}

function attributesOf(
  names: readonly string[],
  field: (part: `attribute ${string}`) => string,
): AttributeEntry[] {
  return names.flatMap((name): AttributeEntry[] => {
    const text = field(`attribute ${name}`)
    return text === '' ? [] : [[name, numberOrText(text)]]
  })
}
