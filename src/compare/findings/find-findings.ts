import { FlowdeltaError } from '../../core/errors.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import { count, defineOptions, level, type OptionsOf, readOptions } from '../../core/options.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import { place } from '../edges/edge-pool.ts'
import { type EdgeChanges, findEdgeChanges } from '../edges/find-edge-changes.ts'
import {
  findResponseTimeMutations,
  type ResponseTimeMutations,
} from '../mutations/find-response-time-mutations.ts'
import { findStructuralMutations } from '../mutations/find-structural-mutations.ts'
import { onsetsOf } from '../onset/finding-onsets.ts'
import { matchPrecursors } from '../precursors/match-precursors.ts'
import {
  exemplars,
  type RankedMutation,
  type Ranking,
  rankMutations,
} from '../ranking/rank-mutations.ts'
import { findSegments } from '../segments/find-segments.ts'
import type { Segments } from '../segments/segments.ts'
import { isSame, type Operation } from '../steps/call-order.ts'
import { findStepChanges } from '../steps/find-step-changes.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import { callFindings } from './call-findings.ts'
import { detectableOf } from './detectable.ts'
import { edgeFindings } from './edge-findings.ts'
import { errorFindings } from './error-findings.ts'
import { type Draft, type Finding, isStructural } from './finding.ts'
import { factsOf, operationOf, sinceFact, sizeOf } from './finding-facts.ts'
import { Findings } from './findings.ts'
import { loadFindings } from './load-findings.ts'
import { requestFindings } from './request-findings.ts'
import { segmentClause, withSegments } from './segment-findings.ts'
import { stepFindings } from './step-findings.ts'
import { structureFindings } from './structure-findings.ts'
import { unattributedFindings } from './unattributed-findings.ts'
import { meansDiffer } from './whole-shift.ts'

/** Categories, structures and edges are tested apart, and any of them makes a finding. */
const KINDS_OF_EVIDENCE = 3

/** A delay of another size than its cause, by more than this share, is one of its own. */
const MAX_SIZE_DIFFERENCE = 0.1
/** So is one whose requests share less than this with those of the cause. */
const MIN_SHARED_REQUESTS = 0.5

/** Stages of one comparison that findings are made of. */
export interface FindingSources {
  /** Mutations that hold when corrected. */
  readonly evidence: Ranking
  readonly edges: EdgeChanges
  /** Steps, of traces with spans; findings then rest on them. */
  readonly steps: StepChanges
  /** In which requests steps changed; findings then say so. */
  readonly segments?: Segments
}

/** A mutation of the ranked list that a draft accounts for. */
export interface Claim extends Pick<RankedMutation, 'category' | 'kind'> {
  /** Number of the draft. */
  readonly draft: number
}

/** Options of `findFindings`. */
export const FIND_FINDINGS_OPTIONS = defineOptions({
  alpha: level({ default: 0.05, sentence: 'Chance of any false finding' }),
  limit: count({ default: 10, unit: 'findings', sentence: 'Most findings kept, largest first' }),
})

/** Returns the level of each kind of evidence at which all findings together keep `alpha`. */
export function findingsLevel(alpha: number): number {
  return alpha / KINDS_OF_EVIDENCE
}

/**
 * Finds what changed between two periods, one entry a cause, by corrected tests, as
 * `comparison.findings` does with default options. Of random halves of one period, at most `alpha` of
 * all comparisons find anything; of stretches of time that drift, more do (README, "How good").
 *
 * @param options see `FIND_FINDINGS_OPTIONS`
 * @throws FlowdeltaError for an unknown option, OptionError for a value that an option does not take
 *
 * @example
 * findFindings(categories).findings.map(({ title }) => title)
 */
export function findFindings(
  categories: Categories,
  options: Partial<OptionsOf<typeof FIND_FINDINGS_OPTIONS>> = {},
): Findings {
  const { alpha, limit } = readOptions(FIND_FINDINGS_OPTIONS, options)
  const shared = findingsLevel(alpha)
  const responseTime = findResponseTimeMutations(categories, { alpha: shared, correction: 'bh' })
  const structural = findStructuralMutations(categories, { alpha: shared, smPThreshold: 'auto' })
  const evidence = rankMutations(responseTime, matchPrecursors(structural))
  const edges = findEdgeChanges(categories, { alpha: shared })
  const steps = findStepChanges(categories, { alpha })
  const sources = { evidence, edges, steps, segments: findSegments({ steps }, { alpha }) }
  const drafts = draftFindings(sources)
  const claims = claimMutations(responseTime, drafts)
  return groupFindings({ ...sources, drafts, claims, ranking: evidence }, { limit })
}

