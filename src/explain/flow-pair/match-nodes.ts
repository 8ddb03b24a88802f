import type { Categories } from '../../compare/categories/categories.ts'
import { editTokens } from '../../compare/precursors/match-precursors.ts'
import { breakCycles, type NodePair } from './break-cycles.ts'
import { type EditScript, editScript } from './edit-script.ts'
import type { Certainty, NodeMatch } from './flow-comparison.ts'

/** Which nodes of two forms stand for the same step. */
interface NodeMatching {
  /** For each node before, its partner after; -1 for none. */
  readonly afterOf: Int32Array
  readonly beforeOf: Int32Array
  /** Edit distance of the forms' tokens. */
  readonly distance: number
  /** Pairs the edit script found that were kept apart, as some step would have followed itself. */
  readonly dropped: number
}

/**
 * Matches the nodes of two forms: each with at most one of the other, of equal label, and such
 * that the union of both forms, with matched nodes as one, has no cycle.
 *
 * What the shortest edit script between the depth-first tokens keeps is matched; between scripts
 * of the same length, such as keep a node below a node of the same label. A join that is met
 * earlier on one side still counts as kept. Pairs that would close a cycle are taken apart, the
 * least supported first, and tried again at the end; there, nodes that are left over are matched
 * too if they have the same label and stand next to the same nodes.
 *
 * The result for exchanged arguments is the same, exchanged.
 *
 * Source: Sambasivan et al. 2012, CMU-PDL-12-102, §3.4; cycles, joins and left-over nodes are
 * treated by rules of our own.
 */
export function matchNodes(before: FlowForm, after: FlowForm): NodeMatching {
  const inOrder = compareForms(before, after) <= 0
  const [a, b] = inOrder ? [before, after] : [after, before]
  const pairing = new NodePairing(a, b)
  const labelOf = (form: FlowForm, at: number) => form.labels[form.visits[at] as number]
  const script = editScript(a.tokens, b.tokens, {
    likeness: (i, j) =>
      a.labels[a.callers[i] as number] === b.labels[b.callers[j] as number] ? 1 : 0,
  })
  const aligned = alignedPairs(script, (i, j) => labelOf(a, i) === labelOf(b, j))
  for (const [i, j] of aligned) {
    const [nodeA, nodeB] = [a.visits[i] as number, b.visits[j] as number]
    if (pairing.isFree(nodeA, nodeB)) pairing.join(nodeA, nodeB)
  }
  const counts = [labelCounts(a.labels), labelCounts(b.labels)]
  const recurs = (label: string) => counts.some((count) => (count.get(label) ?? 0) > 1)
  const parted = breakCycles(pairing, recurs)
  const dropped = rejoin(pairing, parted)
  matchLeftOver(pairing)
  const [afterOf, beforeOf] = inOrder ? [pairing.ofA, pairing.ofB] : [pairing.ofB, pairing.ofA]
  return { afterOf, beforeOf, distance: script.distance, dropped }
}

/** How often each label occurs. */
function labelCounts(labels: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1)
  return counts
}

/** Positions that a script aligns and that have the same label: first those it keeps. */
function alignedPairs(
  { steps }: EditScript,
  sameLabel: (before: number, after: number) => boolean,
): [number, number][] {
  const kept = steps.filter(({ kind }) => kind === 'keep')
  const replaced = steps.filter(
    ({ kind, before, after }) => kind === 'substitute' && sameLabel(before, after),
  )
  return [...kept, ...replaced].map(({ before, after }) => [before, after])
}

/** Joins pairs again where that closes no cycle; gives how many stay apart. */
function rejoin(pairing: NodePairing, pairs: readonly NodePair[]): number {
  let apart = 0
  for (const { a, b } of [...pairs].reverse()) {
    if (pairing.wouldCycle(a, b)) apart++
    else pairing.join(a, b)
  }
  return apart
}

/** Joins free nodes of the same label next to pairs, until there are none. */
function matchLeftOver(pairing: NodePairing): void {
  for (let joined = true; joined; ) {
    joined = false
    for (let a = 0; a < pairing.ofA.length; a++) {
      if (pairing.ofA[a] !== -1) continue
      const b = likeliest(pairing, a)
      if (b === undefined) continue
      pairing.join(a, b)
      joined = true
    }
  }
}

