import { labelDifference } from '../src/compare/precursors/match-precursors.ts'
import type { Comparison } from '../src/comparison/comparison.ts'
import { counted, formatDuration } from '../src/core/words.ts'

/** Returns the first results of a ranking as text: the kind of request, its cost, and what differs. */
export function resultsText(comparison: Comparison, count = 5): string {
  const { categories, ranking } = comparison
  const results = ranking.mutations.slice(0, count).flatMap((mutation) => {
    const { rank, category, kind, contributionUs, precursors } = mutation
    const root = categories.root(category)
    return [
      `${rank}. ${root}, ${kind}, ${formatDuration(contributionUs)} in total`,
      ...callsBeside(comparison, category, precursors[0]?.category),
      ...(kind === 'response-time' ? slowestEdge(comparison, category) : []),
    ]
  })
  const found = counted(ranking.mutations.length, 'result')
  return [`${categories.size} categories, ${found}`, ...results].join('\n')
}

function callsBeside({ categories }: Comparison, category: number, was: number | undefined) {
  if (was === undefined) return []
  const { added, removed } = labelDifference(
    categories.structure(was),
    categories.structure(category),
  )
  return Object.entries({ more: added, less: removed }).flatMap(([side, labels]) => {
    const calls = labels.filter(({ label }) => label.endsWith(' call')).slice(0, 4)
    const named = calls.map(({ label, count }) => `${label.replace(/ call$/, '')} ×${count}`)
    return labels.length === 0 ? [] : [`     ${side}: ${named.join(', ')}`]
  })
}

function slowestEdge({ responseTime }: Comparison, category: number) {
  const changed = responseTime.edges(category).filter(({ test }) => test.rejected)
  const shift = (edge: { beforeMeanUs: number; afterMeanUs: number }) =>
    edge.afterMeanUs - edge.beforeMeanUs
  const [most] = changed.sort((a, b) => shift(b) - shift(a))
  if (most === undefined) return []
  const [before, after] = [most.beforeMeanUs, most.afterMeanUs].map(formatDuration)
  return [`     ${most.edge.from} → ${most.edge.to}: ${before} → ${after}`]
}
