import type { Dictionary } from '../dictionary.ts'
import { EpochClock } from '../epoch-clock.ts'
import type { QualityLog } from '../quality.ts'
import type { TraceTableColumns } from './event-tables.ts'
import type { TableRow } from './table-rows.ts'

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
export class TraceTable {
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

  /** When each trace began, µs by `clock`, `NaN` where that is not known; undefined where it never is. */
  startsOf(traces: Dictionary): Float64Array | undefined {
    if (this.#columns.firstSeen === undefined) return undefined
    const starts = Float64Array.from(
      traces.values,
      (id) => this.#traces.get(id)?.startUs ?? Number.NaN,
    )
    return starts.some((start) => !Number.isNaN(start)) ? starts : undefined
  }

  /** Notes traces of which more or less was found than the table says, or that are in one place only. */
  check({ traces }: { traces: Dictionary }): void {
    for (const [id, listed] of this.#traces) {
      const { eventsFound, edgesFound, events = eventsFound, edges = edgesFound } = listed
      const place = { file: this.#file, line: listed.line, trace: id }
      if (eventsFound === 0) {
        const message = 'The trace is listed but has no events'
        this.#quality.note(
          { code: 'no-events', effect: 'trace skipped', place, message },
          NEXT_STEP,
        )
      } else if (events !== eventsFound || edges !== edgesFound) {
        const message = `The trace has ${eventsFound} events and ${edgesFound} edges where ${events} and ${edges} are listed`
        this.#quality.note({ code: 'incomplete-trace', effect: 'kept', place, message }, '')
      }
    }
    for (const id of traces.values) {
      if (this.#traces.has(id)) continue
      const message = 'The trace is not in the table of traces'
      const place = { file: this.#file, trace: id }
      this.#quality.note({ code: 'unlisted-trace', effect: 'kept', place, message }, '')
    }
  }

  #startUs({ firstSeen = '' }: TableRow, line: number): number {
    if (this.#columns.firstSeen === undefined) return Number.NaN
    const ms = Date.parse(`${firstSeen.trim().replace(' ', 'T')}Z`)
    if (!Number.isNaN(ms)) return this.clock.offsetOfMicros(ms * 1e3)
    const message = `${JSON.stringify(firstSeen)} is no time of day; the trace begins with others of its host`
    this.#quality.note(
      { code: 'bad-time', effect: 'kept', place: { file: this.#file, line }, message },
      '',
    )
    return Number.NaN
  }
}

const NEXT_STEP = 'Look for the missing events, or load without `strict` to leave the trace out'

function countOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}
