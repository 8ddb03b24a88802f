// Runs once a span, node or edge: the loops index with `!`.
import { TraceFormatError } from '../../core/errors.ts'
import { counted, formatDuration } from '../../core/words.ts'
import { type Attributes, AttributesBuilder, type AttributeValue } from '../attributes.ts'
import { Dictionary } from '../dictionary.ts'
import { EpochClock } from '../epoch-clock.ts'
import { groupRows } from '../group-rows.ts'
import { growingFloat64, growingUint32 } from '../growing-columns.ts'
import { type IssueEffect, TRUNCATED_FILE } from '../quality.ts'
import { nanosOfDigits } from './csv.ts'
import { numberOrText } from './json-values.ts'
import type { ReadSink, TraceReader } from './trace-reader.ts'

const FIRST_LINE = /^\s*X-Trace Report ver (\S+)\s*$/
const MAX_LINE = 1 << 24
/** Keys that say where an event stands; what else there is are parameters. */
const KEYS: readonly string[] = ['X-Trace', 'Edge', 'Label', 'Agent', 'Host', 'Timestamp']
const NEXT_STEP = 'Correct the report, or load without `strict` to leave it out'

/**
 * X-Trace reports (Fonseca et al., NSDI 2007), in any order; a task becomes a graph of nodes
 * `host__agent__label`, edges as long as timestamps differ; other keys are parameters. A request
 * ends with the last event on the host where it began.
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
  readonly #columns = new XtraceColumns()
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
    addXtraceGraphs(this.#columns, this.#sink, this.#file)
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
    const columns = this.#columns
    const nanos = nanosOfDigits(one('Timestamp'), 's')
    if (nanos === '') {
      const shown = JSON.stringify(one('Timestamp'))
      this.#note('no-time', `A report has timestamp ${shown}, which is not a time`, metadata.task)
      return
    }
    for (const [key, values] of report) {
      if (KEYS.includes(key)) continue
      columns.addAttribute(key, values.length === 1 ? numberOrText(one(key)) : values.join(', '))
    }
    const [host, agent, label] = [one('Host'), one('Agent'), one('Label')]
    columns.timeUs.push(columns.clock.offsetOfNanos(nanos))
    columns.line.push(this.#firstLine)
    columns.host.push(columns.hosts.code(host))
    columns.label.push(columns.labels.code(labelOf(host, agent, label)))
    columns.operation.push(columns.operations.code(metadata.operation))
    for (const edge of report.get('Edge') ?? []) {
      // Older libraries write a direction behind the id.
      const father = (edge.split(',')[0] ?? '').trim().toUpperCase()
      if (!isZeros(father)) columns.father.push(columns.operations.code(father))
    }
    columns.edgeOffsets.push(columns.father.length)
    columns.task.push(columns.tasks.code(metadata.task))
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

/**
 * Takes X-Trace metadata apart, or says what is wrong (Fonseca & Porter, X-Trace Metadata Format
 * 2.1.1, §2 and §3).
 */
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

/** Hands each task over as a graph; one that cannot be used is noted and left out. */
function addXtraceGraphs(columns: XtraceColumns, sink: ReadSink, file: string): void {
  const graphs = new XtraceGraphs(columns, sink, file)
  const { offsets, rows } = groupRows(columns.task.finish(), columns.tasks.size)
  const events = Array.from({ length: columns.tasks.size }, (_, task) =>
    Array.from(rows.subarray(offsets[task], offsets[task + 1])),
  )
  const rootTimes = events.map((own, task) => graphs.rootTimeUs(own, task))
  const firstUs = rootTimes.reduce((earliest, time) => Math.min(earliest, time), Infinity)
  events.forEach((own, task) => {
    graphs.add(own, task, firstUs)
  })
}

class XtraceGraphs {
  readonly #columns: XtraceColumns
  readonly #sink: ReadSink
  readonly #file: string
  readonly #attributes: Attributes
  /** By operation id: the event of the task at hand that has it. */
  readonly #eventOf = new Map<number, number>()

  constructor(columns: XtraceColumns, sink: ReadSink, file: string) {
    this.#columns = columns
    this.#sink = sink
    this.#file = file
    this.#attributes = columns.attributes.finish(columns.size)
  }

