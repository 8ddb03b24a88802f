// Runs once a request: the loops index with `!`.

import { mean } from 'd3-array'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { ascendingOrder } from '../../stats/ascending-order.ts'
import { twoSidedTP } from '../../stats/distributions.ts'
import { median, quantile } from '../../stats/quantile.ts'
import { ALIKE, MIN_SPREAD, STRETCHES } from '../thresholds.ts'
import { type ChoiceCounts, compareCounts, type TimeBlocks, timeBlocks } from './time-blocks.ts'

const US_PER_SECOND = 1e6
/** Pauses longer than these shares of both periods' are counted. */
const PAUSE_SHARES = [0.9, 0.99, 0.999] as const
/** Change of the number of requests that arrive per second. */
export interface RateChange {
  /** Requests a second of each period, samples scaled up where traces say how they were drawn. */
  readonly perSecond: readonly [before: number, after: number]
  /** After over before. */
  readonly ratio: number
  /** 95 % confidence interval of the ratio. */
  readonly interval: readonly [low: number, high: number]
  readonly p: number
}

/** Change of how often nothing arrives for long while no request is under way. */
export interface PauseChange {
  /** Median length of a pause, of the period that has more of them, in µs. */
  readonly typicalUs: number
  readonly pauses: readonly [before: number, after: number]
  readonly requests: readonly [before: number, after: number]
  /** Length of each period, in µs. */
  readonly durations: readonly [before: number, after: number]
  readonly p: number
}

/** Changes of arrivals between the periods; `null` if there are too few requests. */
export interface Arrivals {
  readonly rate: RateChange | null
  readonly pauses: PauseChange | null
}

/** Compares rates and pauses. Null hypothesis: rates drift between periods as they do within them. */
export function compareArrivals(flows: FlowSet): Arrivals {
  const stretches = timeBlocks(flows)
  const before = arrivalsOf(flows, BEFORE, stretches.of)
  const after = arrivalsOf(flows, AFTER, stretches.of)
  if (before === null || after === null) return { rate: null, pauses: null }
  const isAlike = Math.abs(Math.log(after.weight / before.weight)) <= Math.log(ALIKE)
  return {
    rate: compareRates(before, after),
    // In a smaller sample there is more time between requests.
    pauses: isAlike ? comparePauses(before, after, stretches) : null,
  }
}

interface PeriodArrivals {
  readonly count: number
  readonly durationUs: number
  /** Variance of counts of windows over that of independent arrivals. */
  readonly dispersion: number
  /** Time since the request before, in median times. */
  readonly gaps: readonly number[]
  /** The same; 0 where one was under way half of it. */
  readonly pauses: readonly number[]
  readonly medianUs: number
  readonly blocks: readonly number[]
  readonly weight: number
}

function arrivalsOf(flows: FlowSet, period: Period, blockOf: Uint8Array): PeriodArrivals | null {
  const { startUs, responseTimeUs } = flows
  const gapsUs: number[] = []
  const isPause: boolean[] = []
  const blocks: number[] = []
  const perWindow: number[] = []
  let [count, durationUs] = [0, 0]
  for (const all of rowsByStart(flows, period)) {
    const rows = firstOfTraces(
      flows,
      all.filter((row) => !flows.isPart(row) && !isSetOff(flows, row)),
    )
    const first = startUs[rows[0]!]!
    const ownUs = startUs[rows.at(-1)!]! - first
    if (!(ownUs > 0)) continue
    const windows = new Float64Array(STRETCHES)
    let endUs = first
    rows.forEach((row, i) => {
      const start = startUs[row]!
      windows[Math.min(STRETCHES - 1, Math.floor((STRETCHES * (start - first)) / ownUs))]!++
      if (i > 0) {
        // A gap that slow answers lengthen is no pause.
        const gapUs = start - startUs[rows[i - 1]!]!
        gapsUs.push(gapUs)
        isPause.push(start - endUs > gapUs / 2)
        blocks.push(blockOf[row]!)
      }
      endUs = Math.max(endUs, start + responseTimeUs[row]!)
    })
    perWindow.push(...windows)
    count += rows.length
    durationUs += ownUs
  }
  if (count < MIN_SPREAD) return null
  const mean = count / perWindow.length
  const squares = perWindow.reduce((sum, one) => sum + (one - mean) ** 2, 0)
  const dispersion = Math.max(1, squares / (perWindow.length - 1) / mean)
  const medianUs = median(gapsUs) || durationUs / count
  const gaps = gapsUs.map((gapUs) => gapUs / medianUs)
  const pauses = gaps.map((gap, i) => (isPause[i] ? gap : 0))
  const weight = meanWeight(flows, period)
  return { count, durationUs, dispersion, gaps, pauses, medianUs, blocks, weight }
}

