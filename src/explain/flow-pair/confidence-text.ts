import { counted, percent } from '../../core/words.ts'
import type { NodeMatch } from './flow-comparison.ts'

/**
 * How far a correspondence can be trusted, in a sentence or two.
 *
 * @example
 * confidenceText({ before: 4, after: 5, confidence: 0.8, dropped: 0 }, []) // 'No step is in both flows.'
 */
export function confidenceText(
  {
    before,
    after,
    confidence,
    dropped,
  }: { before: number; after: number; confidence: number; dropped: number },
  matches: readonly NodeMatch[],
): string {
  if (matches.length === 0) return 'No step is in both flows.'
  const doubtful = matches.filter(({ certainty }) => certainty === 'doubtful').length
  const same = matches.length === before && matches.length === after && confidence === 1
  const whole = same
    ? before === 1
      ? 'The one step is in both flows.'
      : `All ${before} steps are in both flows.`
    : `${counted(matches.length, 'step')} ${matches.length === 1 ? 'is' : 'are'} in both ` +
      `flows, of ${before} before and ${after} after (structures ${percent(confidence)} alike).`
  const doubt =
    doubtful === 0
      ? ''
      : ` ${counted(doubtful, 'step')} may be matched wrongly: the name recurs, and little ` +
        'around it is the same.'
  const apart =
    dropped === 0
      ? ''
      : ` ${counted(dropped, 'step')} of the same name ${dropped === 1 ? 'is' : 'are'} shown ` +
        'twice, having moved past others.'
  return whole + doubt + apart
}
