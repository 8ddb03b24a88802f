import type { FewSlow, SlowStretch } from '../compare/findings/slow-stretch.ts'
import type { EdgeComparison } from '../compare/mutations/find-response-time-mutations.ts'
import { exemplars, type RankedMutation } from '../compare/ranking/rank-mutations.ts'
import type { Account, AccountFinding, AccountStep } from '../comparison/account.ts'
import type { Comparison } from '../comparison/comparison.ts'
import { COMPARISON_OPTIONS } from '../comparison/comparison-options.ts'
import type { ComparisonWarning } from '../comparison/fairness/comparison-warning.ts'
import { fewSlowWhen, fewSlowWhere } from '../comparison/words/findings.ts'
import {
  COUNT,
  countBeyond,
  document,
  FLAG,
  listOf,
  MEASURED,
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
} from '../core/json-parts.ts'
import { type Quantity, TIME } from '../core/quantity.ts'
import { flowDifferences } from '../explain/flow-pair/compare-flow-graphs.ts'
import type { FlowDifference, FlowDifferences } from '../explain/flow-pair/flow-comparison.ts'
import {
  changesOf,
  type Explained,
  listedFindings,
  mostChanged,
  mutationEffect,
} from '../explain/listed-findings.ts'
import { AFTER, BEFORE } from '../flows/flow-set.ts'
import type { ComparisonResults, FindingResults } from '../views/text/comparison-text.ts'
import type { DiagnosedScenario, ExplainedFinding } from '../whatif/diagnosis/latency-diagnosis.ts'
import { mutationsWithin } from './comparison-budget.ts'
import {
  EFFECT,
  type Effect,
  EXEMPLARS,
  EXPLANATION,
  FINDING,
  type PrintedFinding,
  WHOLE_FINDING,
  type WithExplanation,
} from './finding-document.ts'
import { withFlags } from './load-period.ts'

const MAX_EDGES = 200
const MAX_PRECURSORS = 100

const CATEGORY_TIMES = record<ReturnType<Comparison['categories']['responseTimeMoments']>>({
  requests: COUNT.from(({ count }) => count),
  meanUs: MEASURED.from(({ mean }) => mean),
  sdUs: MEASURED.from(({ sd }) => sd),
  c2: MEASURED.from(({ mean, variance }) => variance / mean ** 2),
})

const CATEGORY = record<{ readonly comparison: Comparison; readonly id: number }>({
  id: COUNT,
  root: TEXT.from(({ comparison, id }) => comparison.categories.root(id)),
  nodes: COUNT.from(({ comparison, id }) => comparison.categories.nodeCount(id)),
  edges: COUNT.from(({ comparison, id }) => comparison.categories.edgeCount(id)),
  before: CATEGORY_TIMES.from(({ comparison: { categories }, id }) =>
    categories.responseTimeMoments(id, BEFORE),
  ),
  after: CATEGORY_TIMES.from(({ comparison: { categories }, id }) =>
    categories.responseTimeMoments(id, AFTER),
  ),
  labels: listOf(words('structural-mutation', 'precursor', 'response-time-mutation')).from(
    ({ comparison, id }) => changesOf(comparison, id),
  ),
  responseTime: record<ReturnType<Comparison['responseTime']['test']>>({
    statistic: MEASURED,
    p: MEASURED,
    tested: FLAG.from(({ testable }) => testable),
    rejected: FLAG,
    direction: words('slower', 'faster', 'none'),
  }).from(({ comparison, id }) => comparison.responseTime.test(id)),
})

interface EdgeOf {
  readonly comparison: Comparison
  readonly category: number
  readonly edge: EdgeComparison
}

const EDGE_TIMES = record({ meanUs: MEASURED, sdUs: MEASURED })

