import { formatAmount, TIME } from '../../core/quantity.ts'
import { grouped, percent } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { operationAt } from '../../flows/node-labels.ts'
import { isMessage, mainOperation } from '../findings/names.ts'
import type { CountsTest } from '../steps/call-counts.ts'
import type { StepChange } from '../steps/step-changes.ts'
import { namedPart, type WorkPart, wayParts, workParts } from '../steps/work-parts.ts'

/** Sentences of a finding. */
export interface Words {
  /** Place of the change, such as `productcatalogservice → frontend`. */
  readonly where: string
  /** The change itself, such as `reply of GetProduct takes 98.5 ms longer`. */
  readonly what: string
  /** Place to look at, without traces. */
  readonly look: string
  /** Further facts. */
  readonly notes: readonly string[]
}

/** Where to look if no step stands out. */
export const EVERYWHERE = 'what all steps share: host, runtime, load'

/** Says which share of the calls took longer, unless all did. */
export function inFew({ minority }: Pick<StepChange, 'minority'>, of: string): string {
  return minority === null ? '' : ` in ${percent(minority.share)} of ${of}`
}

/** Says how long the slow calls of a step take if only some changed, or names the changed span within them. */
export function slowNotes(
  flows: FlowSet,
  step: StepChange,
  parts: readonly WorkPart[] = step.kind === 'work' ? workParts(flows, step) : [],
): string[] {
  const { minority, shiftUs } = step
  const part = namedPart(step, parts)
  const within = part?.isOfCalls ? undefined : part
  // Requests that are no longer slow are not known one by one.
  if (minority === null || (within !== undefined && shiftUs < 0)) return []
  const [usual, changed] = (within?.medianUs ?? [minority.usualUs, minority.changedUs]).map(
    (amount) => formatAmount(amount, flows.quantity),
  )
  if (within) return [`its median is ${changed} in these requests; before, ${usual} in all`]
  const of = isMessage(step) ? 'messages' : 'calls'
  if (shiftUs > 0) return [`the slow ${of} take ${changed} (median); before, ${of} took ${usual}`]
  return [`before, these ${of} took ${changed} (median), all ${of} ${usual}`]
}

/** Share of the change from which only one way is mentioned. */
const ONE_WAY = 0.8

/** Says which way calls take longer, of those whose both sides were recorded. */
export function wayNotes(
  flows: FlowSet,
  ways: readonly Pick<StepChange, 'kind' | 'service' | 'caller'>[],
  requests: readonly number[],
): string[] {
  if (flows.quantity !== TIME || ways.some(({ kind }) => kind !== 'call')) return []
  const parts = wayParts(flows, ways, requests)
  if (parts === null) return []
  const share = parts.thereUs / (parts.thereUs + parts.backUs)
  // Beyond all of it, the clocks of both sides moved against each other.
  if (!(share > ONE_WAY - 1 && share < 2 - ONE_WAY)) return []
  if (share >= ONE_WAY) return ['the time is lost on the way to the called service, not back']
  if (share <= 1 - ONE_WAY) return ['the time is lost on the way back from the called service']
  return [`${percent(share)} of it on the way to the called service, ${percent(1 - share)} back`]
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
  return others === 1 ? ', as does 1 other operation' : `, as do ${others} other operations`
}

/** A title that names one operation of a step says less than this share of its change alone. */
const MIN_NAMED = 0.5

/** Says which other operation of a step changed with the one that its title names, or how many did. */
export function alsoChanged(step: StepChange): string {
  const { service, operations, contributionUs } = step
  const changed = operations.filter((one) => one.changed)
  const others = changed.filter(({ operation }) => operation !== mainOperation(step))
  const [other] = others
  if (other !== undefined && others.length === 1) {
    return `, as does ${operationAt(service, other.operation)}`
  }
  if (changed.length > 0) return alsoDone(others.length)
  const most = Math.max(0, ...operations.map((one) => one.contributionUs / contributionUs))
  const isOne = operations.length < 2 || most >= MIN_NAMED
  return isOne ? '' : ', as do its other operations together'
}
