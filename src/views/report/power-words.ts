import { formatDuration } from '../../core/units.ts'
import { grouped, percent, signedDuration } from '../../core/words.ts'
import type { Detectable, Power } from './detectable.ts'

/** From where on a slowdown would have been seen. */
export function detectableText({ detectableShiftUs }: Detectable): string {
  return Number.isFinite(detectableShiftUs) ? signedDuration(detectableShiftUs) : 'never: too few'
}

/** What {@link Power} says, and of how much of the requests. */
export function powerNote({ testableKinds, allKinds, testableShare }: Power): string {
  return (
    'Had every request of the kind taken that much longer, four comparisons of five like this one ' +
    `would have shown it. ${grouped(testableKinds)} of ${grouped(allKinds)} kinds have enough ` +
    `requests for any test, and ${percent(testableShare)} of the requests after are of these kinds.`
  )
}

/** The same in one sentence, for the most frequent kind. */
export function powerSentence({ kinds: [first] }: Power): string {
  if (first === undefined) {
    return 'No kind of request has enough requests in both periods for any test: no finding does not mean no change.'
  }
  if (!Number.isFinite(first.detectableShiftUs)) {
    return 'There are too few requests to see a slowdown of any size: no finding does not mean no change.'
  }
  return (
    `A slowdown of ${formatDuration(first.detectableShiftUs)} or more of the most frequent kind of ` +
    `request, ${first.name}, would most likely have been seen.`
  )
}
