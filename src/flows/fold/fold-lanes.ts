// Runs once a span, node or edge: the loops index with `!`.
import { placesIn } from '../../traces/group-rows.ts'
import {
  type EdgeNote,
  type EdgeRows,
  edgeRows,
  type FoldedGraph,
  forwardOrder,
  type LazyColors,
  noteCode,
  type Repetition,
} from './folded-graph.ts'
import { type Lanes, matchRepetitions, orderLanes, type RepetitionMatch } from './grow-lanes.ts'

export interface FoldStep {
  readonly before: FoldedGraph
  readonly after: FoldedGraph
  readonly nodeOf: Uint32Array
  /** For each node after, the node before: of a lane's step, that of the first lane. */
  readonly sources: Uint32Array
  readonly edgeOf: Uint32Array
  /** For each node before, the place of its lane among the lanes; -1 outside. */
  readonly laneOf: Int32Array
}

/** Folds lanes into one if they prove alike; then only their number is lost, and that is kept. */
export function foldLanes(
  graph: FoldedGraph,
  lanes: Lanes,
  { colors, below }: { colors: LazyColors; below: EdgeRows },
): FoldStep | undefined {
  const order = orderLanes(graph, lanes, colors)
  if (order === undefined) return undefined
  const match = matchRepetitions(graph, lanes, order)
  if (match === undefined) return undefined
  const place = placesIn(order)
  const number = graph.repetitions.length
  const edges = groupLaneEdges(graph, lanes, { place, repetition: number, below })
  if (edges === undefined) return undefined
  const nodes = foldNodes(graph, lanes, { first: order[0]!, number })
  const links = foldEdges(graph, { ...edges, ...nodes, match })
  const repetition: Repetition = {
    times: lanes.count,
    within: [...(match[0] as ReadonlyMap<number, number>).keys()],
  }
  const { labels, inside, nodeOf, sources } = nodes
  const { from, to, notes, loops, edgeOf } = links
  const after: FoldedGraph = {
    labels,
    from,
    to,
    inside,
    notes,
    loops,
    repetitions: [...graph.repetitions, repetition],
  }
  const rows = edgeRows(from, labels.length, loops)
  if (forwardOrder(after, rows) === undefined) return undefined
  if (to.some((node, edge) => node === 0 && loops[edge] === 0)) return undefined
  const laneOf = new Int32Array(lanes.laneOf.length).fill(-1)
  for (const nodes of lanes.roles) {
    for (let at = 0; at < order.length; at++) laneOf[nodes[order[at]!]!] = at
  }
  const step = { before: graph, after, nodeOf, sources, edgeOf, laneOf }
  return keepsOrder(step, { before: below, after: rows }) ? step : undefined
}

function foldNodes(
  { labels, inside }: FoldedGraph,
  { roles, roleOf }: Lanes,
  { first, number }: { first: number; number: number },
) {
  const nodeOf = new Uint32Array(labels.length)
  const placeOfRole = new Int32Array(roles.length).fill(-1)
  const kept: number[] = []
  for (let node = 0; node < labels.length; node++) {
    const role = roleOf[node]!
    if (role < 0) nodeOf[node] = kept.push(node) - 1
    else {
      if (placeOfRole[role] === -1) placeOfRole[role] = kept.push(roles[role]![first]!) - 1
      nodeOf[node] = placeOfRole[role]!
    }
  }
  return {
    nodeOf,
    sources: Uint32Array.from(kept),
    labels: Uint32Array.from(kept, (node) => labels[node]!),
    inside: kept.map((node) => {
      const stack = inside[node]!
      return roleOf[node]! < 0 ? stack : [...stack, number]
    }),
  }
}

function foldEdges(
  graph: FoldedGraph,
  {
    groups,
    groupOf,
    nodeOf,
    sources,
    match,
  }: EdgeGroups & { nodeOf: Uint32Array; sources: Uint32Array; match: RepetitionMatch },
) {
  const edgeOf = new Uint32Array(groupOf.length)
  const placeOfGroup = new Int32Array(groups.length).fill(-1)
  const kept: number[] = []
  const notes: (readonly EdgeNote[])[] = []
  const shifted: Shifted[] = []
  for (let edge = 0; edge < groupOf.length; edge++) {
    const number = groupOf[edge]!
    if (number < 0) {
      edgeOf[edge] = kept.push(edge) - 1
      notes.push(graph.notes[edge]!)
      continue
    }
    if (placeOfGroup[number] === -1) {
      const group = groups[number]!
      const { first, note } = group
      const place = kept.push(first) - 1
      notes.push([...graph.notes[first]!.map((said) => asInFirstLane(said, group, match)), note])
      placeOfGroup[number] = place
      if (note.side === 'inside' && note.offset > 0 && graph.loops[first] === 0) {
        shifted.push({ edge: place, offset: note.offset })
      }
    }
    edgeOf[edge] = placeOfGroup[number]!
  }
  const links = {
    labels: sources,
    from: Uint32Array.from(kept, (edge) => nodeOf[graph.from[edge]!]!),
    to: Uint32Array.from(kept, (edge) => nodeOf[graph.to[edge]!]!),
    loops: Uint8Array.from(kept, (edge) => graph.loops[edge]!),
  }
  markLoops(links, shifted)
  return { ...links, edgeOf, notes }
}

