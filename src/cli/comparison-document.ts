import type { Comparison } from '../comparison.ts'
import { AFTER, BEFORE, type Period } from '../flows/flow-set.ts'
import type { EdgeComparison } from '../mutations/response-time-mutations.ts'
import { exemplars } from '../ranking/exemplars.ts'
import type { RankedMutation } from '../ranking/ranking.ts'

/**
 * A comparison as a JSON document, `flowdelta.comparison/1`; `comparison.schema.json` describes
 * it. What cannot be computed (the mean of no requests) is `null`. At most `limit` categories and
 * mutations are listed, and `truncated` says how many there are when that is not all.
 */
export function comparisonDocument(comparison: Comparison, { limit = 1000 } = {}) {
  const { flows, categories, ranking, options } = comparison
  const shown = ranking.mutations.slice(0, limit)
  return {
    schema: 'flowdelta.comparison/1',
    parameters: {
      smPThreshold: options.smPThreshold,
      alpha: options.alpha,
      alternative: options.alternative,
      correction: options.correction,
      oneToN: options.oneToN,
      concurrency: options.concurrency,
      omitHosts: options.omitHosts,
      editTokens: options.editTokens,
      counts: options.counts,
    },
    requests: { before: flows.count(BEFORE), after: flows.count(AFTER) },
    categories: Array.from({ length: Math.min(limit, categories.size) }, (_, category) =>
      categoryEntry(comparison, category),
    ),
    mutations: shown.map((mutation) => mutationEntry(comparison, mutation)),
    ...(Math.max(categories.size, ranking.mutations.length) > limit && {
      truncated: { categories: categories.size, mutations: ranking.mutations.length },
    }),
    warnings: comparison.warnings(),
  }
}

function categoryEntry({ categories, responseTime, structural }: Comparison, category: number) {
  const { statistic, p, testable, rejected, direction } = responseTime.test(category)
  const label = structural.label(category)
  const times = (period: Period) => {
    const { count, mean, sd, variance } = categories.responseTimeMoments(category, period)
    return { requests: count, ...numbers({ meanUs: mean, sdUs: sd, c2: variance / mean ** 2 }) }
  }
  return {
    id: category,
    root: categories.root(category),
    nodes: categories.nodeCount(category),
    edges: categories.edgeCount(category),
    before: times(BEFORE),
    after: times(AFTER),
    labels: [
      ...(label === 'unchanged' ? [] : [label]),
      ...(rejected ? ['response-time-mutation'] : []),
    ],
    responseTime: { ...numbers({ statistic, p }), tested: testable, rejected, direction },
  }
}

function mutationEntry({ responseTime, categories }: Comparison, mutation: RankedMutation) {
  const { rank, category, kind, requests, contributionUs, precursors } = mutation
  return {
    ...{ rank, category, kind, requests, contributionUs, precursors },
    edges: responseTime.edges(category).map(edgeEntry),
    exemplars: exemplars(categories, mutation),
  }
}

function edgeEntry(comparison: EdgeComparison) {
  const { edge, onCriticalPath, test } = comparison
  const { from, to, occurrence } = edge
  return {
    ...{ from, to, occurrence, onCriticalPath },
    before: numbers({ meanUs: comparison.beforeMeanUs, sdUs: comparison.beforeSdUs }),
    after: numbers({ meanUs: comparison.afterMeanUs, sdUs: comparison.afterSdUs }),
    ...numbers({ statistic: test?.statistic ?? Number.NaN, p: test?.p ?? Number.NaN }),
    tested: test?.testable ?? false,
    rejected: test?.rejected ?? false,
  }
}

/** JSON has no NaN: what is not a number becomes `null`. */
function numbers<K extends string>(values: Record<K, number>): Record<K, number | null> {
  const entries = Object.entries<number>(values)
  return Object.fromEntries(
    entries.map(([key, value]) => [key, Number.isFinite(value) ? value : null]),
  ) as Record<K, number | null>
}