const EDGE = record<EdgeOf>({
  from: TEXT.from(({ edge }) => edge.edge.from),
  to: TEXT.from(({ edge }) => edge.edge.to),
  occurrence: COUNT.from(({ edge }) => edge.edge.occurrence),
  onCriticalPath: FLAG.from(({ edge }) => edge.onCriticalPath),
  before: EDGE_TIMES.from(({ edge }) => ({ meanUs: edge.beforeMeanUs, sdUs: edge.beforeSdUs })),
  after: EDGE_TIMES.from(({ edge }) => ({ meanUs: edge.afterMeanUs, sdUs: edge.afterSdUs })),
  statistic: MEASURED.from(({ edge }) => edge.test?.statistic ?? Number.NaN),
  p: MEASURED.from(({ edge }) => edge.test?.p ?? Number.NaN),
  tested: FLAG.from(({ edge }) => edge.test?.testable ?? false),
  rejected: FLAG.from(({ edge }) => edge.test?.rejected ?? false),
  effect: orNull(EFFECT).from(edgeEffect, 'null where one period has no times of it.'),
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
    combinedUs: NUMBER.about('Contribution of both mutations of its category.'),
    remainingUs: NUMBER.about('Contribution once those of higher rank are repaired.'),
    significant: FLAG.about(
      'Whether it holds when tests are corrected for their number, as findings require.',
    ),
    noPrecursor: FLAG.about(
      'Whether no category lost the requests that it gained: its contribution is then unknown, and 0.',
    ),
    precursors: listOf(
      record({ category: COUNT, nsed: SHARE, weight: SHARE }),
      maxPrecursors,
    ).about(`Likeliest first, at most ${maxPrecursors}; precursorsInAll when there are more.`),
    effect: orNull(EFFECT).from(
      (mutation) => mutationEffect(mutation.comparison, mutation),
      'null for a structural mutation without precursors.',
    ),
    edges: listOf(EDGE).from(
      ({ comparison, category, allEdges }) =>
        mostChanged(allEdges, maxEdges).map((edge) => ({ comparison, category, edge })),
      `At most ${maxEdges}, the most changed; edgesInAll when there are more.`,
    ),
    edgesInAll: countBeyond(maxEdges, ({ allEdges }) => allEdges.length),
    precursorsInAll: countBeyond(maxPrecursors, ({ precursors }) => precursors.length),
    exemplars: EXEMPLARS.from((mutation) => exemplars(mutation.comparison.categories, mutation)),
    explanation: optional(EXPLANATION),
  })
}

const MUTATION = mutationPart(MAX_EDGES, MAX_PRECURSORS)
const WHOLE_MUTATION = mutationPart(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)

function mutationOf(comparison: Comparison, mutation: RankedMutation): MutationOf {
  const allEdges = comparison.responseTime.edges(mutation.category)
  return { ...mutation, comparison, allEdges }
}

const FLOW_DIFFERENCES = record<FlowDifferences>({
  totalUs: NUMBER.about('Mean response time after − before.'),
  differences: listOf(
    record<FlowDifference>({
      rank: RANK,
      kind: words('added', 'removed', 'replaced', 'order', 'latency'),
      what: TEXT,
      beforeUs: NUMBER.about('Time on the critical path of a mean request.'),
      afterUs: NUMBER,
      changeUs: NUMBER,
      share: orNull(NUMBER).about('changeUs over totalUs; below 0 against it.'),
    }),
  ),
  restUs: NUMBER.from(({ rest }) => rest.changeUs, 'Time that the other edges add together.'),
})

function edgeEffect({ comparison, category, edge }: EdgeOf): Effect | null {
  return { ...comparison.responseTime.edgeMedianEffect(category, edge.number), q: edge.test.q }
}

export interface PrintedComparison extends ComparisonResults {
  /** Bytes that it may have as JSON; 0 for any number. */
  readonly budget: number
}

const PARAMETERS = parameters(COMPARISON_OPTIONS).from(
  ({ comparison }: { readonly comparison: Comparison }) => comparison.options,
)

const CHANGE = record<Comparison>({
  usualUs: NUMBER.from(
    ({ edges }) => edges.usualUs,
    'Total of the requests after, had they taken the mean before.',
  ),
  observedUs: NUMBER.from(({ findings }) => findings.observedChangeUs, 'Their excess over that.'),
  attributedUs: NUMBER.from(({ findings }) => findings.attributedUs, 'Sum of the findings.'),
  mixUs: NUMBER.from(
    ({ findings }) => findings.mixUs,
    'Change that the request mix alone makes; 0 if the mix is the same.',
  ),
  remainderUs: NUMBER.from(
    ({ findings }) => findings.observedChangeUs - findings.attributedUs - findings.mixUs,
    'observedUs − attributedUs − mixUs.',
  ),
  omittedFindings: COUNT.from(({ findings }) => findings.omitted, 'Findings beyond those listed.'),
})

const ACCOUNT = record<Account>({
  totalUs: NUMBER.about('Change of the mean response time, after less before.'),
  mixUs: NUMBER.about(
    'The part due to the changed request mix, with each type at its speed of before.',
  ),
  restUs: NUMBER.about('The part of the change that neither the mix nor a finding explains.'),
  findings: listOf(record<AccountFinding>({ id: TEXT, us: NUMBER })).about(
    'Mean time that each finding adds to a request after, including its consequences. Findings, mix and rest add up to the total.',
  ),
  steps: listOf(
    record<AccountStep>({
      kind: words('work', 'call', 'other').about(
        'Work of a service, or a call: the way to another service and back, with that service where it recorded nothing.',
      ),
      service: TEXT,
      caller: orNull(TEXT),
      operation: TEXT,
      beforeUs: NUMBER.about('Mean time of a request in it.'),
      afterUs: NUMBER,
    }),
  ).about(
    'Steps on the path of requests, the largest change first; they add up to both means. Where --budget left some out, these are one, `other`.',
  ),
})

