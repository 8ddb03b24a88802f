// Runs once a span, node or edge: the loops index with `!`.
import { ascending, group } from 'd3-array'
import { countBy, getOrInsert } from '../../core/entries.ts'
import { graphDepths } from '../../core/graph-depths.ts'
import { groupRows, placesIn } from '../../traces/group-rows.ts'
import { type Neighbors, neighborsOf, ShapeGraph, ShapeTable } from '../../traces/shape-table.ts'
import { hashText, structureHashes } from '../../traces/structure-hashes.ts'

/** A flow's structure: labels of nodes, and edges between node positions. */
export interface FlowGraph {
  /** Label code of each node; node 0 is the root. */
  readonly labels: Uint32Array
  readonly from: Uint32Array
  readonly to: Uint32Array
}

/** Lanes of equal structure that were folded into one. */
export interface Repetition {
  readonly times: number
}

/** A flow in which repetitions are folded. Nodes come as recorded; loops come last of the edges. */
export interface FoldedGraph extends FlowGraph {
  /**
   * 1 for an edge that would lead back to where it comes from, as from a lane's acknowledgement to the next lane's
   * start: structure, but no edge of the acyclic graph.
   */
  readonly loops: Uint8Array
  /** By node, the repetitions that it was folded in, first to last. */
  readonly inside: readonly (readonly Repetition[])[]
  /** By edge, which lanes it joins in each repetition that it touches: `+1` for each with the next, `to all`. */
  readonly notes: readonly string[]
  /** By recorded node and edge, the folded one that it became. */
  readonly nodeOf: Uint32Array
  readonly edgeOf: Uint32Array
  /** Recorded node that each node stands for: of a lane's step, that of the first lane. */
  readonly sources: Uint32Array
}

/** Largest number of visits to a graph's edges without success before it is left as it is. */
const PATIENCE = 200
const LEAST = 2

/**
 * Folds lanes of a pipeline, equal branches and rounds of a loop into one, over and over, if they are equal in every
 * node and edge. The order of nodes and edges does not matter; `labelRank` decides ties. Returns `null` if nothing
 * repeats. Source: Sambasivan 2013, §3.5.2.
 */
export function foldGraph(recorded: FlowGraph, labelRank: Uint32Array): FoldedGraph | null {
  const { labels, from } = recorded
  const patience = { left: PATIENCE * (labels.length + from.length) }
  let graph: FoldedGraph = {
    ...recorded,
    loops: new Uint8Array(from.length),
    inside: new Array<readonly Repetition[]>(labels.length).fill([]),
    notes: new Array<string>(from.length).fill(''),
    nodeOf: Uint32Array.from(labels.keys()),
    edgeOf: Uint32Array.from(from.keys()),
    sources: Uint32Array.from(labels.keys()),
  }
  for (;;) {
    const next = foldOnce(graph, labelRank, patience)
    if (next === undefined) break
    graph = next
  }
  return graph.labels.length === labels.length ? null : asRecorded(graph)
}

/** Returns the part of a graph without loops, to walk. */
export function acyclicPart(graph: FlowGraph & { readonly loops?: Uint8Array }): ShapeGraph {
  const { labels, loops } = graph
  const kept = (ends: Uint32Array) => (loops ? ends.filter((_, edge) => loops[edge] === 0) : ends)
  return shapeGraph(labels, kept(graph.from), kept(graph.to))
}

function shapeGraph(labels: Uint32Array, from: Uint32Array, to: Uint32Array): ShapeGraph {
  const shapes = new ShapeTable()
  shapes.intern(labels, labels.length, { from, to, edgeCount: from.length })
  return new ShapeGraph().load(shapes, 0)
}

function foldOnce(
  graph: FoldedGraph,
  labelRank: Uint32Array,
  patience: { left: number },
): FoldedGraph | undefined {
  const kinds = nodeKinds(graph, labelRank)
  const rows = acyclicPart(graph)
  let colors: Float64Array | undefined
  const colorOf = (nodes: Iterable<number>) => {
    colors ??= structureHashes(
      rows,
      Float64Array.from(kinds.of, (kind) => kinds.rank[kind]!),
    )
    let sum = 0
    for (const node of nodes) sum = (sum + colors[node]!) % MODULUS
    return sum
  }
  const inVain = new Set<string>()
  for (const anchors of laneAnchors(rows, kinds, colorOf)) {
    if (patience.left <= 0) return undefined
    if (inVain.has(setKey(anchors))) continue
    const lanes = growLanes(rows, kinds, anchors)
    const folded = foldLanes(graph, lanes, colorOf)
    if (folded !== undefined) return folded
    for (const role of lanes.roles) inVain.add(setKey(role))
    patience.left -= graph.from.length + lanes.count * lanes.roles.length
  }
  return undefined
}

