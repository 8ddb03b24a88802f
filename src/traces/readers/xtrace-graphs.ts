// Runs once a span, node or edge: the loops index with `!`.
import { formatDuration } from '../../core/units.ts'
import { type Attributes, AttributesBuilder, type AttributeValue } from '../attributes.ts'
import { Dictionary } from '../dictionary.ts'
import { EpochClock } from '../epoch-clock.ts'
import { groupRows } from '../group-rows.ts'
import { growingFloat64, growingUint32 } from '../growing-columns.ts'
import type { IssueEffect } from '../quality.ts'
import type { ReadSink } from './trace-reader.ts'

/** Hands each task over as a graph; one that cannot be used is noted and left out. */
export function addXtraceGraphs(columns: XtraceColumns, sink: ReadSink, file: string): void {
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

  /** When the first event without fathers was. */
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

  /** The place among `events` of the earliest one that none of them is father of. */
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
      const message = `${backwards} edge(s) lead back in time, by up to ${formatDuration(farthestUs)}, and are taken as 0: the clocks of hosts disagree`
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

/** X-Trace events in columns, in the order of their reports. */
export class XtraceColumns {
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
