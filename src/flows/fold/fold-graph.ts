// Runs once a span, node or edge: the loops index with `!`.
import { group, rollup } from 'd3-array'
import { graphDepths } from '../../core/graph-depths.ts'
import { groupRows, placesIn } from '../../traces/group-rows.ts'
import {
  type EdgeNote,
  type EdgeRows,
  edgeRows,
  type FlowGraph,
  type FoldedGraph,
  forwardOrder,
  LazyColors,
  type NodeKinds,
  nodeKinds,
  noteCode,
  type Repetition,
  refineKinds,
  unfolded,
} from './folded-graph.ts'

/** Largest number of visits to a graph's edges without success before it is left as it is. */
const PATIENCE = 200

export interface FoldResult {
  /** Folded graph, with nodes in the order of those they stand for. */
  readonly graph: FoldedGraph
  /** Node of the given graph that each node stands for. */
  readonly sources: Uint32Array
  /** The repetitions folded one after the other; none where nothing repeats. */
  readonly steps: readonly FoldStep[]
  readonly gaveUp: boolean
}

/**
 * Folds lanes of a pipeline, equal branches and rounds of a loop into one, over and over, if they are equal in every
 * node and edge, so the graph can be restored. The order of nodes and edges does not matter; `labelRank` decides ties.
 * Iterative, so depth is not limited. Source: Sambasivan 2013, §3.5.2.
 */
export function foldGraph(
  graph: FlowGraph,
  { labelRank, least = 2 }: { labelRank: Uint32Array; least?: number },
): FoldResult {
  const steps: FoldStep[] = []
  let current = unfolded(graph)
  let sources = Uint32Array.from(graph.labels.keys())
  let patience = PATIENCE * (graph.labels.length + graph.from.length)
  while (patience > 0) {
    const tried = foldOnce(current, { labelRank, least, patience })
    patience = tried.patience
    const { step } = tried
    if (step === undefined) break
    steps.push(step)
    current = step.after
    const before = sources
    sources = step.sources.map((node) => before[node]!)
  }
  return { ...inOrderOfSources(current, sources), steps, gaveUp: patience <= 0 }
}

function foldOnce(
  graph: FoldedGraph,
  { labelRank, least, patience }: { labelRank: Uint32Array; least: number; patience: number },
): { step?: FoldStep; patience: number } {
  const nodes = graph.labels.length
  const kinds = nodeKinds(graph, labelRank)
  const rows = {
    below: edgeRows(graph.from, nodes, graph.loops),
    above: edgeRows(graph.to, nodes, graph.loops),
  }
  const colors = new LazyColors(graph, kinds)
  const grower = new LaneGrower(graph, kinds, rows)
  const inVain = new Set<string>()
  let left = patience
  for (const anchors of laneAnchors(graph, kinds, { ...rows, least, colors })) {
    if (inVain.has(setKey(anchors))) continue
    const lanes = grower.grow(anchors)
    const step = foldLanes(graph, lanes, { colors, below: rows.below })
    if (step !== undefined) return { step, patience: left }
    for (const role of lanes.roles) inVain.add(setKey(role))
    left -= graph.from.length + lanes.count * lanes.roles.length
    if (left <= 0) break
  }
  return { patience: left }
}

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
function inOrderOfSources(graph: FoldedGraph, sources: Uint32Array) {
  const order = Uint32Array.from(sources.keys()).sort(
    (a, b) => Number(a !== 0) - Number(b !== 0) || sources[a]! - sources[b]!,
  )
  const place = placesIn(order)
  const { labels, inside, from, to } = graph
  return {
    graph: {
      ...graph,
      labels: order.map((node) => labels[node]!),
      inside: Array.from(order, (node) => inside[node]!),
      from: from.map((node) => place[node]!),
      to: to.map((node) => place[node]!),
    },
    sources: order.map((node) => sources[node]!),
  }
}

/**
 * Yields sets of nodes that may be one step of each lane, the most promising first: a whole kind, the neighbors of one
 * node, a chain, and nodes whose neighbors are of equal kinds.
 */
