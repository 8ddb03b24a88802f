import { range, sum } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { requireFields } from '../../core/errors.ts'
import {
  custom,
  defineOptions,
  flag,
  number,
  type OptionsOf,
  readOptions,
} from '../../core/options.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { FoldedFlows, loopsOf } from '../../flows/fold/folded-flows.ts'
import { type NodeLabel, withoutHost } from '../../flows/node-labels.ts'
import { type Moments, moments } from '../../stats/moments.ts'
import type { SamplePair } from '../../stats/two-sample.ts'
import { ascendingSample, type WeightedSample } from '../../stats/weighted-sample.ts'
import { groupRows } from '../../traces/group-rows.ts'
import { KNOWLEDGE_OPTIONS } from '../knowledge/knowledge.ts'
import type { CategoryStructure, StructureCatalog, StructureOutline } from './category-structure.ts'
import { ClassTimes, collectEdgeSamples, type EdgeSamples } from './class-times.ts'

export const CATEGORY_OPTIONS = defineOptions({
  ...KNOWLEDGE_OPTIONS,
  omitHosts: flag({ default: false, sentence: 'Leave hosts out of node labels' }),
  label: custom<((node: NodeLabel) => string) | null>({
    default: null,
    sentence: 'Your own label of a node; nodes with equal labels are the same',
    expected: 'a function of a node that gives a string, or null',
    accepts: (value) => value === null || typeof value === 'function',
  }),
})

const SIZE_OPTIONS = defineOptions({
  large: number({
    default: 10,
    min: 0,
    unit: 'requests',
    sentence: 'Categories of more requests than this in a period are large',
  }),
})

export type CategoryOptions = OptionsOf<typeof CATEGORY_OPTIONS>

/** Data that `categorize` hands over. */
export interface CategoryColumns {
  readonly flows: FlowSet
  readonly options: CategoryOptions
  readonly categoryOf: Uint32Array
  readonly catalog: StructureCatalog
  /** Shapes that could not be compared within the step budget and stand alone. */
  readonly undecided: number
}

/** Requests grouped by the structure of their flows, numbered in the order of first requests. */
export class Categories extends columnarStage<Omit<CategoryColumns, 'catalog'>>() {
  static readonly madeBy: string = 'categories: what categorize returns, or comparison.categories'
  readonly #catalog: StructureCatalog
  /** Requests by category, before first. */
  readonly #members: Uint32Array
  /** Members of category c: before from `2c`, after from `2c + 1`. */
  readonly #offsets: Uint32Array
  readonly #edgeSamples = new Map<number, EdgeSamples[]>()
  readonly #wholeSamples = new Map<number, EdgeSamples[]>()
  readonly #moments = new Map<number, Moments>()

  constructor({ catalog, ...columns }: CategoryColumns) {
    super(columns)
    this.#catalog = catalog
    const { period } = columns.flows
    const groupOf = columns.categoryOf.map((id, request) => 2 * id + (period[request] ?? 0))
    const { rows, offsets } = groupRows(groupOf, 2 * catalog.size)
    this.#members = rows
    this.#offsets = offsets
  }

  get size(): number {
    return this.#catalog.size
  }

  /** Returns the structure of a category; computed on first use. */
  structure(category: number): CategoryStructure {
    return this.#catalog.structure(category)
  }

  /** Returns what comparing a category's structure needs; cheaper than `structure`. */
  outline(category: number): StructureOutline {
    return this.#catalog.outline(category)
  }

  /** Number of different node labels; `outline` numbers them from 0. */
  get labelCount(): number {
    return this.#catalog.labelCount
  }

  /** Returns the label of the root of a category's flows. */
  root(category: number): string {
    return this.#catalog.root(category)
  }

  /**
   * Returns the kind of request that a category belongs to: its root without size and attributes. Requests change from
   * one category to another within a kind.
   */
  requestKind(category: number): string {
    return this.#catalog.kind(category)
  }

