// Runs once a trace point or edge: the loops index with `!`.

import { group, least, max, min } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { counted, formatDuration } from '../../core/words.ts'
import { EpochClock } from '../epoch-clock.ts'
import { type QualityIssue, TRUNCATED_FILE } from '../quality.ts'
import { type AttributeEntry, numberOrText } from './json-values.ts'
import { nanosOfDigits } from './span-times.ts'
import type { ReadSink, TraceReader } from './trace-reader.ts'

const FIRST_LINE = /^\s*X-Trace Report ver (\S+)\s*$/
/** Keys that say where an event stands; what else there is are parameters. */
const KEYS: readonly string[] = ['X-Trace', 'Edge', 'Label', 'Agent', 'Host', 'Timestamp']

type Note = (
  issue: Omit<QualityIssue, 'place'> & Pick<QualityIssue['place'], 'line' | 'trace'>,
) => void

/**
 * X-Trace reports (Fonseca et al., NSDI 2007), in any order; a task becomes a graph of nodes `host__agent__label`,
 * edges take the difference of the timestamps; other keys are parameters. A request ends with the last event on the
 * host where it began.
 */
export const xtraceReader: TraceReader = {
  format: 'xtrace',
  recognizes: (head) => /^[\s\uFEFF]*X-Trace Report ver/.test(head),
  async read(chunks, sink, file) {
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true })
    text += decoder.decode()
    const note: Note = ({ line, trace, ...issue }) =>
      sink.quality.skip({
        ...issue,
        place: { file, line, trace },
        next: 'Correct the reports, or load without `strict` to leave them out',
      })
    const clock = new EpochClock()
    const reports = reportsIn(text, note)
    const events = reports.flatMap((report, i) => {
      // A last report that lacks something is cut if no line break ends it.
      const isCut = i === reports.length - 1 && !text.endsWith('\n')
      const event = eventOf(report, clock)
      if ('task' in event && 'operation' in event) return event
      const { code, message, task: trace } = event
      const cut = { code: TRUNCATED_FILE, message: 'The file ends within a report' }
      const problem = isCut ? cut : { code, message }
      note({ ...problem, effect: 'span skipped', line: report.line, trace })
      return []
    })
    const tasks = Array.from(
      group(events, ({ task }) => task),
      ([id, own]) => {
        return [id, withoutCopies(own, note)] as const
      },
    )
    const firstUs = min(tasks, ([, [root]]) => root!.timeUs) ?? 0
    for (const [id, own] of tasks) addGraph(sink, id, own, { firstUs, note })
  },
}

/** Values of the keys of a report. */
interface Report {
  readonly line: number
  readonly fields: Map<string, string[]>
}

function reportsIn(text: string, note: Note): Report[] {
  const reports: Report[] = []
  let report: Report | undefined
  text.split('\n').forEach((content, i) => {
    const line = i + 1
    const version = FIRST_LINE.exec(content)?.[1]
    if (version !== undefined) {
      report = version === '1.0' ? { line, fields: new Map() } : undefined
      if (report !== undefined) reports.push(report)
      else {
        const message = `Its version is ${version}, and 1.0 is known`
        note({ code: 'bad-report', effect: 'span skipped', line, message })
      }
      return
    }
    if (report === undefined || content.trim() === '') return
    const [, key, value] = /^([^:]*):(.*)$/s.exec(content) ?? []
    if (key === undefined || value === undefined) {
      const message = `The line ${JSON.stringify(content.slice(0, 60))} of a report has no key; it is ignored`
      note({ code: 'bad-line', effect: 'kept', line, message })
      return
    }
    getOrInsert(report.fields, key.trim(), () => []).push(value.trim())
  })
  return reports
}

/** Event of a task, whose operation id is its own. */
interface TaskEvent {
  readonly task: string
  readonly operation: string
  readonly fathers: readonly string[]
  readonly host: string
  readonly label: string
  readonly timeUs: number
  readonly line: number
  readonly attributes: readonly AttributeEntry[]
}

