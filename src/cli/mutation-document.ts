import type { Comparison } from '../compare/comparison.ts'
import type { EdgeComparison } from '../compare/mutations/find-response-time-mutations.ts'
import { exemplars, type RankedMutation } from '../compare/ranking/rank-mutations.ts'
import { TIME } from '../core/quantity.ts'
import { compareFlowGraphs } from '../explain/flow-pair/compare-flow-graphs.ts'
import type { FlowDifference, FlowDifferences } from '../explain/flow-pair/flow-comparison.ts'
import { chooseFlows } from '../explain/flow-pair/flow-form.ts'
import { AFTER, BEFORE, type Period } from '../flows/flow-set.ts'
import {
  about,
  COUNT,
  FLAG,
  listOf,
  MEASURED,
  made,
  NUMBER,
  optional,
  orNull,
  RANK,
  record,
  SHARE,
  TEXT,
  words,
} from './document.ts'
import { EFFECT, type Effect, EXEMPLARS, EXPLANATION, type Explained } from './finding-document.ts'

const MAX_EDGES = 200
const MAX_PRECURSORS = 100

const CATEGORY_TIMES = record<Moments>({
  requests: made(({ count }) => count, COUNT),
  meanUs: made(({ mean }) => mean, MEASURED),
  sdUs: made(({ sd }) => sd, MEASURED),
  c2: made(({ mean, variance }) => variance / mean ** 2, MEASURED),
})

type Moments = ReturnType<Comparison['categories']['responseTimeMoments']>

interface CategoryOf {
  readonly comparison: Comparison
  readonly id: number
}

export const CATEGORY = record<CategoryOf>({
  id: COUNT,
  root: made(({ comparison, id }) => comparison.categories.root(id), TEXT),
  nodes: made(({ comparison, id }) => comparison.categories.nodeCount(id), COUNT),
  edges: made(({ comparison, id }) => comparison.categories.edgeCount(id), COUNT),
  before: made((category) => momentsOf(category, BEFORE), CATEGORY_TIMES),
  after: made((category) => momentsOf(category, AFTER), CATEGORY_TIMES),
  labels: made(
    labelsOf,
    listOf(words('structural-mutation', 'precursor', 'response-time-mutation')),
  ),
  responseTime: made(
    ({ comparison, id }) => comparison.responseTime.test(id),
    record<ReturnType<Comparison['responseTime']['test']>>({
      statistic: MEASURED,
      p: MEASURED,
      tested: made(({ testable }) => testable, FLAG),
      rejected: FLAG,
      direction: words('slower', 'faster', 'none'),
    }),
  ),
})

interface EdgeOf {
  readonly comparison: Comparison
  readonly category: number
  readonly edge: EdgeComparison
}

const EDGE_TIMES = record({ meanUs: MEASURED, sdUs: MEASURED })

const EDGE = record<EdgeOf>({
  from: made(({ edge }) => edge.edge.from, TEXT),
  to: made(({ edge }) => edge.edge.to, TEXT),
  occurrence: made(({ edge }) => edge.edge.occurrence, COUNT),
  onCriticalPath: made(({ edge }) => edge.onCriticalPath, FLAG),
  before: made(({ edge }) => ({ meanUs: edge.beforeMeanUs, sdUs: edge.beforeSdUs }), EDGE_TIMES),
  after: made(({ edge }) => ({ meanUs: edge.afterMeanUs, sdUs: edge.afterSdUs }), EDGE_TIMES),
  statistic: made(({ edge }) => edge.test?.statistic ?? Number.NaN, MEASURED),
  p: made(({ edge }) => edge.test?.p ?? Number.NaN, MEASURED),
  tested: made(({ edge }) => edge.test?.testable ?? false, FLAG),
  rejected: made(({ edge }) => edge.test?.rejected ?? false, FLAG),
  effect: made(edgeEffect, orNull(EFFECT), 'null where one period has no times of it.'),
})

export type MutationOf = Explained<RankedMutation> & {
  readonly comparison: Comparison
  readonly allEdges: readonly EdgeComparison[]
}

