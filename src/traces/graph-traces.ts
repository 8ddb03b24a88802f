import { columnarStage } from '../core/stage.ts'
import { type StageTable, stageTable } from '../core/stage-table.ts'
import { type Attributes, AttributesBuilder, type AttributeValue } from './attributes.ts'
import { Dictionary } from './dictionary.ts'
import { finishColumns, growingColumns } from './growing-columns.ts'
import type { ParameterTables } from './parameter-tables.ts'
import type { Quality, QualityLog } from './quality.ts'
import { ShapeGraph, ShapeTable } from './shape-table.ts'

/** Columns of traces that were recorded as trace-point graphs, one row a trace. */
interface GraphColumns {
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
  /**
   * Parameters by node, the nodes of all traces counted through; `null` where none was recorded.
   */
  readonly attributes: Attributes | null
}

/** The traces of one period as trace-point graphs with explicit forks and joins. */
export class GraphTraces extends columnarStage<GraphColumns>() {
  readonly kind = 'graphs'
  /** Name of the period in messages and charts. */
  readonly name: string
  readonly epochNs = 0n
  readonly #quality: Quality

  constructor(name: string, columns: GraphColumns, quality: Quality) {
    super(columns)
    this.name = name
    this.#quality = quality
  }

  get size(): number {
    return this.ids.length
  }

  /** What was left out of this load, and why. */
  quality(): Quality {
    return this.#quality
  }

  /** One row a trace: id, start, response time, and how large its graph is. */
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
}

/** One trace-point graph as a reader hands it over; arrays may be longer than the counts say. */
interface GraphRecord {
  readonly id: string
  readonly startUs: number
  readonly responseTimeUs: number
  readonly nodeCount: number
  readonly edgeCount: number
  /** Label codes of `builder.labels`, one a node. */
  readonly labels: Uint32Array
  readonly from: Uint32Array
  readonly to: Uint32Array
  readonly latencyUs: Float64Array
}

/** Collects trace-point graphs into columns. */
export class GraphTracesBuilder {
  readonly labels = new Dictionary()
  /** Parameters from tables beside the traces, where there are any. */
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

  /** Returns the shape of a graph, whether or not it will be added. */
  internShape(graph: GraphRecord): number {
    return this.#shapes.intern(graph.labels, graph.nodeCount, graph)
  }

  /** Returns whether the edges of a shape never lead back to where they came from. */
  isAcyclic(shape: number): boolean {
    const known = this.#acyclic[shape] ?? this.#graph.load(this.#shapes, shape).acyclic
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

  /** A parameter of node `node` of the graph that will be added next. */
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
