import type { Comparison } from '../compare/comparison.ts'
import type { EdgeComparison } from '../compare/mutations/response-time-mutations.ts'
import { exemplars } from '../compare/ranking/exemplars.ts'
import type { RankedMutation } from '../compare/ranking/ranking.ts'
import { AFTER, BEFORE, type Period } from '../flows/flow-set.ts'
import type { ExplainedRank } from './explain-rank.ts'
import { explanationDocument } from './explanation-document.ts'
import { effectEntry, findingsDocument } from './findings-document.ts'
import { numbers } from './json-numbers.ts'

/** Listed with one mutation; `edgesInAll` and `precursorsInAll` say how many there are. */
const MOST_EDGES = 200
const MOST_PRECURSORS = 100

export interface DocumentOptions {
  readonly limit?: number
  readonly explained?: ExplainedRank | null
}

/**
 * A comparison as a JSON document, `flowdelta.comparison/1`; `comparison.schema.json` describes
 * it. Findings come first: grouped, corrected, in words. What cannot be computed (the mean of no
 * requests) is `null`. At most `limit` categories and mutations are listed, and `truncated` says
 * how many there are when that is not all.
 */
export function comparisonDocument(
  comparison: Comparison,
  { limit = 1000, explained = null }: DocumentOptions = {},
) {
  const { flows, categories, ranking, options } = comparison
  const shown = ranking.mutations.slice(0, limit)
  return {
    schema: 'flowdelta.comparison/1',
    parameters: {
      smPThreshold: options.smPThreshold,
      findingsThreshold: options.findingsThreshold,
      alpha: options.alpha,
      alternative: options.alternative,
      correction: options.correction,
      oneToN: options.oneToN,
      concurrency: options.concurrency,
      fold: options.fold,
      omitHosts: options.omitHosts,
      editTokens: options.editTokens,
      counts: options.counts,
      test: options.test,
      centre: options.centre,
    },
    suggestedThreshold: comparison.structural.suggestedThreshold,
    requests: { before: flows.count(BEFORE), after: flows.count(AFTER) },
    ...findingsDocument(comparison, explained),
    categories: Array.from({ length: Math.min(limit, categories.size) }, (_, category) =>
      categoryEntry(comparison, category),
    ),
    mutations: shown.map((mutation) => ({
      ...mutationEntry(comparison, mutation),
      ...(explained?.mutation &&
        explained.rank === mutation.rank && {
          explanation: explanationDocument(explained.mutation),
        }),
    })),
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

function mutationEntry(comparison: Comparison, mutation: RankedMutation) {
  const { responseTime, categories } = comparison
  const { rank, category, kind, requests, contributionUs, significant, precursors } = mutation
  const edges = responseTime.edges(category)
  const shown = edges.length > MOST_EDGES ? mostChanged(edges) : edges
  return {
    ...{ rank, category, kind, requests, contributionUs, significant },
    precursors: precursors.slice(0, MOST_PRECURSORS),
    effect: mutationEffect(comparison, mutation),
    edges: shown.map((edge) => edgeEntry(comparison, { category, edge })),
    ...(shown.length < edges.length && { edgesInAll: edges.length }),
    ...(precursors.length > MOST_PRECURSORS && { precursorsInAll: precursors.length }),
    exemplars: exemplars(categories, mutation),
  }
}

/** The edges that changed first, then those whose mean changed most, in the flow's order. */
function mostChanged(edges: readonly EdgeComparison[]): EdgeComparison[] {
  const size = ({ test, beforeMeanUs, afterMeanUs }: EdgeComparison) =>
    test?.rejected === true ? Number.POSITIVE_INFINITY : Math.abs(afterMeanUs - beforeMeanUs) || 0
  return [...edges]
    .sort((a, b) => size(b) - size(a) || a.number - b.number)
    .slice(0, MOST_EDGES)
    .sort((a, b) => a.number - b.number)
}

/** Of a structural mutation, the shift is against what its requests most likely were before. */
function mutationEffect({ responseTime, structural }: Comparison, mutation: RankedMutation) {
  const { kind, category, precursors } = mutation
  const [precursor] = precursors
  if (kind === 'response-time') {
    const { q } = responseTime.test(category)
    return effectEntry({ ...responseTime.medianEffect(category), q })
  }
  if (precursor === undefined) return null
  return effectEntry({
    ...responseTime.medianEffect(category, precursor.category),
    q: structural.test(category).q,
  })
}

function edgeEntry(
  { responseTime }: Comparison,
  { category, edge }: { category: number; edge: EdgeComparison },
) {
  const { onCriticalPath, test } = edge
  const { from, to, occurrence } = edge.edge
  return {
    ...{ from, to, occurrence, onCriticalPath },
    before: numbers({ meanUs: edge.beforeMeanUs, sdUs: edge.beforeSdUs }),
    after: numbers({ meanUs: edge.afterMeanUs, sdUs: edge.afterSdUs }),
    ...numbers({ statistic: test?.statistic ?? Number.NaN, p: test?.p ?? Number.NaN }),
    tested: test?.testable ?? false,
    rejected: test?.rejected ?? false,
    effect:
      test === null
        ? null
        : effectEntry({ ...responseTime.edgeMedianEffect(category, edge.number), q: test.q }),
  }
}