function asInFirstLane(note: EdgeNote, { firstLanes }: EdgeGroup, match: RepetitionMatch) {
  const lane = note.side === 'to' ? firstLanes[1] : firstLanes[0]
  const like = lane < 0 ? undefined : match[lane]?.get(note.repetition)
  return like === undefined ? note : { ...note, repetition: like }
}

type Links = Pick<FoldedGraph, 'labels' | 'from' | 'to' | 'loops'>

interface Shifted {
  readonly edge: number
  readonly offset: number
}

/**
 * An edge to a later lane that leads back in the one lane left is a loop; of several beside each
 * other, the ones to lanes further on.
 */
function markLoops({ labels, from, to, loops }: Links, shifted: readonly Shifted[]): void {
  if (shifted.length === 0) return
  const below = edgeRows(from, labels.length, loops)
  const later = new Set(shifted.map(({ edge }) => edge))
  const joined = new Set<number>()
  const pair = (edge: number) => from[edge]! * labels.length + to[edge]!
  for (const edge of below.edges) if (!later.has(edge)) joined.add(pair(edge))
  for (const { edge } of shifted.toSorted((a, b) => a.offset - b.offset)) {
    const [start, end] = [to[edge]!, from[edge]!]
    const reached = reachedFrom({ to, labels }, below, { start, wanted: new Set([end]) })
    if (start === end || reached[end] === 1 || joined.has(pair(edge))) loops[edge] = 1
    else joined.add(pair(edge))
  }
}

/**
 * Whether steps outside lead to one another through the folded lane only if they did before: then
 * times can be given such that nothing comes before what it waits for.
 */
function keepsOrder(
  { before, after, nodeOf, sources }: FoldStep,
  rows: { before: EdgeRows; after: EdgeRows },
): boolean {
  const number = after.repetitions.length - 1
  const entering = new Set<number>()
  const leaving = new Set<number>()
  let isPlain = true
  after.notes.forEach((said, edge) => {
    const note = said.find(({ repetition }) => repetition === number)
    if (note === undefined || after.loops[edge] === 1) return
    if (note.side === 'inside' ? note.offset > 0 : note.lanes !== 'all') isPlain = false
    if (note.side === 'to') entering.add(sources[after.from[edge]!]!)
    if (note.side === 'from') leaving.add(sources[after.to[edge]!]!)
  })
  if (isPlain) return true
  for (const source of entering) {
    const reachedNow = reachedFrom(after, rows.after, { start: nodeOf[source]! })
    const wanted = new Set([...leaving].filter((target) => reachedNow[nodeOf[target]!] === 1))
    const reached = reachedFrom(before, rows.before, { start: source, wanted })
    for (const target of wanted) if (reached[target] === 0) return false
  }
  return true
}

function reachedFrom(
  { to, labels }: Pick<FoldedGraph, 'to' | 'labels'>,
  below: EdgeRows,
  { start, wanted }: { start: number; wanted?: ReadonlySet<number> },
): Uint8Array {
  const reached = new Uint8Array(labels.length)
  const pending = [start]
  let missing = wanted?.size ?? labels.length
  for (let node = pending.pop(); node !== undefined && missing > 0; node = pending.pop()) {
    const end = below.offsets[node + 1]!
    for (let entry = below.offsets[node]!; entry < end; entry++) {
      const target = to[below.edges[entry]!]!
      if (reached[target] === 1) continue
      reached[target] = 1
      if (wanted?.has(target)) missing--
      pending.push(target)
    }
  }
  return reached
}

/** Edges that become one: what the new repetition says of it, and the edges by lane. */
export interface EdgeGroup {
  readonly note: EdgeNote
  first: number
  /** The lane, by its place in the order, of that edge's start and of its end; -1 outside. */
  firstLanes: readonly [from: number, to: number]
}

export interface EdgeGroups {
  readonly groups: readonly EdgeGroup[]
  readonly groupOf: Int32Array
}

interface Tally {
  readonly side: 'inside' | 'from' | 'to'
  readonly offset: number
  count: number
  first: number
  firstLane: number
  lastLane: number
}

