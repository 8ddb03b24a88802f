import { group, mean, rollup, sum, variance as varianceOf } from 'd3-array'
import { addAt, at } from '../../core/entries.ts'
import { moreText } from '../../core/quantity.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { normalP, normalQuantile } from '../../stats/distributions.ts'
import { type Moments, moments } from '../../stats/moments.ts'
import { twoProportionsTest } from '../../stats/two-proportions.ts'
import { rootTypes } from '../steps/root-types.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import { MIN_ALIKE_P } from '../steps/step-strata.ts'
import { type Compared, strataOfDraft } from './consequences.ts'
import { type Draft, isStructural } from './finding.ts'
import { requestsOf } from './names.ts'
import { isConfined } from './segment-findings.ts'
import { toldAsDelays } from './told-as-delays.ts'

/** Findings account for requests that changed when they add up to this share of it. */
export const MIN_ACCOUNTED = 0.8

/**
 * What requests after changed by beyond what findings account for in them, each by its share of the
 * calls that it is about, or else of its requests, or what they waited longer for these calls if that
 * is more (`isOfWaits`): of calls in parallel they wait for the slow ones. `null` if that is small or
 * may be chance: costs of findings and the change are uncertain.
 */
export function leftIn(
  changed: Record<'changeUs' | 'errorUs', number> & { readonly requests: readonly number[] },
  {
    drafts,
    categories,
    steps,
    accounted,
    isOfWaits = true,
  }: Compared & {
    readonly drafts: readonly Draft[]
    readonly accounted: number
    readonly isOfWaits?: boolean
  },
): Left | null {
  const own = new Uint32Array(categories.size)
  const isOwn = new Uint8Array(steps.flows.size)
  for (const request of changed.requests) {
    addAt(own, at(categories.categoryOf, request), 1)
    isOwn[request] = 1
  }
  const parts = drafts.map((draft) => {
    const { categories: ids, contributionUs, eachInterval, requests } = draft
    const ofCalls = callsOfOwn(draft, steps, isOwn)
    const share =
      shareDoing(draft, isOwn) ??
      ofCalls?.share ??
      (sum(ids, (id) => at(own, id)) / requestsOf(categories, ids)[AFTER] || 0)
    const [low, high] = eachInterval
    const us = share * contributionUs
    const waitedUs = isOfWaits && contributionUs !== 0 ? (ofCalls?.waitedUs ?? 0) : 0
    return {
      us: Math.sign(contributionUs) * Math.max(Math.abs(us), waitedUs),
      unsureUs: (share * requests * (high - low)) / 2 || 0,
    }
  })
  const us = changed.changeUs - sum(parts, (part) => part.us)
  const isAll = parts.every((part) => part.us === 0)
  const unsureUs = Math.hypot(
    isAll ? 0 : normalQuantile(0.975) * changed.errorUs,
    ...parts.map((part) => part.unsureUs),
  )
  const isLarge = Math.abs(us) > Math.max(unsureUs, (1 - accounted) * Math.abs(changed.changeUs))
  const p = isAll ? Number.NaN : normalP((normalQuantile(0.975) * us) / unsureUs, 'two-sided')
  return isLarge ? { us, isAll, unsureUs, p, partsUs: parts.map((part) => part.us) } : null
}

export interface Left {
  readonly us: number
  readonly unsureUs: number
  /** Whether findings account for nothing of it. */
  readonly isAll: boolean
  /** p of what is left beside findings; `NaN` where they account for nothing, as requests were tested. */
  readonly p: number
  /** What each finding accounts for in these requests. */
  readonly partsUs: readonly number[]
}

/**
 * Takes off findings of times what they account for beyond what their own requests changed by, with those of
 * other times in these: calls in parallel are waited for only until the next of them would end. What costs time
 * otherwise may do so before, too. Where all requests call otherwise in several ways, each is priced with the others.
 */
export function heldToRequests(drafts: readonly Draft[], of: Compared): Draft[] {
  const held = drafts.map((draft) => (draft.kind === 'latency' ? heldTo(draft, drafts, of) : draft))
  const elsewhere = toldAsDelays(of, held)
  const net = held.map((draft) =>
    isStructural(draft)
      ? { ...draft, contributionUs: draft.contributionUs - elsewhere(draft) }
      : draft,
  )
  return held.map((draft, i) => {
    const [own, rows] = [at(net, i), new Set(draft.doing)]
    const isShared = held.some(({ doing = [] }, j) => i !== j && doing.some((row) => rows.has(row)))
    const rest = isShared && isStructural(draft) ? heldTo(own, net, of) : own
    if (rest === own) return draft
    const contributionUs = draft.contributionUs + rest.contributionUs - own.contributionUs
    const take = moreText(draft.contributionUs / draft.requests, of.steps.flows.quantity)
    const note = `these requests take ${take}, shared between the calls that changed in them`
    const notes = [...draft.notes, note]
    return { ...draft, contributionUs, notes, eachInterval: [Number.NaN, Number.NaN] }
  })
}

function heldTo(draft: Draft, drafts: readonly Draft[], { categories, steps }: Compared): Draft {
  const { kind, contributionUs, requests } = draft
  if (contributionUs === 0) return draft
  const isOther = (one: Draft) => one.contributionUs * contributionUs < 0
  const isAlike = (one: Draft) =>
    !isOther(one) && (isStructural(draft) ? isStructural(one) : one.kind === kind)
  const alike = drafts.filter(isAlike)
  const others = drafts.filter((one) => isOther(one) || (isStructural(draft) && !isAlike(one)))
  const changed = changeOf(requestsOfDraft(draft, { categories, steps }), steps.flows)
  const known = { drafts: [...alike, ...others], categories, steps, accounted: 1, isOfWaits: false }
  const left = changed && leftIn(changed, known)
  if (left === null || left.us * contributionUs >= 0) return draft
  const ofAlikeUs = sum(left.partsUs.slice(0, alike.length))
  const ownUs = at(left.partsUs, alike.indexOf(draft))
  const beyond = Math.abs((left.us * ownUs) / (ofAlikeUs || 1) / contributionUs)
  const us = contributionUs * Math.max(0, 1 - beyond)
  const [low, high] = [us - left.unsureUs, us + left.unsureUs]
  return { ...draft, contributionUs: us, eachInterval: [low / requests, high / requests] }
}