/**
 * Drafts findings, one a cause. Of traces with spans: steps by the service they have in common,
 * services that call otherwise, and requests that neither accounts for. Of trace points: changed
 * edges by the service or the step they have in common, structural mutations by the part of the flow
 * they gained or lost, and response times that no edge accounts for. The largest contribution, up or
 * down, comes first.
 *
 * @throws FlowdeltaError when the stages come from different categories
 */
export function draftFindings(sources: FindingSources): readonly Draft[] {
  const { evidence, edges, steps } = sources
  if (evidence.responseTime.categories !== edges.categories) {
    throw new FlowdeltaError(
      'The ranking and the edges come from different categories. ' +
        'Find all of them from one `categorize` result.',
    )
  }
  return steps.steps.length > 0 ? draftsOfSteps(sources) : draftsOfEdges(sources)
}

/**
 * Makes findings of drafts: each with the ranked mutations that it accounts for; the same delay seen
 * elsewhere stands under its cause.
 */
export function groupFindings(
  sources: FindingSources & {
    readonly ranking: Ranking
    readonly drafts: readonly Draft[]
    readonly claims: readonly Claim[]
  },
  { limit = 10 } = {},
): Findings {
  const { ranking, evidence, edges, drafts, claims } = sources
  const { categories, observedChangeUs } = edges
  const changeIsClear = meansDiffer(categories.flows)
  const keyOf = ({ category, kind }: Pick<RankedMutation, 'category' | 'kind'>) =>
    `${category} ${kind}`
  const draftOf = new Map(claims.map((claim) => [keyOf(claim), drafts[claim.draft]]))
  const mutationsOf = (draft: Draft) =>
    ranking.mutations.filter((mutation) => draftOf.get(keyOf(mutation)) === draft)
  const causes = nestConsequences(categories, drafts)
  const kept = causes.slice(0, limit)
  const onsets = onsetsOf(
    kept.flatMap(({ cause, consequences }) => [cause, ...consequences]),
    { categories, steps: sources.steps },
  )
  const finish = (draft: Draft, rank: number, consequences: readonly Finding[]): Finding => {
    const { key, notes, eachInterval, weightUs, ...told } = draft
    const contributionUs = withConsequences(draft, consequences)
    const all = [categories.flows.count(BEFORE), categories.flows.count(AFTER)] as const
    const since = onsets.get(draft) ?? null
    const facts = [...factsOf(draft, all[AFTER]), ...sinceFact(since)]
    return {
      ...told,
      id: `${draft.kind}-${fingerprint(key)}`,
      rank,
      operation: operationOf(draft),
      size: sizeOf(draft, all),
      since,
      title: `${draft.where}: ${draft.what}${segmentClause(draft.segment)}`,
      text: facts.join(' · '),
      facts,
      contributionUs,
      shareOfChange: changeIsClear ? contributionUs / observedChangeUs : Number.NaN,
      mutations: mutationsOf(draft),
      exemplars: draft.exemplars ?? exemplarsOf(categories, draft),
      consequences,
    }
  }
  const findings = kept.map(({ cause, consequences }, i) =>
    finish(
      cause,
      i + 1,
      consequences.map((draft) => finish(draft, i + 1, [])),
    ),
  )
  return new Findings(findings, {
    omitted: causes.length - findings.length,
    observedChangeUs,
    changeIsClear,
    testable: findings.length > 0 || anyTestable(sources),
    detectable: findings.length > 0 ? null : detectableOf(evidence),
    flows: categories.flows,
  })
}

/** Of traces with spans: what services do, and what none of it accounts for. */
function draftsOfSteps({ evidence, edges, steps, segments }: FindingSources): Draft[] {
  const ofSteps = [
    ...errorFindings(steps, edges),
    ...stepFindings(steps, edges),
    ...callFindings(steps, { evidence, edges }),
  ]
  const told = withSegments(ofSteps, segments?.segments ?? [], edges.categories)
  const drafts = [...loadFindings(steps, edges), ...told.sort(byContribution)]
  return [...drafts, ...unattributedFindings(steps, { drafts, edges })]
}

