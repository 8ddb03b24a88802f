// Runs once a span, node or edge: the loops index with `!`.

import { least, max, min } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { type Place, TraceFormatError } from '../../core/errors.ts'
import { counted, formatDuration } from '../../core/words.ts'
import { EpochClock } from '../epoch-clock.ts'
import { type IssueEffect, TRUNCATED_FILE } from '../quality.ts'
import { type AttributeEntry, numberOrText } from './json-values.ts'
import { nanosOfDigits } from './span-times.ts'
import type { ReadSink, TraceReader } from './trace-reader.ts'

const FIRST_LINE = /^\s*X-Trace Report ver (\S+)\s*$/
const MAX_LINE = 1 << 24
/** Keys that say where an event stands; what else there is are parameters. */
const KEYS: readonly string[] = ['X-Trace', 'Edge', 'Label', 'Agent', 'Host', 'Timestamp']
const NEXT_STEP = 'Correct the report, or load without `strict` to leave it out'

/**
 * X-Trace reports (Fonseca et al., NSDI 2007), in any order; a task becomes a graph of nodes `host__agent__label`,
 * edges take the difference of the timestamps; other keys are parameters. A request ends with the last event on the
 * host where it began.
 */
export const xtraceReader: TraceReader = {
  format: 'xtrace',
  recognizes: (head) => /^[\s\uFEFF]*X-Trace Report ver/.test(head),
  async read(chunks, sink, file) {
    const run = new XtraceRun(sink, file)
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of chunks) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > MAX_LINE) throw run.endlessLine()
      for (const line of lines) run.addLine(line)
    }
    rest += decoder.decode()
    run.addLine(rest)
    run.finish(rest !== '')
  },
}

class XtraceRun {
  readonly #sink: ReadSink
  readonly #file: string
  readonly #clock = new EpochClock()
  readonly #reports = new Map<string, Report[]>()
  #line = 0
  #firstLine = 0
  #report: Map<string, string[]> | undefined
  #isOpen = false

  constructor(sink: ReadSink, file: string) {
    this.#sink = sink
    this.#file = file
  }

  addLine(line: string): void {
    this.#line++
    const version = FIRST_LINE.exec(line)?.[1]
    if (version !== undefined) {
      this.#endReport()
      this.#firstLine = this.#line
      if (version === '1.0') this.#report = new Map()
      else this.#note('bad-report', `Its version is ${version}, and 1.0 is known`)
      return
    }
    if (line.trim() === '') return
    const colon = line.indexOf(':')
    if (colon < 0) {
      if (this.#report !== undefined) this.#noteLine(line)
      return
    }
    const key = line.slice(0, colon).trim()
    const values = this.#report?.get(key)
    if (values === undefined) this.#report?.set(key, [line.slice(colon + 1).trim()])
    else values.push(line.slice(colon + 1).trim())
  }

  /** @param isOpen whether no line break ends the last line: a last report that lacks something is cut */
  finish(isOpen: boolean): void {
    this.#isOpen = isOpen
    this.#endReport()
    const tasks = Array.from(
      this.#reports,
      ([id, reports]) => [id, this.#eventsOf(id, reports)] as const,
    )
    const firstUs = min(tasks, ([, [root]]) => root!.timeUs) ?? 0
    for (const [id, events] of tasks) this.#addGraph(id, events, firstUs)
  }

  /** Returns the events of a task without copies, the root first. */
  #eventsOf(task: string, reports: readonly Report[]): readonly Report[] {
    const byOperation = new Map<string, Report>()
    for (const report of reports) {
      const { operation, line } = report
      if (byOperation.has(operation)) {
        const message = `Operation ${operation} is reported twice; the later report is left out`
        this.#skip('duplicate-event', 'span skipped', message, { trace: task, line })
      } else byOperation.set(operation, report)
    }
    const events = [...byOperation.values()]
    const isRoot = ({ fathers }: Report) => !fathers.some((one) => byOperation.has(one))
    const root = events.indexOf(least(events.filter(isRoot), ({ timeUs }) => timeUs) as Report)
    if (root > 0) [events[0], events[root]] = [events[root]!, events[0]!]
    return events
  }

  #addGraph(task: string, events: readonly Report[], firstUs: number): void {
    const { graphs } = this.#sink
    const [root] = events as readonly [Report]
    const edges = this.#edges(task, events)
    const own = events.filter(({ host }) => host === root.host)
    const endUs = max(own.length > 1 ? own : events, ({ timeUs }) => timeUs) ?? 0
    const graph = {
      id: task,
      startUs: root.timeUs - firstUs,
      responseTimeUs: Math.max(endUs - root.timeUs, 0),
      nodeCount: events.length,
      edgeCount: edges.length,
      labels: Uint32Array.from(events, ({ label }) => graphs.labels.code(label)),
      from: Uint32Array.from(edges, ({ from }) => from),
      to: Uint32Array.from(edges, ({ to }) => to),
      latencyUs: Float64Array.from(edges, ({ tookUs }) =>
        Math.max(Math.round(tookUs * 1e3) / 1e3, 0),
      ),
    }
    const shape = graphs.internShape(graph)
    if (!graphs.isAcyclic(shape)) {
      const message = 'The edges lead back to the same event'
      this.#skip('cyclic-graph', 'trace skipped', message, { trace: task })
      return
    }
    events.forEach(({ attributes }, node) => {
      for (const [key, value] of attributes) graphs.addAttribute(node, key, value)
    })
    graphs.add(graph, shape)
  }