const MODULUS = 2 ** 52

/** Returns a key for a set of nodes: sets with one key are the same, or similar enough to skip a search. */
function setKey(nodes: Uint32Array): string {
  let [sum, least] = [0, nodes[0]!]
  for (const node of nodes) {
    sum += node
    least = Math.min(least, node)
  }
  return `${nodes.length} ${least} ${sum}`
}

/** Orders nodes as they were recorded, the root first: other code looks recorded nodes up by number. */
function asRecorded(graph: FoldedGraph): FoldedGraph {
  const { labels, inside, from, to, loops, notes, nodeOf, edgeOf, sources } = graph
  const isRoot = (node: number) => Number(node === nodeOf[0])
  const nodes = sortedKeys(sources, (a, b) => isRoot(b) - isRoot(a) || sources[a]! - sources[b]!)
  const edges = sortedKeys(loops, (a, b) => loops[a]! - loops[b]! || a - b)
  const [place, placeOfEdge] = [placesIn(nodes), placesIn(edges)]
  return {
    labels: nodes.map((node) => labels[node]!),
    inside: Array.from(nodes, (node) => inside[node]!),
    sources: nodes.map((node) => sources[node]!),
    from: edges.map((edge) => place[from[edge]!]!),
    to: edges.map((edge) => place[to[edge]!]!),
    loops: Uint8Array.from(edges, (edge) => loops[edge]!),
    notes: Array.from(edges, (edge) => notes[edge]!),
    nodeOf: nodeOf.map((node) => place[node]!),
    edgeOf: edgeOf.map((edge) => placeOfEdge[edge]!),
  }
}

function sortedKeys(of: Uint32Array | Uint8Array, order: (a: number, b: number) => number) {
  return Uint32Array.from(of.keys()).sort(order)
}

/** Nodes that may stand for each other in lanes, and the order of their kinds. */
interface NodeKinds {
  readonly of: Uint32Array
  readonly sizes: Uint32Array
  readonly rank: Uint32Array
}

/** Nodes with equal labels, folded equally often, are of one kind. */
function nodeKinds({ labels, inside }: FoldedGraph, labelRank: Uint32Array): NodeKinds {
  const numbers = new Map<string, number>()
  const met: { rank: number; times: string }[] = []
  const of = labels.map((label, node) => {
    const times = inside[node]!.map((repetition) => repetition.times).join(' ')
    return getOrInsert(numbers, `${label} ${times}`, () => {
      return met.push({ rank: labelRank[label]!, times }) - 1
    })
  })
  const sizes = new Uint32Array(met.length)
  for (const kind of of) sizes[kind]!++
  const order = [...met.keys()].sort(
    (a, b) => met[a]!.rank - met[b]!.rank || ascending(met[a]!.times, met[b]!.times),
  )
  return { of, sizes, rank: placesIn(order) }
}

/**
 * Yields sets of nodes that may be one step of each lane, the most promising first: a whole kind, the neighbors of one
 * node, and a chain.
 */
function* laneAnchors(
  rows: ShapeGraph,
  kinds: NodeKinds,
  colorOf: (nodes: Iterable<number>) => number,
): Generator<Uint32Array> {
  const { of, sizes, rank } = kinds
  const equals = countBy(sizes, (size) => size)
  const covered = (kind: number) => sizes[kind]! * equals.get(sizes[kind]!)!
  const members = groupRows(of, sizes.length)
  const whole = Array.from(sizes.keys()).filter((kind) => sizes[kind]! >= LEAST)
  whole.sort((a, b) => covered(b) - covered(a) || sizes[b]! - sizes[a]! || rank[a]! - rank[b]!)
  for (const kind of whole) {
    yield members.rows.slice(members.offsets[kind], members.offsets[kind + 1])
  }
  // Of a kind that cannot be folded as a whole, a part may be.
  const parts = [...besideOneNode(rows, kinds), ...chains(rows, kinds)]
    .filter((nodes) => nodes.length >= LEAST && nodes.length < sizes[of[nodes[0]!]!]!)
    .map((nodes) => {
      return { nodes, rank: rank[of[nodes[0]!]!]!, color: colorOf(nodes) }
    })
  parts.sort((a, b) => b.nodes.length - a.nodes.length || a.rank - b.rank || a.color - b.color)
  for (const { nodes } of parts) yield Uint32Array.from(nodes).sort()
}

