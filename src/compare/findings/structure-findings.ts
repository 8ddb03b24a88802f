import { sum } from 'd3-array'
import { addTo, at, countBy, getOrInsert } from '../../core/entries.ts'
import { memoized, remembered } from '../../core/remembered.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { FoldedFlows } from '../../flows/fold/folded-flows.ts'
import { labelRules } from '../../flows/label-parts.ts'
import { type NodeLabel, place, withoutHost } from '../../flows/node-labels.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { worthOf } from '../../stats/weighted-sample.ts'
import { ShapeGraph } from '../../traces/shape-table.ts'
import { labelOrder } from '../../traces/structure-hashes.ts'
import type { Categories } from '../categories/categories.ts'
import { depthFirst } from '../categories/category-structure.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import type { MovedRequests, StructuralMutations } from '../mutations/find-structural-mutations.ts'
import { labelDifference, orderDifference } from '../precursors/match-precursors.ts'
import { movedRequests } from '../precursors/moves.ts'
import { type Centre, type Ranking, usualTimeUs } from '../ranking/rank-mutations.ts'
import { LARGE } from '../thresholds.ts'
import {
  type AnsweredCall,
  type Draft,
  type MoveGroup,
  NO_EVIDENCE,
  NO_INTERVAL,
  type SameSteps,
  type StructureChange,
} from './finding.ts'
import { byRequestsAfter, requestsOf } from './names.ts'

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

function costOfMoves(
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
  const eachInterval = centre === 'mean' ? ([eachUs - width, eachUs + width] as const) : NO_INTERVAL
  return { requests, contributionUs, eachInterval }
}

/** Returns the standard error of the mean time that each request of the moves gained, in µs. */
function errorOfEach(categories: Categories, moves: readonly MovedRequests[]): number {
  const all = moves.reduce((sum, { requests }) => sum + requests, 0)
  const weights = new Map<number, number>()
  for (const { from, to, requests } of moves) {
    addTo(weights, to, requests / all)
    addTo(weights, from, -requests / all)
  }
  const squares = sum(weights, ([category, weight]) => {
    const period = categories.count(category, AFTER) > 0 ? AFTER : BEFORE
    const { variance } = categories.responseTimeMoments(category, period)
    const weights = categories.weights(category, period)
    const count = worthOf(categories.members(category, period), weights)
    return weight === 0 ? 0 : (weight ** 2 * variance) / count
  })
  return Math.sqrt(squares)
}

/** Returns what requests do otherwise with the same steps; `null` where steps themselves differ. */
function sameStepsOtherwise(categories: Categories, { from, to }: MovedRequests): SameSteps | null {
  if (from === to) return null
  const [before, after] = [recordedForm(categories, from), recordedForm(categories, to)]
  const [timesBefore, timesAfter] = [timesOf(categories, from), timesOf(categories, to)]
  const areSame = [...timesBefore.keys()].every((label) => timesAfter.has(label))
  if (timesBefore.size !== timesAfter.size || !areSame) return null
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
    for (const label of labels) addTo(times, label, requests)
  }
  for (const [label, requests] of times) times.set(label, requests / all)
  return times
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

type Change = StructureChange['change']

/** A category's structure as it was recorded: of folded flows, that of one request. */
interface RecordedForm {
  readonly labels: readonly string[]
  readonly preorder: Uint32Array
  readonly from: Uint32Array
  readonly to: Uint32Array
  node(number: number): NodeLabel
}

/** Form of folded flows: requests of one category may have been recorded in several. */
interface SharedForm extends RecordedForm {
  readonly requests: number
}