  #edges(task: string, events: readonly Report[]) {
    const nodeOf = new Map(events.map(({ operation }, node) => [operation, node]))
    const edges = events.flatMap(({ fathers, timeUs, line }, to) =>
      [...new Set(fathers)].flatMap((id) => {
        const from = nodeOf.get(id)
        if (from !== undefined) return [{ from, to, tookUs: timeUs - events[from]!.timeUs }]
        const message = `An edge comes from operation ${id}, which is not reported; it is left out`
        this.#skip('missing-father', 'kept', message, { trace: task, line })
        return []
      }),
    )
    const backwards = edges.filter(({ tookUs }) => tookUs < 0)
    if (backwards.length > 0) {
      const farthestUs = -(min(backwards, ({ tookUs }) => tookUs) ?? 0)
      const message = `${counted(backwards.length, 'edge')} back in time, by up to ${formatDuration(farthestUs)}, taken as 0: the clocks of hosts disagree`
      this.#skip('clock-skew', 'kept', message, { trace: task })
    }
    return edges
  }

  #skip(code: string, effect: IssueEffect, message: string, place: Place): void {
    this.#sink.quality.skip({
      code,
      effect,
      place: { file: this.#file, ...place },
      message,
      next: 'Correct the reports, or load without `strict`',
    })
  }

  endlessLine(): TraceFormatError {
    return new TraceFormatError(
      'A line is longer than 16 million characters',
      { file: this.#file, line: this.#line + 1 },
      'Check whether this is a file of X-Trace reports',
    )
  }

  #endReport(): void {
    const report = this.#report
    this.#report = undefined
    if (report === undefined) return
    const one = (key: string) => report.get(key)?.[0] ?? ''
    const metadata = parseXtraceMetadata(one('X-Trace'))
    if (typeof metadata === 'string') {
      const shown = JSON.stringify(one('X-Trace'))
      this.#note('bad-report', `A report's X-Trace metadata is ${shown}: ${metadata}`)
      return
    }
    const { task, operation } = metadata
    const nanos = nanosOfDigits(one('Timestamp'), 's')
    if (nanos === '') {
      const shown = JSON.stringify(one('Timestamp'))
      this.#note('no-time', `A report has timestamp ${shown}, which is not a time`, task)
      return
    }
    const others = [...report].filter(([key]) => !KEYS.includes(key))
    // Older libraries write a direction behind the id.
    const fathers = report.get('Edge')?.map((edge) => edge.replace(/,.*/s, '').trim().toUpperCase())
    getOrInsert(this.#reports, task, () => []).push({
      operation,
      fathers: fathers?.filter((father) => !isZeros(father)) ?? [],
      host: one('Host'),
      label: labelOf(one('Host'), one('Agent'), one('Label')),
      timeUs: this.#clock.offsetOfNanos(nanos),
      line: this.#firstLine,
      attributes: others.map(([key, values]) => [
        key,
        values.length === 1 ? numberOrText(one(key)) : values.join(', '),
      ]),
    })
  }

  #note(code: string, problem: string, trace?: string): void {
    const [kind, message] = this.#isOpen
      ? [TRUNCATED_FILE, 'The file ends within a report']
      : [code, problem]
    this.#sink.quality.skip({
      code: kind,
      effect: 'span skipped',
      message,
      place: { file: this.#file, line: this.#firstLine, trace },
      next: NEXT_STEP,
    })
  }

  #noteLine(line: string): void {
    this.#sink.quality.note(
      'bad-line',
      { file: this.#file, line: this.#line },
      `The line ${JSON.stringify(line.slice(0, 60))} of a report has no key; it is ignored`,
    )
  }
}

function labelOf(host: string, agent: string, label: string): string {
  const named = label === '' ? 'event' : label
  if (host === '') return [agent, named].filter((part) => part !== '').join(' ')
  return `${host}__${agent}__${named}`
}

/** Bytes of a task id by the two lowest bits of the flags. */
const TASK_ID_BYTES = [4, 8, 12, 20] as const
const OPTIONS = 4
const LONG_OPERATION_ID = 8
const NEWEST_VERSION = 1

/** Reads X-Trace metadata, or throws an error that names the problem (X-Trace Metadata Format 2.1.1, §2 and §3). */
export function parseXtraceMetadata(
  text: string,
): { readonly task: string; readonly operation: string } | string {
  const hex = text.toUpperCase()
  if (!/^([0-9A-F]{2})+$/.test(hex)) return 'it is not hexadecimal bytes'
  const flags = Number.parseInt(hex.slice(0, 2), 16)
  const version = flags >> 4
  if (version > NEWEST_VERSION) return `its version is ${version}`
  if (version === 0 && flags & LONG_OPERATION_ID) return 'version 0 has no long operation ids'
  const taskEnd = 2 + 2 * TASK_ID_BYTES[(flags & 3) as 0 | 1 | 2 | 3]!
  const operationEnd = taskEnd + (flags & LONG_OPERATION_ID ? 16 : 8)
  const optionBytes =
    flags & OPTIONS ? Number.parseInt(hex.slice(operationEnd, operationEnd + 2), 16) : -1
  const bytes = (operationEnd >> 1) + 1 + optionBytes
  if (hex.length / 2 !== bytes)
    return `it has ${hex.length / 2} bytes and not the ${bytes} its flags say`
  const task = hex.slice(2, taskEnd)
  if (isZeros(task)) return 'its task id is zero'
  return { task, operation: hex.slice(taskEnd, operationEnd) }
}

function isZeros(id: string): boolean {
  return /^0*$/.test(id)
}

/** Report of an event: operation ids distinguish the events of a task. */
interface Report {
  readonly operation: string
  readonly fathers: readonly string[]
  readonly host: string
  readonly label: string
  readonly timeUs: number
  readonly line: number
  readonly attributes: readonly AttributeEntry[]
}
