import { grouped, printable } from '../../core/words.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { type NodeLabel, operationName, place } from '../../flows/node-labels.ts'
import type { Moments } from '../../stats/moments.ts'
import type { Categories } from '../categories/categories.ts'
import type { Operation } from '../steps/call-order.ts'
import type { CountsTest } from '../steps/compare-counts.ts'
import type { StepChange } from '../steps/step-changes.ts'

const MAX_KINDS_NAMED = 2

export function placeName(node: NodeLabel): string {
  return printable(place(node)) || 'an unnamed service'
}

/** Returns the name of a called operation, with its service if that is not the caller. */
export function calledName(operation: Operation | null, caller: string): string {
  if (operation === null) return 'nothing'
  const name = operationName(operation)
  return operation.service === caller ? name : `${printable(operation.service)} ${name}`
}

type Counts = Pick<CountsTest, 'made' | 'chances'>

/** Writes a count with its chances: `31 of 160`. */
export function ofChances({ made, chances }: Counts, period: Period): string {
  return `${grouped(made[period])} of ${grouped(chances[period])}`
}

/** Returns the counts of both periods as text: `31 of 160 calls (0 of 182 before)`. */
export function callsText(counts: Counts): string {
  return `${ofChances(counts, AFTER)} calls (${ofChances(counts, BEFORE)} before)`
}

/** Says how many other operations changed the same way. */
export function alsoDone(others: number): string {
  if (others < 1) return ''
  return others === 1 ? ', and so does 1 other operation' : `, and so do ${others} other operations`
}

/** A title that names one operation of a step says less than this share of its change alone. */
const MIN_NAMED = 0.5

/** Says whether other operations of a step changed with the one that its title names. */
export function alsoChanged({ operations, contributionUs }: StepChange): string {
  const changed = operations.filter((one) => one.changed)
  if (changed.length > 0) return alsoDone(changed.length - 1)
  const most = Math.max(0, ...operations.map((one) => one.contributionUs / contributionUs))
  const isOne = operations.length < 2 || most >= MIN_NAMED
  return isOne ? '' : ', and so do its other operations together'
}

export function stepName(node: NodeLabel): string {
  const operation = operationName(node)
  return node.phase === 'point' ? operation : `${placeName(node)} ${operation}`
}

export function rootsName(roots: readonly NodeLabel[]): string {
  const names = [...new Set(roots.map(stepName))]
  return names.length <= MAX_KINDS_NAMED ? names.join(' and ') : `${names.length} kinds of request`
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
