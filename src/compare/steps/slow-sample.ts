// Runs once a request: the loops index with `!`.
import { bisectLeft, greatest, max, min, range, sum } from 'd3-array'
import { spanTimes } from '../../calls/span-times.ts'
import { TIME } from '../../core/quantity.ts'
import { remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { areFromSpans, NS } from '../../flows/span-tree.ts'
import { ascendingOrder, sortAscending } from '../../stats/ascending-order.ts'
import { vanElteren } from '../../stats/hodges-lehmann.ts'
import { quantile } from '../../stats/quantile.ts'
import { groupRows } from '../../traces/group-rows.ts'
import { rootTypes } from './root-types.ts'

/** Sampled requests are fewer than this share of those of the other period. */
const MAX_KEPT = 0.6
/** Slow ones stay: about as many as in the other period, within this factor. */
const ALIKE = 1.5
/** And so many times as many of them as of others. */
const MIN_PREFERRED = 2
/** Times of requests on either side of the limit are alike unless p is below this. */
const ALIKE_LEVEL = 0.01
/** And so they are in types with this share of all requests. */
const MIN_ALIKE = 0.5
/** Least gain of log likelihood by all types but the one that shows it best: one may just be asked for more. */
const MIN_GAIN = 8
/** So many types are left out at most: each time the one of so many that differ most that helps most. */
const MAX_LEFT_OUT = 20
const MAX_TRIED = 5
const MIN_REQUESTS = 10
/** So many requests, one in so many of each type, tell as much as more of them. */
const MAX_COMPARED = 20_000
const STEP = 0.01
const LIMITS = range(0.5, 1, STEP)

/** Ascending times of one type: from the start of a request to the end of its last span, as samplers see it. */
type Times = readonly [before: Float64Array, after: Float64Array]

/** A sample that prefers slow requests, of one period. */
interface SlowSample {
  readonly sampled: Period
  readonly limitUs: number
  /** How many times as many requests are faster, and slower, than the limit as in the other period. */
  readonly ratios: readonly [fast: number, slow: number]
  readonly isSlow: (request: number) => boolean
}

/**
 * Whether slow requests seem to have been kept preferentially in one period: in several types, fast ones
 * are a fraction of those in the other, slower ones than one limit common to all types as many, and
 * on either side of it times are alike; of types whose times changed, too, nothing is known. A slowdown
 * moves times across any limit; fewer requests, or a sample that knows no times, leave fewer on both sides.
 */
export const slowSample = remembered((flows: FlowSet): SlowSample | null => {
  if (flows.quantity !== TIME || flows.weight !== undefined) return null
  const lasted = timesLasted(flows)
  const types = timesOfTypes(flows, lasted)
  const sizeOf = (some: readonly Times[]) => sum(some.flat(), ({ length }) => length)
  const limitOf = (some: readonly Times[]) => {
    const found = likeliestLimit(some)
    const p = found !== null && found.gain >= MIN_GAIN ? chanceAlike(some, found.sides) : 0
    return { some, found, p }
  }
  let best = limitOf(types)
  // What became slower, too, may be left out.
  for (let left = 0; best.found !== null && best.p < ALIKE_LEVEL; left++) {
    const { some, found } = best
    const chances = some.map((one, i) => chanceAlike([one], [found.sides[i]!]))
    const leastAlike = ascendingOrder(Float64Array.from(chances)).subarray(0, MAX_TRIED)
    const rests = Array.from(leastAlike, (i) => limitOf(some.filter((_, other) => other !== i)))
    best = greatest(rests, ({ p }) => p)!
    if (left === MAX_LEFT_OUT || sizeOf(best.some) < MIN_ALIKE * sizeOf(types)) return null
  }
  if (best.found === null) return null
  // Some types of several may seem to have one limit by their shares alone.
  if (best.some.length < types.length && !isWithinTypes(best.found)) return null
  const { limitUs, counts } = best.found
  for (const sampled of [AFTER, BEFORE] as const) {
    const unsampled = sampled === AFTER ? BEFORE : AFTER
    const [fast, slow] = counts.map((side) => side[sampled] / side[unsampled]) as [number, number]
    const isKept = slow <= ALIKE && slow >= 1 / ALIKE
    if (fast > MAX_KEPT || slow < MIN_PREFERRED * fast || !isKept) continue
    return { sampled, limitUs, ratios: [fast, slow], isSlow: (one) => lasted[one]! >= limitUs }
  }
  return null
})

/** From the start of each request to the end of its last span, as samplers see it. */
function timesLasted(flows: FlowSet): Float64Array {
  const isOfSpans = areFromSpans(flows)
  const times = isOfSpans ? spanTimes(flows) : null
  return Float64Array.from(flows.responseTimeUs, (responseUs, request) => {
    const lastNs = times === null ? undefined : max(times.of(request))
    return lastNs === undefined ? responseUs : lastNs / NS
  })
}

function timesOfTypes(flows: FlowSet, lasted: Float64Array): Times[] {
  const { names, typeOf } = rootTypes(flows)
  const groupOf = lasted.map((us, request) =>
    Number.isFinite(us) ? 2 * typeOf[request]! + flows.period[request]! : -1,
  )
  const { offsets, rows } = groupRows(groupOf, 2 * names.length)
  const every = Math.ceil(rows.length / MAX_COMPARED)
  const timesOf = (group: number) =>
    Float64Array.from(rows.subarray(offsets[group], offsets[group + 1]), (row) => lasted[row]!)
      .sort()
      .filter((_, place) => place % every === every >> 1)
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

const shareOf = ([before, after]: Counts) => after / (before + after)

const gained = (count: number, own: number, all: number) =>
  count === 0 ? 0 : count * Math.log(own / all)

/** What a share of each side adds to the log likelihood of one type, beyond one share of both. */
function gainOf(both: readonly Counts[], shares: readonly number[], usual: number): number {
  return sum(both, ([before, after], side) => {
    const share = shares[side]!
    return gained(after, share, usual) + gained(before, 1 - share, 1 - usual)
  })
}

/** Whether one limit tells more than another share of each type does. */
function isWithinTypes({ sides, counts }: Limit): boolean {
  const shares = counts.map(shareOf)
  const gains = sides.map((both) => {
    const ofType = shareOf([both[0][BEFORE] + both[1][BEFORE], both[0][AFTER] + both[1][AFTER]])
    return gainOf(both, shares, ofType)
  })
  return sum(gains) > MIN_GAIN
}

/** The limit above which requests were likeliest kept at another rate. */
function likeliestLimit(types: readonly Times[]): Limit | null {
  const all = new Float64Array(sum(types.flat(), ({ length }) => length))
  let length = 0
  for (const times of types.flat()) {
    all.set(times, length)
    length += times.length
  }
  sortAscending(all)
  if (length === 0) return null
  const likeliest = (shares: readonly number[]) =>
    greatest(
      shares.map((share) => ({ share, ...limitAt(types, quantile(all, share)) })),
      ({ likelihood }) => likelihood,
    )!
  const { share } = likeliest(LIMITS)
  return likeliest(range(share - STEP, Math.min(1, share + STEP), STEP / 50))
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
  const shares = counts.map(shareOf)
  const usual = shareOf([sum(counts, ([before]) => before), sum(counts, ([, after]) => after)])
  const gains = sides.map((both) => gainOf(both, shares, usual))
  const likelihood = sum(gains)
  return { limitUs, sides, counts, likelihood, gain: likelihood - Math.max(...gains) }
}

/** The lower p of the sides of a limit that times of both periods are alike there; 1 where none can be compared. */
function chanceAlike(types: readonly Times[], sides: Limit['sides']): number {
  const strataOf = (part: (times: Float64Array, cut: number) => Float64Array) =>
    types.map(([before, after], type) => {
      const [cut] = sides[type]!
      return { before: part(before, cut[BEFORE]), after: part(after, cut[AFTER]) }
    })
  const both = [
    strataOf((times, cut) => times.subarray(0, cut)),
    strataOf((times, cut) => times.subarray(cut)),
  ]
  return min(both, (strata) => vanElteren(strata, { sorted: true }).p) ?? 1
}
