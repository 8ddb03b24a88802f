import { FlowdeltaError, TraceFormatError } from '../../src/core/errors.ts'
import { memoized } from '../../src/core/remembered.ts'
import { EpochClock } from '../../src/traces/epoch-clock.ts'
import { GraphTracesBuilder } from '../../src/traces/graph-traces.ts'
import { QualityLog } from '../../src/traces/quality.ts'
import { CsvRows } from '../../src/traces/readers/csv-rows.ts'
import { nanosOfDigits } from '../../src/traces/readers/span-times.ts'
import { SPAN_STATUSES } from '../../src/traces/span-columns.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { SpanTracesBuilder } from '../../src/traces/span-traces-builder.ts'
import { type OpenableSource, openSource, type TraceSource } from '../../src/traces/trace-source.ts'
import { EventColumns, FatherColumns, NO_FATHER } from './event-forest.ts'
import { addEventSpans } from './event-spans.ts'
import { tracebenchWords } from './tracebench-words.ts'

const EVENT_COLUMNS = [
  ...(['TaskID', 'TID', 'OpName', 'Agent', 'StartTime', 'EndTime'] as const),
  ...(['HostName', 'HostAddress', 'Description'] as const),
] as const
const EDGE_COLUMNS = ['TaskID', 'FatherTID', 'FatherStartTime', 'ChildTID'] as const
const TRACE_COLUMNS = ['TaskID', 'FirstSeen', 'NumReports', 'NumEdges'] as const

/** The tables of a run. */
export interface TracebenchRun {
  readonly events: TraceSource
  readonly edges: TraceSource
  readonly traces?: TraceSource | undefined
}

/**
 * Reads a run of TraceBench (Zhou et al., CloudCom 2014) as spans: HDFS as `event.csv`, `edge.csv`
 * and `trace.csv`, compressed with gzip or not. The parent is the event of its group around it in
 * time, else the group's father. The service is the agent; host, words of descriptions and hosts in
 * them are parameters. Left out: rows that cannot be read, copies. Noted: groups with a second
 * father, loose edges, numbers other than the table of traces says.
 *
 * @param source a directory with the tables, or the tables themselves
 * @throws FlowdeltaError where a table is missing; TraceFormatError for one that cannot be read
 */
export async function readTracebench(
  source: string | TracebenchRun,
  { strict = false }: { readonly strict?: boolean } = {},
): Promise<SpanTraces> {
  const tables = typeof source === 'string' ? await tablesIn(source) : await opened(source)
  const quality = new QualityLog({ strict })
  const run = { tables, quality, events: new EventColumns(), fathers: new FatherColumns() }
  const spans = new SpanTracesBuilder(quality)
  const traces = await readTraces(run)
  await readEvents(run, traces)
  await readEdges(run, traces)
  const { events, fathers } = run
  addEventSpans(events, fathers, {
    sink: { spans, quality, graphs: new GraphTracesBuilder() },
    eventFile: tables.events.name,
    edgeFile: tables.edges.name,
    starts: traces?.startsOf(events.traces.values),
    startsEpochNs: traces?.clock.epochNs,
  })
  traces?.check(events.traces.values)
  if (spans.size === 0) {
    const next = 'Copy or download it again'
    throw new TraceFormatError('The run has no usable events', { file: tables.events.name }, next)
  }
  return spans.finish(tables.events.name)
}

interface Tables {
  readonly events: OpenableSource
  readonly edges: OpenableSource
  readonly traces: OpenableSource | undefined
}

async function opened({ events, edges, traces }: TracebenchRun): Promise<Tables> {
  return {
    events: await openSource(events),
    edges: await openSource(edges),
    traces: traces === undefined ? undefined : await openSource(traces),
  }
}

async function tablesIn(folder: string): Promise<Tables> {
  const table = async (name: string) => {
    for (const path of [name, `${name}.gz`]) {
      const found = await openSource(`${folder}/${path}`).catch(() => undefined)
      if (found !== undefined) return found
    }
    return undefined
  }
  const [events, edges] = [await table('event.csv'), await table('edge.csv')]
  if (events === undefined || edges === undefined) {
    const missing = events === undefined ? 'event.csv' : 'edge.csv'
    throw new FlowdeltaError(
      `${folder} has neither ${missing} nor ${missing}.gz. Name the directory of a run of TraceBench.`,
    )
  }
  return { events, edges, traces: await table('trace.csv') }
}

interface Run {
  readonly tables: Tables
  readonly quality: QualityLog
  readonly events: EventColumns
  readonly fathers: FatherColumns
}

/** Reads a table row by row; rows of another length are noted. The last column may hold commas. */
async function readTable<Column extends string>(
  file: OpenableSource,
  columns: readonly Column[],
  quality: QualityLog,
  onRow: (field: (column: Column) => string, line: number) => void,
): Promise<void> {
  let names: readonly string[] = []
  const rows = new CsvRows(',', (fields, line) => {
    if (names.length === 0) {
      names = fields.map((name) => name.replace(/^\uFEFF/, '').trim())
      const missing = columns.filter((column) => !names.includes(column))
      if (missing.length === 0) return
      const problem = `The header line has no column ${missing.join(', ')}; it has ${names.join(', ')}`
      throw new TraceFormatError(
        problem,
        { file: file.name, line },
        'Give the tables of TraceBench as they are',
      )
    }
    const takesRest = fields.length > names.length && names.at(-1) === 'Description'
    if (fields.length !== names.length && !takesRest) {
      quality.skip({
        code: 'bad-row',
        effect: 'span skipped',
        place: { file: file.name, line },
        message: `A row has ${fields.length} fields where the header has ${names.length}`,
        next: 'Correct the row, or read without `strict` to leave it out',
      })
      return
    }
    const last = names.length - 1
    onRow((column) => {
      const at = names.indexOf(column)
      return (at === last ? fields.slice(last).join(',') : fields[at]) ?? ''
    }, line)
  })
  const { chunks } = await file.open(() => {})
  for await (const chunk of chunks) rows.push(chunk)
  rows.end()
  if (names.length > 0) return
  const problem = 'The table is empty: it has no header line'
  throw new TraceFormatError(problem, { file: file.name }, 'Copy or download it again')
}

