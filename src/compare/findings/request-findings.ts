import { group, sum } from 'd3-array'
import { addAt, at } from '../../core/entries.ts'
import { formatAmount, moreText, type Quantity } from '../../core/quantity.ts'
import { printable } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { type Moments, moments } from '../../stats/moments.ts'
import { twoProportionsTest } from '../../stats/two-proportions.ts'
import type { Categories } from '../categories/categories.ts'
import { place } from '../edges/edge-pool.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import type { ResponseTimeMutations } from '../mutations/find-response-time-mutations.ts'
import { typicalTimeUs } from '../ranking/rank-mutations.ts'
import type { Segment } from '../segments/segments.ts'
import { rootTypes } from '../steps/root-types.ts'
import { changedStrata, type StepChanges } from '../steps/step-changes.ts'
import { MIN_ALIKE_P, type StepStratum } from '../steps/step-strata.ts'
import { type Step, stepKey } from '../steps/step-times.ts'
import { commonStep, type Place } from './common-step.ts'
import { type Deadline, deadlineOf } from './deadlines.ts'
import { type Draft, NO_EVIDENCE } from './finding.ts'
import {
  byRequestsAfter,
  categoriesOf,
  operationName,
  requestsOf,
  rootsName,
  surest,
} from './names.ts'
import { isConfined, requestsAfter } from './segment-findings.ts'
import { findingStep, inFew, minorityNotes, placeTitle } from './step-findings.ts'

/**
 * Drafts a finding of all categories slower, and one of all faster, that no edge accounts for: many
 * small changes, or time between what was traced. The shift is that of medians.
 */
export function requestFindings(
  responseTime: ResponseTimeMutations,
  { explained, edges }: { explained: ReadonlySet<number>; edges: EdgeChanges },
): Draft[] {
  const { categories } = responseTime
  const { minimumEffect } = edges.options
  const shifted = responseTime.mutations.flatMap((category) => {
    const { beforeUs, shiftUs } = medians(categories, category)
    const matters = !explained.has(category) && Math.abs(shiftUs) >= minimumEffect * beforeUs
    return matters ? [{ category, shiftUs, requests: categories.count(category, AFTER) }] : []
  })
  return (['slower', 'faster'] as const).flatMap((direction): Draft | [] => {
    const found = shifted.filter(({ shiftUs }) => shiftUs < 0 === (direction === 'faster'))
    const members = found.map(({ category }) => category)
    const contributionUs = found.reduce((sum, one) => sum + one.shiftUs * one.requests, 0)
    if (members.length === 0 || Math.abs(contributionUs) < edges.negligibleUs) return []
    const counts = requestsOf(categories, members)
    const [, requests] = counts
    const concerned = byRequestsAfter(categories, members)
    const roots = concerned.map((category) => categories.nodeLabel(category, 0))
    const effects = found.map((one) => ({
      share: one.requests / requests,
      ...responseTime.medianEffect(one.category),
    }))
    const mean = (value: (effect: (typeof effects)[number]) => number) =>
      effects.reduce((total, effect) => total + effect.share * value(effect), 0)
    const shift = moreText(contributionUs / requests, categories.flows.quantity)
    return {
      ...NO_EVIDENCE,
      kind: 'unattributed',
      key: `requests ${direction}`,
      direction,
      where: rootsName(roots),
      what: `requests take ${shift}, spread over many steps`,
      categories: concerned,
      requests,
      concerned: counts,
      contributionUs,
      eachInterval: [mean(({ interval }) => interval[0]), mean(({ interval }) => interval[1])],
      probabilitySlower: mean(({ probabilitySlower }) => probabilitySlower),
      services: [...new Set(roots.map(place))].filter((name) => name !== ''),
      ...surest(members.map((category) => responseTime.test(category))),
    }
  })
}

function medians(categories: Categories, category: number) {
  const median = (period: 0 | 1) =>
    typicalTimeUs(categories, { category, period, centre: 'median' })
  const beforeUs = median(BEFORE)
  return { beforeUs, shiftUs: median(AFTER) - beforeUs }
}

/** Findings account for requests that changed when they add up to this share of it. */
export const MIN_ACCOUNTED = 0.8

/** What is left over counts as all of a shift from this share of it on. */
const MOSTLY = 0.95

/** Segments of requests are less sure than their steps: others account for one from this share of it on. */
const MIN_ACCOUNTED_SEGMENT = 0.5

interface Told {
  readonly drafts: readonly Draft[]
  readonly edges: EdgeChanges
}

