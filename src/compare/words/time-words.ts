import { formatAmount, TIME } from '../../core/quantity.ts'
import { percent } from '../../core/words.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { isMessage } from '../findings/names.ts'
import type { StepChange } from '../steps/step-changes.ts'
import { wayParts } from '../steps/way-parts.ts'
import { namedPart, type WorkPart, workParts } from '../steps/work-parts.ts'

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