function* laneAnchors(
  graph: FoldedGraph,
  kinds: NodeKinds,
  {
    below,
    above,
    least,
    colors,
  }: { below: EdgeRows; above: EdgeRows; least: number; colors: LazyColors },
): Generator<Uint32Array> {
  yield* wholeKinds(kinds, least)
  const local = [
    ...besideOneNode(graph.to, below, { kinds, least }),
    ...besideOneNode(graph.from, above, { kinds, least }),
    ...chains(graph, kinds, least),
  ]
  const promise = local.map((nodes) => ({
    nodes,
    rank: kinds.rank[kinds.of[nodes[0]!]!]!,
    color: colors.ofSet(nodes),
  }))
  promise.sort((a, b) => b.nodes.length - a.nodes.length || a.rank - b.rank || a.color - b.color)
  for (const { nodes } of promise) yield nodes
  yield* wholeKinds(refineKinds(kinds, kindsBeside(graph.from, above, kinds)), least)
  yield* wholeKinds(refineKinds(kinds, kindsBeside(graph.to, below, kinds)), least)
}

function wholeKinds({ of, sizes, rank }: NodeKinds, least: number): Uint32Array[] {
  const equals = rollup(
    sizes,
    (kinds) => kinds.length,
    (size) => size,
  )
  const covered = (kind: number) => sizes[kind]! * equals.get(sizes[kind]!)!
  const { offsets, rows } = groupRows(of, sizes.length)
  return Array.from(sizes.keys())
    .filter((kind) => sizes[kind]! >= least)
    .sort((a, b) => covered(b) - covered(a) || sizes[b]! - sizes[a]! || rank[a]! - rank[b]!)
    .map((kind) => rows.slice(offsets[kind], offsets[kind + 1]))
}

/** Neighbors of one kind on one side of a node, where they are not all there are of that kind. */
function besideOneNode(
  far: Uint32Array,
  rows: EdgeRows,
  { kinds, least }: { kinds: NodeKinds; least: number },
): Uint32Array[] {
  const sets: Uint32Array[] = []
  for (let node = 0; node + 1 < rows.offsets.length; node++) {
    const edges = rows.edges.subarray(rows.offsets[node], rows.offsets[node + 1])
    if (edges.length < least) continue
    const beside = new Set(Array.from(edges, (edge) => far[edge]!))
    for (const nodes of group(beside, (other) => kinds.of[other]!).values()) {
      if (isPart(nodes, kinds, least)) sets.push(Uint32Array.from(nodes).sort())
    }
  }
  return sets
}

/** Whether nodes of one kind are enough, and not all there are of it. */
function isPart(nodes: readonly number[], { of, sizes }: NodeKinds, least: number): boolean {
  return nodes.length >= least && nodes.length < sizes[of[nodes[0]!]!]!
}

function chains({ from, to, loops }: FoldedGraph, kinds: NodeKinds, least: number): Uint32Array[] {
  const parent = new Map<number, number>()
  const find = (node: number): number => {
    let root = node
    for (let up = parent.get(root); up !== undefined && up !== root; up = parent.get(root)) {
      parent.set(root, parent.get(up) ?? up)
      root = up
    }
    return root
  }
  for (let edge = 0; edge < from.length; edge++) {
    const [a, b] = [from[edge]!, to[edge]!]
    if (loops[edge] === 1 || kinds.of[a] !== kinds.of[b]) continue
    if (!parent.has(a)) parent.set(a, a)
    if (!parent.has(b)) parent.set(b, b)
    parent.set(find(a), find(b))
  }
  return [...group(parent.keys(), find).values()]
    .filter((nodes) => isPart(nodes, kinds, least))
    .map((nodes) => Uint32Array.from(nodes).sort())
}

function kindsBeside(far: Uint32Array, rows: EdgeRows, { of, rank }: NodeKinds) {
  return (node: number): string => {
    const edges = rows.edges.subarray(rows.offsets[node], rows.offsets[node + 1])
    return String(Array.from(edges, (edge) => rank[of[far[edge]!]!]!).sort((a, b) => a - b))
  }
}

export interface Lanes {
  readonly count: number
  readonly roles: readonly Uint32Array[]
  readonly roleOf: Int32Array
  readonly laneOf: Int32Array
}

interface Side {
  readonly rows: EdgeRows
  readonly far: Uint32Array
}

/**
 * Grows lanes around nodes that may be the same step of each: a kind of neighbor that every lane
 * has exactly once becomes the next step. `grow` overwrites the lanes it gave before.
 */
export class LaneGrower {
  readonly #kinds: NodeKinds
  readonly #sides: readonly Side[]
  readonly #roleOf: Int32Array
  readonly #laneOf: Int32Array
  #roles: Uint32Array[] = []
  /** The attempt in which a lane last claimed each node, so that no two claim one. */
  readonly #claimed: Uint32Array
  #attempt = 0

