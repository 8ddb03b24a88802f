import { InternalError } from '../../errors.ts'
import { type FlowColumns, FlowSet } from '../flow-set.ts'
import { collapseGraph } from './collapse-graph.ts'
import { type FoldedShapes, shapeEdges } from './fold-shapes.ts'
import type { EdgeNote, FoldedGraph } from './folded-graph.ts'

/** What flows were collapsed with; see `collapseFlows`. */
export interface CollapseOptions {
  readonly least: number
  readonly log2: boolean
  readonly omitHosts: boolean
  readonly sizeAttribute: string | null
  readonly sizeUnit: 'bytes' | null
}

/** An edge of a collapsed flow: of its shape, or a loop that the shape cannot hold. */
export interface LogicalEdge {
  /** Positions in the collapsed shape. */
  readonly from: number
  readonly to: number
  /** Number among the shape's edges; `null` for a loop, as from one lane to the next. */
  readonly edge: number | null
  /** How it stands to each repetition it touches, first folded first. */
  readonly notes: readonly EdgeNote[]
}

/** What `collapseFlows` hands over besides flows. */
export interface CollapseResult {
  readonly uncollapsed: FlowSet
  readonly collapsing: CollapseOptions
  readonly folded: Pick<FoldedShapes, 'graphs' | 'unfinished'>
  /** What each shape was folded from: label codes as the collapsed flows have them. */
  readonly relabel: (shape: number) => Uint32Array
  readonly labelRank: Uint32Array
}

/**
 * Flows whose repeated parts are folded into one: what `collapseFlows` makes. Goes wherever flows
 * go; the flows as they were recorded stay in `uncollapsed`, request for request.
 *
 * Parameters of a folded step are those of its first repetition, for `explainMutation` as well.
 */
export class CollapsedFlows extends FlowSet {
  readonly collapsing: CollapseOptions
  readonly #result: CollapseResult
  #uncollapsed: FlowSet | (() => FlowSet)
  /** The shape that samples were asked for last, and the logical edge of each of its edges. */
  #mapped: { readonly shape: number; readonly edgeOf: Uint32Array } | undefined

  constructor(columns: FlowColumns, result: CollapseResult) {
    super(columns, result.uncollapsed.options, result.uncollapsed.report)
    this.collapsing = result.collapsing
    this.#result = result
    this.#uncollapsed = result.uncollapsed
  }

  /** The same requests as they were recorded. */
  get uncollapsed(): FlowSet {
    if (typeof this.#uncollapsed === 'function') this.#uncollapsed = this.#uncollapsed()
    return this.#uncollapsed
  }

  /**
   * Some of the requests, as `selectRequests` needs them.
   *
   * @param select picks the same ones from recorded flows; asked for when they are looked at, as
   *   these are large
   */
  ofRequests(columns: FlowColumns, select: (recorded: FlowSet) => FlowSet): CollapsedFlows {
    const selected = new CollapsedFlows(columns, this.#result)
    selected.#uncollapsed = () => select(this.uncollapsed)
    return selected
  }

  /** The folded structure of a request, `undefined` where nothing in it repeats. */
  folded(request: number): FoldedGraph | undefined {
    return this.#result.folded.graphs[this.#shape(request)]
  }

  /** Recorded shapes so tangled that the search was broken off: repetitions may be left in them. */
  get unfinished(): number {
    return this.#result.folded.unfinished
  }

  /** The edges of a request: those of its shape in their order, then loops. */
  logicalEdges(request: number): readonly LogicalEdge[] {
    const graph = this.folded(request)
    if (graph === undefined) {
      const shape = this.shapeOf[request] as number
      const to = this.shapes.to(shape)
      return Array.from(this.shapes.from(shape), (from, edge) => {
        return { from, to: to[edge] as number, edge, notes: [] }
      })
    }
    let edges = 0
    return logicalOrder(graph).map((at) => ({
      from: graph.from[at] as number,
      to: graph.to[at] as number,
      edge: graph.loops[at] === 1 ? null : edges++,
      notes: graph.notes[at] as readonly EdgeNote[],
    }))
  }

  /**
   * All latencies that were recorded for a logical edge of a request, in µs: one a lane that has it.
   * They are no independent samples; for tests, `latencies` has one value a request.
   *
   * @param edge its place in `logicalEdges(request)`
   */
  samples(request: number, edge: number): Float64Array {
    const recorded = this.uncollapsed.latencies(request)
    const graph = this.folded(request)
    if (graph === undefined) return recorded.slice(edge, edge + 1)
    const edgeOf = this.#edgeOf(this.#shape(request))
    const wanted = logicalOrder(graph)[edge]
    return recorded.filter((_, at) => edgeOf[at] === wanted)
  }

  #shape(request: number): number {
    return this.uncollapsed.shapeOf[request] as number
  }

  /** For each recorded edge of a shape the folded one; folding again gives the same. */
  #edgeOf(shape: number): Uint32Array {
    if (this.#mapped?.shape === shape) return this.#mapped.edgeOf
    const { labelRank, relabel, collapsing } = this.#result
    const graph = { labels: relabel(shape), ...shapeEdges(this.uncollapsed, shape) }
    const { steps } = collapseGraph(graph, { labelRank, least: collapsing.least })
    const edgeOf = graph.from.map((_, edge) =>
      steps.reduce((at, step) => step.edgeOf[at] as number, edge),
    )
    if (steps.length === 0) throw new InternalError(`shape ${shape} is not folded the same twice`)
    this.#mapped = { shape, edgeOf }
    return edgeOf
  }
}

/** The edges of a folded graph: first those of the acyclic graph, then loops. */
function logicalOrder({ loops }: FoldedGraph): number[] {
  const edges = Array.from(loops, (_, edge) => edge)
  return [
    ...edges.filter((edge) => loops[edge] === 0),
    ...edges.filter((edge) => loops[edge] === 1),
  ]
}
