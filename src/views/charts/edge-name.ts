import { shortText } from '../../core/shown-text.ts'

/**
 * An edge on one line: what it leads from and to, without the words that both labels begin with
 * said twice: `node-1 disk write call → reply`.
 *
 * Of folded flows, one that leads from a round to the next says so.
 *
 * @param longest characters of either end
 */
export function edgeName(
  {
    from,
    to,
    fromRoundBefore,
  }: { readonly from: string; readonly to: string; readonly fromRoundBefore?: true },
  longest: number,
): string {
  const round = fromRoundBefore ? ' of the next round' : ''
  return `${shortText(from, longest)} → ${shortText(ownWords(from, to), longest)}${round}`
}

/** What is left of a label beyond the words that the other begins with as well; its last word at least. */
function ownWords(other: string, label: string): string {
  // A cut is as good as the whole: only so much of a label is ever shown.
  const words = label.slice(0, 1000).split(' ')
  const known = other.slice(0, 1000).split(' ')
  let same = 0
  while (same < words.length - 1 && words[same] === known[same]) same++
  return label.slice(words.slice(0, same).reduce((length, word) => length + word.length + 1, 0))
}
