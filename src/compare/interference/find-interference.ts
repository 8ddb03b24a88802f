// Runs once a visit, and once a call and group of others: the loops index with `!`.

import { max, mean, sum } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
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
import { groupRows } from '../../traces/group-rows.ts'
import { type SegmentSources, segmentSources } from '../segments/find-segments.ts'
import {
  BLOCKS,
  MIN_KNOWN,
  MIN_SEEN,
  MIN_TAIL,
  NEARLY_ALL,
  PART,
  STRETCHES,
  TWICE,
} from '../thresholds.ts'

import {
  type Activity,
  activitiesOf,
  callsOf,
  chooseRequests,
  type Division,
  groupsOf,
  groupsUnderWay,
  Interference,
  NO_INTERFERENCE,
  type Others,
  type Shared,
  type StepCalls,
  type Stretches,
  strataOf,
  type TimeWindow,
  type ToldStep,
  textOf,
  timesOf,
} from './interference.ts'

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
  const found = [...activities].flatMap(([shared, activity]) => {
    if (shared === 'host' && isSame(activity, activities.get('service'))) return []
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
      one.explained >= PART &&
      Math.min(one.more, one.slow - one.average, moreOf(one)) >= PART,
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

/** Whether hosts divide visits just as services do. */
function isSame({ place }: Activity, services: Activity | undefined): boolean {
  const pairs = new Set(Array.from(place, (host, row) => `${host} ${services?.place[row]}`))
  const [hosts, others] = [new Set(place), new Set(services?.place)]
  return place.length === services?.place.length && pairs.size === Math.max(hosts.size, others.size)
}

export interface Tested extends Omit<Others, 'q'> {
  /** Difference of its share of all others between slow calls and usual ones. */
  readonly more: number
  /** Share of all time for which it is under way at places of slow calls: long calls meet more than short ones. */
  readonly average: number
}

/** Compares how much of each group slow calls and usual ones met, at places of one kind. */
function testGroups(
  flows: FlowSet,
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
  const everyone = { groupOf: new Int32Array(flows.size), size: 1 }
  const usualEndUs = usualEnds(activity, flows)
  const sized = divisions.map(({ groupOf, groups }) => ({ groupOf, size: groups.length }))
  const met = (stretches: Stretches) =>
    groupsUnderWay(activity, stretches, { usualEndUs, divisions: [...sized, everyone] })
  const places = [...new Set(after.place)]
  const placeOf = new Map(places.map((place, i) => [place, i]))
  // All the time of the calls, at each of their places.
  const throughout = {
    place: Uint32Array.from(windows.flatMap(() => places)),
    startUs: Float64Array.from(windows.flatMap(({ fromUs }) => places.map(() => fromUs))),
    endUs: Float64Array.from(windows.flatMap(({ toUs }) => places.map(() => toUs))),
  }
  const lengthUs = sum(windows, ({ fromUs, toUs }) => toUs - fromUs)
  const [metAfter, metBefore, always] = [met(after), met(before), met(throughout)]
  const isSlow = after.excessUs.map((us) => Number(us > 0))
  // Requests of one operation are compared with the others of it.
  const othersOf = (operation: string | null) => {
    const number = divisions[0]!.groups.findIndex(
      (one) => !one.isPart && one.operation === operation,
    )
    return number < 0 ? metAfter.at(-1)!.eachUs : of(metAfter[0]!.eachUs, number, after)
  }
  return divisions.flatMap(({ groupOf, groups }, division) =>
    groups.flatMap((name, number): Tested | [] => {
      const { isPart, ...group } = name
      const own = of(metAfter[division]!.eachUs, number, after)
      const all = othersOf(isPart ? group.operation : null)
      const isOther = (calls: StepCalls) => (i: number) => groupOf[calls.request[i]!] !== number
      const [kept, keptBefore] = [after, before].map((calls) =>
        Array.from(calls.request.keys()).filter(isOther(calls)),
      ) as [number[], number[]]
      const slow = kept.filter((i) => isSlow[i] === 1)
      if (slow.length < MIN_KNOWN || slow.filter((i) => own[i]! > 0).length < MIN_SEEN) return []
      const rest = kept.filter((i) => isSlow[i] === 0)
      const average = new Float64Array(places.length)
      of(always[division]!.anyUs, number, throughout).forEach((us, i) => {
        average[i % places.length]! += us / lengthUs
      })
      const [many, few] = [slow, rest].map((some) => shareOfOthers(some, { met: own, all }).share)
      const any = of(metAfter[division]!.anyUs, number, after)
      return {
        ...group,
        text: textOf(group),
        shared,
        explained: explainedBy([
          { calls: before, kept: keptBefore, met: of(metBefore[division]!.eachUs, number, before) },
          { calls: after, kept, met: own },
        ]),
        p: metMoreP(after, { kept, met: own, all }),
        more: many! - few!,
        average: mean(slow, (i) => average[placeOf.get(after.place[i]!)!]!)!,
        slow: shareOf(after, slow, any),
        usual: shareOf(after, rest, any),
        before: shareOf(before, keptBefore, of(metBefore[division]!.anyUs, number, before)),
      }
    }),
  )
}

/** Returns the values of one group, one a stretch. */
function of(values: Float64Array, group: number, { startUs: { length } }: Stretches) {
  return values.subarray(group * length, (group + 1) * length)
}

/** Returns when each visit would end if it took no longer than usual for its kind. */
function usualEnds({ request, kind, startUs, endUs }: Activity, { period }: FlowSet): Float64Array {
  const usualUs = (rows: Uint32Array) => {
    const [before, after] = [BEFORE, AFTER].map((wanted) => {
      const own = rows.filter((row) => period[request[row]!] === wanted)
      return sortAscending(Float64Array.from(own, (row) => endUs[row]! - startUs[row]!))
    }) as [Float64Array, Float64Array]
    const least = before.length < MIN_KNOWN ? 0 : quantile(before, NEARLY_ALL)
    return Math.max(least, after.length === 0 ? 0 : TWICE * quantile(after, 0.5))
  }
  const { offsets, rows } = groupRows(kind, (max(kind) ?? 0) + 1)
  const usual = memoized((own: number) => usualUs(rows.subarray(offsets[own], offsets[own + 1])))
  return endUs.map((us, row) => Math.min(us, startUs[row]! + usual(kind[row]!)))
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
  const stretches = Math.max(1, Math.min(BLOCKS, Math.floor(kept.length / MIN_TAIL)))
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
  const size = Math.floor(calls.length / STRETCHES)
  if (size < 1) return { share, variance: Number.NaN }
  let squares = 0
  for (let cluster = 0; cluster < STRETCHES; cluster++) {
    const own = calls.slice(cluster * size, (cluster + 1) * size)
    squares += (sum(own, met) - share * sum(own, all)) ** 2
  }
  return { share, variance: whole > 0 ? ((STRETCHES / (STRETCHES - 1)) * squares) / whole ** 2 : 0 }
}

function levelsOf(kinds: readonly number[], values: readonly number[]): number[] {
  const sums = new Map<number, { sum: number; count: number }>()
  kinds.forEach((kind, i) => {
    const known = getOrInsert(sums, kind, () => ({ sum: 0, count: 0 }))
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