/** Of trace points: edges, structures, and what neither accounts for. */
function draftsOfEdges({ evidence, edges }: FindingSources): Draft[] {
  const ofEdges = edgeFindings(edges)
  const explained = claimMutations(evidence.responseTime, ofEdges)
  return [
    ...ofEdges,
    ...structureFindings(evidence, edges),
    ...requestFindings(evidence.responseTime, {
      explained: new Set(explained.map(({ category }) => category)),
      edges,
    }),
  ].sort(byContribution)
}

function byContribution(a: Draft, b: Draft): number {
  const weight = ({ weightUs, contributionUs }: Draft) => Math.abs(weightUs ?? contributionUs)
  return weight(b) - weight(a) || a.q - b.q
}

/** Whether any category's or edge's times could be tested. */
function anyTestable({ evidence: { responseTime }, edges }: FindingSources) {
  return (
    Array.from({ length: edges.categories.size }).some(
      (_, one) => responseTime.test(one).testable,
    ) || edges.edges.some(({ q }) => !Number.isNaN(q))
  )
}

/** Returns typical requests of where a finding shows most. */
function exemplarsOf(categories: Categories, { moves, categories: ids }: Draft) {
  const [move] = moves
  return exemplars(categories, {
    rank: 0,
    requests: 0,
    contributionUs: 0,
    significant: true,
    category: move?.to ?? (ids[0] as number),
    kind: move === undefined ? 'response-time' : 'structural',
    precursors: move === undefined ? [] : [{ category: move.from, nsed: 0, weight: 1 }],
  })
}

/**
 * Lays mutations to the drafts that account for them, each to at most one: a structural mutation to
 * the draft that moves requests to its category; a response-time mutation to the one whose edges
 * shifted its mean the most, of those among its changed edges, or else to the one of requests that no
 * step accounts for.
 */
export function claimMutations(
  responseTime: ResponseTimeMutations,
  drafts: readonly Draft[],
): readonly Claim[] {
  const keyOf = ({ from, to }: { from: string; to: string }) => JSON.stringify([from, to])
  const ofEdge = new Map<string, number>()
  const ofCategory = new Map<number, number>()
  const ofRequests = new Map<number, number>()
  drafts.forEach(({ kind, changedEdges, moves, categories }, draft) => {
    if (moves.length === 0) for (const edge of changedEdges) ofEdge.set(keyOf(edge), draft)
    for (const { to } of moves) if (!ofCategory.has(to)) ofCategory.set(to, draft)
    if (kind === 'unattributed') for (const category of categories) ofRequests.set(category, draft)
  })
  const likeliest = (category: number): number | undefined => {
    const shifts = new Map<number, number>()
    const edges = ofEdge.size === 0 ? [] : responseTime.edges(category)
    for (const { edge, test, beforeMeanUs, afterMeanUs } of edges) {
      const draft = ofEdge.get(keyOf(edge))
      if (draft === undefined || test?.rejected !== true) continue
      const shift = Math.abs(afterMeanUs - beforeMeanUs)
      shifts.set(draft, (shifts.get(draft) ?? 0) + shift)
    }
    return [...shifts].sort(([, a], [, b]) => b - a)[0]?.[0]
  }
  return [
    ...[...ofCategory].map(
      ([category, draft]) => ({ category, kind: 'structural', draft }) as const,
    ),
    ...responseTime.mutations.flatMap((category): Claim[] => {
      const draft = likeliest(category) ?? ofRequests.get(category)
      return draft === undefined ? [] : [{ category, kind: 'response-time', draft }]
    }),
  ]
}

/** Puts each draft that is a consequence of another under it; the largest in all comes first. */
function nestConsequences(categories: Categories, drafts: readonly Draft[]) {
  const causes: { readonly cause: Draft; readonly consequences: Draft[] }[] = []
  const order = (draft: Draft) =>
    draft.calls[0]?.kind === 'fails' ? -1 : isStructural(draft) ? 0 : 1
  const byKind = drafts.toSorted((a, b) => order(a) - order(b))
  const likeliestFirst = [...byKind.filter((draft) => !isGap(draft)), ...byKind.filter(isGap)]
  for (const draft of likeliestFirst) {
    const found = causes.find(({ cause }) => isConsequence(categories, { cause, draft }))
    if (found === undefined) causes.push({ cause: draft, consequences: [] })
    else found.consequences.push(draft)
  }
  for (const { consequences } of causes) consequences.sort(byContribution)
  return causes.sort(
    (a, b) => placeOf(a.cause) - placeOf(b.cause) || byContribution(a.cause, b.cause),
  )
}

/** Another load comes first, as all else may follow from it; what nothing accounts for last. */
function placeOf({ kind }: Draft): number {
  return kind === 'load' ? 0 : kind === 'unattributed' ? 2 : 1
}

