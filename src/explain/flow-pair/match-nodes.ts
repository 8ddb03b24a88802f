import { type EditScript, editScript } from './edit-script.ts'
import type { Certainty, NodeMatch } from './flow-comparison.ts'
import type { FlowForm, FormEdge } from './flow-form.ts'
import { breakCycles, NodePairing } from './node-pairing.ts'

interface NodeMatching {
  readonly matches: readonly NodeMatch[]
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
  const script = editScript(a.tokens, b.tokens, {
    likeness: (i, j) =>
      a.labels[a.callers[i] as number] === b.labels[b.callers[j] as number] ? 1 : 0,
  })
  for (const [nodeA, nodeB] of alignedNodes(script, a, b)) {
    if (pairing.isFree(nodeA, nodeB)) pairing.join(nodeA, nodeB)
  }
  const recurring = recurringLabels([a, b])
  let dropped = 0
  for (const pair of breakCycles(pairing, recurring).reverse()) {
    if (pairing.wouldCycle(pair.a, pair.b)) dropped++
    else pairing.join(pair.a, pair.b)
  }
  matchLeftOver(pairing)
  const matches = matchesOf(inOrder ? pairing : pairing.exchanged(), recurring)
  return { matches, distance: script.distance, dropped }
}

/** Nodes of the same label that a script aligns: first those it keeps. */
function alignedNodes({ steps }: EditScript, a: FlowForm, b: FlowForm): [number, number][] {
  const nodesOf = (kind: 'keep' | 'substitute') =>
    steps
      .filter((step) => step.kind === kind)
      .map((step): [number, number] => [
        a.visits[step.before] as number,
        b.visits[step.after] as number,
      ])
  const replaced = nodesOf('substitute').filter(([i, j]) => a.labels[i] === b.labels[j])
  return [...nodesOf('keep'), ...replaced]
}

/** Labels that occur more than once in either form. */
function recurringLabels(forms: readonly FlowForm[]): ReadonlySet<string> {
  return new Set(
    forms.flatMap(({ labels }) => {
      const seen = new Set<string>()
      return labels.filter((label) => {
        const recurs = seen.has(label)
        seen.add(label)
        return recurs
      })
    }),
  )
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
  const { a: form, b: other, ofA } = pairing
  const beside = (near: readonly number[] = [], next: readonly (readonly number[])[]) =>
    near.flatMap((neighbour) => next[ofA[neighbour] as number] ?? [])
  const nearby = [
    ...beside(form.parents[a], other.children),
    ...beside(form.children[a], other.parents),
  ]
  return [...new Set(nearby)]
    .filter((b) => pairing.isFree(a, b) && other.labels[b] === form.labels[a])
    .map((b) => ({ b, agreement: pairing.agreement(a, b) }))
    .sort((x, y) => y.agreement - x.agreement || x.b - y.b)
    .find(({ b }) => !pairing.wouldCycle(a, b))?.b
}

/** The share of neighbours that must agree for a node whose label recurs to be likely matched. */
const MOST = 0.5

function matchesOf(pairing: NodePairing, recurring: ReadonlySet<string>): NodeMatch[] {
  const { a, b, ofA } = pairing
  const same = isSame(pairing)
  return Array.from(ofA.entries()).flatMap(([node, partner]): NodeMatch[] => {
    if (partner < 0) return []
    const recurs = recurring.has(a.labels[node] as string)
    const neighbours = Math.max(degree(a, node), degree(b, partner))
    const neighbourShare = neighbours === 0 ? 1 : pairing.agreement(node, partner) / neighbours
    const certainty: Certainty =
      same || !recurs ? 'sure' : neighbourShare >= MOST ? 'likely' : 'doubtful'
    return [{ before: node, after: partner, certainty, recurs, neighbourShare }]
  })
}

function degree({ parents, children }: FlowForm, node: number): number {
  return (parents[node]?.length ?? 0) + (children[node]?.length ?? 0)
}

/** Whether all is matched and every edge has its like. */
function isSame({ a, b, ofA }: NodePairing): boolean {
  if (a.labels.length !== b.labels.length || ofA.includes(-1)) return false
  const names = b.edges.map(({ from, to }) => `${from} ${to}`).sort()
  const mapped = a.edges.map(({ from, to }) => `${ofA[from]} ${ofA[to]}`).sort()
  return mapped.join() === names.join()
}

/** Which of two forms comes first, by what can be read in them; 0 when they are the same. */
function compareForms(a: FlowForm, b: FlowForm): number {
  if (a.tokens.length !== b.tokens.length) return a.tokens.length - b.tokens.length
  const differing = a.tokens.findIndex((token, i) => token !== b.tokens[i])
  if (differing >= 0) return tokenText(a, differing) < tokenText(b, differing) ? -1 : 1
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
