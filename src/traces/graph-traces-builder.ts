import { AttributesBuilder, type AttributeValue } from './attributes.ts'
import { Dictionary } from './dictionary.ts'
import { GraphTraces } from './graph-traces.ts'
import { growingFloat64, growingUint32 } from './growing-columns.ts'
import type { ParameterTables } from './parameter-tables.ts'
import type { QualityLog } from './quality.ts'
import { ShapeGraph } from './shape-graph.ts'
import { ShapeTable } from './shape-table.ts'

/** One trace-point graph as a reader hands it over; arrays may be longer than the counts say. */
export interface GraphRecord {
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
