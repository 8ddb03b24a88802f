import type { Presence } from '../../../logs/divergence/find-divergence.ts'
import { readNumber, type SentNumber, sentNumber } from './sent-number.ts'

/** Where a variable was logged as a row: instances before and after, messages in each, p. */
export type SentPresence = readonly SentNumber[]

const DIGITS = 6

export function sentPresence(presence: Presence): SentPresence {
  const { before, after, beforeMessages, afterMessages, p } = presence
  return [
    before,
    after,
    sentNumber(beforeMessages),
    sentNumber(afterMessages),
    sentNumber(p, DIGITS),
  ]
}

export function readPresence(sent: SentPresence): Presence {
  const [before = 0, after = 0, beforeMessages = 0, afterMessages = 0, p = Number.NaN] =
    sent.map(readNumber)
  const onlyIn = before === 0 && after > 0 ? 'after' : after === 0 && before > 0 ? 'before' : null
  return { before, after, beforeMessages, afterMessages, p, onlyIn }
}
