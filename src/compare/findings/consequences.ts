import { mean, sum } from 'd3-array'
import { addAt, at } from '../../core/entries.ts'
import { AFTER } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { quantile } from '../../stats/quantile.ts'
import type { Categories } from '../categories/categories.ts'
import { place } from '../edges/edge-pool.ts'
import { isSame, type Operation } from '../steps/call-order.ts'
import { errorChangeOf } from '../steps/compare-errors.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import type { StepStratum } from '../steps/step-strata.ts'
import { strataOfStep } from '../steps/step-times.ts'
import { allVisits } from '../steps/visits.ts'
import { isOfOneCall } from './concurrency-findings.ts'
import { type Draft, type Finding, isStructural } from './finding.ts'
import { MIN_USUAL } from './form-prices.ts'
import { requestsOf } from './names.ts'

/** A delay of another size than its cause, by more than this share, is one of its own. */
const MAX_SIZE_DIFFERENCE = 0.1
/** So is one whose requests share less than this with those of the cause. */
const MIN_SHARED_REQUESTS = 0.5

export interface Compared {
  readonly categories: Categories
  readonly steps: StepChanges
}

export function byContribution(a: Draft, b: Draft): number {
  const weight = ({ weightUs, contributionUs }: Draft) => Math.abs(weightUs ?? contributionUs)
  return weight(b) - weight(a) || a.q - b.q
}

/**
 * Puts each draft that is a consequence of another under it; the largest in all comes first. Unless
 * requests got faster, what did is no reason, and comes after what costs time.
 */
export function nestConsequences(compared: Compared, drafts: readonly Draft[], isFaster: boolean) {
  const { categories } = compared
  const causes: { cause: Draft; readonly consequences: Draft[] }[] = []
  // Of what services log otherwise, the deepest is the likeliest cause.
  const order = (draft: Draft) =>
    draft.depth !== undefined
      ? -2 - draft.depth
      : draft.calls[0]?.kind === 'fails'
        ? -1
        : Number(!isStructural(draft))
  const byKind = drafts.toSorted((a, b) => order(a) - order(b))
  const likeliestFirst = [...byKind.filter((draft) => !isGap(draft)), ...byKind.filter(isGap)]
  for (const draft of likeliestFirst) {
    // What follows from one that is covered stands beside it.
    const found = causes.find(({ cause, consequences }) =>
      [cause, ...(cause.covers ? consequences : [])].some((one) =>
        isConsequence(compared, { cause: one, draft }),
      ),
    )
    if (found === undefined) {
      causes.push({ cause: draft, consequences: [] })
      continue
    }
    const turned = { cause: draft, draft: found.cause }
    // Of one choice that shows in several services, the caller's is the cause.
    const isCallers =
      isSameChoice(categories, turned) && isOfCallee(categories, { cause: found.cause, draft })
    found.consequences.push(isCallers ? found.cause : draft)
    if (isCallers) found.cause = draft
  }
  for (const { consequences } of causes) consequences.sort(byContribution)
  return causes.sort(
    (a, b) =>
      placeOf(a.cause) - placeOf(b.cause) ||
      (isFaster ? 0 : isGain(a.cause) - isGain(b.cause)) ||
      byContribution(a.cause, b.cause),
  )
}

function isGain({ kind, direction }: Draft): number {
  return Number(kind === 'latency' && direction === 'faster')
}

/** A load from which all else may follow comes first; what nothing accounts for last. */
function placeOf({ kind, isFirst = false }: Draft): number {
  return isFirst ? 0 : kind === 'unattributed' ? 2 : 1
}

/** What a finding adds with the delays under it, and with the retries if it is one of failures. */
export function withConsequences(
  { kind, contributionUs, covers }: Draft,
  consequences: readonly Pick<Finding, 'kind' | 'calls' | 'contributionUs'>[],
): number {
  const isRetry = ({ calls }: Pick<Finding, 'calls'>) => calls.some((call) => call.kind === 'again')
  if (covers !== undefined) return contributionUs
  const added = consequences.filter(
    (one) => one.kind === 'latency' || (kind === 'errors' && isRetry(one)),
  )
  return contributionUs + sum(added, (one) => one.contributionUs)
}