/** By how much requests after took longer than those before of the same type; `null` where another share fails. */
export function changeOf(all: ReadonlySet<number>, flows: FlowSet) {
  const { typeOf } = rootTypes(flows)
  const whole = [...all].filter((request) => !flows.isPart(request))
  const pairsOf = (requests: readonly number[]) =>
    [BEFORE, AFTER].map((period) => requests.filter((one) => flows.period[one] === period)) as [
      number[],
      number[],
    ]
  const [[x1, n1], [x2, n2]] = pairsOf(whole).map((own) => [
    own.filter((request) => flows.outcomes?.failed(request)).length,
    own.length,
  ]) as [[number, number], [number, number]]
  if (twoProportionsTest(x1, n1, x2, n2).p < MIN_ALIKE_P) return null
  const pairs = [...group(whole, (request) => at(typeOf, request)).values()]
    .map(pairsOf)
    .filter((pair) => pair.every(({ length }) => length >= MIN_LIKE))
  let [changeUs, variance] = [0, 0]
  for (const pair of pairs) {
    const [before, after] = pair.map((own) => {
      const times = own.map((request) => at(flows.responseTimeUs, request))
      return moments(times, flows.counted && own.map((request) => flows.countOf(request)))
    }) as [Moments, Moments]
    const size = sum(pair[AFTER], (request) => flows.countOf(request))
    changeUs += size * (after.mean - before.mean)
    const ofRuns = rollup(
      pair[BEFORE],
      (own) => mean(own, (request) => at(flows.responseTimeUs, request)),
      (request) => at(flows.recordedIn, request),
    )
    const betweenRuns = (varianceOf(ofRuns.values()) ?? 0) * (1 + 1 / ofRuns.size)
    variance +=
      size ** 2 * (before.variance / before.count + after.variance / after.count + betweenRuns)
  }
  return { requests: pairs.flatMap(([, after]) => after), changeUs, errorUs: Math.sqrt(variance) }
}

/** Fewer requests of a type in a period say nothing. */
const MIN_LIKE = 5
/** All call otherwise where so many do: the others of after do not tell its price. */
const NEARLY_ALL = 0.9

/** Requests of both periods that a finding is about: of its segment, or all that have its steps, or call otherwise. */
function requestsOfDraft(draft: Draft, { categories, steps: changes }: Compared): Set<number> {
  const { segment, doing, categories: ids } = draft
  if (doing !== undefined) {
    const isAll = doing.length >= NEARLY_ALL * requestsOf(categories, ids)[AFTER]
    return new Set(
      isAll ? [...doing, ...ids.flatMap((id) => [...categories.members(id, BEFORE)])] : [],
    )
  }
  if (segment !== undefined && isConfined(draft, segment)) return new Set(segment.requests)
  return new Set(
    strataOfDraft(draft, changes).flatMap(({ before, after }) => [
      ...before.recorded.requests,
      ...after.recorded.requests,
    ]),
  )
}

/** Which share of the requests after that call otherwise some requests are. */
function shareDoing({ doing }: Draft, isOwn: Uint8Array): number | null {
  return doing === undefined ? null : sum(doing, (one) => at(isOwn, one)) / doing.length || 0
}

/**
 * Which share of the calls after on critical paths that a finding is about, in its segment, is of some
 * requests, and how much longer these waited for them; `null` where it is about none.
 */
function callsOfOwn(draft: Draft, changes: StepChanges, isOwn: Uint8Array) {
  const { kind, direction, segment } = draft
  if (kind !== 'latency') return null
  const sign = direction === 'slower' ? 1 : -1
  const inside = segment && isConfined(draft, segment) && new Set(segment.requests)
  let [all, own, waitedUs] = [0, 0, 0]
  for (const { before, after } of strataOfDraft(draft, changes)) {
    const [had, has] = [before, after].map(({ recorded }) => {
      const rows = [...recorded.requests.keys()].filter(
        (row) => !inside || inside.has(at(recorded.requests, row)),
      )
      const isOwnRow = (row: number) => at(isOwn, at(recorded.requests, row))
      const total = (ofRow: (row: number) => number) =>
        sum(rows, (row) => ofRow(row) * changes.flows.countOf(at(recorded.requests, row)))
      return {
        size: total(() => 1),
        calls: total((row) => at(recorded.critical, row)),
        own: total((row) => at(recorded.critical, row) * isOwnRow(row)),
        ownSize: total(isOwnRow),
        us: total((row) => at(recorded.criticalUs, row)),
        ownUs: total((row) => at(recorded.criticalUs, row) * isOwnRow(row)),
      }
    }) as [CriticalCalls, CriticalCalls]
    all += has.calls
    own += has.own
    waitedUs += sign * (has.ownUs - has.ownSize * (had.us / had.size)) || 0
  }
  return all === 0 ? null : { share: own / all, waitedUs: Math.max(0, waitedUs) }
}

type CriticalCalls = Readonly<Record<'size' | 'calls' | 'own' | 'ownSize' | 'us' | 'ownUs', number>>
