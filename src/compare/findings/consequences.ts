import { sort, sum } from 'd3-array'
import { memoized } from '../../core/remembered.ts'
import { type Compared, type Draft, type Finding, isStructural } from './finding.ts'
import {
  estimateOf,
  isConsequence,
  isGap,
  isGivenUp,
  isOfAnswer,
  isOfCallee,
  isSameChoice,
} from './relations.ts'

export function byContribution(a: Draft, b: Draft): number {
  const weight = (one: Draft) => one.weightUs ?? estimateOf(one)
  return weight(b) - weight(a) || a.q - b.q
}

/** A draft, and those that follow from it. */
export interface Group {
  cause: Draft
  readonly consequences: Draft[]
}

/**
 * Nests each draft under the draft that it is a consequence of; the largest in total comes first. Unless requests got
 * faster, a faster step is no cause, and comes after those that cost time.
 */
export function nestConsequences(compared: Compared, drafts: readonly Draft[], isFaster: boolean) {
  const causes: Group[] = []
  const givenUp = memoized((cause: Draft) =>
    drafts.some((draft) => isGivenUp(compared, { cause, draft })),
  )
  // Among services that log differently, the deepest is the likeliest cause.
  const order = (draft: Draft) => {
    if (draft.depth !== undefined) return -3 - draft.depth
    if (draft.calls[0]?.kind === 'fails') return -1
    if (drafts.some((cause) => isOfAnswer(compared, { cause, draft }))) return 0.5
    return givenUp(draft) ? -2 : Number(!isStructural(draft))
  }
  const byKind = sort(drafts, order)
  const isLast = (draft: Draft) => isGap(draft) && !givenUp(draft)
  const likeliestFirst = [...byKind.filter((draft) => !isLast(draft)), ...byKind.filter(isLast)]
  for (const draft of likeliestFirst) {
    // Consequences of a covered finding, or of failures of another cause, are listed beside it.
    const found = causes.find(({ cause, consequences }) =>
      [cause, ...consequences.filter(({ kind }) => cause.covers || kind === 'errors')].some((one) =>
        isConsequence(compared, { cause: one, draft }),
      ),
    )
    if (found === undefined) {
      causes.push({ cause: draft, consequences: [] })
      continue
    }
    const turned = { cause: draft, draft: found.cause }
    // If one choice shows in several services, the caller's is the cause.
    const isCallers =
      isSameChoice(compared, turned) && isOfCallee(compared, { cause: found.cause, draft })
    found.consequences.push(isCallers ? found.cause : draft)
    if (isCallers) found.cause = draft
  }
  for (const { consequences } of causes) consequences.sort(byContribution)
  return causes.sort(
    (a, b) =>
      placeOf(a.cause) - placeOf(b.cause) ||
      (isFaster ? 0 : isGain(a.cause) - isGain(b.cause)) ||
      toldUs(b) - toldUs(a) ||
      a.cause.q - b.cause.q,
  )
}

/** Returns the ranking weight of a cause with its consequences. */
function toldUs({ cause, consequences }: Pick<Group, 'cause' | 'consequences'>): number {
  return Math.max(cause.weightUs ?? 0, Math.abs(withConsequences(cause, consequences)))
}

function isGain({ kind, direction }: Draft): number {
  return Number(kind === 'latency' && direction === 'faster')
}

/** Returns the order of a draft: a load that may cause everything else comes first, an unexplained rest last. */
function placeOf({ kind, isFirst = false }: Draft): number {
  return isFirst ? 0 : kind === 'unattributed' ? 2 : 1
}

/**
 * Returns the time that a finding and its consequences add. One that covers others includes theirs already, unless it
 * is a place.
 */
export function withConsequences(
  { contributionUs, covers, places }: Draft,
  consequences: readonly Pick<Finding, 'contributionUs'>[],
): number {
  return contributionUs + (covers && !places ? 0 : sum(consequences, (one) => one.contributionUs))
}
