// Runs once a request: the loops index with `!`.

import { bisectLeft, greatest, max, min, range, sum } from 'd3-array'
import { hasTimes, rolesByShape } from '../../calls/roles.ts'
import { spanTimes } from '../../calls/span-times.ts'
import { allVisits, childrenOf } from '../../calls/visits.ts'
import { joined } from '../../core/entries.ts'
import { TIME } from '../../core/quantity.ts'
import { memoized, remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { areFromSpans, NS } from '../../flows/span-tree.ts'
import { ascendingOrder, sortAscending } from '../../stats/ascending-order.ts'
import { vanElteren } from '../../stats/hodges-lehmann.ts'
import { quantile } from '../../stats/quantile.ts'
import { groupRows } from '../../traces/group-rows.ts'
import {
  ALIKE_LEVEL,
  BEAM,
  MAX_LOOKED_AT,
  MAX_TRIED,
  MIN_ALIKE,
  MIN_GAIN,
  MIN_KNOWN,
  MOST,
  NEARLY_ALL,
} from '../thresholds.ts'
import { rootTypes } from './root-types.ts'

/**
 * Requests within these shares of the way from the median to the limit, of logarithms, show whether their number jumps
 * there.
 */
const NEAR = [1 / 4, 1 / 10] as const
const STEP = 0.01
const LIMITS = range(STEP, 1, STEP)

/** Ascending times of one type: from the start of a request to the end of its last span, as samplers see it. */
type Times = readonly [before: Float64Array, after: Float64Array]

/** A sample that prefers slow requests, of one period. */
interface SlowSample {
  readonly sampled: Period
  readonly limitUs: number
  /** Ratio of the requests faster than the limit, and slower, to those of the other period. */
  readonly ratios: readonly [fast: number, slow: number]
  /** Whether failing requests seem to have been kept, too. */
  readonly keepsFailing: boolean
  /** Whether any of those that chance kept fail. */
  readonly chanceFails: boolean
  /** Why a request was kept. */
  readonly keptFor: (request: number) => KeptFor
}

export const KEPT_FOR = ['chance', 'slow', 'failing'] as const
export type KeptFor = (typeof KEPT_FOR)[number]

/**
 * Tests whether one period preferentially kept slow requests: at one limit common to all types, their number jumps
 * compared with the other period, and times match on either side of the limit. For types whose times changed as well,
 * nothing is known. A slowdown moves times across any limit, and none jumps at one; fewer requests, or a sample that
 * knows no times, leave fewer on both sides.
 */
export const slowSample = remembered((flows: FlowSet): SlowSample | null => {
  if (flows.quantity !== TIME || flows.weight !== undefined) return null
  const lasted = timesLasted(flows)
  const types = timesOfTypes(flows, lasted)
  const sizeOf = (some: readonly Times[]) => sum(some.flat(), ({ length }) => length)
  const limitOf = (some: readonly Times[]) => {
    const found = likeliestLimit(some)
    const p = found !== null && jumpsAt(some, found) ? chanceAlike(some, found.sides) : 0
    return { some, found, p }
  }
  let best = limitOf(types)
  // Types that also became slower may be left out.
  for (let left = 0; best.found !== null && best.p < ALIKE_LEVEL; left++) {
    const { some, found } = best
    const chances = some.map((one, i) => chanceAlike([one], [found.sides[i]!]))
    const leastAlike = ascendingOrder(Float64Array.from(chances)).subarray(0, BEAM)
    const rests = Array.from(leastAlike, (i) => limitOf(some.filter((_, other) => other !== i)))
    best = greatest(rests, ({ p }) => p)!
    if (left === MAX_TRIED || sizeOf(best.some) < MOST * sizeOf(types)) return null
  }
  if (best.found === null || isOfOneRole(flows, lasted, { types, ...best, found: best.found }))
    return null
  const { limitUs, counts } = best.found
  for (const sampled of [AFTER, BEFORE] as const) {
    const unsampled = sampled === AFTER ? BEFORE : AFTER
    const [fast, slow] = counts.map((side) => side[sampled] / side[unsampled]) as [number, number]
    if (fast > MOST * slow) continue
    return { sampled, limitUs, ratios: [fast, slow], ...keptFor(flows, lasted, limitUs) }
  }
  return null
})

/**
 * Returns why requests were kept: as they are slow, or as they fail. The latter only if the number of fast failing
 * requests grew about as much as that of slow ones.
 */
function keptFor(flows: FlowSet, lasted: Float64Array, limitUs: number) {
  const counts = { chance: [0, 0], slow: [0, 0], failing: [0, 0] }
  const kindOf = (request: number): KeptFor =>
    lasted[request]! >= limitUs ? 'slow' : hasFailed(flows, request) ? 'failing' : 'chance'
  flows.period.forEach((period, request) => {
    counts[kindOf(request)][period]!++
  })
  const ratioOf = ([before, after]: readonly number[]) => Math.log((after! + 0.5) / (before! + 0.5))
  const [fast, slow, failing] = [counts.chance, counts.slow, counts.failing].map(ratioOf)
  const fastFail = sum(counts.failing) > 0
  const keepsFailing = fastFail && Math.abs(failing! - slow!) < Math.abs(failing! - fast!)
  return {
    keepsFailing,
    chanceFails: fastFail && !keepsFailing,
    keptFor: (request: number) => {
      const kind = kindOf(request)
      return kind === 'failing' && !keepsFailing ? 'chance' : kind
    },
  }
}

const hasFailed = ({ outcomes }: FlowSet, request: number) =>
  outcomes !== undefined && outcomes.failing(request).length > 0

/**
 * Whether a limit of the time in one role tells requests apart about as well as one of their whole time,
 * and none of their other time does; that role has not nearly all of the time of fast ones, too.
 */
function isOfOneRole(
  flows: FlowSet,
  lasted: Float64Array,
  { types, some, found }: Found & { readonly types: readonly Times[] },
): boolean {
  if (!areFromSpans(flows)) return false
  const chosen = some.map((one) => types.indexOf(one))
  const ofFast = (us: Float64Array) => sum(us.filter((_, one) => lasted[one]! < found.limitUs))
  const likelihoodOf = (us: Float64Array) => {
    const all = timesOfTypes(flows, us)
    return likeliestLimit(chosen.map((type) => all[type]!))?.likelihood ?? 0
  }
  const isAlike = (us: Float64Array) => likelihoodOf(us) > found.likelihood - MIN_GAIN
  return timesInRoles(flows).some(
    (spent) =>
      ofFast(spent) <= NEARLY_ALL * ofFast(lasted) &&
      isAlike(spent) &&
      !isAlike(lasted.map((us, request) => us - spent[request]!)),
  )
}

interface Found {
  /** Types that have the limit. */
  readonly some: readonly Times[]
  readonly found: Limit
}

/** Returns the time that each request spends in each role, whether it is waited for or not. */
function timesInRoles(flows: FlowSet): Float64Array[] {
  const { roles, ofShape } = rolesByShape(flows, true)
  const [spans, visits] = [spanTimes(flows), allVisits(flows)]
  const spent = roles.map(() => new Float64Array(flows.size))
  const childrenOfShape = memoized((shape: number) => {
    const of = visits.get(shape)!
    return Array.from(of.operations, (_, span) => childrenOf(of, span, () => false))
  })
  for (let request = 0; request < flows.size; request++) {
    if (!hasTimes(flows, request)) continue
    const shape = flows.shapeOf[request]!
    const own = ofShape.get(shape)!
    childrenOfShape(shape).forEach((children, span) => {
      spent[own[span]!]![request]! += spans.uncoveredNs(request, span, children) / NS
    })
  }
  return spent
}

/** Returns the time from the start of each request to the end of its last span, as samplers see it. */
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
    Number.isFinite(us) && !hasFailed(flows, request)
      ? 2 * typeOf[request]! + flows.period[request]!
      : -1,
  )
  const { offsets, rows } = groupRows(groupOf, 2 * names.length)
  const every = Math.ceil(rows.length / MAX_LOOKED_AT)
  const timesOf = (group: number) =>
    Float64Array.from(rows.subarray(offsets[group], offsets[group + 1]), (row) => lasted[row]!)
      .sort()
      .filter((_, place) => place % every === every >> 1)
  const types = names.map((_, type): Times => [timesOf(2 * type), timesOf(2 * type + 1)])
  // A type of only one period is no sample of the other.
  return types.filter((times) => times.every(({ length }) => length >= MIN_KNOWN))
}