/**
 * Of the time that requests gain by another structure, the part that delays account for: what these add to
 * its requests, less what they add to those of the usual form, if there are any after (`priceOf`). Each request
 * has the part of a delay that its own calls take more. Never more than all of it; of a price of calls alone,
 * only what delays of these calls add alike. What no step explains is left beside the structure as it is.
 */
export function toldAsDelays(
  { categories, steps }: Compared,
  drafts: readonly Draft[],
): (draft: Draft) => number {
  const { flows } = categories
  const countAll = (requests: readonly number[]) => sum(requests, (one) => flows.countOf(one))
  const membersOf = (ids: readonly number[]) =>
    ids.flatMap((id) => [...categories.members(id, AFTER)])
  const delays = drafts.flatMap((draft) => {
    const { kind, categories: ids, contributionUs, covers } = draft
    const services = new Set(draft.steps.map((step) => step.service))
    const isLeft = draft.steps.some((step) => step.kind === 'request')
    if (kind !== 'latency' || covers || isLeft) return []
    const delayUs = new Float64Array(flows.size)
    const moreUs = new Map<number, number>()
    for (const stratum of strataOf(draft, steps)) addMoreUs(moreUs, stratum)
    const allUs = sum(moreUs, ([one, us]) => us * flows.countOf(one))
    if (allUs * contributionUs > 0) {
      for (const [one, us] of moreUs) addAt(delayUs, one, (contributionUs * us) / allUs)
    } else {
      const own = membersOf(ids)
      const eachUs = contributionUs / countAll(own)
      for (const one of own) addAt(delayUs, one, eachUs)
    }
    return [{ delayUs, services }]
  })
  const addedUs = ({
    moves,
    requests,
    calls,
    categories: ids,
    doing,
    isOfCalls = false,
  }: Draft) => {
    const [call] = calls
    const known = isOfCalls
      ? delays.filter(({ services }) => calls.some((one) => services.has(one.call?.service ?? '')))
      : delays
    const totalUs = (all: readonly number[]) =>
      sum(known, ({ delayUs }) => sum(all, (one) => at(delayUs, one) * flows.countOf(one)))
    // Requests that call again may be those that would be slow anyway.
    const isOfAll = call && (isOfOneCall(call) || call.kind === 'again')
    if (isOfAll) return totalUs(membersOf(ids))
    const [from, to] = [moves.map((move) => move.from), moves.map((move) => move.to)].map(membersOf)
    const now = doing ?? to ?? []
    const isNow = new Set(now)
    const usual = (doing ? membersOf(ids) : (from ?? [])).filter((one) => !isNow.has(one))
    const usualUs = usual.length < MIN_USUAL ? 0 : totalUs(usual) / countAll(usual)
    return requests * (totalUs(now) / countAll(now) - usualUs) || 0
  }
  return (draft) => {
    const { contributionUs, isOfCalls } = draft
    const sign = Math.sign(contributionUs)
    const part = sign * addedUs(draft)
    return sign * Math.min(Math.abs(contributionUs), isOfCalls ? Math.max(0, part) : part)
  }
}

/** The times of all operations of a draft's steps; its steps name but the first of these. */
function strataOf({ steps, segment }: Draft, { times }: StepChanges): readonly StepStratum[] {
  const operation = segment?.operation ?? ''
  return steps.flatMap((step) => strataOfStep(times, { ...step, operation }))
}

/** Slower ones than this share are cut: one that hangs would hold all that others take more. */
const CUT = 0.99

/** Adds what the calls of each request after take more than on average before. */
function addMoreUs(moreUs: Map<number, number>, stratum: StepStratum): void {
  const [before, after] = [stratum.before.recorded, stratum.after.recorded]
  if (before.values.length === 0 || after.values.length === 0) return
  const most = Math.max(...[before, after].map(({ values }) => quantile(values, CUT)))
  const usualUs = mean(before.values, (value) => Math.min(most, value)) as number
  for (const [i, request] of after.requests.entries()) {
    const us = Math.min(most, at(after.values, i)) - usualUs
    moreUs.set(request, (moreUs.get(request) ?? 0) + us)
  }
}

