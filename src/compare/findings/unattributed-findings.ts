import { formatAmount, moreText } from '../../core/quantity.ts'
import { printable } from '../../core/shown-text.ts'
import { AFTER, type FlowSet } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import { place } from '../edges/edge-pool.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import { byRequestsAfter, requestsOf } from './categories-concerned.ts'
import type { Draft } from './finding.ts'
import { operationName } from './names.ts'
import { findingStep, inFew, minorityNotes } from './step-findings.ts'

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
  return steps.flatMap((step): Draft[] => {
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
    return [
      {
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
        categories: byRequestsAfter(
          categories,
          after.map((request) => categories.categoryOf[request] as number),
        ),
        requests: after.length,
        concerned: [requests.length - after.length, after.length],
        contributionUs: leftUs,
        eachInterval: [eachUs + low, eachUs + high],
        probabilitySlower: step.probabilitySlower,
        notes: minorityNotes(step, flows.quantity),
        look: 'what all steps share: host, runtime, load',
        services: [],
        changedEdges: [],
        changedStructure: [],
        steps: [findingStep(step)],
        calls: [],
        moves: [],
        p: step.p,
        q: step.q,
      },
    ]
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