/**
 * Drafts what findings do not account for: requests of a segment, then all of a root, that changed
 * by more than the findings of these requests say, by a part that is large and no chance.
 *
 * @param whole what `wholeRequests` drafts, in the time that they changed
 */
export function unattributedFindings(
  steps: StepChanges,
  { drafts, edges, whole }: Told & { readonly whole: readonly Draft[] },
): Draft[] {
  const ofSegments = whole.flatMap((draft) => segmentLeft(draft, steps, { drafts, edges }))
  return [...ofSegments, ...rootsLeft(steps, { drafts: [...drafts, ...ofSegments], edges })]
}

function segmentLeft(draft: Draft, steps: StepChanges, { drafts, edges }: Told): Draft[] {
  const { flows } = steps
  const { contributionUs: changeUs, requests: count, eachInterval } = draft
  const requests = requestsAfter(draft.segment as Segment, flows)
  const [low, high] = eachInterval.map((us) => us - changeUs / count) as [number, number]
  const errorUs = ((high - low) / 2 / normalQuantile(0.975)) * count
  const left = leftIn(
    { changeUs, errorUs, requests },
    { drafts, categories: edges.categories, steps, accounted: MIN_ACCOUNTED_SEGMENT },
  )
  if (left === null || left.us * changeUs < 0) return []
  const eachUs = left.us / count
  const place = left.isAll ? commonStep(steps.times, new Set(requests), changeUs) : null
  const deadline = left.isAll ? deadlineOf(flows, requests) : null
  return [
    {
      ...draft,
      what:
        draft.what + partText(eachUs, changeUs / count, flows.quantity) + mostIn(place, deadline),
      contributionUs: left.us,
      eachInterval: [eachUs + low, eachUs + high],
      ...lookAt(place, deadline),
    },
  ]
}

/** Says which step holds most of what whole requests take longer, or which call they give up later. */
function mostIn(place: Place | null, deadline: Deadline | null): string {
  if (deadline !== null) return `, most of it in ${deadline.name}, ${deadline.text}`
  return place === null ? '' : `, most of it in ${placeTitle(place, place.operation)}`
}

function lookAt(place: Place | null, deadline: Deadline | null) {
  if (deadline === null && place === null) return {}
  const { service, caller } = place ?? {}
  const services = deadline?.services ?? [service, caller].filter((one) => one != null)
  return { look: printable(services[0] as string), services } as Pick<Draft, 'look' | 'services'>
}

function rootsLeft(changes: StepChanges, { drafts, edges }: Told): Draft[] {
  const { steps, times, flows } = changes
  const { categories } = edges
  return steps.flatMap((step): Draft | [] => {
    const { kind, changed, service, operations, shiftUs, requests } = step
    if (kind !== 'request' || !changed) return []
    const changedOnes = operations.filter((one) => one.changed)
    const all = changedStrata(times, step).flatMap((one) => [...one.after.recorded.requests])
    const left = leftIn(
      { requests: all, changeUs: step.observedUs, errorUs: step.observedError },
      { drafts, categories, steps: changes, accounted: MIN_ACCOUNTED },
    )
    if (left === null || left.us * shiftUs < 0) return []
    const after = requests.filter((request) => flows.period[request] === AFTER)
    const operation = changedOnes[0] ?? operations[0]
    const eachUs = left.us / after.length
    const part = partText(eachUs, shiftUs, flows.quantity)
    const [low, high] = step.interval.map((bound) => bound - shiftUs) as [number, number]
    const slower = shiftUs > 0
    const place = commonStep(times, new Set(all), step.observedUs)
    const deadline = deadlineOf(flows, after)
    return {
      ...NO_EVIDENCE,
      kind: 'unattributed',
      direction: slower ? 'slower' : 'faster',
      key: `requests ${slower ? 'slower' : 'faster'} ${service}`,
      where: `${printable(service)} ${operationName({ operation: operation?.operation ?? '' })}`,
      what:
        `requests take ${moreText(part === '' ? eachUs : shiftUs, flows.quantity)}` +
        inFew(step, 'them') +
        (left.isAll
          ? `${mostIn(place, deadline)}; no single step changed enough to be sure of`
          : part || ', which no single step explains'),
      categories: categoriesOf(categories, after),
      requests: after.length,
      concerned: [requests.length - after.length, after.length],
      contributionUs: left.us,
      eachInterval: [eachUs + low, eachUs + high],
      probabilitySlower: step.probabilitySlower,
      notes: minorityNotes(step, flows.quantity),
      ...(left.isAll && lookAt(place, deadline)),
      steps: [findingStep(step)],
      p: step.p,
      q: step.q,
    }
  })
}

