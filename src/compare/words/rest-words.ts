import { formatAmount, moreText, type Quantity } from '../../core/quantity.ts'
import { formatDuration, percent, printable } from '../../core/words.ts'
import type { FlowSet } from '../../flows/flow-set.ts'
import { operationAt } from '../../flows/node-labels.ts'
import type {
  Deadline,
  RequestsEvidence,
  RestEvidence,
  RestOfRequests,
} from '../findings/evidence.ts'
import { rootsName } from '../findings/names.ts'
import { EVERYWHERE, slowNotes, type Words } from './words.ts'

/** Share of a shift from which the unexplained rest counts as all of it. */
const MOSTLY = 0.95

/** Says that whole requests of trace points take longer. */
export function requestsWords({ roots, eachUs }: RequestsEvidence, quantity: Quantity): Words {
  return {
    where: rootsName(roots),
    what: `requests take ${moreText(eachUs, quantity)}, spread over many steps`,
    look: EVERYWHERE,
    notes: [],
  }
}

/** Says how much of the change of whole requests findings leave. */
export function restWords(flows: FlowSet, { step, operation, left }: RestEvidence): Words {
  const { quantity } = flows
  const part = leftText(left, quantity)
  const mostly = mostlyText(left)
  const few = step.minority === null ? '' : `${percent(step.minority.share)} of its `
  const time = moreText(part === '' ? left.eachUs : left.allUs, quantity)
  const why = left.isAll
    ? `${mostly}; no single step changed enough to blame`
    : (part || '; no single step explains it') + mostly
  return {
    where: `${printable(step.service)} ${operationAt(step.service, operation)}`,
    what: `${few}requests take ${time}${why}`,
    look: lookAtRest(left) ?? (left.isAll ? EVERYWHERE : 'the steps of the two traces'),
    notes: slowNotes(flows, step),
  }
}

/** Says how much of a change no step explains; empty for all of it. */
export function leftText({ eachUs, allUs }: RestOfRequests, quantity: Quantity): string {
  if (Math.abs(eachUs) >= MOSTLY * Math.abs(allUs)) return ''
  return `; no single step explains ${formatAmount(Math.abs(eachUs), quantity)} of it`
}

/** Names the step with most of the time, or the call that is given up later. */
export function mostlyText({ place, deadline }: RestOfRequests): string {
  if (deadline !== null) return `, mostly in ${deadline.name}, ${deadlineText(deadline)}`
  return place === null ? '' : `, mostly in ${place.name}`
}

export function lookAtRest({ place, deadline }: RestOfRequests): string | null {
  return deadline === null ? (place?.look ?? null) : printable(deadline.services[0] ?? '')
}

/** Says when calls are given up: `given up after 6 s (1 s before)`. */
export function deadlineText({ us, beforeUs, longer }: Deadline): string {
  const before =
    beforeUs === null
      ? `before, ${percent(longer)} took longer`
      : `${formatDuration(beforeUs)} before`
  return `given up after ${formatDuration(us)} (${before})`
}
