// Runs once a visit, and once a call and group of others: the loops index with `!`.
import { bisectLeft, max, mean, sum } from 'd3-array'
import { requireArgument } from '../../core/errors.ts'
import { TIME } from '../../core/quantity.ts'
import { memoized } from '../../core/remembered.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { sortAscending } from '../../stats/ascending-order.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { normalP } from '../../stats/distributions.ts'
import { quantile } from '../../stats/quantile.ts'
import { rotationTest } from '../../stats/rotation-test.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import { groupRows, rowsWhere } from '../../traces/group-rows.ts'
import { type SegmentSources, segmentSources } from '../segments/find-segments.ts'
import { BLOCKS } from '../steps/time-blocks.ts'
import {
  type Activity,
  activitiesOf,
  type Calls,
  groupsUnderWay,
  overlapsOf,
  placesInOrder,
  type Shared,
  type SortedActivity,
  sortCalls,
} from './activity.ts'
import {
  callsOf,
  chooseRequests,
  type Division,
  groupsOf,
  Interference,
  MIN_MET,
  MIN_SLOW,
  NO_INTERFERENCE,
  type Others,
  type StepCalls,
  strataOf,
  type TimeWindow,
  type ToldStep,
  textOf,
  timesOf,
} from './interference.ts'

/** Smallest share of the change that interfering requests account for. */
const MIN_EXPLAINED = 1 / 3
/** Smallest increase of its time under way from usual to slow calls, as a share of all time, and of all others. */
const MIN_MORE = 0.2

/** The parts of a finding that matter here. */
interface SlowFinding {
  readonly kind: string
  readonly direction: 'slower' | 'faster'
  readonly steps: readonly ToldStep[]
}

/**
 * Finds other requests that hold up the slow calls of a finding: those that were under way at the same
 * service, on the same host, or with the same lock, queue or other thing that an attribute names, in
 * slow calls and not in usual ones.
 *
 * Others are grouped by operation, by attributes of their roots and of the service, and by both. For each call, the
 * times that others of a group were under way are added up, each cut at the usual length of its kind: a request that
 * only waits for the same culprit is slow itself, and is not a culprit. Null hypothesis: slow calls met no more of a
 * group, for the number of others they met in all, than calls at other moments of the same stretch of time
 * (`rotationTest`; a group that was under way only once is never sure). All groups and all that is shared are one
 * family (Benjamini-Hochberg). A group interferes if calls took longer the more of it was under way by at least a third
 * of the change between the periods: this excludes load, which makes everything overlap more, and work that merely runs
 * during a change of all calls. Weights do not count: a sample does not tell who else was under way, so shares of time
 * are those of recorded requests. Slow calls must meet more of a group than of its operation's other requests: if all
 * requests of an operation hold up each other, an attribute that most of them share is no cause.
 *
 * @param of a comparison, or another object with its `steps`
 * @param finding a finding, whose first step counts; nothing is compared unless it is slower
 *
 * Sources: Sambasivan 2013, §7.3.5 (contention-preserving slices), §2.6.7.
 *
 * @example
 * findInterference(comparison, comparison.findings.findings[0]).interferers.map(({ text }) => text)
 */