  constructor(graph: FoldedGraph, kinds: NodeKinds, rows: { below: EdgeRows; above: EdgeRows }) {
    this.#kinds = kinds
    this.#sides = [
      { rows: rows.below, far: graph.to },
      { rows: rows.above, far: graph.from },
    ]
    this.#roleOf = new Int32Array(graph.labels.length).fill(-1)
    this.#laneOf = new Int32Array(graph.labels.length).fill(-1)
    this.#claimed = new Uint32Array(graph.labels.length)
  }

  grow(anchors: Uint32Array): Lanes {
    for (const nodes of this.#roles) {
      for (let lane = 0; lane < nodes.length; lane++) {
        this.#roleOf[nodes[lane]!] = -1
        this.#laneOf[nodes[lane]!] = -1
      }
    }
    this.#roles = []
    this.#add(anchors)
    for (let role = 0; role < this.#roles.length; role++) {
      const nodes = this.#roles[role]!
      for (const side of this.#sides) {
        for (const kind of this.#kindsBeside(nodes[0]!, side)) {
          const next = this.#neighbors(nodes, side, kind)
          if (next !== undefined) this.#add(next)
        }
      }
    }
    return { count: anchors.length, roles: this.#roles, roleOf: this.#roleOf, laneOf: this.#laneOf }
  }

  #add(nodes: Uint32Array): void {
    const role = this.#roles.push(nodes) - 1
    for (let lane = 0; lane < nodes.length; lane++) {
      this.#roleOf[nodes[lane]!] = role
      this.#laneOf[nodes[lane]!] = lane
    }
  }

  #kindsBeside(node: number, { rows, far }: Side): number[] {
    const met = new Set<number>()
    const end = rows.offsets[node + 1]!
    for (let entry = rows.offsets[node]!; entry < end; entry++) {
      const other = far[rows.edges[entry]!]!
      if (this.#roleOf[other] === -1) met.add(this.#kinds.of[other]!)
    }
    const { rank } = this.#kinds
    return [...met].sort((a, b) => rank[a]! - rank[b]!)
  }

  /** Returns the one free node of a kind next to each of `nodes`, or `undefined`. */
  #neighbors(nodes: Uint32Array, { rows, far }: Side, kind: number): Uint32Array | undefined {
    const { offsets, edges } = rows
    const { of } = this.#kinds
    const roleOf = this.#roleOf
    const claimed = this.#claimed
    const attempt = ++this.#attempt
    const found = new Uint32Array(nodes.length)
    for (let lane = 0; lane < nodes.length; lane++) {
      const node = nodes[lane]!
      const end = offsets[node + 1]!
      let own = -1
      for (let entry = offsets[node]!; entry < end; entry++) {
        const other = far[edges[entry]!]!
        if (of[other] !== kind || roleOf[other] !== -1) continue
        if (own !== -1 || claimed[other] === attempt) return undefined
        own = other
      }
      if (own === -1) return undefined
      claimed[own] = attempt
      found[lane] = own
    }
    return found
  }
}

/**
 * Returns the order of lanes along their edges: first the lanes that most others wait for, then those entered but not
 * left, then by color. `undefined` if they wait in a circle.
 */
function orderLanes(graph: FoldedGraph, lanes: Lanes, colors: LazyColors): Uint32Array | undefined {
  const { count } = lanes
  const { from, to, entered, left } = laneSteps(graph, lanes)
  const fromEnd = graphDepths(count, to, from)
  const color: (number | undefined)[] = []
  const colorOf = (lane: number) => {
    color[lane] ??= colors.ofSet(lanes.roles.map((nodes) => nodes[lane]!))
    return color[lane]
  }
  const first = (a: number, b: number) =>
    fromEnd[b]! - fromEnd[a]! ||
    entered[b]! - entered[a]! ||
    left[a]! - left[b]! ||
    colorOf(a) - colorOf(b) ||
    a - b
  const waiting = new Uint32Array(count)
  for (const lane of to) waiting[lane]!++
  const { offsets, rows } = groupRows(from, count)
  const order = Array.from(waiting.keys())
    .filter((lane) => waiting[lane] === 0)
    .sort(first)
  for (const lane of order) {
    const steps = rows.subarray(offsets[lane], offsets[lane + 1])
    const ready = Array.from(steps, (step) => to[step]!).filter((next) => --waiting[next]! === 0)
    order.push(...ready.sort(first))
  }
  return order.length === count ? Uint32Array.from(order) : undefined
}

