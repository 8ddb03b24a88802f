import { group } from 'd3-array'
import type {
  DiagnosedScenario,
  LatencyDiagnosis,
} from '../../whatif/diagnosis/latency-diagnosis.ts'

export type DiagnosisRow = ReturnType<typeof diagnosisRows>[number]

/** Returns the best `limit` scenarios and those that contain them, each below its parent, best first. */
export function diagnosisRows({ ranked }: LatencyDiagnosis, limit: number) {
  const kept = new Set<number>()
  for (const { rank } of ranked.slice(0, limit)) {
    for (let at = rank; at > 0 && !kept.has(at); at = parentRank(ranked, at)) kept.add(at)
  }
  const children = group(
    ranked.filter(({ rank }) => kept.has(rank)),
    ({ rank }) => parentRank(ranked, rank),
  )
  const rows: { cause: DiagnosedScenario; level: number }[] = []
  const list = (parent: number, level: number) => {
    for (const cause of children.get(parent) ?? []) {
      rows.push({ cause, level })
      list(cause.rank, level + 1)
    }
  }
  list(0, 0)
  return rows
}

function parentRank(ranked: readonly DiagnosedScenario[], rank: number): number {
  return ranked[rank - 1]?.parent?.rank ?? 0
}