export function findInterference(
  of: SegmentSources,
  finding: SlowFinding | undefined,
): Interference {
  const { steps, columns } = segmentSources('findInterference(comparison, finding)', of)
  const isFinding = finding === undefined || Array.isArray(finding?.steps)
  requireArgument('findInterference(comparison, finding)', finding, isFinding, 'a finding')
  const [step] = finding?.steps ?? []
  const isSlower = finding?.kind === 'latency' && finding.direction === 'slower'
  const isTime = steps.flows.quantity === TIME
  // Whatever else calls a callee without spans waits for it, too.
  const isTimed =
    isTime &&
    step?.part !== 'message' &&
    (step?.kind !== 'call' || step.caller !== null) &&
    steps.times.length > 0
  if (step === undefined || !isSlower || !isTimed) return NO_INTERFERENCE
  const { flows } = steps
  const strata = strataOf(steps, finding.steps)
  const { chosen, windows } = chooseRequests(flows, strata)
  const kinds = new Dictionary()
  const times = timesOf(strata, { step, chosen, kinds })
  const called = new Set(times.keys())
  const resources = columns.resources()
  const activities = activitiesOf(flows, { resources, chosen, kinds, called })
  const ofAfter = windows.filter(({ recording }) => recording === flows.recordedIn.at(-1))
  const groups = groupsOf(flows, { columns, chosen, service: step.service })
  const found = [...activities.of].flatMap(([shared, activity]) => {
    const places = shared === 'host' ? activities.hosts : activity.place
    if (shared !== 'service' && !isOther(places, activities.services)) return []
    const calls = callsOf(flows, { activity, step, times })
    return calls === null ? [] : [{ shared, activity, calls }]
  })
  const tests = found.flatMap((one) => testGroups(flows, { ...one, groups, windows: ofAfter }))
  const q = benjaminiHochberg(tests.map(({ p }) => p))
  const compared = tests
    .map((test, i) => ({ ...test, q: q[i]! }))
    .sort((a, b) => moreOf(b) - moreOf(a))
  const holding = compared.filter(
    (one) =>
      one.q < steps.options.alpha &&
      one.explained >= MIN_EXPLAINED &&
      Math.min(one.more, one.slow - one.average, moreOf(one)) >= MIN_MORE,
  )
  const first = holding[0]
  const calls = found.find(({ shared }) => shared === (first?.shared ?? 'service'))?.calls.after
  const slowCalls = calls?.excessUs.filter((us) => us > 0).length ?? 0
  return new Interference({
    step,
    slowCalls,
    usualCalls: (calls?.excessUs.length ?? 0) - slowCalls,
    interferers: first === undefined ? [] : [first],
    compared,
  })
}

function moreOf({ slow, usual }: Pick<Others, 'slow' | 'usual'>): number {
  return slow - usual
}

/** Whether places of one kind divide visits differently from services. */
function isOther(place: Uint32Array, services: Uint32Array): boolean {
  if (place.length < services.length) return true
  const [serviceAt, placeOf] = [new Map<number, number>(), new Map<number, number>()]
  return place.some((own, row) => {
    const service = services[row]!
    const [known, other] = [serviceAt.get(own), placeOf.get(service)]
    if (known === service && other === own) return false
    serviceAt.set(own, service)
    placeOf.set(service, own)
    return (known ?? service) !== service || (other ?? own) !== own
  })
}

/** Fewest calls of a stretch of time, within which overlaps are compared. */
const MIN_STRETCH = 30
/** Number of neighborhoods that usual calls are divided into. */
const CLUSTERS = 20
/** Share of the others before, or multiple of their median after, that bounds their usual time under way. */
const USUAL = 0.9
const USUAL_MEDIANS = 2
const MIN_BEFORE = 10

export interface Tested extends Omit<Others, 'q'> {
  /** Difference of its share of all others between slow calls and usual ones. */
  readonly more: number
  /** Share of all time for which it is under way at places of slow calls: long calls meet more than short ones. */
  readonly average: number
}

