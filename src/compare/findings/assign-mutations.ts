import type { EdgeChange } from '../edges/edge-changes.ts'
import type { RankedMutation, Ranking } from '../ranking/ranking.ts'
import type { StructureMove } from './finding.ts'

/** What it takes to tell whether a finding accounts for a mutation. */
export interface Explains {
  readonly changedEdges: readonly EdgeChange[]
  readonly moves: readonly StructureMove[]
}

/**
 * Of each finding, the ranked mutations that it accounts for. A structural mutation belongs to the
 * finding that moves requests to its category; a response-time mutation to the finding whose edges
 * shifted its mean the most, of those among its changed edges. Each mutation belongs to at most
 * one, and to none when no finding explains it.
 */
export function assignMutations(
  { mutations, responseTime }: Ranking,
  findings: readonly Explains[],
): RankedMutation[][] {
  const assigned: RankedMutation[][] = findings.map(() => [])
  const findingOfEdge = new Map<string, number>()
  const findingOfCategory = new Map<number, number>()
  findings.forEach(({ changedEdges, moves }, finding) => {
    for (const { from, to } of moves.length > 0 ? [] : changedEdges)
      findingOfEdge.set(edgeKey(from, to), finding)
    for (const { to } of moves) if (!findingOfCategory.has(to)) findingOfCategory.set(to, finding)
  })
  for (const mutation of mutations) {
    const finding =
      mutation.kind === 'structural'
        ? findingOfCategory.get(mutation.category)
        : likeliest(responseTime.edges(mutation.category))
    if (finding !== undefined) (assigned[finding] as RankedMutation[]).push(mutation)
  }
  return assigned

  function likeliest(edges: ReturnType<Ranking['responseTime']['edges']>): number | undefined {
    const shifts = new Map<number, number>()
    for (const { edge, test, beforeMeanUs, afterMeanUs } of edges) {
      const finding = findingOfEdge.get(edgeKey(edge.from, edge.to))
      if (finding === undefined || test?.rejected !== true) continue
      const shift = Math.abs(afterMeanUs - beforeMeanUs)
      shifts.set(finding, (shifts.get(finding) ?? 0) + shift)
    }
    const [best] = [...shifts].sort(([, a], [, b]) => b - a)
    return best?.[0]
  }
}

function edgeKey(from: string, to: string): string {
  return JSON.stringify([from, to])
}
