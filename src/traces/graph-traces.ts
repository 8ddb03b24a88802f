import { cumsum } from 'd3-array'
import { type StageTable, stageTable } from '../core/stage.ts'
import { type Attributes, AttributesBuilder, type AttributeValue } from './attributes.ts'
import { Dictionary } from './dictionary.ts'
import { entriesWithin } from './group-rows.ts'
import { finishColumns, gather, growingColumns } from './growing-columns.ts'
import type { ParameterTables } from './parameter-tables.ts'
import type { QualityLog, Selected } from './quality.ts'
import { builtIn, type Subject } from './selection/condition.ts'
import {
  columnarTraces,
  type Reader,
  type SelectableTraces,
} from './selection/selectable-traces.ts'
import { ShapeGraph, ShapeTable } from './shape-table.ts'

/** Columns of traces that were recorded as trace-point graphs, one row a trace. */
export interface GraphColumns {
  readonly ids: readonly string[]
  /** Arrival, µs since the start of the period. */
  readonly startUs: Float64Array
  readonly responseTimeUs: Float64Array
  readonly shapes: ShapeTable
  /** Label of each label code: `machine__thread__POINT`, and any semantic label. */
  readonly labels: readonly string[]
  readonly shapeOf: Uint32Array
  /** Latencies of all edges of all traces, a trace's in the order of its shape's edges. */
  readonly latencyUs: Float64Array
  /** The latencies of trace `i` are entries `latencyOffsets[i]` to `latencyOffsets[i + 1]`. */
  readonly latencyOffsets: Uint32Array
  /** Parameters by node of all traces, counted through; `null` where none was recorded. */
  readonly attributes: Attributes | null
}

/** The traces of one period as trace-point graphs with explicit forks and joins. */
export class GraphTraces extends columnarTraces<GraphColumns>() {
  readonly kind = 'graphs'
  readonly epochNs = 0n
  #firstNodes: Uint32Array | undefined

  /** Returns one row per trace: id, start, response time, and how large its graph is. */
  table(): StageTable {
    return stageTable({
      trace: this.ids,
      startUs: this.startUs,
      responseTimeUs: this.responseTimeUs,
      root: Array.from(
        this.shapeOf,
        (shape) => this.labels[this.shapes.labels(shape)[0] ?? 0] ?? '',
      ),
      nodes: Uint32Array.from(this.shapeOf, (shape) => this.shapes.nodeCount(shape)),
      edges: Uint32Array.from(this.shapeOf, (shape) => this.shapes.edgeCount(shape)),
    })
  }

  /** Part of `where`: reads properties of requests, and attributes of any of their trace points. */
  reader(subject: Subject): Reader | undefined {
    if (subject.service !== null) return undefined
    const { attributes, startUs, responseTimeUs } = this
    const ofRoot = (part: 'host' | 'operation') => (trace: number) => {
      const root = this.labels[this.shapes.labels(this.shapeOf[trace] ?? 0)[0] ?? 0] ?? ''
      const name = pointNames(root)[part]
      return name === '' ? [] : [name]
    }
    const name = builtIn(subject)
    if (name === 'duration') return (trace) => [responseTimeUs[trace] ?? Number.NaN]
    if (name === 'time') return (trace) => [startUs[trace] ?? Number.NaN]
    if (name === 'host' || name === 'operation') return ofRoot(name)
    const read = attributes?.reader(subject.attribute)
    if (read === undefined) return undefined
    const first = this.firstNodes
    return (trace) => {
      const values: AttributeValue[] = []
      for (let node = first[trace] ?? 0; node < (first[trace + 1] ?? 0); node++) {
        const value = read(node)
        if (value !== undefined) values.push(value)
      }
      return values
    }
  }

  /** Part of `where`: trace points have no services. */
  callers(): undefined {
    return undefined
  }

  /** Part of `where`. */
  names(): ReturnType<SelectableTraces['names']> {
    const own = this.attributes?.keys.values ?? []
    return {
      attributes: ['operation', 'host', 'duration', 'time', ...own],
      services: [],
      operations: [],
    }
  }