async function readTraces({ tables, quality }: Run): Promise<TraceTable | undefined> {
  if (tables.traces === undefined) return undefined
  const traces = new TraceTable(quality, tables.traces.name)
  await readTable(tables.traces, TRACE_COLUMNS, quality, (field, line) =>
    traces.add(field('TaskID'), {
      line,
      firstSeen: field('FirstSeen'),
      events: countOf(field('NumReports')),
      edges: countOf(field('NumEdges')),
    }),
  )
  return traces
}

async function readEvents(
  { tables, quality, events }: Run,
  traces: TraceTable | undefined,
): Promise<void> {
  const { name: file } = tables.events
  const describe = memoized(tracebenchWords)
  await readTable(tables.events, EVENT_COLUMNS, quality, (field, line) => {
    const traceId = field('TaskID')
    const [start, end] = [field('StartTime'), field('EndTime')].map((text) =>
      nanosOfDigits(text, 'ns'),
    ) as [string, string]
    const problem = problemOf(field, start, end)
    traces?.found(traceId, 'events')
    if (problem !== undefined) {
      quality.skip({
        code: 'unusable-event',
        effect: 'span skipped',
        message: problem,
        place: { file, line, trace: traceId },
        next: 'Correct the event, or read without `strict` to leave it out',
      })
      return
    }
    const [host, address] = [field('HostName'), field('HostAddress')]
    if (address !== '' && host !== '') events.hostByAddress.set(address, host)
    const words = describe(field('Description'))
    if (host !== '') events.addAttribute('host', host)
    for (const [key, value] of words.attributes) events.addAttribute(key, value)
    events.operation.push(events.operations.code(field('OpName')))
    events.service.push(events.services.code(field('Agent')))
    events.host.push(events.hosts.code(host))
    events.status.push(SPAN_STATUSES.indexOf(words.status))
    events.startUs.push(events.clock.offsetOfNanos(start))
    events.endUs.push(events.clock.offsetOfNanos(end))
    events.durationUs.push(Number(BigInt(end) - BigInt(start)) / 1e3)
    events.line.push(line)
    events.group.push(events.groupCode(traceId, field('TID')))
  })
}

async function readEdges(
  { tables, quality, events, fathers }: Run,
  traces: TraceTable | undefined,
): Promise<void> {
  const { name: file } = tables.edges
  await readTable(tables.edges, EDGE_COLUMNS, quality, (field, line) => {
    const [traceId, father, child] = [field('TaskID'), field('FatherTID'), field('ChildTID')]
    traces?.found(traceId, 'edges')
    const place = { file, line, trace: traceId }
    const childGroup = events.groupCode(traceId, child)
    const isRoot = /^0*$/.test(father)
    const start = nanosOfDigits(field('FatherStartTime'), 'ns')
    if (!isRoot && start === '') {
      const shown = JSON.stringify(field('FatherStartTime'))
      quality.skip({
        code: 'bad-row',
        effect: 'span skipped',
        place,
        message: `Father ${father} of ${child} has start ${shown}, which is not a time`,
        next: 'Correct the edge, or read without `strict` to leave it out',
      })
      return
    }
    const fatherGroup = isRoot ? NO_FATHER : events.groupCode(traceId, father)
    const startUs = start === '' ? Number.NaN : events.clock.offsetOfNanos(start)
    if (fathers.add(childGroup, fatherGroup, { startUs, line })) return
    const message = `${child} has a second father, ${father}; the first one counts`
    quality.note('second-father', place, message)
  })
}

function problemOf(
  field: (column: (typeof EVENT_COLUMNS)[number]) => string,
  start: string,
  end: string,
): string | undefined {
  const event = `Event ${field('OpName')}`
  if (field('TaskID') === '') return 'An event has no trace id'
  if (field('TID') === '') return `${event} has no group`
  for (const [part, nanos] of [
    ['StartTime', start],
    ['EndTime', end],
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
  readonly #quality: QualityLog
  readonly #file: string
  readonly #traces = new Map<
    string,
    ListedTrace & { readonly startUs: number; readonly found: { events: number; edges: number } }
  >()

  constructor(quality: QualityLog, file: string) {
    this.#quality = quality
    this.#file = file
  }

  add(trace: string, listed: ListedTrace): void {
    const startUs = this.#startUs(listed)
    this.#traces.set(trace, { ...listed, startUs, found: { events: 0, edges: 0 } })
  }

  found(trace: string, what: 'events' | 'edges'): void {
    const listed = this.#traces.get(trace)
    if (listed !== undefined) listed.found[what]++
  }

  /** When each trace began, µs by `clock`, or `NaN`; undefined where it never is known. */
  startsOf(traces: readonly string[]): Float64Array | undefined {
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