/** Of the nodes that may be joined with a free node `a`, the one whose neighbours agree most. */
function likeliest(pairing: NodePairing, a: number): number | undefined {
  const { a: form, b: other, ofA, ofB } = pairing
  const label = form.labels[a]
  const candidates = new Set<number>()
  const collect = (near: readonly number[], next: readonly (readonly number[])[]) => {
    for (const neighbour of near) {
      const partner = ofA[neighbour] as number
      if (partner < 0) continue
      for (const b of next[partner] as readonly number[]) {
        if (ofB[b] === -1 && other.labels[b] === label) candidates.add(b)
      }
    }
  }
  collect(form.parents[a] as readonly number[], other.children)
  collect(form.children[a] as readonly number[], other.parents)
  return [...candidates]
    .map((b) => ({ b, agreement: pairing.agreement(a, b) }))
    .sort((x, y) => y.agreement - x.agreement || x.b - y.b)
    .find(({ b }) => !pairing.wouldCycle(a, b))?.b
}

/**
 * Which node of one form stands for which of another, while it is worked out; and the union of
 * both, in which the two nodes of a pair are one. In the union, nodes of `a` keep their numbers
 * and node n of `b` that has no partner is `a`'s number of nodes + n.
 */
export class NodePairing {
  readonly a: FlowForm
  readonly b: FlowForm
  /** For each node of `a`, its partner; -1 for none. */
  readonly ofA: Int32Array
  readonly ofB: Int32Array
  readonly #edgesOfB: ReadonlySet<number>

  constructor(a: FlowForm, b: FlowForm) {
    this.a = a
    this.b = b
    this.ofA = new Int32Array(a.labels.length).fill(-1)
    this.ofB = new Int32Array(b.labels.length).fill(-1)
    this.#edgesOfB = new Set(b.edges.map(({ from, to }) => from * b.labels.length + to))
  }

  /** Nodes in the union's numbering, some of which do not occur. */
  get unionSize(): number {
    return this.a.labels.length + this.b.labels.length
  }

  isFree(a: number, b: number): boolean {
    return this.ofA[a] === -1 && this.ofB[b] === -1
  }

  join(a: number, b: number): void {
    this.ofA[a] = b
    this.ofB[b] = a
  }

  /** Parts a node of `a` from its partner. */
  part(a: number): void {
    this.ofB[this.ofA[a] as number] = -1
    this.ofA[a] = -1
  }