/** Returns the first request of each trace: if the root of a trace was lost, its other requests may be parts of it. */
function firstOfTraces({ ids }: FlowSet, rows: Uint32Array): Uint32Array {
  const seen = new Set<string>()
  return rows.filter((row) => seen.size < seen.add(ids[row]!).size)
}

/** Whether a message set a request off, and no client. */
function isSetOff({ messages, shapes, shapeOf }: FlowSet, row: number): boolean {
  const received = messages?.receiver.subarray(messages.offsets[row], messages.offsets[row + 1])
  return received?.includes(shapes.labels(shapeOf[row]!)[0]!) ?? false
}

/** Returns the requests of after, or of each run before, in the order in which they arrived. */
export function rowsByStart(flows: FlowSet, wanted: Period): Uint32Array[] {
  const all = wanted === AFTER ? [flows.requestsOf(AFTER)] : flows.requestsOfRuns()
  return all.map((rows) => ascendingOrder(flows.startUs, Uint32Array.from(rows)))
}

/** Returns the mean number of requests that a recorded one stands for; 1 if some have no weight. */
function meanWeight(flows: FlowSet, wanted: Period): number {
  const own = flows.weight?.filter((_, row) => flows.period[row] === wanted)
  return own === undefined || own.some(Number.isNaN) ? 1 : (mean(own) ?? 1)
}

function compareRates(before: PeriodArrivals, after: PeriodArrivals): RateChange {
  const perSecond = [before, after].map(
    ({ count, durationUs, weight }) => (weight * count * US_PER_SECOND) / durationUs,
  ) as [number, number]
  const ratio = perSecond[AFTER] / perSecond[BEFORE]
  const error = Math.sqrt(before.dispersion / before.count + after.dispersion / after.count)
  const reach = Math.exp(1.96 * error)
  return {
    perSecond,
    ratio,
    interval: [ratio / reach, ratio * reach],
    p: twoSidedTP(Math.log(ratio) / error, 2 * (STRETCHES - 1)),
  }
}

function comparePauses(
  before: PeriodArrivals,
  after: PeriodArrivals,
  { perRun, runs, pairs }: TimeBlocks,
): PauseChange {
  const idle = [before, after].flatMap(({ pauses }) => pauses).sort((a, b) => a - b)
  const counted = PAUSE_SHARES.map(
    (share) => ({ of: 'pauses', limit: quantile(idle, share) }) as const,
  )
  const testsOf = (how: readonly Counted[]) =>
    compareCounts(
      how.map((one) => [
        countsOf(one, { periods: [before, after], stretches: perRun * (runs + 1) }),
      ]),
      { perRun, pairs },
    )
  const tests = testsOf(counted)
  // If only slow answers change a gap, the clients did not change.
  const arrived = testsOf(counted.map((one) => ({ ...one, of: 'gaps' })))
  const p = tests.map((test, i) =>
    test.difference * arrived[i]!.difference > 0 ? Math.max(test.p, arrived[i]!.p) : 1,
  )
  const moved = (i: number) => Math.abs(tests[i]!.difference)
  const least = p.reduce((best, one, i) => {
    const isSurer = one < p[best]! || (one === p[best] && moved(i) > moved(best))
    return isSurer ? i : best
  }, 0)
  const { made, chances } = tests[least]!
  const how = counted[least]!
  const isMore = made[AFTER] / chances[AFTER] >= made[BEFORE] / chances[BEFORE]
  const most = isMore ? after : before
  const found = Float64Array.from(most[how.of].filter((gap) => gap > how.limit)).sort()
  return {
    typicalUs: found.length === 0 ? 0 : quantile(found, 0.5) * most.medianUs,
    pauses: made,
    requests: chances,
    durations: [before.durationUs, after.durationUs],
    p: Math.min(1, counted.length * p[least]!),
  }
}

interface Counted {
  readonly of: 'gaps' | 'pauses'
  readonly limit: number
}

function countsOf(
  how: Counted,
  { periods, stretches }: { periods: readonly PeriodArrivals[]; stretches: number },
): ChoiceCounts {
  const chances = new Float64Array(stretches)
  const made = new Float64Array(stretches)
  for (const period of periods) {
    period[how.of].forEach((gap, i) => {
      chances[period.blocks[i]!]!++
      if (gap > how.limit) made[period.blocks[i]!]!++
    })
  }
  return { chances, made }
}