const SLOW_COUNTS = record<SlowStretch['inside']>({ slow: COUNT, requests: COUNT })

const SLOW_STRETCH = record<SlowStretch & { readonly text: string | null }>({
  text: orNull(TEXT),
  fromUs: NUMBER.about('Its first slow request, in µs since 1970, or on the clock of after.'),
  untilUs: NUMBER.about('Its last.'),
  isTimeOfDay: FLAG,
  inside: SLOW_COUNTS,
  outside: SLOW_COUNTS.about('At other times after.'),
  before: SLOW_COUNTS,
  affected: COUNT.about(
    'Requests inside that are slow, or take longer at that place than 99.9 % of similar calls before.',
  ),
  typicalUs: NUMBER.about('Median of what these take more, there or in all.'),
  excessUs: NUMBER.about('Sum of the same.'),
  where: orNull(TEXT).about(
    'Span within a service, or step, that holds most of that; null if none does.',
  ),
  examples: listOf(TEXT).about('Trace ids of the slowest.'),
  p: NUMBER.about('Chance of slow requests this close together, corrected.'),
})

const FEW_SLOW = record<
  Omit<FewSlow, 'bursts' | 'deadline' | 'failing'> & Record<'when' | 'text', string | null>
>({
  text: orNull(TEXT),
  of: words('requests', 'calls').about(
    'Which took far longer than any before: whole requests, or their calls at that step.',
  ),
  requests: COUNT,
  where: TEXT.about(
    'Step, or what several services call, that holds most of what they took longer.',
  ),
  condition: orNull(TEXT).about(
    'Host, zone or version that nearly all of them are in; null if others are there, too.',
  ),
  when: orNull(TEXT).about('In which bursts they come; null where most are alone.'),
  typicalUs: NUMBER.about('Median of what they took beyond the median before.'),
  excessUs: NUMBER.about('Sum of the same.'),
  examples: listOf(TEXT).about('Trace ids of the slowest.'),
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

const EXPLAINED = record<ExplainedFinding>({
  finding: RANK.from(({ finding }) => finding.rank, 'Rank of the finding.'),
  cause: orNull(
    record<DiagnosedScenario>({
      rank: RANK,
      scenario: TEXT.from(({ scenario }) => scenario.title),
      gain: MEASURED.about('Share of the difference that it explains by itself.'),
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
    suggestedThreshold: NUMBER.from(
      ({ comparison }) => comparison.structural.suggestedThreshold,
      'Suggested SM_P_THRESHOLD; by chance, counts change by more in only 5 % of comparisons.',
    ),
    summary: TEXT.from(
      ({ comparison }) => comparison.findings.summary(),
      'How much of the change findings explain; without findings, how large a change could be missed.',
    ),
    testedAgainst: TEXT.from(
      ({ comparison }) => comparison.findings.testedAgainst,
      'Against what changes were tested: one run of the period before, or the differences between several.',
    ),
    measure: optional(record<Quantity>({ name: TEXT, unit: orNull(TEXT) })).from(
      ({ comparison: { flows } }) => (flows.quantity === TIME ? undefined : flows.quantity),
      'Present with --measure: the quantity compared. Fields that end in Us hold it, in its unit instead of µs, summed over the spans of each request.',
    ),
    requests: PERIOD_COUNTS.from(
      ({ comparison: { flows } }) => ({
        before: flows.wholes(BEFORE),
        after: flows.wholes(AFTER),
      }),
      'Requests that were recorded, without parts of them whose callers are lost.',
    ),
    requestsStoodFor: optional(record({ before: NUMBER, after: NUMBER })).from(
      ({ comparison: { flows } }) =>
        flows.weight && { before: flows.stoodFor(BEFORE), after: flows.stoodFor(AFTER) },
      "Requests that these stand for by their sampling weights, which findings count unless counts: 'raw'; present where weights were recorded.",
    ),
    findings: listOf(FINDING).from(
      ({ comparison, explained }) =>
        listedFindings(comparison).map((finding) => withExplanation(finding, explained)),
      'Causes (consequenceOf: null), the most important first, then their consequences, which the contributions of causes include.',
    ),
    change: CHANGE.from(
      ({ comparison }) => comparison,
      'The change of the sum of response times after, against the mean before.',
    ),
    account: ACCOUNT.from(
      ({ comparison: { account, findings } }) => account.withFindings(findings),
      'Where the time of a mean request goes, in µs; sums add up.',
    ),
    slowStretch: orNull(SLOW_STRETCH).from(
      ({ comparison: { findings } }) =>
        findings.slowStretch && { ...findings.slowStretch, text: findings.slowStretchText },
      'A stretch of after with many slow requests, unlike any before, that no finding covers; it may be chance. null for none.',
    ),
    fewSlow: orNull(FEW_SLOW).from(
      ({ comparison: { findings } }) =>
        findings.fewSlow && {
          ...findings.fewSlow,
          where: fewSlowWhere(findings.fewSlow),
          when: fewSlowWhen(findings.fewSlow, findings.flows),
          text: findings.fewSlowText,
        },
      'A few requests after that took far longer than any of their type before, mostly in the same step, and that neither a finding nor slowStretch covers; it may be chance. null for none.',
    ),
    whatIf: optional(listOf(EXPLAINED)).from(
      ({ whatIf = [] }) => (whatIf.length === 0 ? undefined : whatIf),
      'With --what-if: for each finding, the matching cause of `flowdelta whatif`; null for none.',
    ),
    categories: listOf(CATEGORY).from(
      ({ comparison, limit }) =>
        Array.from({ length: Math.min(limit, comparison.categories.size) }, (_, id) => ({
          comparison,
          id,
        })),
      'In order of id; cut at --limit.',
    ),
    mutations: listOf(MUTATION).from(mutationsOf, 'In order of rank; cut at --limit.'),
    truncated: optional(record({ categories: COUNT, mutations: COUNT })).from(
      ({ comparison, limit }) => {
        const all = sizesOf(comparison)
        return Math.max(all.categories, all.mutations) > limit ? all : undefined
      },
      'Present when --limit or --budget left some out: how many there are in all.',
    ),
    leftOut: optional(LEFT_OUT).from(
      () => undefined,
      'Present when --budget left something out: how many entries of each list, which entries are incomplete, and how to get the rest.',
    ),
    warnings: listOf(
      record<Omit<ComparisonWarning, 'advice'>>({
        code: TEXT,
        message: TEXT,
        detail: TEXT.about('Effect and answer.'),
        finding: TEXT.about('The problem: the message.'),
        effect: TEXT.about('Its effect on the results.'),
        answer: TEXT.about('Which option or step answers it.'),
      }),
    ).from(({ comparison }) => withFlags(comparison.warnings())),
  },
)

function withExplanation(finding: PrintedFinding, explained: Explained | null): PrintedFinding {
  const why = explained?.finding
  return why?.id === finding.id ? { ...finding, explanation: why.why } : finding
}

export const FINDING_DOCUMENT = document<FindingResults>(
  'finding',
  'What `flowdelta compare --finding ID --json` prints: one finding with all its evidence.',
  {
    parameters: PARAMETERS,
    finding: WHOLE_FINDING.from(({ finding, explained = null }) =>
      withExplanation(finding, explained),
    ),
    consequences: listOf(WHOLE_FINDING).from(
      ({ comparison, finding }) =>
        listedFindings(comparison).filter(({ consequenceOf }) => consequenceOf === finding.id),
      'Findings beneath it, in full.',
    ),
    mutations: listOf(WHOLE_MUTATION).from(
      ({ comparison, finding }) =>
        finding.mutations.map((mutation) => mutationOf(comparison, mutation)),
      'Mutations that it explains, with every edge.',
    ),
    flowDifferences: orNull(FLOW_DIFFERENCES).from(
      ({ comparison, finding }) => flowDifferences(comparison, finding.mutations[0]),
      'Differences within the flow of the first of these mutations, the largest part of its change first.',
    ),
    categories: listOf(CATEGORY).from(
      ({ comparison, finding }) => finding.categories.map((id) => ({ comparison, id })),
      'Kinds of request that it concerns, the one with the most requests after first.',
    ),
  },
)

function mutationsOf({ comparison, limit, budget, explained }: PrintedComparison): MutationOf[] {
  const most = Math.min(limit, mutationsWithin(budget))
  return comparison.ranking.mutations.slice(0, most).map((mutation) => ({
    ...mutationOf(comparison, mutation),
    explanation: explained?.mutation?.rank === mutation.rank ? explained.mutation.why : undefined,
  }))
}

/** Returns how many entries there are of the lists that `--limit` cuts. */
export function sizesOf({ categories, ranking }: Comparison) {
  return { categories: categories.size, mutations: ranking.mutations.length }
}
