import { Stage } from '../core/stage.ts'
import { type StageTable, stageTable } from '../core/stage-table.ts'
import { type Attributes, AttributesBuilder, type AttributeValue } from './attributes.ts'
import { Dictionary } from './dictionary.ts'
import { growingFloat64, growingUint32 } from './growing-columns.ts'
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
  /** Parameters by node, the nodes of all traces counted through; `null` where none was recorded. */
  readonly attributes: Attributes | null
}

/** The traces of one period as trace-point graphs with explicit forks and joins. */
export class GraphTraces extends Stage implements GraphColumns {
  readonly kind = 'graphs'
  /** What the period is called in messages and charts. */
  readonly name: string
  readonly epochNs = 0n
  readonly ids: readonly string[]
  readonly startUs: Float64Array
  readonly responseTimeUs: Float64Array
  readonly shapes: ShapeTable
  readonly labels: readonly string[]
  readonly shapeOf: Uint32Array
  readonly latencyUs: Float64Array
  readonly latencyOffsets: Uint32Array
  readonly attributes: Attributes | null
  readonly #quality: Quality

  constructor(name: string, columns: GraphColumns, quality: Quality) {
    super()
    this.name = name
    this.ids = columns.ids
    this.startUs = columns.startUs
    this.responseTimeUs = columns.responseTimeUs
    this.shapes = columns.shapes
    this.labels = columns.labels
    this.shapeOf = columns.shapeOf
    this.latencyUs = columns.latencyUs
    this.latencyOffsets = columns.latencyOffsets
    this.attributes = columns.attributes
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
  readonly #startUs = growingFloat64()
  readonly #responseTimeUs = growingFloat64()
  readonly #shapeOf = growingUint32()
  readonly #latencyUs = growingFloat64()
  readonly #latencyOffsets = growingUint32()
  readonly #attributes = new AttributesBuilder()
  readonly #acyclic: boolean[] = []
  readonly #graph = new ShapeGraph()
  #nodes = 0
  #hasAttributes = false

  constructor(parameters?: ParameterTables) {
    this.parameters = parameters
    this.#latencyOffsets.push(0)
  }

  get size(): number {
    return this.#ids.length
  }

  /** The shape of a graph, whether or not it will be added. */
  internShape(graph: GraphRecord): number {
    return this.#shapes.intern(graph.labels, graph.nodeCount, graph)
  }

  /** Whether the edges of a shape never lead back to where they came from. */
  isAcyclic(shape: number): boolean {
    const known = this.#acyclic[shape] ?? this.#graph.load(this.#shapes, shape).acyclic
    this.#acyclic[shape] = known
    return known
  }

  add(graph: GraphRecord, shape = this.internShape(graph)): void {
    this.#ids.push(graph.id)
    this.#startUs.push(graph.startUs)
    this.#responseTimeUs.push(graph.responseTimeUs)
    this.#shapeOf.push(shape)
    this.#latencyUs.append(graph.latencyUs, graph.edgeCount)
    this.#latencyOffsets.push(this.#latencyUs.length)
    this.#nodes += graph.nodeCount
  }

  /** A parameter of node `node` of the graph that will be added next. */
  addAttribute(node: number, key: string, value: AttributeValue): void {
    this.#hasAttributes = true
    this.#attributes.add(this.#nodes + node, key, value)
  }

  finish(name: string, quality: QualityLog): GraphTraces {
    const everyNode = Int32Array.from(
      { length: this.#hasAttributes ? this.#nodes : 0 },
      (_, i) => i,
    )
    return new GraphTraces(
      name,
      {
        ids: this.#ids,
        startUs: this.#startUs.finish(),
        responseTimeUs: this.#responseTimeUs.finish(),
        shapes: this.#shapes,
        labels: this.labels.values,
        shapeOf: this.#shapeOf.finish(),
        latencyUs: this.#latencyUs.take(),
        latencyOffsets: this.#latencyOffsets.finish(),
        attributes: this.#hasAttributes ? this.#attributes.finish(this.#nodes, everyNode) : null,
      },
      quality.finish(this.size),
    )
  }
}