/** One limit for all types. */
interface Limit {
  readonly limitUs: number
  /** Number of requests of each type that are faster, and slower, in each period. */
  readonly sides: readonly (readonly [faster: Counts, slower: Counts])[]
  /** The same of all types. */
  readonly counts: readonly [faster: Counts, slower: Counts]
  readonly likelihood: number
}

type Counts = readonly [before: number, after: number]

const shareOf = ([before, after]: Counts) => after / (before + after)

const gained = (count: number, own: number, all: number) =>
  count === 0 ? 0 : count * Math.log(own / all)

/** Returns the gain in the log likelihood of one type from a share per side over one share for both. */
function gainOf(both: readonly Counts[], shares: readonly number[], usual: number): number {
  return sum(both, ([before, after], side) => {
    const share = shares[side]!
    return gained(after, share, usual) + gained(before, 1 - share, 1 - usual)
  })
}

const added = (all: readonly Counts[]): Counts => [
  sum(all, ([before]) => before),
  sum(all, ([, after]) => after),
]

/**
 * Whether the ratio of requests right above a limit to those right below equals that of all above to all below, and
 * does not rise from there on: a cut distribution has a tail, whereas a kind of slow requests has a peak.
 */
function jumpsAt(types: readonly Times[], { limitUs, counts }: Limit): boolean {
  if (min(counts.flat(), Number)! < MIN_ALIKE) return false
  const shares = counts.map(shareOf)
  const above = types.map((times) => limitUs / min(times, (one) => quantile(one, 0.5))!)
  /** Requests of each type between two shares of the way from its median to the limit, and beyond it. */
  const between = (from: number, to: number) =>
    types.map(([before, after], type): Counts => {
      const ratio = Math.max(1, above[type]!)
      const countOf = (one: Float64Array) =>
        bisectLeft(one, limitUs * ratio ** to) - bisectLeft(one, limitUs * ratio ** from)
      return [countOf(before), countOf(after)]
    })
  const nearest = NEAR.map((near) => {
    const slower = between(0, near)
    return between(-near, 0).map((faster, type) => [faster, slower[type]!] as const)
  })
  const gain = max(nearest, (near) =>
    sum(near, (both) => gainOf(both, shares, shareOf(added(both)))),
  )
  if (gain! < MIN_GAIN) return false
  const isAsElsewhere = nearest.every((near) => {
    const sides = [0, 1].map((side) => added(near.map((both) => both[side]!)))
    const missed = sum(sides, (side, at) => gainOf([side], [shareOf(side)], shares[at]!))
    return Math.exp(-missed) >= ALIKE_LEVEL
  })
  const [near] = NEAR
  const [nearer, farther] = [between(0, near), between(near, 2 * near)].map((all) =>
    sum(added(all)),
  )
  const halves: Counts = [nearer!, farther!]
  const rise = gainOf([halves], [Math.max(0.5, shareOf(halves))], 0.5)
  return isAsElsewhere && Math.exp(-rise) >= ALIKE_LEVEL
}

