// Runs once a visit: the loops index with `!`.
import { requireArgument } from '../../core/errors.ts'
import { TIME } from '../../core/quantity.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { type SegmentSources, segmentSources } from '../segments/find-segments.ts'
import { type Activity, activitiesOf } from './activity.ts'
import { Interference, NO_INTERFERENCE, type Others, type ToldStep } from './interference.ts'
import { groupsOf } from './request-groups.ts'
import { callsOf, chooseRequests, strataOf, timesOf } from './step-calls.ts'
import { testGroups } from './test-groups.ts'

/** Who interferes accounts for this share of the change. */
const MIN_EXPLAINED = 1 / 3
/** And is so much more under way in slow calls than in usual ones, all time, and of all others. */
const MIN_MORE = 0.2

/** What of a finding counts. */
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
 * Others are grouped by operation, by attributes of their roots and of the service, and by both. For
 * each call, how long others of a group were under way is added up, no longer than such requests
 * usually are: what only waits for the same culprit is slow itself, and does not count as one. Null
 * hypothesis: slow calls met no more of a group, for the number of others they met in all, than calls
 * at other moments of the same stretch of time (`rotationTest`; a group that was under way only once
 * is never sure). All groups and all that is shared are one family (Benjamini-Hochberg). A group
 * interferes if calls took longer the more of it was under way by at least a third of the change between
 * the periods: neither load, which lets all overlap more, nor what runs beside a change that hits all
 * calls alike does.
 *
 * @param of a comparison, or what has its `steps`
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
  if (step === undefined || !isSlower || !isTime || steps.times.length === 0) return NO_INTERFERENCE
  const { flows } = steps
  const strata = strataOf(steps, finding.steps)
  const { chosen, windows } = chooseRequests(flows, strata)
  const activities = activitiesOf(flows, { resources: columns.resources(), chosen })
  const times = timesOf(strata, { step, chosen, kinds: activities.kinds })
  const ofAfter = windows.filter(({ recording }) => recording === flows.recordedIn.at(-1))
  const groups = groupsOf(flows, { columns, chosen, service: step.service })
  const found = [...activities.of].flatMap(([shared, activity]) => {
    if (shared !== 'service' && !isOther(activity, activities.of.get('service')!)) return []
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
  return new Interference(step, {
    slowCalls,
    usualCalls: (calls?.excessUs.length ?? 0) - slowCalls,
    interferers: first === undefined ? [] : [first],
    compared,
  })
}

function moreOf({ slow, usual }: Pick<Others, 'slow' | 'usual'>): number {
  return slow - usual
}

/** Whether places of one kind divide visits otherwise than services do. */
function isOther({ place, request }: Activity, { place: services }: Activity): boolean {
  if (place.length < services.length) return true
  const [serviceAt, placeOf] = [new Map<number, number>(), new Map<number, number>()]
  return request.some((_, row) => {
    const [own, service] = [place[row]!, services[row]!]
    const [known, other] = [serviceAt.get(own), placeOf.get(service)]
    serviceAt.set(own, service)
    placeOf.set(service, own)
    return (known ?? service) !== service || (other ?? own) !== own
  })
}
