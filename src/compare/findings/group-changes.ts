import { greatest, sum } from 'd3-array'

export interface ChangeGroup<T, S> {
  readonly scope: S
  readonly members: readonly T[]
}

export interface Grouping<T, S> {
  readonly isWanted: (item: T) => boolean
  readonly scopesOf: (item: T) => readonly S[]
  readonly isWithin: (item: T, scope: S) => boolean
  /** Whether an item could have changed for all that is known. */
  readonly isCompared: (item: T) => boolean
  /** Name of the call that an item belongs to: items of one call count once. */
  readonly callOf: (item: T) => string
  /** Whether two items can be one change at all, as both of many calls are, or both of few. */
  readonly isOneKind?: (a: T, b: T) => boolean
  /** Whether two items of a scope changed by as much: one cause may do that, whatever else is there. */
  readonly isAlike?: (a: T, b: T, scope: S) => boolean
  readonly alone: S
}

/** A group of several must have changed in at least this share of its calls. */
const MIN_SHARE_OF_CALLS = 0.5

/**
 * Groups changes repeatedly by the scope that explains the most. A scope's score is the contribution of its changes
 * times the share of its calls that changed, which is small for callers of one common callee; or the contribution of
 * the changes as large as its largest.
 */
export function groupChanges<T extends { readonly contributionUs: number }, S>(
  items: readonly T[],
  grouping: Grouping<T, S>,
): ChangeGroup<T, S>[] {
  const left = new Set(items.filter(grouping.isWanted))
  const candidates = new Map<string, ChangeGroup<T, S>>()
  for (const scope of [...left].flatMap(grouping.scopesOf)) {
    const key = JSON.stringify(scope)
    if (candidates.has(key)) continue
    const members = items.filter((item) => grouping.isWithin(item, scope))
    candidates.set(key, { scope, members })
  }
  const groups: ChangeGroup<T, S>[] = []
  while (left.size > 0) {
    const best = bestCandidate([...candidates.values()], left, grouping)
    groups.push(best)
    for (const member of best.members) left.delete(member)
  }
  return groups
}

function bestCandidate<T extends { readonly contributionUs: number }, S>(
  candidates: readonly ChangeGroup<T, S>[],
  left: ReadonlySet<T>,
  { isCompared, callOf, isOneKind, isAlike, alone }: Grouping<T, S>,
): ChangeGroup<T, S> {
  const sizeOf = ({ contributionUs }: T) => Math.abs(contributionUs)
  const [first] = [...left].sort((a, b) => sizeOf(b) - sizeOf(a)) as [T]
  let best: ChangeGroup<T, S> = { scope: alone, members: [first] }
  let bestScore = sizeOf(first)
  for (const { scope, members } of candidates) {
    const all = members.filter((member) => left.has(member))
    const largest = greatest(all, sizeOf)
    const changed = all.filter((one) => isOneKind?.(one, largest as T) ?? true)
    const calls = new Set(members.filter(isCompared).map(callOf)).size
    const share = calls === 0 ? 0 : new Set(changed.map(callOf)).size / calls
    const alike = changed.filter((one) => largest === one || isAlike?.(one, largest as T, scope))
    const found = [
      { share: share < MIN_SHARE_OF_CALLS ? 0 : share, members: changed },
      { share: 1, members: alike },
    ]
    for (const { share, members } of found) {
      const score = share * sum(members, sizeOf)
      if (members.length < 2 || score <= bestScore) continue
      bestScore = score
      best = { scope, members }
    }
  }
  return best
}
