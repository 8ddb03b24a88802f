import type { EdgeChange } from '../edges/edge-changes.ts'
import { calledPlace, place } from '../edges/edge-pool.ts'

/** What edges of one group have in common. */
export type Scope =
  /** One edge alone. */
  | { readonly of: 'edge' }
  /** Work inside a service. */
  | { readonly of: 'work'; readonly service: string }
  /** The way to a service and back, whoever calls it. */
  | { readonly of: 'calls'; readonly service: string }
  /** Whatever a service does: its work, and the calls it makes and takes. */
  | { readonly of: 'service'; readonly service: string }
  /** The same work in several services, which run the same code. */
  | { readonly of: 'step'; readonly step: string }

export interface EdgeGroup {
  readonly scope: Scope
  readonly edges: readonly EdgeChange[]
}

interface Candidate {
  readonly scope: Scope
  readonly edges: readonly EdgeChange[]
}

/**
 * Groups changed edges by what they have in common: over and over, the candidate (one edge, the
 * work of a service, the calls to it, all that it does, or one step in all services that take it)
 * that explains the most. A candidate
 * explains what its changed edges contribute, times the share of its edges' calls that changed:
 * that every caller is slow because the one they all call is shows in that share.
 *
 * @param edges all edges of one comparison
 * @param direction which of the changes to group
 */
export function groupEdgeChanges(
  edges: readonly EdgeChange[],
  direction: 'slower' | 'faster',
): EdgeGroup[] {
  const wanted = ({ changed, shiftUs }: EdgeChange) =>
    changed && shiftUs > 0 === (direction === 'slower')
  const left = new Set(edges.filter(wanted))
  const candidates = [...left].flatMap(scopesOf)
  const known = new Map<string, Candidate>()
  for (const { scope } of candidates) {
    const key = JSON.stringify(scope)
    if (known.has(key)) continue
    known.set(key, { scope, edges: edges.filter((edge) => isWithin(edge, scope)) })
  }
  const groups: EdgeGroup[] = []
  while (left.size > 0) {
    const best = bestCandidate([...known.values()], left)
    groups.push(best)
    for (const edge of best.edges) left.delete(edge)
  }
  return groups
}

function scopesOf(edge: EdgeChange): { scope: Scope }[] {
  const from = place(edge.fromNode)
  if (edge.kind === 'self') {
    return [
      { scope: { of: 'work', service: from } },
      { scope: { of: 'service', service: from } },
      { scope: { of: 'step', step: stepOf(edge) } },
    ]
  }
  return [
    { scope: { of: 'calls', service: calledPlace(edge) } },
    { scope: { of: 'service', service: from } },
    { scope: { of: 'service', service: place(edge.toNode) } },
  ]
}

function isWithin(edge: EdgeChange, scope: Scope): boolean {
  if (scope.of === 'edge') return false
  if (scope.of === 'step') return edge.kind === 'self' && stepOf(edge) === scope.step
  const { service } = scope
  const from = place(edge.fromNode)
  const to = place(edge.toNode)
  if (scope.of === 'work') return edge.kind === 'self' && from === service
  if (scope.of === 'calls') return edge.kind === 'network' && calledPlace(edge) === service
  return from === service || to === service
}

/** What is done, wherever. */
function stepOf({ fromNode, toNode, fromRoundBefore }: EdgeChange): string {
  const ends = [fromNode, toNode].map(({ operation, phase }) => [operation, phase])
  return JSON.stringify([...ends, fromRoundBefore])
}

/** A group of several edges must have changed in at least this share of its calls. */
const MOST = 0.5

function bestCandidate(candidates: readonly Candidate[], left: ReadonlySet<EdgeChange>): EdgeGroup {
  const [first] = [...left].sort(
    (a, b) => Math.abs(b.contributionUs) - Math.abs(a.contributionUs),
  ) as [EdgeChange]
  let best: EdgeGroup = { scope: { of: 'edge' }, edges: [first] }
  let bestScore = Math.abs(first.contributionUs)
  for (const { scope, edges } of candidates) {
    const changed = edges.filter((edge) => left.has(edge))
    const share = shareOfCalls(changed, edges)
    if (changed.length < 2 || share < MOST) continue
    const score = share * changed.reduce((sum, edge) => sum + Math.abs(edge.contributionUs), 0)
    if (score > bestScore) {
      bestScore = score
      best = { scope, edges: changed }
    }
  }
  return best
}

/** Of the calls that the edges belong to, the share that has at least one changed edge. */
function shareOfCalls(changed: readonly EdgeChange[], edges: readonly EdgeChange[]): number {
  const compared = edges.filter(({ q }) => !Number.isNaN(q))
  const all = new Set(compared.map(callOf))
  return all.size === 0 ? 0 : new Set(changed.map(callOf)).size / all.size
}

/** There and back are one call: what stands at both ends, whatever the direction. */
function callOf({ kind, from, to, fromNode, toNode, fromRoundBefore }: EdgeChange): string {
  if (kind === 'self') return JSON.stringify([from, to, fromRoundBefore])
  const ends = [fromNode, toNode].map((node) => `${place(node)} ${node.operation}`)
  return JSON.stringify(ends.sort())
}
