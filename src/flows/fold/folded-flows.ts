// Runs once a span, node or edge: the loops index with `!`.
import { groups } from 'd3-array'
import { OptionError, requireNumbers, requireStage } from '../../core/errors.ts'
import {
  count,
  defineOptions,
  flag,
  type OptionsOf,
  oneOf,
  optionalText,
  share,
} from '../../core/options.ts'
import { own, rowTable, type StageTable } from '../../core/stage.ts'
import { moments } from '../../stats/moments.ts'
import { type FlowColumns, FlowSet } from '../flow-set.ts'
import { type EdgeNote, type FoldedGraph, logicalOrder } from './folded-graph.ts'

/** Options of `foldFlows`. */
export const FOLD_OPTIONS = defineOptions({
  least: count({
    default: 2,
    min: 2,
    unit: 'repetitions',
    sentence: 'Fewest repetitions that are folded',
  }),
  log2: flag({
    default: false,
    sentence:
      'Whether sizes differ only by power of two (×512–1023), so that flows of similar size share a category',
  }),
  omitHosts: flag({
    default: false,
    sentence:
      'Whether labels lose their hosts first, so that rounds of a loop on different hosts are the same',
  }),
  similar: share({
    default: 1,
    sentence:
      'Fold only flows whose repetitions take similar times: the position of a repetition may explain at most this share of the variance of each step’s log times; 1 folds all, 0.14 keeps large effects apart',
    flag: 'similar <share>',
  }),
  sizeAttribute: optionalText(
    "Root's parameter that sets the number of repetitions, shown instead of ×1024, as in size=320KB",
    'size-attribute <name>',
  ),
  sizeUnit: oneOf(['bytes', 'none'], {
    default: 'bytes',
    sentence:
      "Unit of `sizeAttribute`: 'bytes', shown in KB of 1,024 bytes, or 'none' for other numbers",
    flag: 'size-unit <unit>',
  }),
})

export type FoldOptions = OptionsOf<typeof FOLD_OPTIONS>

/** An edge of a folded flow: of its shape, or a loop that the shape cannot hold. */
interface LogicalEdge {
  /** Positions in the folded shape. */
  readonly from: number
  readonly to: number
  /** Number among the shape's edges; `null` for a loop, as from one lane to the next. */
  readonly edge: number | null
  /** Relation to each repetition that the edge touches, first folded first. */
  readonly notes: readonly EdgeNote[]
}

/** Where loops start and end: positions in a folded shape. */
export interface LoopEnds {
  readonly from: readonly number[]
  readonly to: readonly number[]
}

/** Folded shapes, and the folded latencies of their requests. */
export interface FoldedShapes {
  /** By shape; undefined where nothing repeats. */
  readonly graphs: readonly (FoldedGraph | undefined)[]
  /**
   * By shape, the recorded node that each folded node stands for; undefined where nothing repeats.
   */
  readonly sources: readonly (Uint32Array | undefined)[]
  /**
   * By shape, the logical edge that each recorded edge became: folded edges numbered as
   * `logicalOrder` has them. Undefined where nothing repeats.
   */
  readonly logicalOf: readonly (Uint32Array | undefined)[]
  readonly unfinished: number
  readonly latencyUs: Float64Array
  readonly latencyOffsets: Uint32Array
}

interface FoldedParts {
  readonly unfolded: FlowSet
  readonly folding: FoldOptions
  readonly folded: Pick<FoldedShapes, 'graphs' | 'logicalOf' | 'unfinished'>
}

/**
 * Flows whose repeated parts are folded into one: what `foldFlows` makes. Goes wherever flows
 * go; the flows as they were recorded stay in `unfolded`, request for request.
 *
 * Parameters of a folded step are those of its first repetition, for `explain` as well.
 */
export class FoldedFlows extends FlowSet {
  static override readonly madeBy: string = 'folded flows: what foldFlows returns'
  readonly folding: FoldOptions
  readonly #result: FoldedParts
  #unfolded: FlowSet | (() => FlowSet)
  #loops: Map<number, LoopEnds> | undefined

  constructor(columns: FlowColumns, result: FoldedParts) {
    super(columns, result.unfolded.options, result.unfolded.report)
    this.folding = result.folding
    this.#result = result
    this.#unfolded = result.unfolded
  }