const formsOf = remembered((categories: Categories) => {
  const { flows } = categories
  const membersOf = (category: number) => [
    ...categories.members(category, AFTER),
    ...categories.members(category, BEFORE),
  ]
  if (!(flows instanceof FoldedFlows)) {
    return (category: number): readonly SharedForm[] => {
      const { kinds: labels, preorder, from, to } = categories.structure(category)
      const node = (number: number) => categories.shownNode(category, number)
      return [{ labels, preorder, from, to, node, requests: 1 }]
    }
  }
  const { shapes, shapeOf, labels: known } = flows.unfolded
  const omitHosts = categories.options.omitHosts || flows.folding.omitHosts
  const { kind } = labelRules({ ...categories.options, omitHosts })
  const texts = Array.from({ length: known.size }, (_, code) => kind(known.get(code)))
  const order = labelOrder(texts)
  return memoized((category: number): readonly SharedForm[] => {
    const counts = countBy(membersOf(category), (one) => at(shapeOf, one))
    return Array.from(counts, ([shape, requests]) => {
      const codes = shapes.labels(shape)
      let preorder: Uint32Array | undefined
      return {
        labels: Array.from(codes, (code) => at(texts, code)),
        get preorder() {
          preorder ??= depthFirst(new ShapeGraph().load(shapes, shape), codes, order).preorder
          return preorder
        },
        from: shapes.from(shape),
        to: shapes.to(shape),
        node: (number) => {
          const node = known.get(at(codes, number))
          return omitHosts ? withoutHost(node) : node
        },
        requests,
      }
    })
  })
})

function recordedForms(categories: Categories, category: number): readonly SharedForm[] {
  return formsOf(categories)(category)
}

/** Returns the form of a category that most of its requests have. */
function recordedForm(categories: Categories, category: number): RecordedForm {
  const [first, ...others] = recordedForms(categories, category) as [SharedForm, ...SharedForm[]]
  return others.reduce((most, form) => (form.requests > most.requests ? form : most), first)
}

/** Groups moves over and over by the change of flow that concerns the most requests. */
export function groupMoves(categories: Categories, moves: readonly MovedRequests[]): MoveGroup[] {
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
        .filter((entry) => entry.requests >= LARGE * requests)
        .map(({ change }) => change),
    })
    left = left.filter((entry) => !inGroup(entry))
  }
  return groups
}

/**
 * Returns the groups of more requests than chance moves. One of fewer joins another of the same
 * mutation, whose requests are more than chance together.
 */
function beyondChance(structural: StructuralMutations, groups: readonly MoveGroup[]): MoveGroup[] {
  const mutations = new Set(structural.mutations)
  const requestsOf = ({ moves }: MoveGroup) => sum(moves, (move) => move.requests)
  const left = [...groups].sort((a, b) => requestsOf(b) - requestsOf(a))
  const told: MoveGroup[] = []
  for (let group = left.pop(); group !== undefined; group = left.pop()) {
    if (structural.testMoves(group.moves).isChange) {
      told.unshift(group)
      continue
    }
    const { moves } = group
    const own = new Set(moves.flatMap(({ to }) => (mutations.has(to) ? [to] : [])))
    const isOfSame = (other: MoveGroup) => other.moves.some(({ to }) => own.has(to))
    const into = [left, told].find((others) => others.some(isOfSame))
    const place = into?.findIndex(isOfSame) ?? -1
    const larger = into?.[place]
    if (larger) into[place] = { ...larger, moves: [...larger.moves, ...moves] }
  }
  return told
}

function tallyChanges(
  entries: readonly { move: MovedRequests; changes: readonly StructureChange[] }[],
) {
  const tally = new Map<string, { name: string; change: StructureChange; requests: number }>()
  for (const { move, changes } of entries) {
    const seen = new Set<string>()
    for (const change of changes) {
      const name = nameOf(change)
      if (seen.has(name)) continue
      seen.add(name)
      getOrInsert(tally, name, () => ({ name, change, requests: 0 })).requests += move.requests
    }
  }
  return [...tally.values()].sort((a, b) => b.requests - a.requests)
}

function nameOf({ change, label }: StructureChange): string {
  return `${change} ${label}`
}

/**
 * Returns where two structures part: the first nodes that only one has, with the node before. If the nodes are the same
 * in another order, returns the edges that only one has.
 */
function structureDifference(categories: Categories, { from, to }: MovedRequests) {
  if (from === to) {
    const [label, node] = [categories.requestKind(to), categories.shownNode(to, 0)]
    return [{ change: 'added', label, node, after: null, answered: null } as const]
  }
  const [was, is] = [recordedForm(categories, from), recordedForm(categories, to)]
  const { added, removed } = labelDifference(was, is)
  if (added.length === 0 && removed.length === 0) return orderOf(was, is)
  const names = (labels: typeof added) => new Set(labels.map(({ label }) => label))
  return [...entries(is, names(added), 'added'), ...entries(was, names(removed), 'removed')]
}