/** Returns the event of a report, or its problem. */
function eventOf(
  { line, fields }: Report,
  clock: EpochClock,
): TaskEvent | { readonly code: string; readonly message: string; readonly task?: string } {
  const one = (key: string) => fields.get(key)?.[0] ?? ''
  const metadata = parseXtraceMetadata(one('X-Trace'))
  if (typeof metadata === 'string') {
    const shown = JSON.stringify(one('X-Trace'))
    return {
      code: 'bad-report',
      message: `A report's X-Trace metadata is ${shown}: ${metadata}`,
    }
  }
  const nanos = nanosOfDigits(one('Timestamp'), 's')
  if (nanos === '') {
    const message = `A report has timestamp ${JSON.stringify(one('Timestamp'))}, which is not a time`
    return { code: 'no-time', message, task: metadata.task }
  }
  const others = [...fields].filter(([key]) => !KEYS.includes(key))
  // Older libraries write a direction behind the id.
  const fathers = (fields.get('Edge') ?? []).map((edge) =>
    edge.replace(/,.*/s, '').trim().toUpperCase(),
  )
  return {
    ...metadata,
    fathers: fathers.filter((father) => !isZeros(father)),
    host: one('Host'),
    label: labelOf(one('Host'), one('Agent'), one('Label')),
    timeUs: clock.offsetOfNanos(nanos),
    line,
    attributes: others.map(([key, values]) => [
      key,
      values.length === 1 ? numberOrText(one(key)) : values.join(', '),
    ]),
  }
}

/** Returns the events of a task without copies, the root first. */
function withoutCopies(own: readonly TaskEvent[], note: Note): readonly TaskEvent[] {
  const byOperation = new Map<string, TaskEvent>()
  for (const event of own) {
    const { operation, line, task } = event
    if (!byOperation.has(operation)) byOperation.set(operation, event)
    else {
      const message = `Operation ${operation} is reported twice; the later report is left out`
      note({ code: 'duplicate-event', effect: 'span skipped', message, trace: task, line })
    }
  }
  const events = [...byOperation.values()]
  const isRoot = ({ fathers }: TaskEvent) => !fathers.some((father) => byOperation.has(father))
  const root = events.indexOf(least(events.filter(isRoot), ({ timeUs }) => timeUs) as TaskEvent)
  if (root > 0) [events[0], events[root]] = [events[root]!, events[0]!]
  return events
}

function addGraph(
  { graphs }: ReadSink,
  task: string,
  events: readonly TaskEvent[],
  { firstUs, note }: { readonly firstUs: number; readonly note: Note },
): void {
  const [root] = events as readonly [TaskEvent]
  const edges = edgesOf(task, events, note)
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
    note({ code: 'cyclic-graph', effect: 'trace skipped', message, trace: task })
    return
  }
  events.forEach(({ attributes }, node) => {
    for (const [key, value] of attributes) graphs.addAttribute(node, key, value)
  })
  graphs.add(graph, shape)
}

function edgesOf(trace: string, events: readonly TaskEvent[], note: Note) {
  const nodeOf = new Map(events.map(({ operation }, node) => [operation, node]))
  const edges = events.flatMap(({ fathers, timeUs, line }, to) =>
    [...new Set(fathers)].flatMap((id) => {
      const from = nodeOf.get(id)
      if (from !== undefined) return [{ from, to, tookUs: timeUs - events[from]!.timeUs }]
      const message = `An edge comes from operation ${id}, which is not reported; it is left out`
      note({ code: 'missing-father', effect: 'kept', message, trace, line })
      return []
    }),
  )
  const backwards = edges.filter(({ tookUs }) => tookUs < 0)
  if (backwards.length > 0) {
    const farthestUs = -(min(backwards, ({ tookUs }) => tookUs) ?? 0)
    const message = `${counted(backwards.length, 'edge')} back in time, by up to ${formatDuration(farthestUs)}, taken as 0: the clocks of hosts disagree`
    note({ code: 'clock-skew', effect: 'kept', message, trace })
  }
  return edges
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
