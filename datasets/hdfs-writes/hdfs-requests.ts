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
  /** Share of writes that end just before the end of a block, in its last sixteenth. Default 0. */
  readonly nearly?: number
  /** Portions of the writes, in turn, instead of whole blocks. Default none. */
  readonly sizes?: readonly number[]
  /** Share of the other requests that read a block. Default 0.78. */
  readonly reads?: number
  /** SD of the logarithm of the pace that all of a request's times share. Default 0.25. */
  readonly pace?: number
  /** A datanode, by number, whose disk takes `factor` times as long. Default `null`. */
  readonly slow?: { readonly datanode: number; readonly factor: number } | null
  /** Default 1. */
  readonly seed?: number
}

/**
 * Runs like those of Sambasivan 2013, Tables 3.5 to 3.7. `rand sort` writes what it sorts: blocks,
 * some of them not full, at paces that give the C² of its writes, 0.45.
 */
export const RAND_SORT: HdfsWorkload = {
  writes: 139,
  others: 1391,
  partial: 0.015,
  nearly: 0.095,
  pace: 0.61,
}

/** `word count` reads as much and writes little, in whole blocks. */
export const WORD_COUNT: HdfsWorkload = { writes: 8, others: 1017, reads: 0.81 }

/** `grep` finds nothing: it writes two small files. */
export const GREP: HdfsWorkload = { writes: 2, others: 1039, sizes: [1, 3], reads: 0.83 }

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
/** How much latencies vary from edge to edge (SD of the logarithm). */
const EDGE_SIGMA = 0.3
const BETWEEN_US = 20_000
/** The last part of a block, one in so many, is where writes of `nearly` end. */
const LAST = 16

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
  nearly = 0,
  sizes = [],
  reads = 0.78,
  pace = 0.25,
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
  let sized = 0
  for (const write of isWrite) {
    startUs += 2 * BETWEEN_US * random.next()
    const shuffled = random.shuffle(machines)
    let graph: WriteGraph
    let written = 0
    if (write) {
      const ends = random.next()
      if (ends < partial) written = 1 + random.integer(portions)
      else if (ends < partial + nearly) written = portions - random.integer(portions / LAST)
      else written = sizes.length === 0 ? portions : (sizes[sized++ % sizes.length] as number)
      graph = blockWrite({ pipeline: shuffled.slice(0, replication), portions: written })
    } else graph = random.next() < reads ? blockRead(shuffled, random) : fileLookup(shuffled)
    const slowTarget = { label: slowed, factor: slow?.factor ?? 1 }
    const timesUs = simulate(graph, random, { pace, slow: slowTarget })
    yield { graph, timesUs, startUs, bytes: written * PORTION_BYTES }
  }
}

/** A trace point happens when all it waits for are over. */
function simulate(
  { labels, from, to, typicalUs }: WriteGraph,
  random: RandomSource,
  how: { pace: number; slow: { label: string | undefined; factor: number } },
): Float64Array {
  const timesUs = new Float64Array(labels.length)
  const pace = random.logNormal(0, how.pace)
  for (let edge = 0; edge < from.length; edge++) {
    const target = to[edge] as number
    const factor = labels[target] === how.slow.label ? how.slow.factor : 1
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
