import { grouped } from '../../core/words.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import type { EdgeChange, EdgeChanges } from '../edges/edge-changes.ts'
import { place } from '../edges/edge-pool.ts'
import type { Precursors } from '../precursors/precursors.ts'
import { usualTimeUs } from '../ranking/rank-mutations.ts'
import type { Centre } from '../ranking/ranking.ts'
import { changedServices } from './changed-services.ts'
import { byRequestsAfter } from './concerned.ts'
import { enumerated, printable, requestsFor, stepName } from './edge-words.ts'
import type { Draft, StructureChange, StructureMove } from './finding.ts'
import { groupMoves } from './group-moves.ts'
import { structureMoves } from './structure-moves.ts'

/** One draft a group of structural changes. */
export function structureDrafts(
  precursors: Precursors,
  { edges, centre }: { edges: EdgeChanges; centre: Centre },
): Draft[] {
  const { structural } = precursors
  const { categories } = structural
  return groupMoves(categories, structureMoves(precursors)).map(({ moves, changes }): Draft => {
    const contributionUs = moves.reduce((sum, { from, to, requests }) => {
      if (from === to) return sum
      const added = usualTimeUs(categories, to, centre) - usualTimeUs(categories, from, centre)
      return sum + requests * added
    }, 0)
    const members = moves.flatMap(({ from, to }) => [to, from])
    const tests = members.map((category) => structural.test(category))
    return {
      ...{ kind: 'structure', moves, contributionUs, changedStructure: changes },
      direction: contributionUs < 0 ? 'faster' : 'slower',
      title: structureTitle(categories, { moves, changes }),
      key: changes
        .map(({ change, label }) => `${change} ${label}`)
        .sort()
        .join('\n'),
      categories: byRequestsAfter(categories, members),
      requests: Math.round(moves.reduce((sum, move) => sum + move.requests, 0)),
      changedEdges: changedWithin(edges, changes),
      services: whereToLook(changes, changedServices(categories, moves).gained),
      q: Math.min(...tests.filter(({ testable }) => testable).map(({ q }) => q)),
    }
  })
}

/** The significant changes of time in the calls that were answered just before the ways part. */
function changedWithin({ edges }: EdgeChanges, changes: readonly StructureChange[]): EdgeChange[] {
  const calls = changes.flatMap(({ answered }) => answered ?? [])
  return edges
    .filter(
      ({ significant, from, to }) =>
        significant && calls.some(({ labels }) => labels.has(from) && labels.has(to)),
    )
    .sort((a, b) => a.q - b.q)
}

/** Whoever answered just before the ways part, what that rests on, who goes on differently, whereto. */
function whereToLook(changes: readonly StructureChange[], gained: readonly string[]): string[] {
  const answered = changes.flatMap((change) => change.answered ?? [])
  const names = [
    ...answered.flatMap(({ service, restsOn }) => [service, ...restsOn]),
    ...changes.map(({ node }) => place(node)),
    ...gained,
  ]
  return [...new Set(names)].filter((name) => name !== '')
}

const STEPS_NAMED = 2
const SERVICES_NAMED = 4

function structureTitle(
  categories: Categories,
  { moves, changes }: { moves: readonly StructureMove[]; changes: readonly StructureChange[] },
): string {
  const who = requestsFor(moves.map(({ to }) => categories.nodeLabel(to, 0)))
  const come = moves.filter(({ from, to }) => from === to)
  if (come.length === moves.length) {
    const times = (period: Period) =>
      grouped(come.reduce((sum, { to }) => sum + categories.count(to, period), 0))
    return `${who} come more often: ${times(BEFORE)} before, ${times(AFTER)} after`
  }
  const { gained, lost } = changedServices(categories, moves)
  if (gained.length > 0 && lost.length > 0) {
    return `${who} now go to ${few(gained)} instead of ${few(lost)}`
  }
  if (gained.length > 0) return `${who} now go to ${few(gained)} as well`
  if (lost.length > 0) return `${who} no longer go to ${few(lost)}`
  const added = changes.filter(({ change }) => change === 'added')
  const removed = changes.filter(({ change }) => change === 'removed')
  if (added.length > 0 && listed(added) === listed(removed)) {
    return `${who} do ${listed(added)} in another order`
  }
  if (added.length > 0 && removed.length > 0) {
    return `${who} now do ${listed(added)} instead of ${listed(removed)}`
  }
  if (added.length > 0) return `${who} now do ${listed(added)} as well`
  if (removed.length > 0) return `${who} no longer do ${listed(removed)}`
  return `${who} do the same steps another number of times`
}

function listed(changes: readonly StructureChange[]): string {
  return few([...new Set(changes.map(({ node }) => stepName(node)))], STEPS_NAMED)
}

/** The first names, and how many more. */
function few(names: readonly string[], most = SERVICES_NAMED): string {
  const more = names.length - most
  return more > 0
    ? `${names.slice(0, most).map(printable).join(', ')} and ${more} more`
    : enumerated(names.map(printable))
}
