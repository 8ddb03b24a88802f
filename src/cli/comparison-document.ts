import type { Account, AccountFinding, AccountStep } from '../compare/account.ts'
import type { Comparison } from '../compare/comparison.ts'
import { COMPARISON_OPTIONS } from '../compare/comparison-options.ts'
import type { ComparisonWarning } from '../compare/fairness/comparison-warning.ts'
import type { FewSlow } from '../compare/findings/slow-stretch.ts'
import type { SlowStretch } from '../compare/findings/stretches.ts'
import type { EdgeComparison } from '../compare/mutations/find-response-time-mutations.ts'
import { exemplars, type RankedMutation } from '../compare/ranking/rank-mutations.ts'
import { fewSlowWhen, fewSlowWhere } from '../compare/words/slow-words.ts'
import { entryNamed, FlowdeltaError, show } from '../core/errors.ts'
import { type Quantity, TIME } from '../core/quantity.ts'
import { compareFlowGraphs } from '../explain/flow-pair/compare-flow-graphs.ts'
import type { FlowDifference, FlowDifferences } from '../explain/flow-pair/flow-comparison.ts'
import { chooseFlows } from '../explain/flow-pair/flow-form.ts'
import type { Explanation } from '../explain/parameters/explanation.ts'
import { AFTER, BEFORE, type Period } from '../flows/flow-set.ts'
import type { DiagnosedScenario, ExplainedFinding } from '../whatif/diagnosis/latency-diagnosis.ts'
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
  FINDING,
  type PrintedFinding,
  printedFindings,
  WHOLE_FINDING,
  type WithExplanation,
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
  effect: made(edgeEffect, orNull(EFFECT), 'null where one period has no times of it.'),
})