/**
 * Groups edges if lanes have them alike: steps `offset` lanes on in every lane; to the outside in
 * all lanes, or only in the first or the last of lanes that follow each other.
 */
function groupLaneEdges(
  graph: FoldedGraph,
  lanes: Lanes,
  { place, repetition, below }: { place: Uint32Array; repetition: number; below: EdgeRows },
): EdgeGroups | undefined {
  const { from, to } = graph
  const { roleOf, laneOf, count } = lanes
  if (hasDoubleEdges(graph, roleOf, below)) return undefined
  const endsOf = laneEnds(graph, lanes)
  const numbers = new Map<number | string, number>()
  const tallies: Tally[] = []
  const groupOf = new Int32Array(from.length).fill(-1)
  for (let edge = 0; edge < from.length; edge++) {
    const source = from[edge]!
    const target = to[edge]!
    const a = roleOf[source]!
    const b = roleOf[target]!
    if (a < 0 && b < 0) continue
    const side = a < 0 ? 'to' : b < 0 ? 'from' : 'inside'
    const start = a < 0 ? -1 : place[laneOf[source]!]!
    const end = b < 0 ? -1 : place[laneOf[target]!]!
    const offset = side === 'inside' ? end - start : 0
    if (offset < 0) return undefined
    const ends = endsOf(edge, offset)
    const code = noteCode(graph, edge)
    const key = code === '' ? ends : `${ends} ${code}`
    const lane = start < 0 ? end : start
    const number = numbers.get(key)
    if (number === undefined) {
      numbers.set(key, tallies.length)
      groupOf[edge] = tallies.length
      tallies.push({ side, offset, count: 1, first: edge, firstLane: lane, lastLane: lane })
      continue
    }
    groupOf[edge] = number
    const tally = tallies[number]!
    tally.count++
    if (lane > tally.lastLane) tally.lastLane = lane
    if (lane < tally.firstLane) {
      tally.firstLane = lane
      tally.first = edge
    }
  }
  const groups: EdgeGroup[] = []
  for (const tally of tallies) {
    const note = noteOf(tally, count, repetition)
    if (note === undefined) return undefined
    const { first, firstLane, side, offset } = tally
    groups.push({
      note,
      first,
      firstLanes: [side === 'to' ? -1 : firstLane, side === 'from' ? -1 : firstLane + offset],
    })
  }
  return isOneThing(groups) ? { groups, groupOf } : undefined
}

/**
 * Lanes side by side must have all outside edges alike: else two steps with one label would pass
 * for a repetition. Only lanes in a row may be entered at the first and left at the last.
 */
function isOneThing(groups: readonly EdgeGroup[]): boolean {
  const said = groups.map(({ note }) => note)
  const follow = said.some((note) => note.side === 'inside' && note.offset > 0)
  return follow || said.every((note) => note.side === 'inside' || note.lanes === 'all')
}

function noteOf(
  { side, offset, count, firstLane, lastLane }: Tally,
  lanes: number,
  repetition: number,
): EdgeNote | undefined {
  if (side === 'inside') return count === lanes - offset ? { repetition, side, offset } : undefined
  if (count === lanes) return { repetition, side, lanes: 'all' }
  if (count !== 1) return undefined
  if (firstLane === 0) return { repetition, side, lanes: 'first' }
  return lastLane === lanes - 1 ? { repetition, side, lanes: 'last' } : undefined
}

/** Numbers what an edge joins: two roles and how many lanes on, or a node outside and a role. */
function laneEnds({ from, to, labels }: FoldedGraph, { roles, roleOf, count }: Lanes) {
  const entering = roles.length * roles.length * count
  const leaving = entering + labels.length * roles.length
  return (edge: number, offset: number): number => {
    const source = from[edge]!
    const target = to[edge]!
    const a = roleOf[source]!
    const b = roleOf[target]!
    if (a < 0) return entering + source * roles.length + b
    return b < 0 ? leaving + target * roles.length + a : (a * roles.length + b) * count + offset
  }
}

/** Whether equal edges join the same two nodes: then counting proves nothing. */
function hasDoubleEdges(
  { to, notes }: FoldedGraph,
  roleOf: Int32Array,
  { offsets, edges }: EdgeRows,
): boolean {
  const reachedFrom = new Int32Array(roleOf.length).fill(-1)
  for (let node = 0; node < roleOf.length; node++) {
    const end = offsets[node + 1]!
    for (let entry = offsets[node]!; entry < end; entry++) {
      const edge = edges[entry]!
      const target = to[edge]!
      if (roleOf[node]! < 0 && roleOf[target]! < 0) continue
      // Loops, which rows leave out, have notes, too.
      if (notes[edge]!.length > 0) continue
      if (reachedFrom[target] === node) return true
      reachedFrom[target] = node
    }
  }
  return false
}
