import { bisectLeft, group, max, range, sum } from 'd3-array'
import { TIME } from '../../core/quantity.ts'
import { memoized } from '../../core/remembered.ts'
import { formatDuration } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { areFromSpans, NS, readTimesNs, spanTree } from '../../flows/span-tree.ts'
import { quantile } from '../../stats/quantile.ts'
import { vanElteren } from '../../stats/van-elteren.ts'
import { rootTypes } from '../steps/root-types.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'

/** Sampled requests are fewer than this share of those of the other period. */
const MAX_KEPT = 0.6
/** Slow ones stay: about as many as in the other period, within this factor. */
const ALIKE = 1.5
/** And so many times as many of them as of others. */
const MIN_PREFERRED = 2
/** Times of requests on either side of the limit are alike unless p is below this. */
const ALIKE_LEVEL = 0.01
/** Least gain of log likelihood by all types but the one that shows it best: one may just be asked for more. */
const MIN_GAIN = 8
const MIN_REQUESTS = 10
const LIMITS = range(0.5, 1, 0.01)

/** Ascending times of one type: from the start of a request to the end of its last span, as samplers see it. */
type Times = readonly [before: Float64Array, after: Float64Array]

/**
 * Whether slow requests seem to have been kept preferentially in one period: in several types, fast ones
 * are a fraction of those in the other, slower ones than one limit common to all types as many, and
 * on either side of it times are alike. A slowdown moves times across any limit; fewer requests, or a
 * sample that knows no times, leave fewer on both sides.
 */
export function slowPreferred({ flows: given }: ComparedPeriods): ComparisonWarning[] {
  const flows = recordedFlows(given)
  if (flows.quantity !== TIME || flows.weight !== undefined) return []
  const types = timesOfTypes(flows)
  return ([AFTER, BEFORE] as const).flatMap((sampled) => {
    const found = limitOf(types, sampled)
    if (found === null) return []
    const limit = formatDuration(found.limitUs)
    const [period, other] = sampled === AFTER ? ['after', 'before'] : ['before', 'after']
    const times = (ratio: number) => Number(ratio.toPrecision(2))
    return warning('sampling-differs', {
      finding:
        `Slow requests seem to have been kept preferentially ${period}: of each type, there are ` +
        `${times(found.fast)} times as many faster than ${limit} as ${other}, but ${times(found.slow)} times as many slower ones.`,
      effect: 'Requests look slower, and fail more often, than they do.',
      answer:
        `Compare those faster than ${limit} alone, and slower ones alone, by \`where\` and their ` +
        '`duration`; or record sampling probabilities, which weigh requests.',
    })
  })
}

function timesOfTypes(flows: FlowSet): Times[] {
  const { typeOf } = rootTypes(flows)
  const isOfSpans = areFromSpans(flows)
  const treeOf = memoized((shape: number) => spanTree(flows, shape))
  let times = new Float64Array(64)
  const lasted = flows.responseTimeUs.map((responseUs, request) => {
    const latencies = flows.latencies(request)
    if (!isOfSpans || latencies.length === 0) return responseUs
    const tree = treeOf(flows.shapeOf[request] as number)
    if (latencies.length < tree.from.length) return responseUs
    if (times.length < 2 * tree.size) times = new Float64Array(4 * tree.size)
    readTimesNs(tree, latencies, times)
    return (max(times.subarray(0, 2 * tree.size)) as number) / NS
  })
  const requests = Array.from(lasted.keys()).filter((request) => Number.isFinite(lasted[request]))
  const types = Array.from(group(requests, (request) => typeOf[request]).values(), (own): Times => {
    const ofPeriod = (period: Period) =>
      Float64Array.from(
        own.filter((request) => flows.period[request] === period),
        (request) => lasted[request] as number,
      ).sort()
    return [ofPeriod(BEFORE), ofPeriod(AFTER)]
  })
  // What only one period has is no sample of the other.
  return types.filter((times) => times.every(({ length }) => length >= MIN_REQUESTS))
}

/** The limit above which requests were likeliest kept at another rate, if they were. */
function limitOf(types: readonly Times[], sampled: Period) {
  const all = Float64Array.from(types.flatMap((times) => times.flatMap((some) => [...some]))).sort()
  if (all.length === 0) return null
  const [best] = LIMITS.map((share) => sidesAt(types, quantile(all, share), sampled)).sort(
    (a, b) => b.likelihood - a.likelihood,
  )
  if (best === undefined) return null
  const { fast, slow, sides } = best
  const isKept = slow <= ALIKE && slow >= 1 / ALIKE
  if (!(fast <= MAX_KEPT && slow >= MIN_PREFERRED * fast && isKept)) return null
  const isAlike = ([0, 1] as const).every((side) => {
    const strata = sides.map((both) => ({ before: both[side][BEFORE], after: both[side][AFTER] }))
    return !(vanElteren(strata, { sorted: true }).p < ALIKE_LEVEL)
  })
  return isAlike && best.gain >= MIN_GAIN ? best : null
}

function sidesAt(types: readonly Times[], limitUs: number, sampled: Period) {
  const sides = types.map((times) => {
    const cut = times.map((some) => bisectLeft(some, limitUs)) as [number, number]
    const part = (of: (some: Float64Array, at: number) => Float64Array): Times => [
      of(times[BEFORE], cut[BEFORE]),
      of(times[AFTER], cut[AFTER]),
    ]
    return [
      part((some, at) => some.subarray(0, at)),
      part((some, at) => some.subarray(at)),
    ] as const
  })
  const counts = ([0, 1] as const).map((side) => {
    const count = (period: Period) => sum(sides, (both) => both[side][period].length)
    return [count(BEFORE), count(AFTER)] as const
  })
  const shareOf = ([before, after]: readonly [number, number]) => after / (before + after)
  const usual = shareOf([sum(counts, ([before]) => before), sum(counts, ([, after]) => after)])
  const gains = sides.map((both) =>
    sum(both, ([before, after], side) => {
      const share = shareOf(counts[side] as [number, number])
      const gained = (count: number, own: number, all: number) =>
        count === 0 ? 0 : count * Math.log(own / all)
      return gained(after.length, share, usual) + gained(before.length, 1 - share, 1 - usual)
    }),
  )
  const [fast, slow] = counts.map(
    (own) => own[sampled] / own[sampled === AFTER ? BEFORE : AFTER],
  ) as [number, number]
  const likelihood = sum(gains)
  return { limitUs, sides, likelihood, gain: likelihood - Math.max(...gains), fast, slow }
}