/** Returns the edges from lane to lane, and how many lead into each lane from outside, and out of it. */
function laneSteps({ from, to, loops }: FoldedGraph, { count, laneOf }: Lanes) {
  const steps = { from: [] as number[], to: [] as number[] }
  const entered = new Uint32Array(count)
  const left = new Uint32Array(count)
  for (let edge = 0; edge < from.length; edge++) {
    if (loops[edge] === 1) continue
    const a = laneOf[from[edge]!]!
    const b = laneOf[to[edge]!]!
    if (a === b) continue
    if (a < 0) entered[b]!++
    else if (b < 0) left[a]!++
    else {
      steps.from.push(a)
      steps.to.push(b)
    }
  }
  return { ...steps, entered, left }
}

export type RepetitionMatch = readonly ReadonlyMap<number, number>[]

/**
 * Returns, for each lane, the first lane's repetition that corresponds to each of its own, or `undefined` if there is
 * none. A repetition must lie within one lane and have a counterpart in all others, or hold the same parts of all
 * lanes.
 */
function matchRepetitions(
  graph: FoldedGraph,
  lanes: Lanes,
  order: Uint32Array,
): RepetitionMatch | undefined {
  if (graph.repetitions.length === 0) return Array.from(order, () => new Map())
  const members = new Map<number, number>()
  for (const stack of graph.inside) {
    for (const repetition of stack) members.set(repetition, (members.get(repetition) ?? 0) + 1)
  }
  const first = order[0]!
  const owner = new Map<number, number>()
  const match: Map<number, number>[] = []
  for (const lane of order) {
    const likes = new Map<number, number>()
    const found = new Map<number, number>()
    for (const nodes of lanes.roles) {
      const model = graph.inside[nodes[first]!]!
      const own = graph.inside[nodes[lane]!]!
      for (const [at, repetition] of own.entries()) {
        const like = model[at]!
        if ((likes.get(repetition) ?? like) !== like) return undefined
        likes.set(repetition, like)
        found.set(repetition, (found.get(repetition) ?? 0) + 1)
      }
    }
    if (new Set(likes.values()).size !== likes.size) return undefined
    for (const [repetition, like] of likes) {
      if (lane !== first && repetition === like) continue
      if ((owner.get(repetition) ?? lane) !== lane) return undefined
      owner.set(repetition, lane)
      const whole = found.get(repetition) === members.get(repetition)
      if (!whole && repetition !== like) return undefined
    }
    match.push(likes)
  }
  return withoutShared(match)
}

/** Drops the repetitions that hold parts of several lanes; `undefined` where only some lanes do. */
function withoutShared(match: readonly Map<number, number>[]): RepetitionMatch | undefined {
  for (const repetition of [...(match[0] as Map<number, number>).keys()]) {
    const sharing = match.filter((likes) => likes.get(repetition) === repetition).length
    if (sharing === 1) continue
    if (sharing !== match.length) return undefined
    for (const likes of match) likes.delete(repetition)
  }
  return match
}

export interface FoldStep {
  readonly before: FoldedGraph
  readonly after: FoldedGraph
  readonly nodeOf: Uint32Array
  /** Node before that each node after comes from: for a lane's step, that of the first lane. */
  readonly sources: Uint32Array
  readonly edgeOf: Uint32Array
  /** Place of each former node's lane among the lanes; -1 outside. */
  readonly laneOf: Int32Array
}

/** Folds lanes into one if they are equal. Only their number is lost, and that is kept. */
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
 * Marks loops: an edge to a later lane that leads back in the one lane left. Of several parallel ones, marks those to
 * later lanes.
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
 * Whether steps outside lead to one another through the folded lane only if they did before. Then times exist at which
 * nothing comes before the steps that it waits for.
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

/** Edges that become one: their relation to the new repetition, and the edges by lane. */
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
 * Groups edges if all lanes have the same: steps `offset` lanes on in every lane; edges to the outside in all lanes, or
 * only in the first or the last of lanes that follow each other.
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
 * Whether the outside edges allow folding. Lanes side by side must all have the same ones: otherwise two steps with one
 * label would pass for a repetition. Only lanes in a row may be entered at the first and left at the last.
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

/** Numbers the ends of an edge: two roles and the number of lanes between them, or a node outside and a role. */
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