function besideOneNode({ nodes, below, above }: ShapeGraph, { of }: NodeKinds): number[][] {
  return [below, above].flatMap((side) =>
    Array.from({ length: nodes }, (_, node) => neighborsOf(side, node)).flatMap((near) =>
      near.length < LEAST ? [] : [...group(new Set(near), (node) => of[node]!).values()],
    ),
  )
}

/** Nodes of one kind that lead to each other. */
function chains({ nodes, below, above }: ShapeGraph, { of }: NodeKinds): number[][] {
  const seen = new Uint8Array(nodes)
  return Array.from({ length: nodes }, (_, start) => {
    const chain = seen[start] === 1 ? [] : [start]
    seen[start] = 1
    for (const node of chain) {
      for (const next of [...neighborsOf(below, node), ...neighborsOf(above, node)]) {
        if (seen[next] === 1 || of[next] !== of[start]) continue
        seen[next] = 1
        chain.push(next)
      }
    }
    return chain
  }).filter((chain) => chain.length > 0)
}

interface Lanes {
  readonly count: number
  /** By role, its node in each lane. */
  readonly roles: readonly Uint32Array[]
  readonly roleOf: Int32Array
  readonly laneOf: Int32Array
}

/**
 * Grows lanes around nodes that may be the same step of each: a kind of neighbor that every lane has exactly once
 * becomes the next step.
 */
function growLanes(graph: ShapeGraph, { of, rank }: NodeKinds, anchors: Uint32Array): Lanes {
  const roleOf = new Int32Array(graph.nodes).fill(-1)
  const laneOf = new Int32Array(graph.nodes).fill(-1)
  const roles: Uint32Array[] = []
  const add = (nodes: Uint32Array) => {
    for (let lane = 0; lane < nodes.length; lane++) {
      roleOf[nodes[lane]!] = roles.length
      laneOf[nodes[lane]!] = lane
    }
    roles.push(nodes)
  }
  add(anchors)
  for (const nodes of roles) {
    for (const side of [graph.below, graph.above]) {
      const free = neighborsOf(side, nodes[0]!).filter((node) => roleOf[node] === -1)
      const kinds = [...new Set(free.map((node) => of[node]!))]
      for (const kind of kinds.sort((a, b) => rank[a]! - rank[b]!)) {
        const isFree = (node: number) => of[node] === kind && roleOf[node] === -1
        const next = onlyNeighbors(nodes, side, isFree)
        if (next !== undefined) add(next)
      }
    }
  }
  return { count: anchors.length, roles, roleOf, laneOf }
}

/** Returns the one free node next to each of `nodes`, or `undefined`. */
function onlyNeighbors(
  nodes: Uint32Array,
  { offsets, nodes: near }: Neighbors,
  isFree: (node: number) => boolean,
): Uint32Array | undefined {
  const found = new Uint32Array(nodes.length)
  for (let lane = 0; lane < nodes.length; lane++) {
    let own = -1
    for (let entry = offsets[nodes[lane]!]!; entry < offsets[nodes[lane]! + 1]!; entry++) {
      if (!isFree(near[entry]!)) continue
      if (own !== -1) return undefined
      own = near[entry]!
    }
    if (own === -1) return undefined
    found[lane] = own
  }
  return new Set(found).size === found.length ? found : undefined
}

/**
 * Returns the order of lanes along their edges: first the lanes that most others wait for, then those entered but not
 * left, then by color. `undefined` if they wait in a circle.
 */