/** Compares how much of each group slow calls and usual ones met, at places of one kind. */
function testGroups(
  { period, shapes, shapeOf, labels }: FlowSet,
  {
    shared,
    activity,
    calls: { before, after },
    groups: divisions,
    windows,
  }: {
    shared: Shared
    activity: Activity
    calls: { before: StepCalls; after: StepCalls }
    groups: readonly Division[]
    windows: readonly TimeWindow[]
  },
): Tested[] {
  const { place, startUs } = activity
  const hasCalls = new Uint8Array((max(place) ?? 0) + 1)
  for (const calls of [before, after]) for (const one of calls.place) hasCalls[one] = 1
  const near = rowsWhere(place.length, (row) => hasCalls[place[row]!] === 1)
  const whole = { ...activity, byStart: placesInOrder(place, startUs, near), byEnd: null }
  const endUs = usualEnds(activity, { period, near })
  const usual = { ...whole, endUs, byEnd: placesInOrder(place, endUs, near) }
  const isSlow = after.excessUs.map((us) => Number(us > 0))
  const othersBy = memoized((operation: string | null) => {
    const operationOf = (shape: number) => labels.get(shapes.labels(shape)[0]!).operation
    const asOne = Int32Array.from(shapeOf, (shape) =>
      operation === null || operation === operationOf(shape) ? 0 : -1,
    )
    return othersOf(usual, after, asOne)
  })
  const places = [...new Set(after.place)]
  const placeOf = new Map(places.map((place, i) => [place, i]))
  // All the time of the calls, at each of their places.
  const throughout = sortCalls({
    place: Uint32Array.from(windows.flatMap(() => places)),
    startUs: Float64Array.from(windows.flatMap(({ fromUs }) => places.map(() => fromUs))),
    endUs: Float64Array.from(windows.flatMap(({ toUs }) => places.map(() => toUs))),
  })
  const lengthUs = sum(windows, ({ fromUs, toUs }) => toUs - fromUs)
  return divisions.flatMap((division) => {
    const { groupOf, groups } = division
    const [usually, wholly] = [usual, whole].map((one) => groupsUnderWay(one, groupOf))
    const met = overlapsOf(usually!, after, groups.length)
    const metBefore = overlapsOf(usually!, before, groups.length)
    const under = overlapsOf(wholly!, after, groups.length)
    const always = overlapsOf(wholly!, throughout, groups.length)
    const underBefore = overlapsOf(wholly!, before, groups.length)
    return groups.flatMap((name, number): Tested | [] => {
      const of = (values: Float64Array, { startUs: { length } }: Calls) =>
        values.subarray(number * length, (number + 1) * length)
      const { isPart, ...group } = name
      const own = of(met, after)
      const all = othersBy(isPart ? group.operation : null)
      const isOther = (calls: StepCalls) => (i: number) => groupOf[calls.request[i]!] !== number
      const [kept, keptBefore] = [after, before].map((calls) =>
        Array.from(calls.request.keys()).filter(isOther(calls)),
      ) as [number[], number[]]
      const slow = kept.filter((i) => isSlow[i] === 1)
      if (slow.length < MIN_SLOW || slow.filter((i) => own[i]! > 0).length < MIN_MET) return []
      const p = metMoreP(after, { kept, met: own, all })
      const explained = explainedBy([
        { calls: before, kept: keptBefore, met: of(metBefore, before) },
        { calls: after, kept, met: own },
      ])
      const rest = kept.filter((i) => isSlow[i] === 0)
      const average = new Float64Array(places.length)
      of(always, throughout).forEach((us, i) => {
        average[i % places.length]! += us / lengthUs
      })
      const [many, few] = [slow, rest].map((some) => shareOfOthers(some, { met: own, all }).share)
      return {
        ...group,
        text: textOf(group),
        shared,
        explained,
        p,
        more: many! - few!,
        average: mean(slow, (i) => average[placeOf.get(after.place[i]!)!]!)!,
        slow: shareOf(after, slow, of(under, after)),
        usual: shareOf(after, rest, of(under, after)),
        before: shareOf(before, keptBefore, of(underBefore, before)),
      }
    })
  })
}

/** Returns when each row, of those `near`, would end if it took no longer than usual for its kind. */
function usualEnds(
  { request, kind, startUs, endUs }: Activity,
  { period, near }: { readonly period: Uint8Array; readonly near: Uint32Array },
): Float64Array {
  const usualUs = (rows: Uint32Array) => {
    const [before, after] = [BEFORE, AFTER].map((wanted) => {
      const own = rows.filter((row) => period[request[row]!] === wanted)
      return sortAscending(
        new Float64Array(own.length).map((_, i) => endUs[own[i]!]! - startUs[own[i]!]!),
      )
    }) as [Float64Array, Float64Array]
    const least = before.length < MIN_BEFORE ? 0 : quantile(before, USUAL)
    return Math.max(least, after.length === 0 ? 0 : USUAL_MEDIANS * quantile(after, 0.5))
  }
  const { offsets, rows } = groupRows(kind, (max(kind) ?? 0) + 1)
  const usual = new Map<number, number>()
  for (const row of near) {
    const own = kind[row]!
    if (!usual.has(own)) usual.set(own, usualUs(rows.subarray(offsets[own], offsets[own + 1])))
  }
  const usualEndUs = endUs.slice()
  for (const row of near)
    usualEndUs[row] = Math.min(endUs[row]!, startUs[row]! + usual.get(kind[row]!)!)
  return usualEndUs
}

/** Returns how long other requests were under way during each call, without the excluded ones (-1). */
function othersOf(sorted: SortedActivity, calls: StepCalls, asOne: Int32Array): Float64Array {
  const { request, place, startUs, endUs } = sorted
  const all = overlapsOf(groupsUnderWay(sorted, asOne), calls, 1)
  return all.map((us, i) => {
    let own = 0
    if (asOne[calls.request[i]!]! < 0) return us
    const first = bisectLeft(request, calls.request[i]!)
    for (let row = first; request[row] === calls.request[i]; row++) {
      if (place[row] !== calls.place[i]) continue
      const from = Math.max(startUs[row]!, calls.startUs[i]!)
      own += Math.max(0, Math.min(endUs[row]!, calls.endUs[i]!) - from)
    }
    return Math.max(0, us - own)
  })
}

