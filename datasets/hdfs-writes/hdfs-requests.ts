import { OptionError } from '../../src/core/errors.ts'
import { type RandomSource, randomSource } from '../../src/stats/random.ts'
import { blockWrite, type WriteGraph } from './block-write.ts'
import { blockRead, fileLookup } from './small-requests.ts'

/** What HDFS is made to do. */
export interface HdfsWorkload {
  /** Requests that write a block. Default 139. */
  readonly writes?: number
  /** Requests that read a block or look a file up; see `small-requests.ts`. Default 0. */
  readonly others?: number
  /** Machines, each with a datanode. Default 10. */
  readonly datanodes?: number
  /** Replicas of each block. Default 3. */
  readonly replication?: number
  /** Portions of a whole block. Default 1024: 64 MB in portions of 64 KB. */
  readonly portions?: number
  /** Share of writes that end within a block, at any portion. Default 0. */
  readonly partial?: number
  /** A datanode, by number, whose disk takes `factor` times as long. Default `null`. */
  readonly slow?: { readonly datanode: number; readonly factor: number } | null
  /** Default 1. */
  readonly seed?: number
}

/** A run like the thesis's `rand sort` (Tables 3.6 and 3.7): 1,530 requests, 139 of them writes. */
export const RAND_SORT: HdfsWorkload = { writes: 139, others: 1391, partial: 0.015 }

/** One simulated request. */
export interface HdfsRequest {
  readonly graph: WriteGraph
  /** When each trace point happened, µs since the request began. */
  readonly timesUs: Float64Array
  /** µs since the start of the run. */
  readonly startUs: number
  /** Bytes written; 0 for requests that write none. */
  readonly bytes: number
}

const PORTION_BYTES = 64 * 1024
/** How much latencies vary from edge to edge, and all of a request's together (of the logarithm). */
const EDGE_SIGMA = 0.3
const REQUEST_SIGMA = 0.25
const BETWEEN_US = 20_000

/**
 * Requests to an HDFS cluster, one after the other, simulated. The datanodes of a write's pipeline
 * are drawn at random, in order, each at most once, as HDFS does: N!/(N − R)! pipelines, equally likely.
 *
 * @throws OptionError for counts that are not whole, and more replicas than datanodes
 */
export function* hdfsRequests({
  writes = 139,
  others = 0,
  datanodes = 10,
  replication = 3,
  portions = 1024,
  partial = 0,
  slow = null,
  seed = 1,
}: HdfsWorkload = {}): Generator<HdfsRequest> {
  requireCount('writes', writes, 0)
  requireCount('others', others, 0)
  requireCount('replication', replication, 1)
  requireCount('portions', portions, 1)
  requireCount('datanodes', datanodes, replication)
  const random = randomSource(seed)
  const machines = Array.from({ length: datanodes }, (_, i) => `dn${String(i).padStart(2, '0')}`)
  const slowed = slow === null ? undefined : `${machines[slow.datanode]}__datanode__WRITE_PORTION`
  const isWrite = random.shuffle(Array.from({ length: writes + others }, (_, i) => i < writes))
  let startUs = 0
  for (const write of isWrite) {
    startUs += 2 * BETWEEN_US * random.next()
    const shuffled = random.shuffle(machines)
    let graph: WriteGraph
    let written = 0
    if (write) {
      written = random.next() < partial ? 1 + random.integer(portions) : portions
      graph = blockWrite({ pipeline: shuffled.slice(0, replication), portions: written })
    } else graph = random.next() < 0.78 ? blockRead(shuffled, random) : fileLookup(shuffled)
    const slowTarget = { label: slowed, factor: slow?.factor ?? 1 }
    const timesUs = simulate(graph, random, slowTarget)
    yield { graph, timesUs, startUs, bytes: written * PORTION_BYTES }
  }
}

/** A trace point happens when all it waits for are over. */
function simulate(
  { labels, from, to, typicalUs }: WriteGraph,
  random: RandomSource,
  slow: { label: string | undefined; factor: number },
): Float64Array {
  const timesUs = new Float64Array(labels.length)
  const pace = random.logNormal(0, REQUEST_SIGMA)
  for (let edge = 0; edge < from.length; edge++) {
    const target = to[edge] as number
    const factor = labels[target] === slow.label ? slow.factor : 1
    const workUs = (typicalUs[edge] as number) * pace * factor * random.logNormal(0, EDGE_SIGMA)
    const arrivalUs = (timesUs[from[edge] as number] as number) + workUs
    timesUs[target] = Math.max(timesUs[target] as number, arrivalUs)
  }
  return timesUs
}

function requireCount(option: string, value: number, least: number): void {
  if (Number.isInteger(value) && value >= least) return
  throw new OptionError(option, value, `a whole number, ${least} or more`)
}