  /** Returns the recorded data of a node of a category's structure, before any label rule. */
  nodeLabel(category: number, node: number): NodeLabel {
    const { shapes, labels } = this.flows
    return labels.get(shapes.labels(this.#catalog.shape(category))[node] as number)
  }

  /**
   * Returns the label of a node for display: if labels omit hosts, the recorded host is that of one request, so it is
   * left out.
   */
  shownNode(category: number, node: number): NodeLabel {
    const label = this.nodeLabel(category, node)
    return this.options.omitHosts ? withoutHost(label) : label
  }

  nodeCount(category: number): number {
    return this.flows.shapes.nodeCount(this.#catalog.shape(category))
  }

  edgeCount(category: number): number {
    return this.flows.shapes.edgeCount(this.#catalog.shape(category))
  }

  /** Rows of the requests of a category in one period. */
  members(category: number, period: Period): Uint32Array {
    const group = 2 * category + period
    return this.#members.subarray(this.#offsets[group], this.#offsets[group + 1])
  }

  count(category: number, period: Period): number {
    const group = 2 * category + period
    return (this.#offsets[group + 1] as number) - (this.#offsets[group] as number)
  }

  /** Returns response times of a category's requests in one period, in µs. */
  responseTimes(category: number, period: Period): Float64Array {
    const { responseTimeUs } = this.flows
    const members = this.members(category, period)
    const times = new Float64Array(members.length)
    for (let i = 0; i < times.length; i++) times[i] = responseTimeUs[members[i] as number] as number
    return times
  }

  /** Returns the weight of each of these; undefined where each counts once. */
  weights(category: number, period: Period): Float64Array | undefined {
    return this.flows.countsOf(this.members(category, period))
  }

  /** Returns the weighted number of a category's requests. */
  counted(category: number, period: Period): number {
    return sum(this.weights(category, period) ?? []) || this.count(category, period)
  }

  /** Returns response times of a category in one period, ascending, with their weights. */
  ascendingTimes(category: number, period: Period): WeightedSample {
    return ascendingSample(this.responseTimes(category, period), this.weights(category, period))
  }

  /** Returns response times of a category in both periods, or of another one before, with their weights. */
  samples(category: number, origin = { category, period: BEFORE as Period }): SamplePair {
    return {
      before: this.responseTimes(origin.category, origin.period),
      after: this.responseTimes(category, AFTER),
      beforeWeights: this.weights(origin.category, origin.period),
      afterWeights: this.weights(category, AFTER),
    }
  }

  /** Returns count, mean, variance and extremes of a category's response times in one period. */
  responseTimeMoments(category: number, period: Period): Moments {
    return getOrInsert(this.#moments, 2 * category + period, () =>
      moments(this.responseTimes(category, period), this.weights(category, period)),
    )
  }

  /** Returns, for a shape, the number of each edge's class in its category's structure. */
  edgeClassOf(shape: number): Uint32Array {
    return this.#catalog.classOfEdges(shape)
  }

  /** Returns, for each edge of a request as recorded, before folding, the number of its class. */
  recordedClassOf(request: number): Uint32Array {
    const { flows } = this
    const shape = flows.shapeOf[request] as number
    const classes = this.#catalog.classOfEdges(shape)
    const graph = flows instanceof FoldedFlows ? flows.folded(request) : null
    if (graph === null) return classes
    const all = [...classes, ...this.#catalog.classOfLoops(shape, loopsOf(graph))]
    return graph.edgeOf.map((edge) => all[edge] as number)
  }

  /**
   * Returns the nodes of a shape depth first: nodes at one position play the same part in all shapes of a category.
   * Among identical branches, those with lower numbers come first.
   */
  preorderOf(shape: number): Uint32Array {
    return this.#catalog.preorder(shape)
  }

  /** Latencies of each edge class of a category in both periods; worked out when first asked for. */
  edgeSamples(category: number): readonly EdgeSamples[] {
    return getOrInsert(this.#edgeSamples, category, () =>
      collectEdgeSamples(this, category, new ClassTimes(this, category)),
    )
  }

  /**
   * Returns edge samples like `edgeSamples`, but an edge of folded flows has all the time that a request's critical
   * path spent on it, over all rounds and between them. So the edges of a path add up to the response time, and steps
   * from one round to the next have no time of their own.
   */
  wholeEdgeSamples(category: number): readonly EdgeSamples[] {
    if (!(this.flows instanceof FoldedFlows)) return this.edgeSamples(category)
    return getOrInsert(this.#wholeSamples, category, () =>
      collectEdgeSamples(this, category, new ClassTimes(this, category, { whole: true })),
    )
  }

  /**
   * Returns one row per category: root, size, and count, mean, SD and C² of response times by period. With `counts:
   * 'weighted'`, each request counts its sampling weight.
   */
  table(): StageTable {
    const ids = range(this.size)
    const moments = (period: Period) => (category: number) =>
      this.responseTimeMoments(category, period)
    const [before, after] = [moments(BEFORE), moments(AFTER)]
    return rowTable(
      ids,
      {
        category: Number,
        root: (category) => this.root(category),
        nodes: (category) => this.nodeCount(category),
        edges: (category) => this.edgeCount(category),
        before: (category) => this.counted(category, BEFORE),
        after: (category) => this.counted(category, AFTER),
        beforeMeanUs: (category) => before(category).mean,
        afterMeanUs: (category) => after(category).mean,
        beforeSdUs: (category) => before(category).sd,
        afterSdUs: (category) => after(category).sd,
        beforeC2: (category) => squaredVariation(before(category)),
        afterC2: (category) => squaredVariation(after(category)),
        ...(this.flows.outcomes && {
          beforeFailed: (category: number) => this.failed(category, BEFORE),
          afterFailed: (category: number) => this.failed(category, AFTER),
        }),
      },
      this.flows.quantity,
    )
  }

  /** Returns one row per request: `flows.table()` with the category of each. */
  requestTable(): StageTable {
    const category = { category: this.categoryOf }
    return this.flows.table().assign(category).relocate('category', { after: 'root' }) as StageTable
  }

  /**
   * Returns the sizes of flows and categories, one row per period that has requests: `requests`, `categories`, mean and
   * SD of the number of nodes over requests (`nodesMean`) and over categories (`categoryNodesMean`), and the share of
   * categories that are large (`largeShare`) with the share of requests in them (`inLargeShare`).
   *
   * @param options.large categories of more requests than this in the period are large; default 10
   * @throws OptionError for a number that is negative
   *
   * Source: Sambasivan 2013, Tables 3.1 to 3.3.
   *
   * @example
   * comparison.categories.sizes().print()
   */
  sizes(given: Partial<OptionsOf<typeof SIZE_OPTIONS>> = {}): StageTable {
    const { large } = readOptions(SIZE_OPTIONS, given)
    const rows = ([BEFORE, AFTER] as const).flatMap((period) => {
      const count = (category: number) => this.count(category, period)
      const seen = range(this.size).filter((category) => count(category) > 0)
      if (seen.length === 0) return []
      const counted = (category: number) => this.counted(category, period)
      const requests = sum(seen, counted)
      const nodes = seen.map((category) => this.nodeCount(category))
      const ofRequests = moments(nodes, seen.map(counted))
      const ofCategories = moments(nodes)
      const isLarge = seen.filter((category) => count(category) > large)
      return [
        {
          period: period === BEFORE ? 'before' : 'after',
          requests,
          categories: seen.length,
          nodesMean: ofRequests.mean,
          nodesSd: ofRequests.sd,
          categoryNodesMean: ofCategories.mean,
          categoryNodesSd: ofCategories.sd,
          largeShare: isLarge.length / seen.length,
          inLargeShare: sum(isLarge, counted) / requests,
        },
      ]
    })
    return rowTable(rows, {
      ...own('period requests categories nodesMean nodesSd categoryNodesMean categoryNodesSd'),
      ...own('largeShare inLargeShare'),
    })
  }

  /** Returns the weighted number of a category's failed requests; 0 where outcomes were not recorded. */
  failed(category: number, period: Period): number {
    const { flows } = this
    return sum(this.members(category, period), (request) =>
      flows.outcomes?.failed(request) ? flows.countOf(request) : 0,
    )
  }
}

/** Returns C² = variance / mean², `NaN` for fewer than two requests or a mean of 0. */
export function squaredVariation(moments: Moments): number {
  requireFields('squaredVariation(moments)', moments, 'mean', 'variance')
  const { mean, variance } = moments
  return mean === 0 ? Number.NaN : variance / mean ** 2
}
