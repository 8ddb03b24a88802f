// Runs once a span, node or edge: the loops index with `!`.
import { type EdgeNote, type EdgeRows, type FoldedGraph, noteCode } from './folded-graph.ts'
import type { Lanes } from './grow-lanes.ts'

/** Edges that become one: what the new repetition says of it, and the edges by lane. */
export interface EdgeGroup {
  readonly note: EdgeNote
  /** The edge that stands for all: that of the lane that comes first. */
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
export function groupLaneEdges(
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
      ...{ note, first },
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
  if (side === 'inside') {
    return count === lanes - offset ? { repetition, side, offset } : undefined
  }
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