function entries(
  form: RecordedForm,
  wanted: ReadonlySet<string>,
  change: Change,
): StructureChange[] {
  const { labels, preorder, from, to } = form
  const rank = new Uint32Array(labels.length)
  preorder.forEach((node, position) => {
    rank[node] = position
  })
  const first = new Map<string, number>()
  to.forEach((node, edge) => {
    const label = at(labels, node)
    const source = at(from, edge)
    if (!wanted.has(label) || wanted.has(at(labels, source))) return
    const known = first.get(label)
    const isFirst = known === undefined || at(rank, source) < at(rank, at(from, known))
    if (isFirst) first.set(label, edge)
  })
  return [...first.values()]
    .sort((a, b) => at(rank, at(from, a)) - at(rank, at(from, b)))
    .map((edge) => edgeChange(form, edge, change))
}

function orderOf(was: RecordedForm, is: RecordedForm): StructureChange[] {
  const names = ({ labels, from, to }: RecordedForm) =>
    Array.from(from, (source, edge) =>
      JSON.stringify([at(labels, source), at(labels, at(to, edge))]),
    )
  const [before, after] = [names(was), names(is)]
  const only = (form: RecordedForm, edges: string[], others: string[], change: Change) => {
    const known = new Set(others)
    return edges.flatMap((name, edge) => (known.has(name) ? [] : [edgeChange(form, edge, change)]))
  }
  return [...only(is, after, before, 'added'), ...only(was, before, after, 'removed')]
}

function edgeChange(form: RecordedForm, edge: number, change: Change): StructureChange {
  const [source, target] = [at(form.from, edge), at(form.to, edge)]
  const node = form.node(target)
  return {
    change,
    node,
    label: at(form.labels, target),
    after: { label: at(form.labels, source), node: form.node(source) },
    answered: answeredCall(form, source, node.service),
  }
}

/** Returns the call to another service answered last before a node: its answer may decide what follows. */
function answeredCall(form: RecordedForm, last: number, service: string): AnsweredCall | null {
  const { labels, from, to } = form
  const before = (node: number) =>
    Array.from(to.keys())
      .filter((edge) => to[edge] === node)
      .map((edge) => at(from, edge))
  let reply = last
  for (;;) {
    const label = form.node(reply)
    if (label.phase !== 'reply') return null
    if (label.service !== service) break
    const [only, ...others] = before(reply)
    if (only === undefined || others.length > 0) return null
    reply = only
  }
  const { service: called, operation } = form.node(reply)
  const within = new Set([reply])
  for (const node of within) {
    const label = form.node(node)
    const isCall =
      label.phase === 'call' && label.service === called && label.operation === operation
    if (isCall) continue
    for (const earlier of before(node)) within.add(earlier)
  }
  const others = [...within].map((node) => form.node(node).service)
  return {
    service: called,
    operation,
    restsOn: [...new Set(others)].filter((other) => other !== called),
    labels: new Set([...within].map((node) => at(labels, node))),
  }
}

function changedServices(categories: Categories, moves: readonly MovedRequests[]) {
  const gained = new Map<string, number>()
  const lost = new Map<string, number>()
  let all = 0
  for (const { from, to, requests } of moves) {
    const [before, after] = [placesOf(categories, from), placesOf(categories, to)]
    all += requests
    for (const name of after) if (!before.has(name)) addTo(gained, name, requests)
    for (const name of before) if (!after.has(name)) addTo(lost, name, requests)
  }
  const most = (tally: ReadonlyMap<string, number>) =>
    [...tally].flatMap(([name, requests]) => (requests >= LARGE * all ? [name] : []))
  return { gained: most(gained), lost: most(lost) }
}

function placesOf(categories: Categories, category: number): Set<string> {
  const form = recordedForm(categories, category)
  const places = Array.from(form.preorder, (node) => place(form.node(node)))
  return new Set(places.filter((name) => name !== ''))
}