function isGap({ kind, changedEdges }: Draft): boolean {
  return (
    kind === 'latency' &&
    changedEdges.length > 0 &&
    changedEdges.every(
      ({ kind, fromNode, toNode }) => kind === 'self' && fromNode.operation !== toNode.operation,
    )
  )
}

interface Pair {
  readonly cause: Draft
  readonly draft: Draft
}

/**
 * Whether a draft shows another's delay again: steps elsewhere longer by about as much in mostly
 * the same requests, or another path after a slow call.
 */
function isConsequence({ categories, steps }: Compared, { cause, draft }: Pair): boolean {
  if (draft.covers !== undefined) return false
  if (cause.covers !== undefined) return cause.covers.includes(draft.key)
  if (cause.depth !== undefined && isOfCallee(categories, { cause, draft })) return true
  if (cause.kind === 'errors') {
    const pair = { cause, draft }
    return (draft.kind === 'latency' ? isTimeOfErrors : isOfErrors)({ categories, steps }, pair)
  }
  if (isSameChoice(categories, { cause, draft })) return true
  if (isStructural(cause) && draft.kind === 'latency') {
    return isSameWork(categories, { cause, draft })
  }
  if (cause.direction !== draft.direction || cause.kind !== 'latency') return false
  // How long messages wait shows no delay of calls, nor do calls show that.
  if ([cause, draft].some(({ steps: [step] }) => step?.part === 'message')) return false
  const isSameService =
    draft.kind === 'latency' &&
    draft.services[0] === cause.services[0] &&
    Math.abs(draft.contributionUs) <= Math.abs(cause.contributionUs)
  if (isSameService) return shareRequests(categories, { cause, draft })
  const [step] = cause.changedEdges
  const [other] = draft.changedEdges
  if (step === undefined || other === undefined) return false
  if (isStructural(draft)) return cause.changedEdges.includes(other)
  const isCall = step.kind === 'network'
  const isWork = draft.changedEdges.every(({ kind }) => kind === 'self')
  const isElsewhere = !draft.services.some((service) => service === cause.services[0])
  const canShowIt = isGap(draft) ? !isGap(cause) : isWork && isCall
  if (draft.kind !== 'latency' || !canShowIt || !isElsewhere) return false
  const isAlike =
    Math.abs(other.shiftUs - step.shiftUs) <= MAX_SIZE_DIFFERENCE * Math.abs(step.shiftUs)
  return isAlike && shareRequests(categories, { cause, draft })
}

/** Two choices are one where nearly the same requests, by this share, do either, and not nearly all. */
const MIN_SAME = 0.95

function isSameChoice(categories: Categories, { cause, draft }: Pair): boolean {
  const [some, others] = [cause.doing, draft.doing]
  if (!some || !others || !isStructural(cause) || !isStructural(draft)) return false
  const known = new Set(some)
  const both = others.filter((one) => known.has(one)).length
  const isAll = both >= MIN_SAME * requestsOf(categories, draft.categories)[AFTER]
  return !isAll && both >= MIN_SAME * Math.max(known.size, others.length)
}

/** Whether a service does or logs something else, or fails, where one below it does: it has its answer. */
function isOfCallee(categories: Categories, { cause, draft }: Pair): boolean {
  const [service, below] = [draft.services[0], cause.services[0]]
  const isAnswer = isStructural(draft) || draft.kind === 'errors'
  if (!isAnswer || service === undefined || below === undefined || service === below) return false
  return isAbove(categories, service, below) && shareRequests(categories, { cause, draft })
}

function isAbove({ flows }: Categories, service: string, below: string): boolean {
  return [...allVisits(recordedFlows(flows)).values()].some(({ visits }) =>
    visits.some((visit) => {
      if (visit.service !== below) return false
      let above = visit.caller
      while (above !== null && above.service !== service) above = above.caller
      return above !== null
    }),
  )
}

