import type { Comparison } from '../compare/comparison.ts'
import { COMPARISON_OPTIONS } from '../compare/comparison-options.ts'
import type { ComparisonWarning } from '../compare/fairness/comparison-warning.ts'
import type { EdgeComparison } from '../compare/mutations/find-response-time-mutations.ts'
import { exemplars, type RankedMutation } from '../compare/ranking/rank-mutations.ts'
import { type Quantity, TIME } from '../core/quantity.ts'
import type { Explanation } from '../explain/parameters/explanation.ts'
import { AFTER, BEFORE, type Period } from '../flows/flow-set.ts'
import { mutationsWithin } from './comparison-budget.ts'
import {
  about,
  COUNT,
  document,
  FLAG,
  listOf,
  MEASURED,
  made,
  NUMBER,
  optional,
  orNull,
  PERIOD_COUNTS,
  parameters,
  RANK,
  record,
  SHARE,
  TEXT,
  words,
} from './document.ts'
import {
  EFFECT,
  type Effect,
  EXEMPLARS,
  EXPLANATION,
  type Explained,
  FINDING,
  type PrintedFinding,
  printedFindings,
  WHOLE_FINDING,
} from './finding-document.ts'
import { withFlags } from './load-period.ts'

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

const CATEGORY = record<CategoryOf>({
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
  effect: about('null for edges off the critical path.', made(edgeEffect, orNull(EFFECT))),
})

