import type { SpanStatus } from '../span-traces.ts'
import type { AttributeEntry } from './json-values.ts'
import type { TimeUnit } from './span-times.ts'

/** The table of events: one row an event, which has a start and an end. */
export interface EventTableColumns {
  /** Name of the file, as it is uncompressed; `.gz` behind it is found as well. */
  readonly file: string
  readonly traceId: string
  /**
   * Events with one value here form a group: they ran on one host one after the other or one within
   * the other, and edges lead to all of them. Where each event has an id of its own, that.
   */
  readonly group: string
  readonly operation: string
  readonly service: string
  /** Start, in `timeUnit`, by the clock of the event's host. */
  readonly start: string
  /** End, in `timeUnit`, by the same clock. */
  readonly end: string
  readonly host?: string
  /** Address of the host: a parameter that is one of these becomes the host's name. */
  readonly hostAddress?: string
  /** What was written about the event, for `describe`. As last column it may hold delimiters. */
  readonly text?: string
  /** Columns to keep as low-level parameters. Default: none. */
  readonly attributes?: readonly string[]
}

/** The table of edges: one row an edge, from one event to a group. */
export interface EdgeTableColumns {
  readonly file: string
  readonly traceId: string
  readonly father: string
  /**
   * Start of the father event, which names it within its group. Default: the group's first event.
   */
  readonly fatherStart?: string
  /** The group that the father started. */
  readonly child: string
}

/** The table of traces: one row a trace. What it says is checked and tells the time of day. */
export interface TraceTableColumns {
  readonly file: string
  readonly traceId: string
  /**
   * When a trace began, by the one clock of whoever collected: `2013-11-03 15:29:35`, taken as UTC.
   */
  readonly firstSeen?: string
  /** How many events a trace has: one that has another number of them is noted. */
  readonly events?: string
  readonly edges?: string
}

export interface EventWords {
  readonly status: SpanStatus
  readonly attributes: readonly AttributeEntry[]
}

/**
 * Where event graphs stand that are kept as tables: CSV files with header lines, in one directory a
 * run, compressed with gzip or not.
 *
 * @example
 * const tables = {
 *   events: {
 *     ...{ file: 'events.csv', traceId: 'trace', group: 'id', operation: 'name', service: 'service' },
 *     ...{ start: 'start', end: 'end', host: 'host' },
 *   },
 *   edges: { file: 'edges.csv', traceId: 'trace', father: 'from', child: 'to' },
 * }
 * const events = 'trace,id,name,service,host,start,end\nt,a,get,web,h1,500,900\nt,b,read,db,h2,7,207'
 * const files = [
 *   { name: 'events.csv', bytes: events },
 *   { name: 'edges.csv', bytes: 'trace,from,to\nt,0,a\nt,a,b' },
 * ]
 * const traces = await loadTraces(files, { format: 'event-tables', tables })
 * Array.from(traces.spans.startUs) // [ 0, 0.1 ]
 */
export interface EventTables {
  readonly events: EventTableColumns
  readonly edges: EdgeTableColumns
  /** Default: none, and traces begin when the clocks of their own hosts say. */
  readonly traces?: TraceTableColumns
  /** Unit of starts and ends. Default: `'ns'`. */
  readonly timeUnit?: TimeUnit
  /** Default: `','`. */
  readonly delimiter?: string
  /**
   * Fathers that are none: what such an edge leads to is a root. Default: `['', '0']`, and zeros.
   */
  readonly rootIds?: readonly string[]
  /** Makes status and low-level parameters of `events.text`. Default: the text, as `text`. */
  readonly describe?: (text: string) => EventWords
}