function shareRequests(categories: Categories, { cause, draft }: Pair): boolean {
  const known = new Set(cause.categories)
  const count = (ids: readonly number[]) =>
    ids.reduce((sum, category) => sum + categories.count(category, AFTER), 0)
  const shared = count(draft.categories.filter((category) => known.has(category)))
  return shared >= MIN_SHARED_REQUESTS * count(draft.categories)
}

/** Whether a draft shows a failure: who fails with it, what is done after or left out. */
function isOfErrors({ categories, steps }: Compared, { cause, draft }: Pair): boolean {
  const [failing] = cause.calls
  const isIt = (one: Operation | null) =>
    one !== null && failing !== undefined && isSame(one, failing.of)
  if (draft.kind === 'errors') {
    return draft.calls[0]?.kind === 'fails with' && isIt(draft.calls[0].previous)
  }
  if (!isStructural(draft)) return false
  const { operation } = errorChangeOf(steps.errors, cause.services)?.inner ?? {}
  const isWithin = (one: Operation | null) =>
    one?.service === failing?.of.service && one?.operation === operation
  const isRepeated = draft.calls.some(
    ({ kind, call }) => (kind === 'again' || kind === 'hedges') && (isIt(call) || isWithin(call)),
  )
  if (isRepeated) return true
  if (!cause.failedRequests) return false
  return (
    draft.calls.some(({ previous, call }) => isIt(previous) || isIt(call)) ||
    (draft.calls.some(({ of }) => isIt(of)) && shareRequests(categories, { cause, draft }))
  )
}

/** Without the requests in which calls fail, what follows from failures changes by less than this share. */
const MAX_WITHOUT = 0.5

/**
 * Whether what fails itself, or who calls it, works longer for that: waits for another try, or for a
 * timeout. Of the callee of calls that fail, what takes longer may be why.
 */
function isTimeOfErrors({ categories, steps }: Compared, { cause, draft }: Pair): boolean {
  const [failing = '', ...callers] = cause.services
  const [service = ''] = draft.services
  const isRelated =
    service === failing
      ? callers.length === 0
      : callers.includes(service) || isAbove(categories, service, failing)
  const change = errorChangeOf(steps.errors, cause.services)
  const isWork = draft.steps.length > 0 && draft.steps.every(({ kind }) => kind === 'work')
  if (!isWork || !isRelated || change === undefined || cause.direction !== draft.direction) {
    return false
  }
  const strata = strataOf(draft, steps)
  const shiftOf = (isOf: (request: number) => boolean) => {
    let [excessUs, size] = [0, 0]
    for (const { before, after } of strata) {
      const [then, now] = [before, after].map(({ recorded: { requests, values } }) =>
        values.filter((_, i) => isOf(at(requests, i))),
      ) as [Float64Array, Float64Array]
      if (then.length === 0) continue
      excessUs += sum(now) - now.length * (mean(then) as number)
      size += now.length
    }
    return excessUs / size || 0
  }
  const without = shiftOf((request) => !change.failing.has(request))
  // Where calls are given up, those that do not fail may be faster than all were.
  return without / shiftOf(() => true) < MAX_WITHOUT
}

/** Whether a service's work changed as it does something else, or for the answer to a call. */
function isSameWork(categories: Categories, { cause, draft }: Pair): boolean {
  const [service] = cause.services
  const isAlike = cause.direction === draft.direction
  const isSmall = Math.abs(draft.contributionUs) < Math.abs(cause.contributionUs)
  const isOwn =
    draft.steps.some((step) => step.kind === 'work' && step.service === service) ||
    draft.changedEdges.some(({ kind, fromNode }) => kind === 'self' && place(fromNode) === service)
  const isCallOf = draft.steps.some((step) => step.kind === 'call' && step.caller === service)
  return (
    ((isAlike && isOwn) || (isSmall && isCallOf)) && shareRequests(categories, { cause, draft })
  )
}
