import { OptionError } from '../../core/errors.ts'
import type { Dictionary } from '../dictionary.ts'
import { EpochClock } from '../epoch-clock.ts'
import type { QualityLog } from '../quality.ts'
import { SPAN_STATUSES } from '../span-traces.ts'
import { EventColumns, FatherColumns, NO_FATHER } from './event-forest.ts'
import { addEventSpans } from './event-spans.ts'
import type { EventTables, EventWords, TraceTableColumns } from './event-tables.ts'
import { numberOrText } from './json-values.ts'
import {
  isTimeUnit,
  nanosOfDigits,
  readTable,
  type TableFile,
  type TableRow,
} from './table-rows.ts'
import type { ReadSink } from './trace-reader.ts'

/** Texts that are kept with what they say. */
const KEPT_WORDS = 1000

/** The opened files of one run; the table of traces may be absent. */
interface EventTableFiles {
  readonly events: TableFile
  readonly edges: TableFile
  readonly traces: TableFile | undefined
}

/**
 * Reads event graphs kept as tables into span trees. Each event becomes a span; its parent is the
 * event of its group that is around it in time, or else the father of its group. Whose father is
 * which, and where a host's events stand on the clock of its father, is worked out when all tables
 * are read; until then columns are kept, never text.
 *
 * Noted and left out: rows that cannot be read, copies of events. Noted and kept: groups with a
 * second father (the first one counts), edges from or to nothing, traces with other numbers of
 * events or edges than the table of traces says.
 *
 * @throws OptionError for an unknown time unit
 * @throws TraceFormatError for a file that is empty or lacks a column
 */
export async function readEventTables(
  files: EventTableFiles,
  tables: EventTables,
  sink: ReadSink,
): Promise<void> {
  const { timeUnit = 'ns' } = tables
  if (!isTimeUnit(timeUnit)) throw new OptionError('tables.timeUnit', timeUnit, 'ns, us, ms or s')
  const run = new EventTablesRun(tables, files, sink)
  await run.readTraces()
  await run.readEvents()
  await run.readEdges()
  run.finish()
}

/** One run being read: its columns, and what was lost on the way. */
class EventTablesRun {
  readonly #tables: EventTables
  readonly #files: EventTableFiles
  readonly #sink: ReadSink
  readonly #events = new EventColumns()
  readonly #fathers = new FatherColumns()
  readonly #roots: ReadonlySet<string>
  readonly #describe: (text: string) => EventWords
  readonly #words = new Map<string, EventWords>()
  #traces: TraceTable | undefined

  constructor(tables: EventTables, files: EventTableFiles, sink: ReadSink) {
    this.#tables = tables
    this.#files = files
    this.#sink = sink
    this.#roots = new Set(tables.rootIds ?? ['', '0'])
    this.#describe =
      tables.describe ?? ((text) => ({ status: 'unset', attributes: [['text', text]] }))
  }