function orderLanes(
  { from, to, loops }: FoldedGraph,
  { count, roles, laneOf }: Lanes,
  colorOf: (nodes: Iterable<number>) => number,
): Uint32Array | undefined {
  const steps = { from: [] as number[], to: [] as number[] }
  const [entered, left] = [new Uint32Array(count), new Uint32Array(count)]
  for (let edge = 0; edge < from.length; edge++) {
    const [a, b] = [laneOf[from[edge]!]!, laneOf[to[edge]!]!]
    if (loops[edge] === 1 || a === b) continue
    if (a < 0) entered[b]!++
    else if (b < 0) left[a]!++
    else {
      steps.from.push(a)
      steps.to.push(b)
    }
  }
  const fromEnd = graphDepths(count, steps.to, steps.from)
  const colors: (number | undefined)[] = []
  const colorOfLane = (lane: number) => {
    colors[lane] ??= colorOf(roles.map((nodes) => nodes[lane]!))
    return colors[lane]
  }
  const first = (a: number, b: number) =>
    fromEnd[b]! - fromEnd[a]! ||
    entered[b]! - entered[a]! ||
    left[a]! - left[b]! ||
    colorOfLane(a) - colorOfLane(b) ||
    a - b
  const waiting = new Uint32Array(count)
  for (const lane of steps.to) waiting[lane]!++
  const { offsets, rows } = groupRows(steps.from, count)
  const order = Array.from(waiting.keys())
    .filter((lane) => waiting[lane] === 0)
    .sort(first)
  for (const lane of order) {
    const own = rows.subarray(offsets[lane], offsets[lane + 1])
    const next = Array.from(own, (step) => steps.to[step]!)
    order.push(...next.filter((one) => --waiting[one]! === 0).sort(first))
  }
  return order.length === count ? Uint32Array.from(order) : undefined
}

/** Folds lanes into one if they are equal. Only their number is lost, and that is kept. */
function foldLanes(
  graph: FoldedGraph,
  lanes: Lanes,
  colorOf: (nodes: Iterable<number>) => number,
): FoldedGraph | undefined {
  const order = orderLanes(graph, lanes, colorOf)
  const groups = order && groupEdges(graph, lanes, placesIn(order))
  if (order === undefined || groups === undefined) return undefined
  const { roles, roleOf, laneOf, count } = lanes
  const inFirst = (node: number) => (roleOf[node]! < 0 ? node : roles[roleOf[node]!]![order[0]!]!)
  const nodes = Uint32Array.from(graph.labels.keys()).filter((node) => inFirst(node) === node)
  const place = new Uint32Array(graph.labels.length)
  nodes.forEach((node, at) => {
    place[node] = at
  })
  const nodeOf = graph.labels.map((_, node) => place[inFirst(node)]!)
  const repetition = { times: count }
  const edges: number[] = []
  const edgeOf = groups.map((own, edge) => {
    if (own === undefined) return edges.push(edge) - 1
    own.place ??= edges.push(own.first) - 1
    return own.place
  })
  const folded = {
    labels: nodes.map((node) => graph.labels[node]!),
    from: Uint32Array.from(edges, (edge) => nodeOf[graph.from[edge]!]!),
    to: Uint32Array.from(edges, (edge) => nodeOf[graph.to[edge]!]!),
    loops: Uint8Array.from(edges, (edge) => graph.loops[edge]!),
    notes: edges.map((edge) => `${graph.notes[edge]}${groups[edge]?.note ?? ''}`),
    inside: Array.from(nodes, (node) =>
      laneOf[node]! < 0 ? graph.inside[node]! : [...graph.inside[node]!, repetition],
    ),
    nodeOf: graph.nodeOf.map((node) => nodeOf[node]!),
    edgeOf: graph.edgeOf.map((edge) => edgeOf[edge]!),
    sources: nodes.map((node) => graph.sources[node]!),
  }
  const later = edges.flatMap((edge, at) => {
    const offset = groups[edge]?.offset ?? 0
    return offset > 0 && graph.loops[edge] === 0 ? { edge: at, offset } : []
  })
  markLoops(folded, later)
  const { acyclic, above } = acyclicPart(folded)
  return acyclic && neighborsOf(above, folded.nodeOf[0]!).length === 0 ? folded : undefined
}

/** Edges that become one. */
interface EdgeGroup {
  /** Number of lanes that it leads ahead. */
  readonly offset: number
  readonly lanes: Set<number>
  /** The edge of the first lane that has one, and that lane. */
  first: number
  firstLane: number
  note: string
  place?: number
}

/**
 * Returns the group of each edge that touches lanes if all lanes have the same: steps `offset` lanes on in every lane;
 * edges to the outside in all lanes, or only in the first or the last of lanes that follow each other. Lanes side by
 * side must all have the same ones: otherwise two steps with one label would pass for a repetition.
 */
