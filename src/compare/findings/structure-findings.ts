import { sum } from 'd3-array'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { place } from '../../flows/node-labels.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { worthOf } from '../../stats/weighted-sample.ts'
import type { Categories } from '../categories/categories.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import type { MovedRequests } from '../mutations/find-structural-mutations.ts'
import { movedRequests } from '../precursors/moves.ts'
import { orderDifference } from '../precursors/order-difference.ts'
import { type Centre, type Ranking, usualTimeUs } from '../ranking/rank-mutations.ts'
import type { SameSteps, StructureChange } from './evidence.ts'
import { type Draft, NO_EVIDENCE } from './finding.ts'
import { byRequestsAfter, requestsOf } from './names.ts'
import {
  beyondChance,
  changedServices,
  groupMoves,
  recordedForm,
  recordedForms,
} from './structure-moves.ts'

export function structureFindings(evidence: Ranking, edges: EdgeChanges): Draft[] {
  const { precursors, responseTime, options } = evidence
  const { structural } = precursors
  const { categories } = structural
  const groups = groupMoves(categories, movedRequests(precursors))
  return beyondChance(structural, groups).map((group): Draft => {
    const { moves, changes } = group
    const cost = costOfMoves(categories, moves, options.centre)
    const requests = Math.round(cost.requests)
    const contributionUs = (cost.contributionUs / cost.requests) * requests
    const members = moves.flatMap(({ from, to }) => [to, from])
    const services = changedServices(categories, moves)
    const { p, q } = structural.testMoves(moves)
    const direction = contributionUs < 0 ? 'faster' : 'slower'
    const [first] = moves as [MovedRequests, ...MovedRequests[]]
    const { from, to } = first
    const otherwise = sameStepsOtherwise(categories, first)
    return {
      ...NO_EVIDENCE,
      kind: otherwise === null ? 'structure' : 'concurrency',
      direction,
      evidence: { of: 'moves', group, services, otherwise },
      key: changes
        .map(({ change, label }) => `${change} ${label}`)
        .sort()
        .join('\n'),
      categories: byRequestsAfter(categories, members),
      requests,
      concerned: requestsOf(categories, [...new Set(moves.map((move) => move.to))]),
      contributionUs,
      eachInterval: cost.eachInterval,
      probabilitySlower:
        from === to ? Number.NaN : responseTime.medianEffect(to, from).probabilitySlower,
      services: servicesToLookAt(changes, services.gained),
      changedEdges: changedWithin(edges, changes),
      changedStructure: changes,
      moves,
      p,
      q,
    }
  })
}

export function costOfMoves(
  categories: Categories,
  moves: readonly MovedRequests[],
  centre: Centre,
): Pick<Draft, 'requests' | 'contributionUs' | 'eachInterval'> {
  const requests = moves.reduce((sum, move) => sum + move.requests, 0)
  const contributionUs = moves.reduce((sum, { from, to, requests: moved }) => {
    if (from === to) return sum
    const addedUs =
      usualTimeUs(categories, to, { centre }) - usualTimeUs(categories, from, { centre })
    return sum + moved * addedUs
  }, 0)
  const width = normalQuantile(0.975) * errorOfEach(categories, moves)
  const eachUs = contributionUs / requests
  const eachInterval =
    centre === 'mean'
      ? ([eachUs - width, eachUs + width] as const)
      : ([Number.NaN, Number.NaN] as const)
  return { requests, contributionUs, eachInterval }
}

/** Returns the standard error of the mean time that each request of the moves gained, in µs. */
function errorOfEach(categories: Categories, moves: readonly MovedRequests[]): number {
  const all = moves.reduce((sum, { requests }) => sum + requests, 0)
  const weights = new Map<number, number>()
  for (const { from, to, requests } of moves) {
    weights.set(to, (weights.get(to) ?? 0) + requests / all)
    weights.set(from, (weights.get(from) ?? 0) - requests / all)
  }
  const squares = [...weights].map(([category, weight]) => {
    const period = categories.count(category, AFTER) > 0 ? AFTER : BEFORE
    const { variance } = categories.responseTimeMoments(category, period)
    const count = worthOf(
      categories.members(category, period),
      categories.weights(category, period),
    )
    return weight === 0 ? 0 : (weight ** 2 * variance) / count
  })
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0))
}

/** Returns what requests do otherwise with the same steps; `null` where steps themselves differ. */
function sameStepsOtherwise(categories: Categories, { from, to }: MovedRequests): SameSteps | null {
  if (from === to) return null
  const [before, after] = [recordedForm(categories, from), recordedForm(categories, to)]
  const [timesBefore, timesAfter] = [timesOf(categories, from), timesOf(categories, to)]
  const isSame = timesBefore.size === timesAfter.size && labelsIn(timesBefore, timesAfter)
  if (!isSame) return null
  const repeated = Array.from(after.preorder).find((node) => {
    const label = after.labels[node] as string
    return timesBefore.get(label) !== timesAfter.get(label)
  })
  if (repeated !== undefined) {
    const label = after.labels[repeated] as string
    const times = [timesBefore.get(label) as number, timesAfter.get(label) as number] as const
    return { how: 'repeated', node: after.node(repeated), times }
  }
  const nodeOf = new Map(after.labels.map((label, node) => [label, node]))
  const matches = before.labels.flatMap((label, node) =>
    timesBefore.get(label) === 1 ? [[node, nodeOf.get(label) as number] as const] : [],
  )
  const graph = ({ labels, from, to }: typeof before) => ({ size: labels.length, from, to })
  const [change] = orderDifference(graph(before), graph(after), matches)
  if (change === undefined) return { how: 'another order' }
  const { kind, first, second } = change
  return { how: kind, first: after.node(first), second: after.node(second) }
}

/** Returns how often requests of a category do each step, on average where sizes share a category. */
function timesOf(categories: Categories, category: number): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  const forms = recordedForms(categories, category)
  const all = sum(forms, ({ requests }) => requests)
  for (const { labels, requests } of forms) {
    for (const label of labels) times.set(label, (times.get(label) ?? 0) + requests)
  }
  for (const [label, requests] of times) times.set(label, requests / all)
  return times
}

function labelsIn(some: ReadonlyMap<string, number>, all: ReadonlyMap<string, number>): boolean {
  return [...some.keys()].every((label) => all.has(label))
}

/** Returns the significant changes of time in the calls answered just before the flows part. */
function changedWithin({ significant }: EdgeChanges, changes: readonly StructureChange[]) {
  const calls = changes.flatMap(({ answered }) => answered ?? [])
  return significant
    .filter(({ from, to }) => calls.some(({ labels }) => labels.has(from) && labels.has(to)))
    .sort((a, b) => a.q - b.q)
}

/** Returns the services to look at: the one that answered before the flows part, its callees, and those after. */
function servicesToLookAt(changes: readonly StructureChange[], gained: readonly string[]) {
  const answered = changes.flatMap((change) => change.answered ?? [])
  const names = [
    ...answered.flatMap(({ service, restsOn }) => [service, ...restsOn]),
    ...changes.map(({ node }) => place(node)),
    ...gained,
  ]
  return [...new Set(names)].filter((name) => name !== '')
}