function mutationPart(maxEdges: number, maxPrecursors: number) {
  return record<MutationOf>({
    rank: RANK,
    category: COUNT,
    kind: words('structural', 'response-time'),
    requests: NUMBER,
    contributionUs: NUMBER,
    combinedUs: about('Contribution of both mutations of its category.', NUMBER),
    remainingUs: about('Contribution once those of higher rank are repaired.', NUMBER),
    significant: about(
      'Whether it holds when tests are corrected for their number, as findings require.',
      FLAG,
    ),
    noPrecursor: about(
      'Whether no category lost the requests that it gained: its contribution is then unknown, and 0.',
      FLAG,
    ),
    precursors: about(
      `Likeliest first, at most ${maxPrecursors}; precursorsInAll when there are more.`,
      listOf(
        record<RankedMutation['precursors'][number]>({
          category: COUNT,
          nsed: SHARE,
          weight: SHARE,
        }),
        maxPrecursors,
      ),
    ),
    effect: made(
      mutationEffect,
      orNull(EFFECT),
      'null for a structural mutation without precursors.',
    ),
    edges: made(
      ({ comparison, category, allEdges }) =>
        mostChanged(allEdges, maxEdges).map((edge) => ({ comparison, category, edge })),
      listOf(EDGE),
      `At most ${maxEdges}, the most changed; edgesInAll when there are more.`,
    ),
    edgesInAll: made(({ allEdges }) => countAbove(maxEdges, allEdges.length), optional(COUNT)),
    precursorsInAll: made(
      ({ precursors }) => countAbove(maxPrecursors, precursors.length),
      optional(COUNT),
    ),
    exemplars: made((mutation) => exemplars(mutation.comparison.categories, mutation), EXEMPLARS),
    explanation: optional(EXPLANATION),
  })
}

export const MUTATION = mutationPart(MAX_EDGES, MAX_PRECURSORS)
export const WHOLE_MUTATION = mutationPart(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)

export function mutationOf(comparison: Comparison, mutation: RankedMutation): MutationOf {
  const allEdges = comparison.responseTime.edges(mutation.category)
  return { ...mutation, comparison, allEdges }
}

/** Returns the differences between the flows of a mutation; `null` for no mutation, and if amounts are not times. */
export function flowDifferences(
  comparison: Comparison,
  mutation: RankedMutation | undefined,
): FlowDifferences | null {
  if (mutation === undefined || comparison.flows.quantity !== TIME) return null
  return compareFlowGraphs(comparison.responseTime, chooseFlows(comparison, mutation)).ranked
}

export const FLOW_DIFFERENCES = record<FlowDifferences>({
  totalUs: about('Mean response time after − before.', NUMBER),
  differences: listOf(
    record<FlowDifference>({
      rank: RANK,
      kind: words('added', 'removed', 'replaced', 'order', 'latency'),
      what: TEXT,
      beforeUs: about('Time on the critical path of a mean request.', NUMBER),
      afterUs: NUMBER,
      changeUs: NUMBER,
      share: about('changeUs over totalUs; below 0 against it.', orNull(NUMBER)),
    }),
  ),
  restUs: made(({ rest }) => rest.changeUs, NUMBER, 'What edges without a difference add.'),
})

function momentsOf({ comparison, id }: CategoryOf, period: Period): Moments {
  return comparison.categories.responseTimeMoments(id, period)
}

function labelsOf({ comparison, id }: CategoryOf): string[] {
  const label = comparison.structural.label(id)
  const changed = label === 'unchanged' ? [] : [label]
  return comparison.responseTime.test(id).rejected
    ? [...changed, 'response-time-mutation']
    : changed
}

function countAbove(max: number, count: number): number | undefined {
  return count > max ? count : undefined
}

/** Returns the edges that changed first, then those whose mean changed most, in the flow's order. */
function mostChanged(edges: readonly EdgeComparison[], max: number): readonly EdgeComparison[] {
  if (edges.length <= max) return edges
  const size = ({ test, beforeMeanUs, afterMeanUs }: EdgeComparison) =>
    test?.rejected === true ? Number.POSITIVE_INFINITY : Math.abs(afterMeanUs - beforeMeanUs) || 0
  return [...edges]
    .sort((a, b) => size(b) - size(a) || a.number - b.number)
    .slice(0, max)
    .sort((a, b) => a.number - b.number)
}

/** Returns the shift of a mutation; for a structural one, relative to the likeliest category of its requests before. */
function mutationEffect({ comparison, kind, category, precursors }: MutationOf): Effect | null {
  const { responseTime, structural } = comparison
  if (kind === 'response-time') {
    return { ...responseTime.medianEffect(category), q: responseTime.test(category).q }
  }
  const [precursor] = precursors
  if (precursor === undefined) return null
  return {
    ...responseTime.medianEffect(category, precursor.category),
    q: structural.test(category).q,
  }
}

function edgeEffect({ comparison, category, edge }: EdgeOf): Effect | null {
  return { ...comparison.responseTime.edgeMedianEffect(category, edge.number), q: edge.test.q }
}
