import type { Categories } from '../categories/categories.ts'
import type { StructureChange, StructureMove } from './finding.ts'
import { structureDifference } from './structure-difference.ts'

/** Moves that have a changed part of the flow in common. */
export interface MoveGroup {
  readonly moves: readonly StructureMove[]
  /** What most of them have in common, the part that most requests share first. */
  readonly changes: readonly StructureChange[]
}

/** A change belongs to a group's description when it holds for this share of its requests. */
export const COMMON = 0.8

/**
 * Groups moves by the part of the flow that they gained or lost: over and over, the change that
 * concerns the most requests, with all the moves that have it. Where it stands does not matter.
 */
export function groupMoves(categories: Categories, moves: readonly StructureMove[]): MoveGroup[] {
  let left = moves.map((move) => ({ move, changes: structureDifference(categories, move) }))
  const groups: MoveGroup[] = []
  while (left.length > 0) {
    const tally = tallyChanges(left)
    const first = tally[0]
    const inGroup = ({ changes }: (typeof left)[number]) =>
      first === undefined || changes.some((change) => nameOf(change) === first.name)
    const members = left.filter(inGroup)
    const requests = members.reduce((sum, { move }) => sum + move.requests, 0)
    groups.push({
      moves: members.map(({ move }) => move).sort((a, b) => b.requests - a.requests),
      changes: tallyChanges(members)
        .filter((entry) => entry.requests >= COMMON * requests)
        .map(({ change }) => change),
    })
    left = left.filter((entry) => !inGroup(entry))
  }
  return groups
}

function tallyChanges(
  entries: readonly { move: StructureMove; changes: readonly StructureChange[] }[],
) {
  const tally = new Map<string, { name: string; change: StructureChange; requests: number }>()
  for (const { move, changes } of entries) {
    const seen = new Set<string>()
    for (const change of changes) {
      const name = nameOf(change)
      if (seen.has(name)) continue
      seen.add(name)
      const known = tally.get(name) ?? { name, change, requests: 0 }
      known.requests += move.requests
      tally.set(name, known)
    }
  }
  return [...tally.values()].sort((a, b) => b.requests - a.requests)
}

function nameOf({ change, label }: StructureChange): string {
  return `${change} ${label}`
}