/** A delay seen elsewhere adds up; what a service does otherwise has the time that it takes in it. */
function withConsequences(
  draft: Draft,
  consequences: readonly { readonly kind: Draft['kind']; readonly contributionUs: number }[],
): number {
  const seen = consequences
    .filter((consequence) => consequence.kind === 'latency')
    .reduce((sum, consequence) => sum + consequence.contributionUs, 0)
  const { contributionUs } = draft
  if (!isStructural(draft)) return contributionUs + seen
  return Math.abs(seen) > Math.abs(contributionUs) ? seen : contributionUs
}

/** Whether a draft is of time between two operations of one service, which no span covers. */
function isGap({ kind, changedEdges }: Draft): boolean {
  return (
    kind === 'latency' &&
    changedEdges.length > 0 &&
    changedEdges.every(
      ({ kind, fromNode, toNode }) => kind === 'self' && fromNode.operation !== toNode.operation,
    )
  )
}

/**
 * Whether a draft shows the delay of another again: steps within other services that became longer
 * by about as much in mostly the same requests, as where the slow call has no span of its own; or
 * another path after a call that became slower.
 */
function isConsequence(
  categories: Categories,
  { cause, draft }: { cause: Draft; draft: Draft },
): boolean {
  if (cause.kind === 'errors') return isOfErrors(categories, { cause, draft })
  if (cause.direction !== draft.direction) return false
  if (isStructural(cause) && draft.kind === 'latency') {
    return isSameWork(categories, { cause, draft })
  }
  if (cause.kind !== 'latency') return false
  const isSameService =
    draft.kind === 'latency' &&
    draft.services[0] === cause.services[0] &&
    Math.abs(draft.contributionUs) <= Math.abs(cause.contributionUs)
  if (isSameService) return shareRequests(categories, { cause, draft })
  const [step] = cause.changedEdges
  const [other] = draft.changedEdges
  if (step === undefined || other === undefined) return false
  if (isStructural(draft)) return cause.changedEdges.includes(other)
  const isCall = step.kind === 'network'
  const isWork = draft.changedEdges.every(({ kind }) => kind === 'self')
  const isElsewhere = !draft.services.some((service) => service === cause.services[0])
  const canShowIt = isGap(draft) ? !isGap(cause) : isWork && isCall
  if (draft.kind !== 'latency' || !canShowIt || !isElsewhere) return false
  const isAlike =
    Math.abs(other.shiftUs - step.shiftUs) <= MAX_SIZE_DIFFERENCE * Math.abs(step.shiftUs)
  return isAlike && shareRequests(categories, { cause, draft })
}

function shareRequests(
  categories: Categories,
  { cause, draft }: { cause: Draft; draft: Draft },
): boolean {
  const known = new Set(cause.categories)
  const count = (ids: readonly number[]) =>
    ids.reduce((sum, category) => sum + categories.count(category, AFTER), 0)
  const shared = count(draft.categories.filter((category) => known.has(category)))
  return shared >= MIN_SHARED_REQUESTS * count(draft.categories)
}

/**
 * Whether a draft shows that something fails: who fails with it, what is done after it failed, or
 * what is left out in requests that fail.
 */
function isOfErrors(
  categories: Categories,
  { cause, draft }: { cause: Draft; draft: Draft },
): boolean {
  const [failing] = cause.calls
  const isIt = (one: Operation | null) =>
    one !== null && failing !== undefined && isSame(one, failing.of)
  if (draft.kind === 'errors') {
    return draft.calls[0]?.kind === 'fails with' && isIt(draft.calls[0].previous)
  }
  if (!isStructural(draft) || !cause.failedRequests) return false
  return (
    draft.calls.some(({ previous, call }) => isIt(previous) || isIt(call)) ||
    (draft.calls.some(({ of }) => isIt(of)) && shareRequests(categories, { cause, draft }))
  )
}

/** Whether a service works longer, or less, because it does something else. */
function isSameWork(
  categories: Categories,
  { cause, draft }: { cause: Draft; draft: Draft },
): boolean {
  const [service] = cause.services
  const isOwn =
    draft.steps.some((step) => step.kind === 'work' && step.service === service) ||
    draft.changedEdges.some(({ kind, fromNode }) => kind === 'self' && place(fromNode) === service)
  return (
    isOwn && draft.services[0] === cause.services[0] && shareRequests(categories, { cause, draft })
  )
}