function groupEdges(
  { from, to, notes, loops }: FoldedGraph,
  { count, roleOf, laneOf }: Lanes,
  place: Uint32Array,
): (EdgeGroup | undefined)[] | undefined {
  const groups = new Map<string, EdgeGroup>()
  const groupOf = new Array<EdgeGroup | undefined>(from.length).fill(undefined)
  for (let edge = 0; edge < from.length; edge++) {
    const [source, target] = [from[edge]!, to[edge]!]
    const [a, b] = [roleOf[source]!, roleOf[target]!]
    if (a < 0 && b < 0) continue
    const start = a < 0 ? -1 : place[laneOf[source]!]!
    const end = b < 0 ? -1 : place[laneOf[target]!]!
    const [isInside, lane] = [a >= 0 && b >= 0, a < 0 ? end : start]
    const offset = isInside ? end - start : 0
    if (offset < 0) return undefined
    const ends = `${a < 0 ? `from ${source}` : a} ${b < 0 ? `to ${target}` : b}`
    const own = getOrInsert(groups, `${ends} ${offset} ${loops[edge]}${notes[edge]}`, () => {
      const note = isInside ? `+${offset}` : a < 0 ? 'to ' : 'from '
      return { offset, lanes: new Set<number>(), first: edge, firstLane: lane, note }
    })
    // Where equal edges join the same two nodes, counting proves nothing.
    if (own.lanes.has(lane)) return undefined
    own.lanes.add(lane)
    if (lane < own.firstLane) [own.first, own.firstLane] = [edge, lane]
    groupOf[edge] = own
  }
  const all = [...groups.values()]
  const follow = all.some(({ offset }) => offset > 0)
  for (const own of all) {
    const { size } = own.lanes
    const isOutside = !own.note.startsWith('+')
    if (size === count - own.offset) own.note += isOutside ? 'all' : ''
    else if (!isOutside || !follow || size > 1) return undefined
    else if (own.firstLane === 0) own.note += 'first'
    else if (own.firstLane === count - 1) own.note += 'last'
    else return undefined
    own.note += ', '
  }
  return groupOf
}

/**
 * Marks loops: an edge to a later lane that leads back in the one lane left. Of several parallel ones, marks those to
 * later lanes.
 */
function markLoops(
  graph: FlowGraph & { readonly loops: Uint8Array },
  later: { readonly edge: number; readonly offset: number }[],
): void {
  if (later.length === 0) return
  const { from, to, loops, labels } = graph
  const { below } = acyclicPart(graph)
  const pair = (edge: number) => from[edge]! * labels.length + to[edge]!
  const isLater = new Set(later.map(({ edge }) => edge))
  const edges = Array.from(loops.keys()).filter((edge) => loops[edge] === 0 && !isLater.has(edge))
  const joined = new Set(edges.map(pair))
  for (const { edge } of later.sort((a, b) => a.offset - b.offset)) {
    if (leadsTo(below, to[edge]!, from[edge]!) || joined.has(pair(edge))) loops[edge] = 1
    else joined.add(pair(edge))
  }
}

function leadsTo(below: Neighbors, start: number, end: number): boolean {
  const reached = new Set([start])
  for (const node of reached) {
    if (node === end) return true
    for (const next of neighborsOf(below, node)) reached.add(next)
  }
  return false
}

/**
 * Returns a 52-bit hash of a folded structure, the same in whatever order of nodes and edges.
 *
 * @param timesOf formats a number of repetitions; `null` omits which repetitions were folded, and how
 */
export function structureKey(
  { labels, from, to, inside, loops, notes }: FoldedGraph,
  textOf: (label: number) => string,
  timesOf: ((times: number) => string) | null,
): string {
  const texts = Array.from(labels, (label, node) => {
    const times = timesOf && inside[node]!.map((repetition) => timesOf(repetition.times))
    return `${textOf(label)}\n${times?.join() ?? ''}`
  })
  const edges: [number, number][] = []
  from.forEach((source, edge) => {
    const target = to[edge]!
    if (timesOf !== null && loops[edge] === 1) {
      // A loop counts where it starts and where it ends, and by what it joins.
      const said = `${notes[edge]}\n${texts[source]}\n${texts[target]}`
      edges.push([source, texts.push(`from ${said}`) - 1], [texts.push(`to ${said}`) - 1, target])
    } else if (timesOf !== null && notes[edge] !== '') {
      const between = texts.push(notes[edge]!) - 1
      edges.push([source, between], [between, target])
    } else if (loops[edge] === 0) edges.push([source, target])
  })
  const [starts, ends] = [0, 1].map((end) => Uint32Array.from(edges, (edge) => edge[end]!))
  const graph = shapeGraph(new Uint32Array(texts.length), starts!, ends!)
  const hashes = structureHashes(graph, Float64Array.from(texts, hashText))
  return hashes.reduce((sum, hash) => (sum + hash) % MODULUS, labels.length).toString(36)
}
