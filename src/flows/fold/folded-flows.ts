// Runs once a span, node or edge: the loops index with `!`.
import { groups } from 'd3-array'
import { OptionError, requireNumbers, requireStage } from '../../core/errors.ts'
import { defineOptions, flag, type OptionsOf, oneOf, optionalText } from '../../core/options.ts'
import { own, rowTable, type StageTable } from '../../core/stage.ts'
import { moments } from '../../stats/moments.ts'
import { type FlowColumns, FlowSet } from '../flow-set.ts'
import type { FoldedGraph } from './fold-graph.ts'

/** Options of `foldFlows`. */
export const FOLD_OPTIONS = defineOptions({
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

/** Where loops start and end: positions in a folded shape. */
export interface LoopEnds {
  readonly from: readonly number[]
  readonly to: readonly number[]
}

interface FoldedParts {
  readonly unfolded: FlowSet
  readonly folding: FoldOptions
  /** By recorded shape; `null` where nothing repeats. */
  readonly graphs: readonly (FoldedGraph | null | undefined)[]
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
  readonly #parts: FoldedParts
  #unfolded: FlowSet | (() => FlowSet)

  constructor(columns: FlowColumns, parts: FoldedParts) {
    super(columns, parts.unfolded.options, parts.unfolded.report)
    this.folding = parts.folding
    this.#parts = parts
    this.#unfolded = parts.unfolded
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
    const selected = new FoldedFlows(columns, this.#parts)
    selected.#unfolded = () => select(this.unfolded)
    return selected
  }

  /** Returns the folded structure of a request, `null` where nothing in it repeats. */
  folded(request: number): FoldedGraph | null {
    return this.#parts.graphs[this.unfolded.shapeOf[request]!] ?? null
  }

  /** Returns the loops that requests of a folded shape have. */
  loops(shape: number): LoopEnds {
    const ends = new Map<string, readonly [number, number]>()
    const graphs = new Set(Array.from(this.shapeOf, (own, i) => own === shape && this.folded(i)))
    for (const graph of graphs) {
      if (!graph) continue
      const { from, to } = loopsOf(graph)
      from.forEach((source, loop) => {
        ends.set(`${source} ${to[loop]}`, [source, to[loop]!])
      })
    }
    return {
      from: Array.from(ends.values(), ([a]) => a),
      to: Array.from(ends.values(), ([, b]) => b),
    }
  }
}

export function loopsOf({ from, to, loops }: FoldedGraph): LoopEnds {
  const first = loops.indexOf(1)
  return first < 0
    ? { from: [], to: [] }
    : { from: [...from.slice(first)], to: [...to.slice(first)] }
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
