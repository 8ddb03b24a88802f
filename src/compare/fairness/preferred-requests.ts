// Runs once a request: the loops index with `!`.
import { bisectLeft, max, range, sum } from 'd3-array'
import { TIME } from '../../core/quantity.ts'
import { memoized } from '../../core/remembered.ts'
import { formatDuration } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { areFromSpans, NS, readTimesNs, spanTree } from '../../flows/span-tree.ts'
import { quantile } from '../../stats/quantile.ts'
import { vanElteren } from '../../stats/van-elteren.ts'
import { groupRows } from '../../traces/group-rows.ts'
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
  const found = likeliestLimit(types)
  if (found === null || !(found.gain >= MIN_GAIN)) return []
  return ([AFTER, BEFORE] as const).flatMap((sampled) => {
    const unsampled = sampled === AFTER ? BEFORE : AFTER
    const [faster, slower] = found.counts
    const [fast, slow] = [faster[sampled] / faster[unsampled], slower[sampled] / slower[unsampled]]
    const isKept = slow <= ALIKE && slow >= 1 / ALIKE
    const isPreferred = fast <= MAX_KEPT && slow >= MIN_PREFERRED * fast && isKept
    if (!isPreferred || !areAlike(types, found)) return []
    const limit = formatDuration(found.limitUs)
    const [period, other] = sampled === AFTER ? ['after', 'before'] : ['before', 'after']
    const times = (ratio: number) => Number(ratio.toPrecision(2))
    return warning('sampling-differs', {
      finding:
        `Slow requests seem to have been kept preferentially ${period}: of each type, there are ` +
        `${times(fast)} times as many faster than ${limit} as ${other}, but ${times(slow)} times as many slower ones.`,
      effect: 'Requests look slower, and fail more often, than they do.',
      answer:
        `Compare those faster than ${limit} alone, and slower ones alone, by \`where\` and their ` +
        '`duration`; or record sampling probabilities, which weigh requests.',
    })
  })
}

function timesOfTypes(flows: FlowSet): Times[] {
  const { names, typeOf } = rootTypes(flows)
  const isOfSpans = areFromSpans(flows)
  const treeOf = memoized((shape: number) => spanTree(flows, shape))
  let times = new Float64Array(64)
  const lasted = flows.responseTimeUs.map((responseUs, request) => {
    if (!isOfSpans) return responseUs
    const latencies = flows.latencies(request)
    if (latencies.length === 0) return responseUs
    const tree = treeOf(flows.shapeOf[request]!)
    if (latencies.length < tree.from.length) return responseUs
    if (times.length < 2 * tree.size) times = new Float64Array(4 * tree.size)
    readTimesNs(tree, latencies, times)
    return (max(times.subarray(0, 2 * tree.size)) as number) / NS
  })
  const groupOf = lasted.map((us, request) =>
    Number.isFinite(us) ? 2 * typeOf[request]! + flows.period[request]! : -1,
  )
  const { offsets, rows } = groupRows(groupOf, 2 * names.length)
  const timesOf = (group: number) =>
    Float64Array.from(
      rows.subarray(offsets[group], offsets[group + 1]),
      (row) => lasted[row]!,
    ).sort()
  const types = names.map((_, type): Times => [timesOf(2 * type), timesOf(2 * type + 1)])
  // What only one period has is no sample of the other.
  return types.filter((times) => times.every(({ length }) => length >= MIN_REQUESTS))
}

/** One limit for all types. */
interface Limit {
  readonly limitUs: number
  /** How many requests of each type are faster, and slower, in each period. */
  readonly sides: readonly (readonly [faster: Counts, slower: Counts])[]
  /** The same of all types. */
  readonly counts: readonly [faster: Counts, slower: Counts]
  readonly likelihood: number
  readonly gain: number
}

type Counts = readonly [before: number, after: number]

/** The limit above which requests were likeliest kept at another rate. */
function likeliestLimit(types: readonly Times[]): Limit | null {
  const all = new Float64Array(sum(types.flat(), ({ length }) => length))
  let length = 0
  for (const times of types.flat()) {
    all.set(times, length)
    length += times.length
  }
  all.sort()
  if (length === 0) return null
  return LIMITS.map((share) => limitAt(types, quantile(all, share))).reduce((best, one) =>
    one.likelihood > best.likelihood ? one : best,
  )
}

function limitAt(types: readonly Times[], limitUs: number): Limit {
  const sides = types.map(([before, after]) => {
    const faster = [bisectLeft(before, limitUs), bisectLeft(after, limitUs)] as const
    return [faster, [before.length - faster[BEFORE], after.length - faster[AFTER]]] as const
  })
  const totalOf = (side: 0 | 1): Counts => [
    sum(sides, (both) => both[side][BEFORE]),
    sum(sides, (both) => both[side][AFTER]),
  ]
  const counts = [totalOf(0), totalOf(1)] as const
  const shareOf = ([before, after]: Counts) => after / (before + after)
  const shares = counts.map(shareOf)
  const usual = shareOf([sum(counts, ([before]) => before), sum(counts, ([, after]) => after)])
  const gained = (count: number, own: number, all: number) =>
    count === 0 ? 0 : count * Math.log(own / all)
  const gains = sides.map((both) =>
    sum(both, ([before, after], side) => {
      const share = shares[side]!
      return gained(after, share, usual) + gained(before, 1 - share, 1 - usual)
    }),
  )
  const likelihood = sum(gains)
  return { limitUs, sides, counts, likelihood, gain: likelihood - Math.max(...gains) }
}

/** Whether times of both periods are alike on either side of a limit. */
function areAlike(types: readonly Times[], { sides }: Limit): boolean {
  const strataOf = (part: (times: Float64Array, cut: number) => Float64Array) =>
    types.map(([before, after], type) => {
      const [cut] = sides[type]!
      return { before: part(before, cut[BEFORE]), after: part(after, cut[AFTER]) }
    })
  return [
    strataOf((times, cut) => times.subarray(0, cut)),
    strataOf((times, cut) => times.subarray(cut)),
  ].every((strata) => !(vanElteren(strata, { sorted: true }).p < ALIKE_LEVEL))
}
