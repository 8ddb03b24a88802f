import { Stage } from '../core/stage.ts'
import { type StageTable, stageTable } from '../core/stage-table.ts'
import type { Attributes } from './attributes.ts'
import type { Quality } from './quality.ts'
import type { ShapeTable } from './shape-table.ts'

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