type MutationOf = Explained<RankedMutation> & {
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
    significant: about(
      'Whether it holds when tests are corrected for their number, as findings require.',
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
    effect: about(
      'null for a structural mutation without precursors.',
      made(mutationEffect, orNull(EFFECT)),
    ),
    edges: about(
      `At most ${maxEdges}, the most changed; edgesInAll when there are more.`,
      made(
        ({ comparison, category, allEdges }) =>
          mostChanged(allEdges, maxEdges).map((edge) => ({ comparison, category, edge })),
        listOf(EDGE),
      ),
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

const MUTATION = mutationPart(MAX_EDGES, MAX_PRECURSORS)
const WHOLE_MUTATION = mutationPart(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)

function mutationOf(comparison: Comparison, mutation: RankedMutation): MutationOf {
  const allEdges = comparison.responseTime.edges(mutation.category)
  return { ...mutation, comparison, allEdges }
}

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

/** The edges that changed first, then those whose mean changed most, in the flow's order. */
function mostChanged(edges: readonly EdgeComparison[], max: number): readonly EdgeComparison[] {
  if (edges.length <= max) return edges
  const size = ({ test, beforeMeanUs, afterMeanUs }: EdgeComparison) =>
    test?.rejected === true ? Number.POSITIVE_INFINITY : Math.abs(afterMeanUs - beforeMeanUs) || 0
  return [...edges]
    .sort((a, b) => size(b) - size(a) || a.number - b.number)
    .slice(0, max)
    .sort((a, b) => a.number - b.number)
}

/** Of a structural mutation, the shift is against what its requests most likely were before. */
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
  if (edge.test === null) return null
  return { ...comparison.responseTime.edgeMedianEffect(category, edge.number), q: edge.test.q }
}

export interface PrintedComparison {
  readonly comparison: Comparison
  readonly limit: number
  /** Bytes that it may have as JSON; 0 for any number. */
  readonly budget: number
  readonly explained: ExplainedRank | null
}

export interface ExplainedRank {
  readonly rank: number
  readonly finding: Explanation | null
  readonly mutation: Explanation | null
}

const PARAMETERS = made(
  ({ comparison }: { readonly comparison: Comparison }) => comparison.options,
  parameters(COMPARISON_OPTIONS),
)

const CHANGE = record<Comparison>({
  usualUs: about(
    'What the requests after would have taken at the mean before.',
    made(({ edges }) => edges.usualUs, NUMBER),
  ),
  observedUs: about(
    'What they took beyond that.',
    made(({ findings }) => findings.observedChangeUs, NUMBER),
  ),
  attributedUs: about(
    'Sum of the findings.',
    made(({ findings }) => findings.attributedUs, NUMBER),
  ),
  remainderUs: about(
    'observedUs − attributedUs.',
    made(({ findings }) => findings.observedChangeUs - findings.attributedUs, NUMBER),
  ),
  omittedFindings: about(
    'Findings beyond those listed.',
    made(({ findings }) => findings.omitted, COUNT),
  ),
})

const LEFT_OUT = record({
  findings: COUNT,
  warnings: COUNT,
  mutations: COUNT,
  categories: COUNT,
  shortenedFindings: listOf(TEXT),
  shortenedMutations: listOf(RANK),
  budget: COUNT,
  how: TEXT,
})

/** The document of `flowdelta compare`; `truncated` says what is not listed. */
export const COMPARISON_DOCUMENT = document<PrintedComparison>(
  'comparison',
  'What `flowdelta compare --json` prints.',
  {
    parameters: PARAMETERS,
    suggestedThreshold: about(
      'Suggested SM_P_THRESHOLD; by chance, counts change by more in only 5 % of comparisons.',
      made(({ comparison }) => comparison.structural.suggestedThreshold, NUMBER),
    ),
    summary: about(
      'How much of the change findings account for; without any, what could have been seen.',
      made(({ comparison }) => comparison.findings.summary(), TEXT),
    ),
    testedAgainst: about(
      'Against what changes were tested: one run of the period before, or the differences between several.',
      made(({ comparison }) => comparison.findings.testedAgainst, TEXT),
    ),
    measure: about(
      'Present with --measure: what all that ends in Us is an amount of, in its unit instead of µs; sums over the spans of each request.',
      made(
        ({ comparison: { flows } }) => (flows.quantity === TIME ? undefined : flows.quantity),
        optional(record<Quantity>({ name: TEXT, unit: orNull(TEXT) })),
      ),
    ),
    requests: about(
      'Requests that were recorded.',
      made(
        ({ comparison: { flows } }) => ({ before: flows.count(BEFORE), after: flows.count(AFTER) }),
        PERIOD_COUNTS,
      ),
    ),
    requestsStoodFor: about(
      "Requests that these stand for by their sampling weights, which findings count with counts: 'weighted'; present where weights were recorded.",
      made(
        ({ comparison: { flows } }) => {
          if (flows.weight === undefined) return undefined
          const all = { before: 0, after: 0 }
          flows.period.forEach((period, request) => {
            all[period === BEFORE ? 'before' : 'after'] += flows.weightOf(request)
          })
          return all
        },
        optional(record<{ before: number; after: number }>({ before: NUMBER, after: NUMBER })),
      ),
    ),
    findings: about(
      'What changed: one entry a cause (consequenceOf: null), the most important first; then what lies beneath them, which the contributions of causes include.',
      made(findingsOf, listOf(FINDING)),
    ),
    change: about(
      'The change of the sum of response times after, against the mean before.',
      made(({ comparison }) => comparison, CHANGE),
    ),
    categories: about(
      'In order of id; cut at --limit.',
      made(
        ({ comparison, limit }) =>
          Array.from({ length: Math.min(limit, comparison.categories.size) }, (_, id) => ({
            comparison,
            id,
          })),
        listOf(CATEGORY),
      ),
    ),
    mutations: about('In order of rank; cut at --limit.', made(mutationsOf, listOf(MUTATION))),
    truncated: about(
      'Present when --limit or --budget left some out: how many there are in all.',
      made(truncatedOf, optional(record({ categories: COUNT, mutations: COUNT }))),
    ),
    leftOut: about(
      'Present when --budget left something out: how many entries of each list, what lacks some of what it rests on, and how to get it.',
      // `withinBudget` writes it.
      made(() => undefined, optional(LEFT_OUT)),
    ),
    warnings: made(
      ({ comparison }) => withFlags(comparison.warnings()),
      listOf(
        record<Omit<ComparisonWarning, 'advice'>>({
          code: TEXT,
          message: TEXT,
          detail: about('Effect and answer.', TEXT),
          finding: about('The problem: the message.', TEXT),
          effect: about('What it does to the results.', TEXT),
          answer: about('Which option or step answers it.', TEXT),
        }),
      ),
    ),
  },
)

function findingsOf({ comparison, explained }: PrintedComparison): PrintedFinding[] {
  return printedFindings(comparison).map((finding) => {
    const isExplained = explained?.rank === finding.rank && finding.consequenceOf === null
    return isExplained ? { ...finding, explanation: explained.finding ?? undefined } : finding
  })
}

export interface WholeFinding {
  readonly comparison: Comparison
  readonly finding: PrintedFinding
}

export const FINDING_DOCUMENT = document<WholeFinding>(
  'finding',
  'What `flowdelta compare --finding ID --json` prints: one finding with all that it rests on.',
  {
    parameters: PARAMETERS,
    finding: WHOLE_FINDING,
    consequences: about(
      'Findings beneath it, in full.',
      made(
        ({ comparison, finding }) =>
          printedFindings(comparison).filter(({ consequenceOf }) => consequenceOf === finding.id),
        listOf(WHOLE_FINDING),
      ),
    ),
    mutations: about(
      'Mutations that it accounts for, with every edge.',
      made(
        ({ comparison, finding }) =>
          finding.mutations.map((mutation) => mutationOf(comparison, mutation)),
        listOf(WHOLE_MUTATION),
      ),
    ),
    categories: about(
      'Kinds of request that it concerns, the one with the most requests after first.',
      made(
        ({ comparison, finding }) => finding.categories.map((id) => ({ comparison, id })),
        listOf(CATEGORY),
      ),
    ),
  },
)

function mutationsOf({ comparison, limit, budget, explained }: PrintedComparison): MutationOf[] {
  const most = Math.min(limit, mutationsWithin(budget))
  return comparison.ranking.mutations.slice(0, most).map((mutation) => ({
    ...mutationOf(comparison, mutation),
    explanation: (explained?.rank === mutation.rank ? explained.mutation : null) ?? undefined,
  }))
}

function truncatedOf({ comparison, limit }: PrintedComparison) {
  const categories = comparison.categories.size
  const mutations = comparison.ranking.mutations.length
  return Math.max(categories, mutations) > limit ? { categories, mutations } : undefined
}