  get unfolded(): FlowSet {
    if (typeof this.#unfolded === 'function') this.#unfolded = this.#unfolded()
    return this.#unfolded
  }

  /**
   * Returns some of the requests, as `selectRequests` needs them.
   *
   * @param select picks the same ones from recorded flows; asked for when they are looked at, as
   *   these are large
   */
  ofRequests(columns: FlowColumns, select: (recorded: FlowSet) => FlowSet): FoldedFlows {
    const selected = new FoldedFlows(columns, this.#result)
    selected.#unfolded = () => select(this.unfolded)
    return selected
  }

  /** Returns the size that a request's root recorded, as its label says it; `undefined` without. */
  recordedSize(request: number): string | undefined {
    const { size } = this.labels.get(this.shapes.labels(this.shapeOf[request]!)[0]!)
    const isRecorded =
      this.folding.sizeAttribute !== null && size?.startsWith(`${this.folding.sizeAttribute}=`)
    return isRecorded ? size?.replace(/ #\w+$/, '') : undefined
  }

  /** Returns the folded structure of a request, `undefined` where nothing in it repeats. */
  folded(request: number): FoldedGraph | undefined {
    return this.#result.folded.graphs[this.#shape(request)]
  }

  /** Recorded shapes so tangled that the search was broken off: repetitions may be left in them. */
  get unfinished(): number {
    return this.#result.folded.unfinished
  }

  /** Returns the edges of a request: those of its shape in their order, then loops. */
  logicalEdges(request: number): readonly LogicalEdge[] {
    const graph = this.folded(request)
    if (graph === undefined) {
      const shape = this.shapeOf[request]!
      const to = this.shapes.to(shape)
      return Array.from(this.shapes.from(shape), (from, edge) => {
        return { from, to: to[edge]!, edge, notes: [] }
      })
    }
    let edges = 0
    return logicalOrder(graph).map((at) => ({
      from: graph.from[at]!,
      to: graph.to[at]!,
      edge: graph.loops[at] === 1 ? null : edges++,
      notes: graph.notes[at]!,
    }))
  }

  /**
   * Returns, for each recorded edge of a request, its logical edge, as a place in `logicalEdges(request)`; `undefined`
   * if nothing is folded, so each edge is its own.
   */
  logicalOf(request: number): Uint32Array | undefined {
    return this.#result.folded.logicalOf[this.#shape(request)]
  }

  /** Returns the loops that requests of a folded shape have, each once. */
  loops(shape: number): LoopEnds {
    this.#loops ??= this.#collectLoops()
    return this.#loops.get(shape) ?? { from: [], to: [] }
  }

  #collectLoops(): Map<number, LoopEnds> {
    const seen = new Set<string>()
    const found = new Map<number, { from: number[]; to: number[] }>()
    const once = (key: string) => !seen.has(key) && seen.add(key)
    for (let request = 0; request < this.size; request++) {
      const shape = this.shapeOf[request]!
      if (!once(`${shape} ${this.#shape(request)}`)) continue
      const graph = this.folded(request)
      if (graph === undefined) continue
      const loops = found.get(shape) ?? { from: [], to: [] }
      found.set(shape, loops)
      graph.loops.forEach((isLoop, edge) => {
        const [from, to] = [graph.from[edge]!, graph.to[edge]!]
        if (isLoop === 0 || !once(`${shape} ${from} ${to} loop`)) return
        loops.from.push(from)
        loops.to.push(to)
      })
    }
    return found
  }

  #shape(request: number): number {
    return this.unfolded.shapeOf[request]!
  }
}

/** Flows as they were recorded: those that were folded, or these. */
export function recordedFlows(flows: FlowSet): FlowSet {
  return flows instanceof FoldedFlows ? flows.unfolded : flows
}

/**
 * Returns how large flows were and are: one row a group of requests, with mean and standard
 * deviation of the number of nodes as recorded and folded.
 *
 * Columns: `group`, `root` (label of the group's first request, folded), `requests`, `nodesMean`,
 * `nodesSd`, `foldedMean`, `foldedSd`. Groups come in ascending order; the SD of one request is
 * `NaN`.
 *
 * @param groupOf a number a request, such as `categorize(flows).categoryOf`, or `flows.period`; by
 *   default its folded shape
 * @throws OptionError when `groupOf` has not one number a request
 *
 * Source: Sambasivan 2013, Table 3.6.
 *
 * @example
 * const sizes = foldFlows(flows)
 * foldedSizes(sizes, categorize(sizes).categoryOf).print()
 */
export function foldedSizes(
  flows: FoldedFlows,
  groupOf: ArrayLike<number> = flows?.shapeOf,
): StageTable {
  requireStage('foldedSizes(flows)', flows, FoldedFlows)
  requireNumbers({ groupOf })
  if (groupOf.length !== flows.size) {
    throw new OptionError('groupOf', `${groupOf.length} numbers`, `one a request: ${flows.size}`)
  }
  const { shapes, shapeOf, labels, unfolded } = flows
  const rows = groups(flows.ids.keys(), (request) => groupOf[request]!)
    .sort(([a], [b]) => a - b)
    .map(([group, requests]) => ({
      group,
      requests: requests.length,
      root: labels.text(shapes.labels(shapeOf[requests[0]!]!)[0] as number),
      recorded: moments(requests.map((i) => unfolded.shapes.nodeCount(unfolded.shapeOf[i]!))),
      folded: moments(requests.map((i) => shapes.nodeCount(shapeOf[i]!))),
    }))
  return rowTable(rows, {
    ...own('group root requests'),
    nodesMean: ({ recorded }) => recorded.mean,
    nodesSd: ({ recorded }) => recorded.sd,
    foldedMean: ({ folded }) => folded.mean,
    foldedSd: ({ folded }) => folded.sd,
  })
}