  /** How many neighbours of `a` and `b`, before and after them, are partners of each other. */
  agreement(a: number, b: number): number {
    const size = this.b.labels.length
    let count = 0
    for (const parent of this.a.parents[a] as readonly number[]) {
      const partner = this.ofA[parent] as number
      if (partner >= 0 && this.#edgesOfB.has(partner * size + b)) count++
    }
    for (const child of this.a.children[a] as readonly number[]) {
      const partner = this.ofA[child] as number
      if (partner >= 0 && this.#edgesOfB.has(b * size + partner)) count++
    }
    return count
  }

  /** The number of a node of `b` in the union. */
  unionOfB(b: number): number {
    const partner = this.ofB[b] as number
    return partner >= 0 ? partner : this.a.labels.length + b
  }

  /** Calls `visit` with each node that follows `node` in the union, maybe repeatedly. */
  followers(node: number, visit: (follower: number) => void): void {
    const size = this.a.labels.length
    if (node < size) for (const child of this.a.children[node] as readonly number[]) visit(child)
    const inB = node < size ? (this.ofA[node] as number) : node - size
    if (inB < 0) return
    for (const child of this.b.children[inB] as readonly number[]) visit(this.unionOfB(child))
  }

  /** Whether one comes from union node `start` to `end`. */
  leads(start: number, end: number): boolean {
    const seen = new Uint8Array(this.unionSize)
    const pending = [start]
    let found = false
    for (let node = pending.pop(); node !== undefined && !found; node = pending.pop()) {
      this.followers(node, (follower) => {
        if (follower === end) found = true
        if (seen[follower] === 1) return
        seen[follower] = 1
        pending.push(follower)
      })
    }
    return found
  }

  /** Whether joining two free nodes would make some step follow itself. */
  wouldCycle(a: number, b: number): boolean {
    const inUnion = this.a.labels.length + b
    return this.leads(a, inUnion) || this.leads(inUnion, a)
  }
}

/** The share of neighbours that must agree for a node whose label recurs to be likely matched. */
const MOST = 0.5

/** The matched nodes of two forms, and how sure each pair is. */
export function matchCertainty(
  before: FlowForm,
  after: FlowForm,
  matching: NodeMatching,
): NodeMatch[] {
  const { afterOf } = matching
  const counts = [labelCounts(before.labels), labelCounts(after.labels)]
  const same = sameForms(before, after, matching)
  const partners = (nodes: readonly number[] = []) => nodes.map((node) => afterOf[node] as number)
  const matches: NodeMatch[] = []
  afterOf.forEach((partner, node) => {
    if (partner < 0) return
    const label = before.labels[node] as string
    const recurs = counts.some((count) => (count.get(label) as number) > 1)
    const neighbourShare = agreeingShare([
      { near: partners(before.parents[node]), nearPartner: after.parents[partner] ?? [] },
      { near: partners(before.children[node]), nearPartner: after.children[partner] ?? [] },
    ])
    const certainty: Certainty =
      same || !recurs ? 'sure' : neighbourShare >= MOST ? 'likely' : 'doubtful'
    matches.push({ before: node, after: partner, certainty, recurs, neighbourShare })
  })
  return matches
}

interface Neighbors {
  /** Partners of a node's neighbours; -1 for those without. */
  readonly near: readonly number[]
  /** The neighbours of the node's partner. */
  readonly nearPartner: readonly number[]
}

/** How many neighbours both nodes have, as a share of those of the node that has more. */
function agreeingShare(directions: readonly Neighbors[]): number {
  let agreeing = 0
  let count = 0
  let partnerCount = 0
  for (const { near, nearPartner } of directions) {
    const known = new Set(nearPartner)
    agreeing += near.filter((node) => known.has(node)).length
    count += near.length
    partnerCount += nearPartner.length
  }
  const most = Math.max(count, partnerCount)
  return most === 0 ? 1 : agreeing / most
}

/** Whether all is matched and every edge has its like. */
function sameForms(before: FlowForm, after: FlowForm, { afterOf }: NodeMatching): boolean {
  if (before.labels.length !== after.labels.length || afterOf.includes(-1)) return false
  const names = after.edges.map(({ from, to }) => `${from} ${to}`).sort()
  const mapped = before.edges.map(({ from, to }) => `${afterOf[from]} ${afterOf[to]}`).sort()
  return mapped.length === names.length && mapped.every((name, i) => name === names[i])
}

/** An edge between two nodes of a form. */
interface FormEdge {
  readonly from: number
  readonly to: number
  /** Number of its edge class in the category's structure. */
  readonly edgeClass: number
}

/**
 * The structure of a category with its nodes numbered depth first, so that it reads the same
 * however its requests were recorded.
 */
export interface FlowForm {
  readonly category: number
  /** For each node, its number in the category's structure. */
  readonly structureNodes: Uint32Array
  readonly labels: readonly string[]
  /** In the order of the nodes they lead from, then to. */
  readonly edges: readonly FormEdge[]
  /** For each node, those before it. */
  readonly parents: readonly (readonly number[])[]
  readonly children: readonly (readonly number[])[]
  /** Every node in the order of visits, and again at each further edge into it; see `editTokens`. */
  readonly tokens: Uint32Array
  /** For each token, its node. */
  readonly visits: Uint32Array
  /** For each token, the node it was come from; the node itself for a root. */
  readonly callers: Uint32Array
}

/** The form of a category's structure. */
export function flowForm(categories: Categories, category: number): FlowForm {
  const structure = categories.structure(category)
  const { preorder, labels, from, to, classOf } = structure
  const rank = new Uint32Array(labels.length)
  preorder.forEach((node, at) => {
    rank[node] = at
  })
  const rankOf = (node: number) => rank[node] as number
  const edges = Array.from(from, (source, edge) => ({
    from: rankOf(source),
    to: rankOf(to[edge] as number),
    edgeClass: classOf[edge] as number,
  })).sort((a, b) => a.from - b.from || a.to - b.to)
  const lists = (): number[][] => labels.map(() => [])
  const [parents, children] = [lists(), lists()]
  for (const edge of edges) {
    children[edge.from]?.push(edge.to)
    parents[edge.to]?.push(edge.from)
  }
  return {
    ...{ category, edges, parents, children },
    structureNodes: preorder.slice(),
    labels: Array.from(preorder, (node) => labels[node] as string),
    tokens: editTokens(structure, 'preorder'),
    visits: structure.visits.map(rankOf),
    callers: structure.callers.map(rankOf),
  }
}

/** Which of two forms comes first, by what can be read in them; 0 when they are the same. */
function compareForms(a: FlowForm, b: FlowForm): number {
  if (a.tokens.length !== b.tokens.length) return a.tokens.length - b.tokens.length
  for (let i = 0; i < a.tokens.length; i++) {
    if (a.tokens[i] === b.tokens[i]) continue
    const [first, second] = [tokenText(a, i), tokenText(b, i)]
    return first < second ? -1 : 1
  }
  for (let i = 0; i < a.edges.length && i < b.edges.length; i++) {
    const [first, second] = [a.edges[i] as FormEdge, b.edges[i] as FormEdge]
    const order = first.from - second.from || first.to - second.to
    if (order !== 0) return order
  }
  return a.edges.length - b.edges.length
}

function tokenText({ labels, tokens, visits }: FlowForm, at: number): string {
  return `${labels[visits[at] as number]}\n${(tokens[at] as number) % 2}`
}
