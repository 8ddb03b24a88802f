import { sum } from 'd3-array'
import { grouped, listed, printable } from '../../core/words.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { operationName, place } from '../../flows/node-labels.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { worthOf } from '../../stats/weighted-sample.ts'
import type { Categories } from '../categories/categories.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import type { MovedRequests } from '../mutations/find-structural-mutations.ts'
import { movedRequests } from '../precursors/moves.ts'
import { orderDifference } from '../precursors/order-difference.ts'
import { type Centre, type Ranking, usualTimeUs } from '../ranking/rank-mutations.ts'
import { type Draft, NO_EVIDENCE, type StructureChange } from './finding.ts'
import { byRequestsAfter, requestsOf, rootsName, stepName } from './names.ts'
import {
  beyondChance,
  changedServices,
  groupMoves,
  type MoveGroup,
  recordedForm,
  recordedForms,
} from './structure-moves.ts'

const MAX_STEPS_NAMED = 2
const MAX_SERVICES_NAMED = 4

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
    const paths = [BEFORE, AFTER].map((period) => grouped(categories.count(to, period as Period)))
    return {
      ...NO_EVIDENCE,
      kind: otherwise === null ? 'structure' : 'concurrency',
      direction,
      where: rootsName(moves.map((move) => categories.shownNode(move.to, 0))),
      what: otherwise ?? structureWords(categories, group, services),
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
      notes:
        from === to
          ? []
          : [
              `${new Set(moves.map((move) => move.to)).size > 1 ? 'most common ' : ''}new path taken by ${paths.join(' → ')}`,
            ],
      look: lookAt(changes, services, direction),
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

/** Says what requests do otherwise with the same steps; `null` where steps themselves differ. */
function sameStepsOtherwise(categories: Categories, { from, to }: MovedRequests): string | null {
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
    const [was, is] = [timesBefore.get(label) as number, timesAfter.get(label) as number]
    const rounded = (times: number) => String(Number(times.toFixed(1)))
    const onAverage = Number.isInteger(was) && Number.isInteger(is) ? '' : ' on average'
    const times = `${rounded(is)} times instead of ${rounded(was)}${onAverage}`
    return `requests do ${stepName(after.node(repeated))} ${times}`
  }
  const nodeOf = new Map(after.labels.map((label, node) => [label, node]))
  const matches = before.labels.flatMap((label, node) =>
    timesBefore.get(label) === 1 ? [[node, nodeOf.get(label) as number] as const] : [],
  )
  const graph = ({ labels, from, to }: typeof before) => ({ size: labels.length, from, to })
  const [change] = orderDifference(graph(before), graph(after), matches)
  if (change === undefined) return 'requests do the same steps in another order'
  const { kind, first, second } = change
  const [one, other] = [first, second].map((node) => stepName(after.node(node)))
  const words: Record<typeof kind, string> = {
    'in turn': `now do ${one} and ${other} one after the other, no longer at the same time`,
    together: `now do ${one} and ${other} at the same time, no longer one after the other`,
    reordered: `now do ${one} before ${other}`,
    'not waited for': `no longer wait for ${other} before ${one}`,
    'waited for': `now wait for ${other} before ${one}`,
  }
  return `requests ${words[kind]}`
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

function lookAt(
  changes: readonly StructureChange[],
  { gained, lost }: ReturnType<typeof changedServices>,
  direction: Draft['direction'],
): string {
  const decides = whatDecides(changes)
  if (gained.length > 0) return `${decides}, and at ${listed(gained.map(printable), 3)}`
  return lost.length > 0 && direction === 'faster' ? `${decides}: do requests fail early?` : decides
}

function whatDecides(changes: readonly StructureChange[]): string {
  const change = changes.find(({ answered }) => answered !== null) ?? changes[0]
  if (change?.after == null) return 'who sends these requests'
  const { answered } = change
  if (answered === null) return `what follows ${stepName(change.after.node)}`
  const answer = `the answer of ${printable(answered.service)} ${operationName(answered)}`
  const { restsOn } = answered
  return restsOn.length === 0
    ? answer
    : `${answer} (which calls ${listed(restsOn.map(printable), MAX_SERVICES_NAMED)})`
}

function structureWords(
  categories: Categories,
  { moves, changes }: MoveGroup,
  { gained, lost }: ReturnType<typeof changedServices>,
): string {
  const come = moves.filter(({ from, to }) => from === to)
  if (come.length === moves.length) {
    const times = (period: Period) =>
      grouped(come.reduce((sum, { to }) => sum + categories.count(to, period), 0))
    return `comes more often: ${times(BEFORE)} before, ${times(AFTER)} after`
  }
  const few = (names: readonly string[]) => listed(names.map(printable), MAX_SERVICES_NAMED)
  const steps = (wanted: StructureChange['change']) => {
    const names = changes
      .filter(({ change }) => change === wanted)
      .map(({ node }) => stepName(node))
    return listed([...new Set(names)], MAX_STEPS_NAMED)
  }
  const [added, removed] = [steps('added'), steps('removed')]
  // Requests of several paths that take one now have nothing in common but its steps.
  if (added !== '' && removed === '' && new Set(moves.map(({ from }) => from)).size > 1) {
    return `requests now take ${added}`
  }
  if (gained.length > 0 && lost.length > 0) {
    return `requests now go to ${few(gained)} instead of ${few(lost)}`
  }
  if (gained.length > 0) return `requests now also go to ${few(gained)}`
  if (lost.length > 0) return `requests no longer go to ${few(lost)}`
  if (added === '' && removed === '')
    return 'requests repeat the same steps a different number of times'
  if (removed === '') return `requests now also do ${added}`
  return added === ''
    ? `requests no longer do ${removed}`
    : `requests now do ${added} instead of ${removed}`
}
