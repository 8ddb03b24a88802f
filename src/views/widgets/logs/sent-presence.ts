import type { Presence } from '../../../logs/divergence/presence.ts'
import { readNumber, type SentNumber, sentNumber } from './sent-number.ts'

/** Where a variable was logged as a row: instances of good and bad, messages in each, p. */
export type SentPresence = readonly SentNumber[]

const DIGITS = 6

export function sentPresence(presence: Presence): SentPresence {
  const { good, bad, goodMessages, badMessages, p } = presence
  return [good, bad, sentNumber(goodMessages), sentNumber(badMessages), sentNumber(p, DIGITS)]
}

export function readPresence(sent: SentPresence): Presence {
  const [good = 0, bad = 0, goodMessages = 0, badMessages = 0, p = Number.NaN] =
    sent.map(readNumber)
  const onlyIn = good === 0 && bad > 0 ? 'bad' : bad === 0 && good > 0 ? 'good' : null
  return { good, bad, goodMessages, badMessages, p, onlyIn }
}
