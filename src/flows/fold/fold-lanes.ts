import type { LazyColours } from './folded-colours.ts'
import {
  type EdgeNote,
  type EdgeRows,
  edgeRows,
  type FoldedGraph,
  forwardOrder,
  type Repetition,
} from './folded-graph.ts'
import type { Lanes } from './grow-lanes.ts'
import { keepsOrder } from './keeps-order.ts'
import { type EdgeGroup, groupLaneEdges } from './lane-edges.ts'
import { matchRepetitions, type RepetitionMatch } from './match-repetitions.ts'
import { orderLanes } from './order-lanes.ts'
import { strongParts } from './strong-parts.ts'

/** One repetition folded: the graphs before and after, and what became of nodes and edges. */
export interface FoldStep {
  readonly before: FoldedGraph
  readonly after: FoldedGraph
  /** For each node before, the node after. */
  readonly nodeOf: Uint32Array
  /** For each node after, the node before: of a lane's step, that of the first lane. */
  readonly sources: Uint32Array
  /** For each edge before, the edge after. */
  readonly edgeOf: Uint32Array
  /** For each node before, the place of its lane among the lanes; -1 outside. */
  readonly laneOf: Int32Array
}

/**
 * Folds lanes into one, if they prove to be alike: then nothing but their number is lost, and that
 * is kept.
 *
 * @param below the graph's edges by the node they start at
 * @returns `undefined` where they are not alike
 */
export function foldLanes(
  graph: FoldedGraph,
  lanes: Lanes,
  { colours, below }: { colours: LazyColours; below: EdgeRows },
): FoldStep | undefined {
  const order = orderLanes(graph, lanes, colours)
  if (order === undefined) return undefined
  const match = matchRepetitions(graph, lanes, order)
  if (match === undefined) return undefined
  const place = new Uint32Array(lanes.count)
  order.forEach((lane, at) => {
    place[lane] = at
  })
  const number = graph.repetitions.length
  const edges = groupLaneEdges(graph, lanes, { place, repetition: number, below })
  if (edges === undefined) return undefined
  const nodes = foldNodes(graph, lanes, { first: order[0] as number, number })
  const links = foldEdges(graph, { ...edges, ...nodes, match })
  const repetition: Repetition = {
    times: lanes.count,
    within: [...(match[0] as ReadonlyMap<number, number>).keys()],
  }
  const { labels, inside, nodeOf, sources } = nodes
  const { from, to, notes, loops, edgeOf } = links
  const after: FoldedGraph = {
    ...{ labels, from, to, inside, notes, loops },
    repetitions: [...graph.repetitions, repetition],
  }
  const rows = edgeRows(from, labels.length, loops)
  if (forwardOrder(after, rows) === undefined) return undefined
  if (to.some((node, edge) => node === 0 && loops[edge] === 0)) return undefined
  const laneOf = new Int32Array(lanes.laneOf.length).fill(-1)
  for (const nodes of lanes.roles) {
    for (let at = 0; at < order.length; at++) {
      laneOf[nodes[order[at] as number] as number] = at
    }
  }
  const step = { before: graph, after, nodeOf, sources, edgeOf, laneOf }
  return keepsOrder(step, { before: below, after: rows }) ? step : undefined
}

