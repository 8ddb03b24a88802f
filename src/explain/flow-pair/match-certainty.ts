import type { Certainty, NodeMatch } from './flow-comparison.ts'
import type { FlowForm } from './flow-form.ts'
import { labelCounts, type NodeMatching } from './match-nodes.ts'

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
