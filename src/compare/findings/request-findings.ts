import { formatAmount, moreText } from '../../core/quantity.ts'
import { printable } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import { place } from '../edges/edge-pool.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import type { ResponseTimeMutations } from '../mutations/find-response-time-mutations.ts'
import { typicalTimeUs } from '../ranking/rank-mutations.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import { type Draft, NO_EVIDENCE } from './finding.ts'
import {
  byRequestsAfter,
  categoriesOf,
  operationName,
  requestsOf,
  rootsName,
  surest,
} from './names.ts'
import { findingStep, inFew, minorityNotes } from './step-findings.ts'

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
    const sum = (value: (effect: (typeof effects)[number]) => number) =>
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
      eachInterval: [sum(({ interval }) => interval[0]), sum(({ interval }) => interval[1])],
      probabilitySlower: sum(({ probabilitySlower }) => probabilitySlower),
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
const MIN_ACCOUNTED = 0.8

/** What is left over counts as all of a shift from this share of it on. */
const MOSTLY = 0.95

/** Drafts a finding for requests of a root that changed by more than their findings account for. */
export function unattributedFindings(
  { steps, flows }: StepChanges,
  { drafts, edges: { categories } }: { drafts: readonly Draft[]; edges: EdgeChanges },
): Draft[] {
  const shareAt = sharesAtRoots(flows, categories)
  return steps.flatMap((step): Draft | [] => {
    const { kind, changed, service, operations, shiftUs, observedUs, requests } = step
    if (kind !== 'request' || !changed) return []
    const after = requests.filter((request) => flows.period[request] === AFTER)
    const shares = drafts.map((draft) => draft.contributionUs * shareAt(service, draft))
    const leftUs = observedUs - shares.reduce((sum, us) => sum + us, 0)
    // What costs of findings are uncertain by is not left over.
    const unsureUs = Math.hypot(
      ...drafts.map(
        ({ eachInterval: [low, high], requests }) => ((high - low) / 2) * requests || 0,
      ),
    )
    const isLeft =
      leftUs * shiftUs > 0 &&
      Math.abs(leftUs) > Math.max(unsureUs, (1 - MIN_ACCOUNTED) * Math.abs(observedUs))
    if (!isLeft) return []
    const operation = operations.find((one) => one.changed) ?? operations[0]
    const eachUs = leftUs / after.length
    const isPart = Math.abs(eachUs) < MOSTLY * Math.abs(shiftUs)
    const partOf = isPart ? `${formatAmount(Math.abs(eachUs), flows.quantity)} of which` : 'which'
    const [low, high] = step.interval.map((bound) => bound - shiftUs) as [number, number]
    const slower = shiftUs > 0
    return {
      ...NO_EVIDENCE,
      kind: 'unattributed',
      direction: slower ? 'slower' : 'faster',
      key: `requests ${slower ? 'slower' : 'faster'} ${service}`,
      where: `${printable(service)} ${operationName({ operation: operation?.operation ?? '' })}`,
      what:
        `requests take ${moreText(isPart ? shiftUs : eachUs, flows.quantity)}` +
        inFew(step, 'them') +
        (shares.every((us) => us === 0)
          ? '; no single step changed enough to be sure of'
          : `, ${partOf} no single step explains`),
      categories: categoriesOf(categories, after),
      requests: after.length,
      concerned: [requests.length - after.length, after.length],
      contributionUs: leftUs,
      eachInterval: [eachUs + low, eachUs + high],
      probabilitySlower: step.probabilitySlower,
      notes: minorityNotes(step, flows.quantity),
      steps: [findingStep(step)],
      p: step.p,
      q: step.q,
    }
  })
}

/** Returns which share of the requests after that a draft concerns a service takes first. */
function sharesAtRoots({ labels, shapes, shapeOf }: FlowSet, categories: Categories) {
  const rootOf: string[] = []
  shapeOf.forEach((shape, request) => {
    const category = categories.categoryOf[request] as number
    rootOf[category] ??= place(labels.get(shapes.labels(shape)[0] as number))
  })
  return (service: string, { categories: concerned }: Draft): number => {
    const [, all] = requestsOf(categories, concerned)
    const own = concerned.filter((category) => rootOf[category] === service)
    return all === 0 ? 0 : requestsOf(categories, own)[AFTER] / all
  }
}