  rootTimeUs(events: readonly number[], task: number): number {
    const { timeUs } = this.#columns
    const distinct = this.#distinct(events, task, false)
    return timeUs.values[distinct[this.#rootOf(distinct)]!]!
  }

  add(reported: readonly number[], task: number, firstUs: number): void {
    const { timeUs, label, labels, host, tasks } = this.#columns
    const { graphs } = this.#sink
    const events = this.#distinct(reported, task, true)
    const root = this.#rootOf(events)
    // The root stands first.
    ;[events[0], events[root]] = [events[root]!, events[0]!]
    const [first] = events as [number]
    const nodeOf = new Map(events.map((event, node) => [event, node]))
    const edges = this.#edges(events, nodeOf, task)
    const rootHost = host.values[first]!
    const rootUs = timeUs.values[first]!
    const own = events.filter((event) => host.values[event] === rootHost)
    const ends = (own.length > 1 ? own : events).map((event) => timeUs.values[event]!)
    const graph = {
      id: tasks.value(task),
      startUs: rootUs - firstUs,
      responseTimeUs: ends.reduce((latest, end) => Math.max(latest, end - rootUs), 0),
      nodeCount: events.length,
      edgeCount: edges.from.length,
      labels: Uint32Array.from(events, (event) =>
        graphs.labels.code(labels.value(label.values[event]!)),
      ),
      from: Uint32Array.from(edges.from),
      to: Uint32Array.from(edges.to),
      latencyUs: Float64Array.from(edges.latencyUs),
    }
    const shape = graphs.internShape(graph)
    if (!graphs.isAcyclic(shape)) {
      this.#note(task, 'cyclic-graph', 'trace skipped', 'The edges lead back to the same event')
      return
    }
    events.forEach((event, node) => {
      for (const [key, value] of this.#attributes.entries(event)) {
        graphs.addAttribute(node, key, value)
      }
    })
    graphs.add(graph, shape)
  }

  /** The events of a task without copies, known by operation id. */
  #distinct(events: readonly number[], task: number, notes: boolean): number[] {
    const { operation, operations, line } = this.#columns
    this.#eventOf.clear()
    return events.filter((event) => {
      const id = operation.values[event]!
      if (!this.#eventOf.has(id)) {
        this.#eventOf.set(id, event)
        return true
      }
      const message = `Operation ${operations.value(id)} is reported twice; the later report is left out`
      if (notes) this.#note(task, 'duplicate-event', 'span skipped', message, line.values[event])
      return false
    })
  }

  #rootOf(events: readonly number[]): number {
    const { timeUs } = this.#columns
    let root = -1
    events.forEach((event, at) => {
      if (this.#fathers(event).some((father) => this.#eventOf.has(father))) return
      const earlierUs = root < 0 ? Infinity : timeUs.values[events[root]!]!
      if (timeUs.values[event]! < earlierUs) root = at
    })
    return Math.max(root, 0)
  }

  #edges(events: readonly number[], nodeOf: ReadonlyMap<number, number>, task: number) {
    const { timeUs, operations, line } = this.#columns
    const from: number[] = []
    const to: number[] = []
    const latencyUs: number[] = []
    let backwards = 0
    let farthestUs = 0
    events.forEach((event, node) => {
      for (const id of new Set(this.#fathers(event))) {
        const father = this.#eventOf.get(id)
        if (father === undefined) {
          const message = `An edge comes from operation ${operations.value(id)}, which is not reported; it is left out`
          this.#note(task, 'missing-father', 'kept', message, line.values[event])
          continue
        }
        const tookUs = timeUs.values[event]! - timeUs.values[father]!
        if (tookUs < 0) {
          backwards++
          farthestUs = Math.max(farthestUs, -tookUs)
        }
        from.push(nodeOf.get(father) as number)
        to.push(node)
        latencyUs.push(Math.max(Math.round(tookUs * 1e3) / 1e3, 0))
      }
    })
    if (backwards > 0) {
      const message = `${counted(backwards, 'edge')} back in time, by up to ${formatDuration(farthestUs)}, taken as 0: the clocks of hosts disagree`
      this.#note(task, 'clock-skew', 'kept', message)
    }
    return { from, to, latencyUs }
  }

  #fathers(event: number): number[] {
    const { father, edgeOffsets } = this.#columns
    const first = edgeOffsets.values[event]!
    return Array.from(father.values.subarray(first, edgeOffsets.values[event + 1]))
  }

  #note(task: number, code: string, effect: IssueEffect, message: string, line?: number): void {
    const place = { file: this.#file, line, trace: this.#columns.tasks.value(task) }
    this.#sink.quality.skip({
      code,
      effect,
      place,
      message,
      next: 'Correct the reports, or load without `strict`',
    })
  }
}

class XtraceColumns {
  readonly clock = new EpochClock()
  readonly tasks = new Dictionary()
  /** Operation ids: those of events and those that edges name. */
  readonly operations = new Dictionary()
  readonly hosts = new Dictionary()
  readonly labels = new Dictionary()
  readonly task = growingUint32()
  readonly operation = growingUint32()
  readonly host = growingUint32()
  readonly label = growingUint32()
  readonly timeUs = growingFloat64()
  readonly line = growingUint32()
  /** Fathers of event `i`, as operations, are entries `edgeOffsets[i]` to `edgeOffsets[i + 1]`. */
  readonly father = growingUint32()
  readonly edgeOffsets = growingUint32()
  readonly attributes = new AttributesBuilder()

  constructor() {
    this.edgeOffsets.push(0)
  }

  get size(): number {
    return this.task.length
  }

  addAttribute(key: string, value: AttributeValue): void {
    this.attributes.add(this.size, key, value)
  }
}