type MutationOf = WithExplanation<RankedMutation> & {
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

const MUTATION = mutationPart(MAX_EDGES, MAX_PRECURSORS)
const WHOLE_MUTATION = mutationPart(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)

function mutationOf(comparison: Comparison, mutation: RankedMutation): MutationOf {
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

const FLOW_DIFFERENCES = record<FlowDifferences>({
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
  restUs: made(({ rest }) => rest.changeUs, NUMBER, 'Time that the other edges add together.'),
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

export interface PrintedComparison {
  readonly comparison: Comparison
  readonly limit: number
  readonly explained: Explained | null
  /** Findings with the results of a diagnosis. Default: no diagnosis. */
  readonly whatIf?: readonly ExplainedFinding[]
}

/** Entries requested by `--explain`: a finding, a mutation or both, with their explanations. */
export interface Explained {
  readonly finding: (PrintedFinding & { readonly why: Explanation }) | null
  readonly mutation: (RankedMutation & { readonly why: Explanation }) | null
}

const PARAMETERS = made(
  ({ comparison }: { readonly comparison: Comparison }) => comparison.options,
  parameters(COMPARISON_OPTIONS),
)

const CHANGE = record<Comparison>({
  usualUs: made(
    ({ edges }) => edges.usualUs,
    NUMBER,
    'Total of the requests after, had they taken the mean before.',
  ),
  observedUs: made(({ findings }) => findings.observedChangeUs, NUMBER, 'Their excess over that.'),
  attributedUs: made(({ findings }) => findings.attributedUs, NUMBER, 'Sum of the findings.'),
  mixUs: made(
    ({ findings }) => findings.mixUs,
    NUMBER,
    'Change that the request mix alone makes; 0 if the mix is the same.',
  ),
  remainderUs: made(
    ({ findings }) => findings.observedChangeUs - findings.attributedUs - findings.mixUs,
    NUMBER,
    'observedUs − attributedUs − mixUs.',
  ),
  omittedFindings: made(({ findings }) => findings.omitted, COUNT, 'Findings beyond those listed.'),
})

const ACCOUNT = record<Account>({
  totalUs: about('Change of the mean response time, after less before.', NUMBER),
  mixUs: about(
    'The part due to the changed request mix, with each type at its speed of before.',
    NUMBER,
  ),
  restUs: about('The part of the change that neither the mix nor a finding explains.', NUMBER),
  findings: about(
    'Mean time that each finding adds to a request after, including its consequences. Findings, mix and rest add up to the total.',
    listOf(record<AccountFinding>({ id: TEXT, us: NUMBER })),
  ),
  steps: about(
    'Steps on the path of requests, the largest change first; they add up to both means.',
    listOf(
      record<AccountStep>({
        kind: about(
          'Work of a service, or a call: the way to another service and back, with that service where it recorded nothing.',
          words('work', 'call', 'other'),
        ),
        service: TEXT,
        caller: orNull(TEXT),
        operation: TEXT,
        beforeUs: about('Mean time of a request in it.', NUMBER),
        afterUs: NUMBER,
      }),
    ),
  ),
})

const SLOW_COUNTS = record<SlowStretch['inside']>({ slow: COUNT, requests: COUNT })

const SLOW_STRETCH = record<SlowStretch & { readonly text: string | null }>({
  text: orNull(TEXT),
  of: about(
    'Which are slow and counted: requests, or messages that wait, whose times are those of sending.',
    words('requests', 'messages'),
  ),
  fromUs: about('Its first slow request, in µs since 1970, or on the clock of after.', NUMBER),
  untilUs: about('Its last.', NUMBER),
  isTimeOfDay: FLAG,
  inside: SLOW_COUNTS,
  outside: about('At other times after.', SLOW_COUNTS),
  before: SLOW_COUNTS,
  affected: about(
    'Requests inside that are slow, or take longer at that place than 99.9 % of similar calls before.',
    COUNT,
  ),
  typicalUs: about('Median of what these take more, there or in all.', NUMBER),
  excessUs: about('Sum of the same.', NUMBER),
  where: about(
    'Span within a service, or step, that holds most of that; null if none does.',
    orNull(TEXT),
  ),
  examples: about('Trace ids of the slowest.', listOf(TEXT)),
  p: about('Chance of slow requests this close together, corrected.', NUMBER),
})

type FewSlowText = Omit<FewSlow, 'bursts' | 'deadline' | 'failing'> & {
  readonly when: string | null
  readonly text: string | null
}

const FEW_SLOW = record<FewSlowText>({
  text: orNull(TEXT),
  of: about(
    'Which took far longer than any before: whole requests, or their calls at that step.',
    words('requests', 'calls'),
  ),
  requests: COUNT,
  where: about(
    'Step, or what several services call, that holds most of what they took longer.',
    TEXT,
  ),
  when: about('In which bursts they come; null where most are alone.', orNull(TEXT)),
  typicalUs: about('Median of what they took beyond the median before.', NUMBER),
  excessUs: about('Sum of the same.', NUMBER),
  examples: about('Trace ids of the slowest.', listOf(TEXT)),
})

const EXPLAINED = record<ExplainedFinding>({
  finding: made(({ finding }) => finding.rank, RANK, 'Rank of the finding.'),
  cause: orNull(
    record<DiagnosedScenario>({
      rank: RANK,
      scenario: made(({ scenario }) => scenario.title, TEXT),
      gain: about('Share of the difference that it explains by itself.', MEASURED),
      q: MEASURED,
    }),
  ),
})

/** Document of `flowdelta compare`; `truncated` counts the entries that are not listed. */
export const COMPARISON_DOCUMENT = document<PrintedComparison>(
  'comparison',
  'What `flowdelta compare --json` prints.',
  {
    parameters: PARAMETERS,
    suggestedThreshold: made(
      ({ comparison }) => comparison.structural.suggestedThreshold,
      NUMBER,
      'Suggested SM_P_THRESHOLD; by chance, counts change by more in only 5 % of comparisons.',
    ),
    summary: made(
      ({ comparison }) => comparison.findings.summary(),
      TEXT,
      'How much of the change findings explain; without findings, how large a change could be missed.',
    ),
    testedAgainst: made(
      ({ comparison }) => comparison.findings.testedAgainst,
      TEXT,
      'Against what changes were tested: one run of the period before, or the differences between several.',
    ),
    measure: made(
      ({ comparison: { flows } }) => (flows.quantity === TIME ? undefined : flows.quantity),
      optional(record<Quantity>({ name: TEXT, unit: orNull(TEXT) })),
      'Present with --measure: the quantity compared. Fields that end in Us hold it, in its unit instead of µs, summed over the spans of each request.',
    ),
    requests: made(
      ({ comparison: { flows } }) => ({
        before: flows.wholes(BEFORE),
        after: flows.wholes(AFTER),
      }),
      PERIOD_COUNTS,
      'Requests that were recorded, without parts of them whose callers are lost.',
    ),
    requestsStoodFor: made(
      ({ comparison: { flows } }) =>
        flows.weight && { before: flows.stoodFor(BEFORE), after: flows.stoodFor(AFTER) },
      optional(record<{ before: number; after: number }>({ before: NUMBER, after: NUMBER })),
      "Requests that these stand for by their sampling weights, which findings count unless counts: 'raw'; present where weights were recorded.",
    ),
    findings: made(
      ({ comparison, explained }) =>
        printedFindings(comparison).map((finding) => withExplanation(finding, explained)),
      listOf(FINDING),
      'Causes (consequenceOf: null), the most important first, then their consequences, which the contributions of causes include.',
    ),
    change: made(
      ({ comparison }) => comparison,
      CHANGE,
      'The change of the sum of response times after, against the mean before.',
    ),
    account: made(
      ({ comparison: { account, findings } }) => account.withFindings(findings),
      ACCOUNT,
      'Where the time of a mean request goes, in µs; sums add up.',
    ),
    slowStretch: made(
      ({ comparison: { findings } }) =>
        findings.slowStretch && { ...findings.slowStretch, text: findings.slowStretchText },
      orNull(SLOW_STRETCH),
      'A stretch of after with many slow requests, unlike any before, that no finding covers; it may be chance. null for none.',
    ),
    fewSlow: made(
      ({ comparison: { findings } }) =>
        findings.fewSlow && {
          ...findings.fewSlow,
          where: fewSlowWhere(findings.fewSlow),
          when: fewSlowWhen(findings.fewSlow, findings.flows),
          text: findings.fewSlowText,
        },
      orNull(FEW_SLOW),
      'A few requests after that took far longer than any of their type before, mostly in the same step, and that neither a finding nor slowStretch covers; it may be chance. null for none.',
    ),
    whatIf: made(
      ({ whatIf = [] }) => (whatIf.length === 0 ? undefined : whatIf),
      optional(listOf(EXPLAINED)),
      'With --what-if: for each finding, the matching cause of `flowdelta whatif`; null for none.',
    ),
    categories: made(
      ({ comparison, limit }) =>
        Array.from({ length: Math.min(limit, comparison.categories.size) }, (_, id) => ({
          comparison,
          id,
        })),
      listOf(CATEGORY),
      'In order of id; cut at --limit.',
    ),
    mutations: made(mutationsOf, listOf(MUTATION), 'In order of rank; cut at --limit.'),
    truncated: made(
      truncatedOf,
      optional(record({ categories: COUNT, mutations: COUNT })),
      'Present when --limit left some out: how many there are in all.',
    ),
    warnings: made(
      ({ comparison }) => withFlags(comparison.warnings()),
      listOf(
        record<Omit<ComparisonWarning, 'advice'>>({
          code: TEXT,
          message: TEXT,
          detail: about('Effect and answer.', TEXT),
          finding: about('The problem: the message.', TEXT),
          effect: about('Its effect on the results.', TEXT),
          answer: about('Which option or step answers it.', TEXT),
        }),
      ),
    ),
  },
)

/** Returns the printed number of a finding: `#1` for `1`. */
export function rankName(which: unknown): unknown {
  return /^\d+$/.test(String(which)) ? `#${which}` : which
}

/** Returns the finding of a rank or an id; throws for another, and says which was meant. */
export function findingCalled(comparison: Comparison, which: unknown): PrintedFinding {
  const findings = printedFindings(comparison)
  if (findings.length === 0) {
    throw new FlowdeltaError(`${show(which)} is no finding: this comparison has none.`)
  }
  const causes = findings.filter(({ consequenceOf }) => consequenceOf === null)
  const named = [
    ...causes.map((finding) => [`#${finding.rank}`, finding] as const),
    ...findings.map((finding) => [finding.id, finding] as const),
  ]
  return entryNamed(
    Object.fromEntries(named),
    rankName(which),
    'not the rank or the id of a finding',
  )
}

function withExplanation(finding: PrintedFinding, explained: Explained | null): PrintedFinding {
  const why = explained?.finding
  return why?.id === finding.id ? { ...finding, explanation: why.why } : finding
}

export interface WholeFinding {
  readonly comparison: Comparison
  readonly finding: PrintedFinding
  /** Entries requested by `--explain`. Default: none. */
  readonly explained?: Explained | null
}

export const FINDING_DOCUMENT = document<WholeFinding>(
  'finding',
  'What `flowdelta compare --finding ID --json` prints: one finding with all its evidence.',
  {
    parameters: PARAMETERS,
    finding: made(
      ({ finding, explained = null }) => withExplanation(finding, explained),
      WHOLE_FINDING,
    ),
    consequences: made(
      ({ comparison, finding }) =>
        printedFindings(comparison).filter(({ consequenceOf }) => consequenceOf === finding.id),
      listOf(WHOLE_FINDING),
      'Findings beneath it, in full.',
    ),
    mutations: made(
      ({ comparison, finding }) =>
        finding.mutations.map((mutation) => mutationOf(comparison, mutation)),
      listOf(WHOLE_MUTATION),
      'Mutations that it explains, with every edge.',
    ),
    flowDifferences: made(
      ({ comparison, finding }) => flowDifferences(comparison, finding.mutations[0]),
      orNull(FLOW_DIFFERENCES),
      'Differences within the flow of the first of these mutations, the largest part of its change first.',
    ),
    categories: made(
      ({ comparison, finding }) => finding.categories.map((id) => ({ comparison, id })),
      listOf(CATEGORY),
      'Kinds of request that it concerns, the one with the most requests after first.',
    ),
  },
)

function mutationsOf({ comparison, limit, explained }: PrintedComparison): MutationOf[] {
  return comparison.ranking.mutations.slice(0, limit).map((mutation) => ({
    ...mutationOf(comparison, mutation),
    explanation: explained?.mutation?.rank === mutation.rank ? explained.mutation.why : undefined,
  }))
}

function truncatedOf({ comparison, limit }: PrintedComparison) {
  const categories = comparison.categories.size
  const mutations = comparison.ranking.mutations.length
  return Math.max(categories, mutations) > limit ? { categories, mutations } : undefined
}
