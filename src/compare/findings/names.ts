import { greatest } from 'd3-array'
import { printable } from '../../core/words.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { type NodeLabel, operationAt, operationName, place } from '../../flows/node-labels.ts'
import type { Moments } from '../../stats/moments.ts'
import type { Categories } from '../categories/categories.ts'
import type { Operation } from '../steps/call-order.ts'
import type { StepChange } from '../steps/step-changes.ts'
import type { Step } from '../steps/step-times.ts'
import { MAX_FOLLOWED } from '../thresholds.ts'

export function placeName(node: NodeLabel): string {
  return printable(place(node)) || 'an unnamed service'
}

/** Returns the name of a called operation, with its service if that is not the caller. */
export function calledName(operation: Operation | null, caller: string): string {
  if (operation === null) return 'nothing'
  const name = operationAt(operation.service, operation.operation)
  return operation.service === caller ? name : `${printable(operation.service)} ${name}`
}

/** Names a step: `stock LOOKUP itself`, `checkout → email SendConfirmation`, `shop GET`. */
export function stepTitle(step: StepChange): string {
  return placeTitle(step, mainOperation(step))
}

export function placeTitle(step: Step, operation: string): string {
  const names = [printable(step.service), operationAt(step.service, operation)]
  const called = names.filter((name) => name !== '').join(' ')
  if (step.kind === 'work') return `${called} itself`
  if (isMessage(step)) return `messages to ${called}`
  return step.caller === null ? called : `${printable(step.caller)} → ${called}`
}

/** Whether a step is the wait of messages, which comes on top of response times. */
export function isMessage({ part }: Pick<Step, 'part'>): boolean {
  return part === 'message'
}

export function mainOperation({ operations }: StepChange): string {
  // The largest contribution comes first, even where no operation alone surely changed.
  const first =
    operations.find(({ changed }) => changed) ??
    operations.find(({ contributionUs }) => contributionUs !== 0)
  return (first ?? greatest(operations, (one) => one.afterRequests))?.operation ?? ''
}

export function stepName(node: NodeLabel): string {
  const operation = operationName(node)
  return node.phase === 'point' ? operation : `${placeName(node)} ${operation}`
}

export function rootsName(roots: readonly NodeLabel[]): string {
  const names = [...new Set(roots.map(stepName))]
  return names.length <= MAX_FOLLOWED ? names.join(' and ') : `${names.length} kinds of request`
}

export function byRequestsAfter(categories: Categories, ids: readonly number[]): number[] {
  return [...new Set(ids)].sort(
    (a, b) => categories.count(b, AFTER) - categories.count(a, AFTER) || a - b,
  )
}

/** Returns the categories that requests are of, that with the most requests after first. */
export function categoriesOf(categories: Categories, requests: readonly number[]): number[] {
  return byRequestsAfter(
    categories,
    requests.map((request) => categories.categoryOf[request] as number),
  )
}

/** Returns the categories of requests, the one with the largest total change of mean times in a direction first. */
export function changedMost(
  categories: Categories,
  requests: readonly number[],
  direction: 'slower' | 'faster',
): number[] {
  const sign = direction === 'slower' ? 1 : -1
  const shiftUs = new Map(
    categoriesOf(categories, requests).map((category) => {
      const [before, after] = [BEFORE, AFTER].map((period) =>
        categories.responseTimeMoments(category, period),
      ) as [Moments, Moments]
      const meanUs = before.count > 0 && after.count > 0 ? after.mean - before.mean : 0
      return [category, sign * meanUs * after.count]
    }),
  )
  return [...shiftUs.keys()].sort((a, b) => (shiftUs.get(b) ?? 0) - (shiftUs.get(a) ?? 0))
}

/** Returns the smallest p of several tests, and the smallest corrected one. */
export function surest(tests: readonly { readonly p: number; readonly q: number }[]) {
  return { p: Math.min(...tests.map(({ p }) => p)), q: Math.min(...tests.map(({ q }) => q)) }
}

export function requestsOf(
  categories: Categories,
  ids: readonly number[],
): readonly [before: number, after: number] {
  const sum = (period: Period) =>
    ids.reduce((all, category) => all + categories.count(category, period), 0)
  return [sum(BEFORE), sum(AFTER)]
}