/** Returns the limit above which requests were likeliest kept at another rate. */
function likeliestLimit(types: readonly Times[]): Limit | null {
  const periods = ([BEFORE, AFTER] as const).map((period) =>
    sortAscending(
      joined(
        types.map((times) => times[period]),
        Float64Array,
      ),
    ),
  )
  const all = sortAscending(joined(periods, Float64Array))
  if (all.length === 0) return null
  const likeliest = (shares: readonly number[]) =>
    greatest(
      shares.map((share) => ({ share, ...limitAt(periods, quantile(all, share)) })),
      ({ likelihood }) => likelihood,
    )!
  const { share } = likeliest(LIMITS)
  const found = likeliest(range(share - STEP, Math.min(1, share + STEP), STEP / 50))
  return { ...found, sides: types.map((times) => sidesOf(times, found.limitUs)) }
}

/** As shares are common to all types, so are the counts that their likelihood depends on. */
function limitAt(periods: readonly Float64Array[], limitUs: number): Omit<Limit, 'sides'> {
  const counts = sidesOf(periods, limitUs)
  const likelihood = gainOf(counts, counts.map(shareOf), shareOf(added(counts)))
  return { limitUs, counts, likelihood }
}

/** Returns the numbers of ascending times below a limit, and above it. */
function sidesOf(periods: readonly Float64Array[], limitUs: number): readonly [Counts, Counts] {
  const [before, after] = periods as Times
  const faster = [bisectLeft(before, limitUs), bisectLeft(after, limitUs)] as const
  return [faster, [before.length - faster[BEFORE], after.length - faster[AFTER]]]
}

/**
 * Returns the lower p, over both sides of a limit, that times of both periods match there; 1 if none can be compared.
 */
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
