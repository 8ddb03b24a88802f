import { sum } from 'd3-array'
import { addAt, at } from '../../core/entries.ts'
import { place } from '../../flows/node-labels.ts'
import type { Categories } from '../categories/categories.ts'
import type { StructuralMutations } from '../mutations/find-structural-mutations.ts'
import { labelDifference } from '../precursors/label-difference.ts'
import { type Precursors, structureDistances } from '../precursors/match-precursors.ts'
import type { AnsweredCall, StructureChange, StructureMove } from './finding.ts'

type Change = StructureChange['change']

export interface MoveGroup {
  readonly moves: readonly StructureMove[]
  readonly changes: readonly StructureChange[]
}

/** A change describes a group when it holds for this share of its requests. */
const MIN_SHARE_IN_COMMON = 0.8

/**
 * What became of whom, each request counted once: structural mutations take requests from their
 * candidates, the likeliest first; the rest comes from the most similar, as in short periods chance
 * may hide what these lost. Types that only came more or less often are for the check of the mix.
 */
export function structureMoves(precursors: Precursors): StructureMove[] {
  const { structural } = precursors
  const { changes, mutations } = structural
  const gained = Float64Array.from(changes, (change) => Math.max(0, change))
  const lost = Float64Array.from(changes, (change) => Math.max(0, -change))
  const moved = new Map<string, StructureMove>()
  const move = (from: number, to: number, requests: number) => {
    if (requests <= 0) return
    const key = `${from} ${to}`
    moved.set(key, { from, to, requests: requests + (moved.get(key)?.requests ?? 0) })
    addAt(lost, from, -requests)
    addAt(gained, to, -requests)
  }
  const available = (from: number, to: number) => Math.min(at(lost, from), at(gained, to))

  for (const to of mutations) {
    for (const { category: from } of precursors.of(to)) move(from, to, available(from, to))
  }
  const matched = new Set([...moved.values()].map(({ from }) => from))
  const gaining = [...changes.keys()].filter((category) => at(changes, category) > 0)
  for (const from of structural.precursors) {
    if (matched.has(from)) continue
    for (const to of byDistance(precursors, from, gaining)) move(from, to, available(from, to))
  }
  for (const to of mutations) {
    const candidate = precursors.of(to)[0]?.category
    const from = candidate ?? byDistance(precursors, to, structural.precursors)[0] ?? to
    move(from, to, at(gained, to))
  }
  return [...moved.values()]
}

function byDistance(
  { structural: { categories }, options }: Precursors,
  category: number,
  others: readonly number[],
): number[] {
  const root = categories.root(category)
  const alike = others.filter((other) => categories.root(other) === root)
  const { nsed } = structureDistances(categories, options.editTokens).from(category, alike)
  const order = [...alike.keys()].sort((a, b) => at(nsed, a) - at(nsed, b))
  return order.map((i) => at(alike, i))
}

