import { breakCycles, type NodePair } from './break-cycles.ts'
import { type EditScript, editScript } from './edit-script.ts'
import { compareForms, type FlowForm } from './flow-form.ts'
import { NodePairing } from './node-pairing.ts'

/** Which nodes of two forms stand for the same step. */
export interface NodeMatching {
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
export function labelCounts(labels: readonly string[]): Map<string, number> {
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