  async readTraces(): Promise<void> {
    const { traces: file } = this.#files
    const { traces: columns, delimiter = ',' } = this.#tables
    if (columns === undefined || file === undefined) return
    const { file: _, ...parts } = columns
    const traces = new TraceTable(columns, this.#sink.quality, file.name)
    await readTable(
      file,
      { table: 'traces', delimiter, columns: parts },
      { quality: this.#sink.quality, onRow: (row, line) => traces.add(row, line) },
    )
    this.#traces = traces
  }

  async readEvents(): Promise<void> {
    const { events: file } = this.#files
    const { events: columns, delimiter = ',' } = this.#tables
    const { file: _, attributes = [], ...parts } = columns
    const more = Object.fromEntries(attributes.map((name) => [attributePart(name), name]))
    await readTable(
      file,
      { table: 'events', delimiter, columns: { ...parts, ...more }, rest: columns.text },
      { quality: this.#sink.quality, onRow: (row, line) => this.#addEvent(row, line) },
    )
  }

  async readEdges(): Promise<void> {
    const { edges: file } = this.#files
    const { edges: columns, delimiter = ',' } = this.#tables
    const { file: _, ...parts } = columns
    await readTable(
      file,
      { table: 'edges', delimiter, columns: parts },
      { quality: this.#sink.quality, onRow: (row, line) => this.#addEdge(row, line) },
    )
  }

  finish(): void {
    addEventSpans(this.#events, this.#fathers, {
      sink: this.#sink,
      eventFile: this.#files.events.name,
      edgeFile: this.#files.edges.name,
      starts: this.#traces?.startsOf(this.#events.traces),
      startsEpochNs: this.#traces?.clock.epochNs,
    })
    this.#traces?.check(this.#events)
  }

  #addEvent(row: TableRow, line: number): void {
    const events = this.#events
    const { timeUnit = 'ns', events: columns } = this.#tables
    const { traceId = '', group = '', operation = '', service = '', host = '' } = row
    const start = nanosOfDigits(row.start ?? '', timeUnit)
    const end = nanosOfDigits(row.end ?? '', timeUnit)
    const problem = problemOf(row, start, end)
    this.#traces?.countEvent(traceId)
    if (problem !== undefined) {
      this.#sink.quality.skip({
        code: 'unusable-event',
        effect: 'span skipped',
        place: { file: this.#files.events.name, line, trace: traceId },
        message: problem,
        next: 'Correct the event, or load without `strict` to leave it out',
      })
      return
    }
    const hostAddress = row.hostAddress ?? ''
    if (hostAddress !== '' && host !== '') events.hostByAddress.set(hostAddress, host)
    const words = columns.text === undefined ? undefined : this.#wordsOf(row.text ?? '')
    if (host !== '') events.addAttribute('host', host)
    for (const [key, value] of words?.attributes ?? []) events.addAttribute(key, value)
    for (const name of columns.attributes ?? []) {
      const value = row[attributePart(name)] ?? ''
      if (value !== '') events.addAttribute(name, numberOrText(value))
    }
    events.operation.push(events.operations.code(operation))
    events.service.push(events.services.code(service))
    events.host.push(events.hosts.code(host))
    events.status.push(SPAN_STATUSES.indexOf(words?.status ?? 'unset'))
    events.startUs.push(events.clock.offsetOfNanos(start))
    events.endUs.push(events.clock.offsetOfNanos(end))
    events.durationUs.push(Number(BigInt(end) - BigInt(start)) / 1e3)
    events.line.push(line)
    events.group.push(events.groupCode(traceId, group))
  }

  /** Most events say what many others say. */
  #wordsOf(text: string): EventWords {
    const known = this.#words.get(text)
    if (known !== undefined) return known
    const words = this.#describe(text)
    if (this.#words.size === KEPT_WORDS) this.#words.clear()
    this.#words.set(text, words)
    return words
  }

  #addEdge(row: TableRow, line: number): void {
    const events = this.#events
    const { timeUnit = 'ns', edges: columns } = this.#tables
    const { traceId = '', father = '', child = '' } = row
    this.#traces?.countEdge(traceId)
    const place = { file: this.#files.edges.name, line, trace: traceId }
    const childGroup = events.groupCode(traceId, child)
    const isRoot = this.#roots.has(father) || /^0+$/.test(father)
    const startNs =
      columns.fatherStart === undefined ? '' : nanosOfDigits(row.fatherStart ?? '', timeUnit)
    if (!isRoot && startNs === '' && columns.fatherStart !== undefined) {
      const message = `Father ${father} of ${child} has start ${JSON.stringify(row.fatherStart)}, which is not a time`
      this.#sink.quality.skip({
        code: 'bad-row',
        effect: 'span skipped',
        place,
        message,
        next: 'Correct the edge, or load without `strict` to leave it out',
      })
      return
    }
    const fatherGroup = isRoot ? NO_FATHER : events.groupCode(traceId, father)
    const startUs = startNs === '' ? Number.NaN : events.clock.offsetOfNanos(startNs)
    if (this.#fathers.add(childGroup, fatherGroup, { startUs, line })) return
    const message = `${child} has a second father, ${father}; the first one counts`
    this.#sink.quality.note('second-father', place, message)
  }
}

/** Kept apart from the parts that have names of their own. */
function attributePart(column: string): `attribute ${string}` {
  return `attribute ${column}`
}