/**
 * Returns p of the hypothesis that slow calls met no larger share of others than usual ones, allowing for the share's
 * error.
 */
function metMoreP(
  { excessUs, startUs, endUs, kind }: StepCalls,
  { kept, met, all }: { kept: readonly number[]; met: Float64Array; all: Float64Array },
): number {
  const { share, variance } = shareOfOthers(
    kept.filter((i) => excessUs[i] === 0),
    { met, all },
  )
  if (Number.isNaN(variance)) return Number.NaN
  const stretches = Math.max(1, Math.min(BLOCKS, Math.floor(kept.length / MIN_STRETCH)))
  const excess = kept.map((i) => excessUs[i]!)
  const kinds = kept.map((i) => kind[i]!)
  const together = (usOf: (i: number) => number) => {
    const rates = kept.map((i) => usOf(i) / (endUs[i]! - startUs[i]!))
    const levels = levelsOf(kinds, rates)
    const beyond = rates.map((rate, i) => rate - levels[i]!)
    return rotationTest(excess, beyond, { stretches })
  }
  const more = together((i) => met[i]! - share * all[i]!)
  const error = together((i) => all[i]!).excess * Math.sqrt(variance)
  return normalP(more.excess / Math.hypot(Math.sqrt(more.variance), error), 'slower')
}

/** Returns the share of a group in all other requests that calls met, and its variance if neighbors are similar. */
function shareOfOthers(
  calls: readonly number[],
  { met, all }: { met: Float64Array; all: Float64Array },
): { share: number; variance: number } {
  const sum = (some: readonly number[], values: Float64Array) =>
    some.reduce((total, i) => total + values[i]!, 0)
  const whole = sum(calls, all)
  const share = whole > 0 ? sum(calls, met) / whole : 0
  const size = Math.floor(calls.length / CLUSTERS)
  if (size < 1) return { share, variance: Number.NaN }
  let squares = 0
  for (let cluster = 0; cluster < CLUSTERS; cluster++) {
    const own = calls.slice(cluster * size, (cluster + 1) * size)
    squares += (sum(own, met) - share * sum(own, all)) ** 2
  }
  return { share, variance: whole > 0 ? ((CLUSTERS / (CLUSTERS - 1)) * squares) / whole ** 2 : 0 }
}

function levelsOf(kinds: readonly number[], values: readonly number[]): number[] {
  const sums = new Map<number, { sum: number; count: number }>()
  kinds.forEach((kind, i) => {
    const known = sums.get(kind) ?? { sum: 0, count: 0 }
    sums.set(kind, known)
    known.sum += values[i]!
    known.count++
  })
  const levels = new Map(Array.from(sums, ([kind, { sum, count }]) => [kind, sum / count]))
  return kinds.map((kind) => levels.get(kind)!)
}

/** Returns the part of the change that follows from how much calls met: the slope of time over it. */
function explainedBy(
  periods: readonly { calls: StepCalls; kept: readonly number[]; met: Float64Array }[],
): number {
  const [before, after] = periods.map(({ calls, kept, met }) => {
    const kinds = kept.map((i) => calls.kind[i]!)
    const times = kept.map((i) => calls.timeUs[i]!)
    const share = kept.map((i) => met[i]! / (calls.endUs[i]! - calls.startUs[i]!))
    const levels = levelsOf(kinds, share)
    let [products, squares] = [0, 0]
    share.forEach((one, i) => {
      products += (one - levels[i]!) * times[i]!
      squares += (one - levels[i]!) ** 2
    })
    return { own: squares > 0 ? (products / squares) * mean(share)! : 0, all: mean(times)! }
  }) as [{ own: number; all: number }, { own: number; all: number }]
  return (after.own - before.own) / (after.all - before.all)
}

function shareOf({ startUs, endUs }: StepCalls, kept: readonly number[], met: Float64Array) {
  const whole = sum(kept, (i) => endUs[i]! - startUs[i]!)
  return whole > 0 ? sum(kept, (i) => met[i]!) / whole : 0
}