/** Groups moves over and over by the change of flow that concerns the most requests. */
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
        .filter((entry) => entry.requests >= MIN_SHARE_IN_COMMON * requests)
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
export function beyondChance(
  structural: StructuralMutations,
  groups: readonly MoveGroup[],
): MoveGroup[] {
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

/**
 * Where two structures part: the first nodes that only one has, with the node before. Where nodes
 * are the same in another order, the edges that only one has.
 */
function structureDifference(categories: Categories, { from, to }: StructureMove) {
  if (from === to) return [rootChange(categories, to)]
  const { added, removed } = labelDifference(categories.structure(from), categories.structure(to))
  if (added.length === 0 && removed.length === 0) return orderDifference(categories, from, to)
  const names = (labels: typeof added) => new Set(labels.map(({ label }) => label))
  return [
    ...entries(categories, { category: to, wanted: names(added), change: 'added' }),
    ...entries(categories, { category: from, wanted: names(removed), change: 'removed' }),
  ]
}

function rootChange(categories: Categories, category: number): StructureChange {
  const node = categories.nodeLabel(category, 0)
  const label = categories.structure(category).root
  return { change: 'added', label, node, after: null, answered: null }
}

function entries(
  categories: Categories,
  { category, wanted, change }: { category: number; wanted: ReadonlySet<string>; change: Change },
): StructureChange[] {
  const { labels, preorder, from, to } = categories.structure(category)
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
    .map((edge) => edgeChange(categories, { category, edge, change }))
}

function orderDifference(categories: Categories, from: number, to: number): StructureChange[] {
  const names = (category: number) => {
    const structure = categories.structure(category)
    const name = (node: number | undefined) => structure.labels[node as number]
    return Array.from(structure.from, (source, edge) =>
      JSON.stringify([name(source), name(structure.to[edge])]),
    )
  }
  const [before, after] = [names(from), names(to)]
  const only = (category: number, edges: string[], others: string[], change: Change) => {
    const known = new Set(others)
    return edges.flatMap((name, edge) =>
      known.has(name) ? [] : [edgeChange(categories, { category, edge, change })],
    )
  }
  return [...only(to, after, before, 'added'), ...only(from, before, after, 'removed')]
}

function edgeChange(
  categories: Categories,
  { category, edge, change }: { category: number; edge: number; change: Change },
): StructureChange {
  const { labels, from, to } = categories.structure(category)
  const source = at(from, edge)
  const target = at(to, edge)
  const node = categories.nodeLabel(category, target)
  return {
    change,
    node,
    label: at(labels, target),
    after: { label: at(labels, source), node: categories.nodeLabel(category, source) },
    answered: answeredCall(categories, { category, last: source, service: node.service }),
  }
}

/** The call to another service answered last before a node: its answer may decide what follows. */
function answeredCall(
  categories: Categories,
  { category, last, service }: { category: number; last: number; service: string },
): AnsweredCall | null {
  const { labels, from, to } = categories.structure(category)
  const before = (node: number) =>
    Array.from(to.keys())
      .filter((edge) => to[edge] === node)
      .map((edge) => at(from, edge))
  let reply = last
  for (;;) {
    const label = categories.nodeLabel(category, reply)
    if (label.phase !== 'reply') return null
    if (label.service !== service) break
    const [only, ...others] = before(reply)
    if (only === undefined || others.length > 0) return null
    reply = only
  }
  const { service: called, operation } = categories.nodeLabel(category, reply)
  const within = new Set([reply])
  for (const node of within) {
    const label = categories.nodeLabel(category, node)
    const isCall =
      label.phase === 'call' && label.service === called && label.operation === operation
    if (isCall) continue
    for (const earlier of before(node)) within.add(earlier)
  }
  const others = [...within].map((node) => categories.nodeLabel(category, node).service)
  return {
    service: called,
    operation,
    restsOn: [...new Set(others)].filter((other) => other !== called),
    labels: new Set([...within].map((node) => at(labels, node))),
  }
}

export function changedServices(categories: Categories, moves: readonly StructureMove[]) {
  const gained = new Map<string, number>()
  const lost = new Map<string, number>()
  let all = 0
  for (const { from, to, requests } of moves) {
    const [before, after] = [placesOf(categories, from), placesOf(categories, to)]
    all += requests
    for (const name of after) if (!before.has(name)) add(gained, name, requests)
    for (const name of before) if (!after.has(name)) add(lost, name, requests)
  }
  const most = (tally: ReadonlyMap<string, number>) =>
    [...tally].flatMap(([name, requests]) => (requests >= MIN_SHARE_IN_COMMON * all ? [name] : []))
  return { gained: most(gained), lost: most(lost) }
}

function placesOf(categories: Categories, category: number): Set<string> {
  const { preorder } = categories.structure(category)
  const places = Array.from(preorder, (node) => place(categories.nodeLabel(category, node)))
  return new Set(places.filter((name) => name !== ''))
}

function add(tally: Map<string, number>, name: string, requests: number): void {
  tally.set(name, (tally.get(name) ?? 0) + requests)
}