function problemOf(row: TableRow, start: string, end: string): string | undefined {
  const { traceId, group, operation } = row
  if (traceId === '') return 'An event has no trace id'
  if (group === '') return `Event ${operation} has no group`
  if (start === '')
    return `Event ${operation} has start ${JSON.stringify(row.start)}, which is not a time`
  if (end === '')
    return `Event ${operation} has end ${JSON.stringify(row.end)}, which is not a time`
  if (BigInt(end) < BigInt(start)) {
    return `Event ${operation} ends ${Number(BigInt(start) - BigInt(end)) / 1e3} µs before it starts`
  }
  return undefined
}

interface ListedTrace {
  readonly line: number
  readonly startUs: number
  /** How many events and edges it should have; `undefined` where the table does not say. */
  readonly events: number | undefined
  readonly edges: number | undefined
  eventsFound: number
  edgesFound: number
}

/** What a table of traces says of each: when it began, and how much there is of it. */
class TraceTable {
  /** The collector's clock. */
  readonly clock = new EpochClock()
  readonly #columns: TraceTableColumns
  readonly #quality: QualityLog
  readonly #file: string
  readonly #traces = new Map<string, ListedTrace>()

  constructor(columns: TraceTableColumns, quality: QualityLog, file: string) {
    this.#columns = columns
    this.#quality = quality
    this.#file = file
  }

  add(row: TableRow, line: number): void {
    const { traceId = '' } = row
    this.#traces.set(traceId, {
      line,
      startUs: this.#startUs(row, line),
      events: countOf(row.events),
      edges: countOf(row.edges),
      eventsFound: 0,
      edgesFound: 0,
    })
  }

  countEvent(traceId: string): void {
    const listed = this.#traces.get(traceId)
    if (listed !== undefined) listed.eventsFound++
  }

  countEdge(traceId: string): void {
    const listed = this.#traces.get(traceId)
    if (listed !== undefined) listed.edgesFound++
  }

  /**
   * When each trace began, µs by `clock`, `NaN` where that is not known; undefined where it never
   * is.
   */
  startsOf(traces: Dictionary): Float64Array | undefined {
    if (this.#columns.firstSeen === undefined) return undefined
    const starts = Float64Array.from(
      traces.values,
      (id) => this.#traces.get(id)?.startUs ?? Number.NaN,
    )
    return starts.some((start) => !Number.isNaN(start)) ? starts : undefined
  }

  /**
   * Notes traces of which more or less was found than the table says, or that are in one place
   * only.
   */
  check({ traces }: { traces: Dictionary }): void {
    for (const [id, listed] of this.#traces) {
      const { eventsFound, edgesFound, events = eventsFound, edges = edgesFound } = listed
      const place = { file: this.#file, line: listed.line, trace: id }
      if (eventsFound === 0) {
        const message = 'The trace is listed but has no events'
        this.#quality.skip({
          code: 'no-events',
          effect: 'trace skipped',
          place,
          message,
          next: NEXT_STEP,
        })
      } else if (events !== eventsFound || edges !== edgesFound) {
        const message = `The trace has ${eventsFound} events and ${edgesFound} edges where ${events} and ${edges} are listed`
        this.#quality.note('incomplete-trace', place, message)
      }
    }
    for (const id of traces.values) {
      if (this.#traces.has(id)) continue
      const message = 'The trace is not in the table of traces'
      const place = { file: this.#file, trace: id }
      this.#quality.note('unlisted-trace', place, message)
    }
  }

  #startUs({ firstSeen = '' }: TableRow, line: number): number {
    if (this.#columns.firstSeen === undefined) return Number.NaN
    const ms = Date.parse(`${firstSeen.trim().replace(' ', 'T')}Z`)
    if (!Number.isNaN(ms)) return this.clock.offsetOfMicros(ms * 1e3)
    const message = `${JSON.stringify(firstSeen)} is not a time of day; the trace begins with others of its host`
    this.#quality.note('bad-time', { file: this.#file, line }, message)
    return Number.NaN
  }
}

const NEXT_STEP = 'Look for the missing events, or load without `strict` to leave the trace out'

function countOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}
