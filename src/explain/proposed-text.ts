import type { ProposedPeriods } from '../compare/onset/propose-periods.ts'
import { areDays, sinceText } from '../comparison/words/finding-facts.ts'
import { certaintyText, formatDuration, percent, printable, spoken } from '../core/words.ts'

/** Says how a recording changed, and when. */
export function proposedText({
  measure,
  levels,
  since,
  p,
  beforeUs,
  afterUs,
}: ProposedPeriods): string {
  const [before, after] = levels.map(measure.startsWith('failures') ? percent : formatDuration)
  const comma = since.gradual ? ',' : ''
  const days = areDays([beforeUs[0], afterUs[1]])
  return `${printable(measure)} changed from ${before} to ${after}${comma} ${sinceText(since, days)}, ${certaintyText(p)}`
}

/** Says which other changes proposed periods contain, and what to split by for the rest; `null` for none. */
export function narrowedText(
  split: string,
  [inBefore = null, inAfter = null]: readonly (ProposedPeriods | null)[],
): string | null {
  if (inBefore === null && inAfter === null) return null
  const ranges = ({ split }: { readonly split: string }) => split.split(' | ') as [string, string]
  const [before, after] = ranges({ split })
  const from = inBefore === null ? before : ranges(inBefore)[1] + before.slice('..'.length)
  const to = inAfter === null ? after : after + ranges(inAfter)[0].slice('..'.length)
  const others = spoken([
    inBefore && `within before, ${proposedText(inBefore)}`,
    inAfter && `within after, ${proposedText(inAfter)}`,
  ])
  return `these periods contain other changes: ${others.join('; ')}. To compare only the change above: --split '${from} | ${to}'`
}