/** Nodes keep their order; a role stands where its first node stood, for the first lane's node. */
function foldNodes(
  { labels, inside }: FoldedGraph,
  { roles, roleOf }: Lanes,
  { first, number }: { first: number; number: number },
) {
  const nodeOf = new Uint32Array(labels.length)
  const placeOfRole = new Int32Array(roles.length).fill(-1)
  const kept: number[] = []
  for (let node = 0; node < labels.length; node++) {
    const role = roleOf[node] as number
    if (role < 0) nodeOf[node] = kept.push(node) - 1
    else {
      if (placeOfRole[role] === -1) {
        placeOfRole[role] = kept.push((roles[role] as Uint32Array)[first] as number) - 1
      }
      nodeOf[node] = placeOfRole[role] as number
    }
  }
  return {
    nodeOf,
    sources: Uint32Array.from(kept),
    labels: Uint32Array.from(kept, (node) => labels[node] as number),
    inside: kept.map((node) => {
      const stack = inside[node] as readonly number[]
      return (roleOf[node] as number) < 0 ? stack : [...stack, number]
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
  }: {
    groups: readonly EdgeGroup[]
    groupOf: Int32Array
    nodeOf: Uint32Array
    sources: Uint32Array
    match: RepetitionMatch
  },
) {
  const edgeOf = new Uint32Array(groupOf.length)
  const placeOfGroup = new Int32Array(groups.length).fill(-1)
  const from: number[] = []
  const to: number[] = []
  const notes: (readonly EdgeNote[])[] = []
  const loops: number[] = []
  const shifted: Shifted[] = []
  const add = (edge: number, said: readonly EdgeNote[]) => {
    from.push(nodeOf[graph.from[edge] as number] as number)
    to.push(nodeOf[graph.to[edge] as number] as number)
    loops.push(graph.loops[edge] as number)
    return notes.push(said) - 1
  }
  for (let edge = 0; edge < groupOf.length; edge++) {
    const number = groupOf[edge] as number
    if (number < 0) {
      edgeOf[edge] = add(edge, graph.notes[edge] as readonly EdgeNote[])
      continue
    }
    if (placeOfGroup[number] === -1) {
      const group = groups[number] as EdgeGroup
      const said = (graph.notes[group.first] as readonly EdgeNote[]).map((note) =>
        asInFirstLane(note, group, match),
      )
      const place = add(group.first, [...said, group.note])
      placeOfGroup[number] = place
      if (group.note.side === 'inside' && group.note.offset > 0 && loops[place] === 0) {
        shifted.push({ edge: place, offset: group.note.offset })
      }
    }
    edgeOf[edge] = placeOfGroup[number] as number
  }
  markLoops({ nodes: sources.length, from, to, loops }, shifted)
  return {
    ...{ edgeOf, notes },
    from: Uint32Array.from(from),
    to: Uint32Array.from(to),
    loops: Uint8Array.from(loops),
  }
}

/** The same note, about the first lane's repetition instead of another lane's. */
function asInFirstLane(
  note: EdgeNote,
  { firstLanes }: EdgeGroup,
  match: RepetitionMatch,
): EdgeNote {
  const lane = note.side === 'to' ? firstLanes[1] : firstLanes[0]
  const like = lane < 0 ? undefined : match[lane]?.get(note.repetition)
  return like === undefined ? note : { ...note, repetition: like }
}

/** An edge from a lane to a later one. */
interface Shifted {
  readonly edge: number
  readonly offset: number
}

/**
 * An edge from a lane to a later one may lead, in the one lane that is left, back to where it
 * comes from: then it is a loop. So is one beside another edge between the same two nodes, of several
 * the ones to lanes further on.
 */
function markLoops(
  {
    nodes,
    from,
    to,
    loops,
  }: { nodes: number; from: readonly number[]; to: readonly number[]; loops: number[] },
  shifted: readonly Shifted[],
): void {
  if (shifted.length === 0) return
  const links = from.map((_, edge) => edge).filter((edge) => loops[edge] === 0)
  const part = strongParts({
    nodes,
    from: links.map((edge) => from[edge] as number),
    to: links.map((edge) => to[edge] as number),
  })
  const later = new Set(shifted.map(({ edge }) => edge))
  const joined = new Set<number>()
  const pair = (edge: number) => (from[edge] as number) * nodes + (to[edge] as number)
  for (const edge of links) if (!later.has(edge)) joined.add(pair(edge))
  const nearest = [...shifted].sort((a, b) => a.offset - b.offset)
  for (const { edge } of nearest) {
    const back = part[from[edge] as number] === part[to[edge] as number]
    if (back || joined.has(pair(edge))) loops[edge] = 1
    else joined.add(pair(edge))
  }
}
