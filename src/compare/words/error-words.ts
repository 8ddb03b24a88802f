import { counted, listed, printable } from '../../core/words.ts'
import { saysTarget } from '../../flows/call-targets.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { operationAt, operationName } from '../../flows/node-labels.ts'
import { proportionInterval } from '../../stats/proportion-interval.ts'
import { moreFailed } from '../findings/error-findings.ts'
import type { FailureEvidence } from '../findings/evidence.ts'
import type { ErrorChange, InnerCall } from '../steps/compare-errors.ts'
import { deadlineText } from './rest-words.ts'
import { callsText, ofChances, type Words } from './words.ts'

/** A message is named if this share of the calls that changed says so. */
const MOSTLY = 0.5
/** Most services to look at that are named. */
const MAX_LOOKED_AT = 3
/** Most operations with the same failures that are named. */
const MAX_NAMED = 2

type Counts = FailureEvidence['counts']

/** Says what fails, how often, and where to look. */
export function failureWords({ change, passed, counts, deadline }: FailureEvidence): Words {
  const { kind, callers, inner } = change
  const service = printable(change.service)
  // Failures that only callers recorded may never have reached the service: an open breaker, or no connection.
  const look = listed(
    [...callers, change.service, ...(inner?.peer ? [inner.peer] : [])].map(printable),
    MAX_LOOKED_AT,
  )
  if (passed !== null) {
    return {
      where: printable(passed.of.service),
      what: `${operationAt(passed.of.service, passed.of.operation)} fails in ${callsText(counts)}`,
      look,
      notes: [rateText(counts)],
    }
  }
  const from = kind === 'work' ? '' : `${listed(callers.map(printable), MAX_LOOKED_AT)} → `
  return {
    where: from + service,
    what: errorWords(change, counts),
    look,
    notes: [
      rateText(counts),
      failedText(change),
      ...(deadline === null ? [] : [`calls are ${deadlineText(deadline)}`]),
    ],
  }
}

/** Says what fails: `POST /pay fails with “no such promo” in 193 of 2,741 calls (14 of 2,823 before)`. */
export function errorWords(
  change: ErrorChange,
  counts: Pick<Counts, 'made' | 'chances'> = change.inner ?? change,
): string {
  const { operations, said, messages, made, difference, inner } = change
  const isOne = operations.length === 1 || inner !== null
  const names = operations.map((operation) => operationAt(change.service, operation))
  const call = inner === null ? '' : `${operationName(inner)}${toPeer(inner)} within `
  const what = call + listed(names, MAX_NAMED)
  const [message] = messages
  const moved = Math.abs(made[AFTER] - made[BEFORE])
  const isMost =
    message !== undefined && Math.abs(message.made[1] - message.made[0]) >= MOSTLY * moved
  const words = said ?? (isMost ? message.text : '')
  const saying = words === '' ? '' : ` with “${printable(words)}”`
  if (made[AFTER] === 0) {
    return `${what} no longer ${isOne ? 'fails' : 'fail'}${saying} (${ofChances(counts, BEFORE)} calls before)`
  }
  const only = difference > 0 ? '' : 'only '
  return `${what} ${isOne ? 'fails' : 'fail'}${saying} ${only}in ${callsText(counts)}`
}

function toPeer({ operation, peer }: Pick<InnerCall, 'operation' | 'peer'>): string {
  return peer === '' || saysTarget(operation) ? '' : ` to ${printable(peer)}`
}

function rateText({ made, chances, worth }: Counts): string {
  const share = (period: Period) => rate(made[period] / Math.max(1, chances[period]))
  const interval = (period: Period) => {
    const failed = (made[period] * worth[period]) / Math.max(1, chances[period])
    const [low, high] = proportionInterval(failed, worth[period])
    return `${rate(low).replace(' %', '')}–${rate(high)}`
  }
  return `${share(AFTER)} of calls (95 % CI ${interval(AFTER)}), ${share(BEFORE)} before (${interval(BEFORE)})`
}

function rate(share: number): string {
  return `${Number((100 * share).toPrecision(2))} %`
}

/** `179 more failed requests`. */
export function failuresText(more: number): string {
  return counted(Math.abs(more), `${more > 0 ? 'more' : 'fewer'} failed request`)
}

function failedText(change: ErrorChange): string {
  const more = moreFailed(change)
  if (more !== 0) return failuresText(more)
  const { failed } = change
  return failed[AFTER] === 0 ? 'no request fails because of it' : 'the same number of requests fail'
}