function partText(leftUs: number, allUs: number, quantity: Quantity): string {
  if (Math.abs(leftUs) >= MOSTLY * Math.abs(allUs)) return ''
  return `, ${formatAmount(Math.abs(leftUs), quantity)} of which no single step explains`
}

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
  }: Pick<Told, 'drafts'> & {
    readonly categories: Categories
    readonly steps: StepChanges
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
  return isLarge ? { us, isAll, unsureUs, partsUs: parts.map((part) => part.us) } : null
}

interface Left {
  readonly us: number
  readonly unsureUs: number
  /** Whether findings account for nothing of it. */
  readonly isAll: boolean
  /** What each finding accounts for in these requests. */
  readonly partsUs: readonly number[]
}

/**
 * Takes off findings of times what they account for beyond what their own requests changed by, with
 * those of other times in these: calls in parallel are waited for only until the next of them would end.
 * What costs time otherwise may do so before, too, in requests that have what changed.
 */
export function heldToRequests(
  drafts: readonly Draft[],
  { categories, steps }: { readonly categories: Categories; readonly steps: StepChanges },
): Draft[] {
  return drafts.map((draft) => {
    const { kind, contributionUs, requests } = draft
    if (kind !== 'latency' || contributionUs === 0 || steps.flows.runs.length > 1) return draft
    const others = drafts.filter((one) => one.contributionUs * contributionUs < 0)
    const alike = drafts.filter((one) => one.kind === kind && !others.includes(one))
    const changed = changeOf(requestsOfDraft(draft, steps), steps.flows)
    const all = [...alike, ...others]
    const known = { drafts: all, categories, steps, accounted: 1, isOfWaits: false }
    const left = changed && leftIn(changed, known)
    if (left === null || left.us * contributionUs >= 0) return draft
    const ofAlikeUs = sum(left.partsUs.slice(0, alike.length))
    const ownUs = at(left.partsUs, alike.indexOf(draft))
    const beyond = Math.abs((left.us * ownUs) / (ofAlikeUs || 1) / contributionUs)
    const us = contributionUs * Math.max(0, 1 - beyond)
    const [low, high] = [us - left.unsureUs, us + left.unsureUs]
    return { ...draft, contributionUs: us, eachInterval: [low / requests, high / requests] }
  })
}

/** By how much requests after took longer than those before of the same type; `null` where another share fails. */
function changeOf(all: ReadonlySet<number>, flows: FlowSet) {
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
    changeUs += after.count * (after.mean - before.mean)
    variance += after.count ** 2 * (before.variance / before.count + after.variance / after.count)
  }
  return { requests: pairs.flatMap(([, after]) => after), changeUs, errorUs: Math.sqrt(variance) }
}

/** Fewer requests of a type in a period say nothing. */
const MIN_LIKE = 5

/** Requests of both periods that a finding of times is about: of its segment, or all that have its steps. */
function requestsOfDraft(draft: Draft, changes: StepChanges): Set<number> {
  const { segment } = draft
  if (segment !== undefined && isConfined(draft, segment)) return new Set(segment.requests)
  return new Set(
    strataOfDraft(draft, changes).flatMap(({ before, after }) => [
      ...before.recorded.requests,
      ...after.recorded.requests,
    ]),
  )
}

/** The strata of what changed of the steps of a draft, of the time that it is told in. */
function strataOfDraft({ strata, steps }: Draft, changes: StepChanges): readonly StepStratum[] {
  const changeOf = (step: Step) => changes.steps.find((one) => stepKey(one) === stepKey(step))
  return strata ?? steps.flatMap((step) => changedStrata(changes.times, changeOf(step) ?? step))
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
      return {
        size: rows.length,
        calls: sum(rows, (row) => at(recorded.critical, row)),
        own: sum(rows, (row) => at(recorded.critical, row) * isOwnRow(row)),
        us: sum(rows, (row) => at(recorded.criticalUs, row)),
      }
    }) as [CriticalCalls, CriticalCalls]
    const moreUs = sign * (has.us - has.size * (had.us / had.size))
    all += has.calls
    own += has.own
    waitedUs += Math.max(0, (moreUs * has.own) / has.calls) || 0
  }
  return all === 0 ? null : { share: own / all, waitedUs }
}

type CriticalCalls = Readonly<Record<'size' | 'calls' | 'own' | 'us', number>>
