import { breakCycles } from './break-cycles.ts'
import { type EditScript, editScript } from './edit-script.ts'
import type { Certainty, NodeMatch } from './flow-comparison.ts'
import type { FlowForm, FormEdge } from './flow-form.ts'
import { type NodePair, NodePairing } from './node-pairing.ts'

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
