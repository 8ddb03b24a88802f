import {
  GREP,
  type HdfsWorkload,
  RAND_SORT,
  WORD_COUNT,
} from '../datasets/hdfs-writes/hdfs-requests.ts'
import { hdfsTraces } from '../datasets/hdfs-writes/hdfs-traces.ts'
import { squaredVariation } from '../src/compare/categories/categories.ts'
import { categorize } from '../src/compare/categories/categorize.ts'
import { buildFlows } from '../src/flows/build-flows.ts'
import { BEFORE, type FlowSet } from '../src/flows/flow-set.ts'
import { foldFlows } from '../src/flows/fold/fold-flows.ts'
import { type Moments, moments } from '../src/stats/moments.ts'

/** Mean and standard deviation of numbers of nodes. */
export type NodeCounts = Readonly<Pick<Moments, 'mean' | 'sd'>>

/** What the thesis measures of one HDFS workload. */
export interface HdfsRow {
  readonly workload: 'rand sort' | 'word count' | 'grep'
  /** Nodes of all requests and of writes, as recorded and folded. Table 3.6. */
  readonly nodes: NodeCounts
  readonly writeNodes: NodeCounts
  readonly foldedNodes: NodeCounts
  readonly foldedWriteNodes: NodeCounts
  /** Requests and categories, of all and of writes. Table 3.7. */
  readonly requests: number
  readonly categories: number
  readonly writes: number
  readonly writeCategories: number
  /** Without hosts, as §3.5.3 gives them for rand sort: categories of writes, and C² of the largest. */
  readonly writeCategoriesWithoutHosts: number | null
  readonly c2WithoutHosts: number | null
}

const WORKLOADS = { 'rand sort': RAND_SORT, 'word count': WORD_COUNT, grep: GREP } as const

/**
 * Measures a simulated run of each workload of the thesis's HDFS as its Tables 3.6 and 3.7 do.
 *
 * @param options.portions portions of 64 KB in a block; default 1024, as in HDFS
 *
 * Source: Sambasivan 2013, §3.5, Tables 3.5 to 3.7. The runs are simulated from its description.
 */
export function hdfsTable(options: Pick<HdfsWorkload, 'portions'> = {}): HdfsRow[] {
  return Object.entries(WORKLOADS).map(([workload, settings]) =>
    measureRun(workload as HdfsRow['workload'], { ...settings, ...options }),
  )
}

function measureRun(workload: HdfsRow['workload'], settings: HdfsWorkload): HdfsRow {
  const flows = buildFlows(hdfsTraces(settings))
  const folded = foldFlows(flows)
  const all = Array.from(flows.ids, (_, request) => request)
  const writes = all.filter((request) => rootOf(folded, request).includes('NEW_BLOCK'))
  const { size, categoryOf } = categorize(folded)
  const few = categorize(folded, { omitHosts: true })
  const writeCategories = [...new Set(writes.map((request) => few.categoryOf[request] as number))]
  const [largest = 0] = writeCategories.sort((a, b) => few.count(b, BEFORE) - few.count(a, BEFORE))
  return {
    workload,
    nodes: nodeCounts(flows, all),
    writeNodes: nodeCounts(flows, writes),
    foldedNodes: nodeCounts(folded, all),
    foldedWriteNodes: nodeCounts(folded, writes),
    requests: all.length,
    categories: size,
    writes: writes.length,
    writeCategories: new Set(writes.map((request) => categoryOf[request])).size,
    writeCategoriesWithoutHosts: writeCategories.length,
    c2WithoutHosts: squaredVariation(few.responseTimeMoments(largest, BEFORE)),
  }
}

function rootOf({ labels, shapes, shapeOf }: FlowSet, request: number): string {
  return labels.text(shapes.labels(shapeOf[request] as number)[0] as number)
}

function nodeCounts({ shapes, shapeOf }: FlowSet, requests: readonly number[]): NodeCounts {
  return moments(requests.map((request) => shapes.nodeCount(shapeOf[request] as number)))
}

const counts = (mean: number, sd: number): NodeCounts => ({ mean, sd })

/** The same as the thesis reports it. */
export const THESIS_HDFS_TABLE: readonly HdfsRow[] = [
  {
    workload: 'rand sort',
    nodes: counts(1390, 4400),
    writeNodes: counts(15_200, 1920),
    foldedNodes: counts(10.2, 9.77),
    foldedWriteNodes: counts(41, 0),
    requests: 1530,
    categories: 259,
    writes: 139,
    writeCategories: 132,
    writeCategoriesWithoutHosts: 16,
    c2WithoutHosts: 0.45,
  },
  {
    workload: 'word count',
    nodes: counts(128, 1370),
    writeNodes: counts(15_500, 0),
    foldedNodes: counts(7.52, 3.12),
    foldedWriteNodes: counts(41, 0),
    requests: 1025,
    categories: 116,
    writes: 8,
    writeCategories: 7,
    writeCategoriesWithoutHosts: null,
    c2WithoutHosts: null,
  },
  {
    workload: 'grep',
    nodes: counts(7.42, 2.42),
    writeNodes: counts(56, 21.2),
    foldedNodes: counts(7.39, 1.75),
    foldedWriteNodes: counts(41, 0),
    requests: 1041,
    categories: 116,
    writes: 2,
    writeCategories: 2,
    writeCategoriesWithoutHosts: null,
    c2WithoutHosts: null,
  },
]