  /** Some of the traces, by row, as a period of their own. */
  pick(
    rows: ArrayLike<number>,
    { name = this.name, selected }: { readonly name?: string; readonly selected?: Selected } = {},
  ): this {
    const { shapes, labels, attributes, ids, latencyUs } = this
    const chosen = Uint32Array.from(rows)
    const { offsets, entries } = entriesWithin(this.latencyOffsets, chosen)
    const columns = {
      shapes,
      labels,
      latencyOffsets: offsets,
      ids: Array.from(chosen, (trace) => ids[trace] ?? ''),
      startUs: gather(this.startUs, chosen),
      responseTimeUs: gather(this.responseTimeUs, chosen),
      shapeOf: gather(this.shapeOf, chosen),
      latencyUs: gather(latencyUs, entries),
      attributes: attributes?.pick(entriesWithin(this.firstNodes, chosen).entries) ?? null,
    }
    return new GraphTraces(name, columns, this.quality().ofSome(selected)) as this
  }

  /** The nodes of trace `i` are `i` to `i + 1` of all traces' nodes, counted through. */
  get firstNodes(): Uint32Array {
    this.#firstNodes ??= Uint32Array.from([
      0,
      ...cumsum(this.shapeOf, (shape) => this.shapes.nodeCount(shape)),
    ])
    return this.#firstNodes
  }
}

/** Takes a Stardust label apart, `machine__thread__POINT`; others have no host. */
export function pointNames(label: string): { readonly host: string; readonly operation: string } {
  const machineEnd = label.indexOf('__')
  const threadEnd = machineEnd < 0 ? -1 : label.indexOf('__', machineEnd + 2)
  const split = threadEnd < 0 ? 0 : threadEnd + 2
  return { operation: label.slice(split), host: split === 0 ? '' : label.slice(0, threadEnd) }
}

interface GraphRecord {
  readonly id: string
  readonly startUs: number
  readonly responseTimeUs: number
  readonly nodeCount: number
  readonly edgeCount: number
  readonly labels: Uint32Array
  readonly from: Uint32Array
  readonly to: Uint32Array
  readonly latencyUs: Float64Array
}

/** Whether every edge leads to a node recorded later, as in most files: there is no cycle then. */
function leadsForward(shapes: ShapeTable, shape: number): boolean {
  const to = shapes.to(shape)
  return shapes.from(shape).every((source, edge) => source < to[edge]!)
}

export class GraphTracesBuilder {
  readonly labels = new Dictionary()
  readonly parameters: ParameterTables | undefined
  readonly #shapes = new ShapeTable()
  readonly #ids: string[] = []
  readonly #columns = growingColumns({
    startUs: 'f64',
    responseTimeUs: 'f64',
    shapeOf: 'u32',
    latencyUs: 'f64',
    latencyOffsets: 'u32',
  })
  readonly #attributes = new AttributesBuilder()
  readonly #acyclic: boolean[] = []
  readonly #graph = new ShapeGraph()
  #nodes = 0
  #hasAttributes = false

  constructor(parameters?: ParameterTables) {
    this.parameters = parameters
    this.#columns.latencyOffsets.push(0)
  }

  get size(): number {
    return this.#ids.length
  }

  internShape(graph: GraphRecord): number {
    return this.#shapes.intern(graph.labels, graph.nodeCount, graph)
  }

  isAcyclic(shape: number): boolean {
    const known =
      this.#acyclic[shape] ??
      (leadsForward(this.#shapes, shape) || this.#graph.load(this.#shapes, shape).acyclic)
    this.#acyclic[shape] = known
    return known
  }

  add(graph: GraphRecord, shape = this.internShape(graph)): void {
    const columns = this.#columns
    this.#ids.push(graph.id)
    columns.startUs.push(graph.startUs)
    columns.responseTimeUs.push(graph.responseTimeUs)
    columns.shapeOf.push(shape)
    columns.latencyUs.append(graph.latencyUs, graph.edgeCount)
    columns.latencyOffsets.push(columns.latencyUs.length)
    this.#nodes += graph.nodeCount
  }

  addAttribute(node: number, key: string, value: AttributeValue): void {
    this.#hasAttributes = true
    this.#attributes.add(this.#nodes + node, key, value)
  }

  finish(name: string, quality: QualityLog): GraphTraces {
    return new GraphTraces(
      name,
      {
        ...finishColumns(this.#columns),
        ids: this.#ids,
        shapes: this.#shapes,
        labels: this.labels.values,
        attributes: this.#hasAttributes ? this.#attributes.finish(this.#nodes) : null,
      },
      quality.finish(this.size),
    )
  }
}
