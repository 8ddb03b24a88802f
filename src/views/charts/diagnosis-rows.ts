import { group } from 'd3-array'
import type {
  DiagnosedScenario,
  LatencyDiagnosis,
} from '../../whatif/diagnosis/latency-diagnosis.ts'

/** A scenario, and how deep below the others it is drawn: 0 for those that were tried first. */
export interface DiagnosisRow {
  readonly cause: DiagnosedScenario
  readonly level: number
}

/**
 * The best `limit` scenarios of a diagnosis and what they lie within, from the top down: each once,
 * below what it lies within, the best of each first.
 */
export function diagnosisRows({ ranked }: LatencyDiagnosis, limit: number): DiagnosisRow[] {
  const kept = new Set<number>()
  for (const { rank } of ranked.slice(0, limit)) {
    for (let at = rank; at > 0 && !kept.has(at); at = parentRank(ranked, at)) kept.add(at)
  }
  const children = group(
    ranked.filter(({ rank }) => kept.has(rank)),
    ({ rank }) => parentRank(ranked, rank),
  )
  const rows: DiagnosisRow[] = []
  const list = (parent: number, level: number) => {
    for (const cause of children.get(parent) ?? []) {
      rows.push({ cause, level })
      list(cause.rank, level + 1)
    }
  }
  list(0, 0)
  return rows
}

/** The rank of what a scenario lies within, 0 of those tried first. */
function parentRank(ranked: readonly DiagnosedScenario[], rank: number): number {
  return ranked[rank - 1]?.parent?.rank ?? 0
}
