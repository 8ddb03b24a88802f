import { range, sum } from 'd3-array'
import { addAt, at } from '../../core/entries.ts'
import { FlowdeltaError, requireStage } from '../../core/errors.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import { count, defineOptions, level, type OptionsOf, readOptions } from '../../core/options.ts'
import { TIME } from '../../core/quantity.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { Categories } from '../categories/categories.ts'
import { type EdgeChanges, findEdgeChanges } from '../edges/find-edge-changes.ts'
import { otherMix } from '../fairness/request-types.ts'
import { findInterference } from '../interference/find-interference.ts'
import {
  interferenceClause,
  interferenceFacts,
  interferenceLook,
} from '../interference/interference.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import { withoutNames } from '../knowledge/names.ts'
import {
  findResponseTimeMutations,
  type ResponseTimeMutations,
} from '../mutations/find-response-time-mutations.ts'
import { findStructuralMutations } from '../mutations/find-structural-mutations.ts'
import { eventBefore, onsetAt, seenEvents, type TimedEvent } from '../onset/events.ts'
import { matchPrecursors } from '../precursors/match-precursors.ts'
import { type RankedMutation, type Ranking, rankMutations } from '../ranking/rank-mutations.ts'
import { findSegments } from '../segments/find-segments.ts'
import { RequestColumns } from '../segments/request-columns.ts'
import type { Segments } from '../segments/segments.ts'
import { togetherAlike } from '../segments/without-echoes.ts'
import { findStepChanges } from '../steps/find-step-changes.ts'
import { hasTestableType } from '../steps/root-types.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import { callFindings } from './call-findings.ts'
import { byContribution, nestConsequences, withConsequences } from './consequences.ts'
import { detectableShifts, findingsLevel, nearestStep } from './detectable.ts'
import { edgeFindings } from './edge-findings.ts'
import { errorFindings, nearestFailure } from './error-findings.ts'
import type { Draft, Finding } from './finding.ts'
import {
  burstsFact,
  factsOf,
  meaningFact,
  operationOf,
  sinceFact,
  sizeOf,
} from './finding-facts.ts'
import { onsetsOf } from './finding-onsets.ts'
import { Findings } from './findings.ts'
import { MIN_USUAL } from './form-prices.ts'
import { loadFindings } from './load-findings.ts'
import { logFindings, withLogs, withServiceLogs } from './log-findings.ts'
import { noteTexts, subjectsOf } from './notes.ts'
import { placeFindings, withCovered } from './place-findings.ts'
import { Prices } from './prices.ts'
import { requestFindings, unattributedFindings } from './request-findings.ts'
import { withSameFactor } from './same-factor.ts'
import { wholeRequests, withOtherValues, withSegments } from './segment-findings.ts'
import { segmentClause } from './segment-text.ts'
import { withSharedConditions } from './shared-condition.ts'
import { draftsInTime } from './since-start.ts'
import { exemplarsOf, slowExamples } from './slow-examples.ts'
import { slowRequests } from './slow-stretch.ts'
import { stepFindings } from './step-findings.ts'
import { structureFindings } from './structure-findings.ts'
import { observedChange, weighed } from './weighing.ts'
import { differs, failureShift, wholeShifts } from './whole-shift.ts'

/** Number of slower findings, from the first, for which interfering requests are searched. */
const MAX_INTERFERED = 3

export interface FindingSources {
  readonly evidence: Ranking
  readonly edges: EdgeChanges
  readonly steps: StepChanges
  /** Segments of requests in which steps changed; findings then name them. */
  readonly segments?: Segments
  readonly columns?: RequestColumns
}

/** A mutation of the ranked list that a draft accounts for. */
export interface Claim extends Pick<RankedMutation, 'category' | 'kind'> {
  readonly draft: number
}

const FIND_FINDINGS_OPTIONS = defineOptions({
  alpha: level({ default: 0.05, sentence: 'Chance of any false finding' }),
  limit: count({ default: 10, unit: 'findings', sentence: 'Most findings kept, largest first' }),
})

/**
 * Finds what changed between two periods, one entry a cause, by corrected tests, as
 * `comparison.findings` does with default options. Of random halves of one period, at most `alpha` of
 * all comparisons find anything; of stretches of time that drift, more do (docs/measured.md).
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
  requireStage('findFindings(categories)', categories, Categories)
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
  const events = seenEvents(categories.flows)
  return groupFindings({ ...sources, drafts, claims, events, ranking: evidence }, { limit })
}

/**
 * Drafts findings, one per cause, the largest contribution first. For spans: steps by service, changed calls, and the
 * rest of the change. For trace points: edges, structural mutations by the changed part of the flow, and response times
 * that no edge explains.
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

/** Gives findings the mutations they account for; a delay seen elsewhere stands under its cause. */
export function groupFindings(
  sources: FindingSources & {
    readonly ranking: Ranking
    readonly drafts: readonly Draft[]
    readonly claims: readonly Claim[]
    readonly events: readonly TimedEvent[]
  },
  {
    limit = 10,
    alternative = 'two-sided',
    interference = true,
    knowledge = null,
  }: {
    limit?: number
    /** Changes of times that are reported; others always are. */
    alternative?: Draft['direction'] | 'two-sided'
    interference?: boolean
    knowledge?: Knowledge | null
  } = {},
): Findings {
  const { ranking, edges, drafts, claims, events } = sources
  const { categories } = edges
  const { flows } = categories
  const compared = { categories, steps: sources.steps }
  const observedChangeUs = observedChange(edges)
  const requests = Math.round(flows.countedIn(AFTER))
  const changeIsClear = differs(wholeShifts(flows)[0])
  const { quantity } = flows
  const keyOf = ({ category, kind }: Pick<RankedMutation, 'category' | 'kind'>) =>
    `${category} ${kind}`
  const draftOf = new Map(claims.map((claim) => [keyOf(claim), drafts[claim.draft]]))
  const mutationsOf = (draft: Draft) =>
    ranking.mutations.filter((mutation) => draftOf.get(keyOf(mutation)) === draft)
  const isFaster = changeIsClear && observedChangeUs < 0
  const found = nestConsequences(compared, drafts, isFaster)
  const causes = found.filter(
    ({ cause: { kind, direction } }) =>
      [direction, 'two-sided'].includes(alternative) ||
      (kind !== 'latency' && kind !== 'unattributed'),
  )
  const kept = causes.slice(0, limit)
  const untimed = kept
    .flatMap(({ cause, consequences }) => [cause, ...consequences])
    .filter(({ inTime }) => inTime === undefined)
  const onsets = onsetsOf(untimed, compared)
  const interferences = new Map(
    (interference ? kept : [])
      .filter(({ cause }) => cause.kind === 'latency' && cause.direction === 'slower')
      .slice(0, MAX_INTERFERED)
      .map(({ cause }) => [cause, findInterference(sources, cause)]),
  )
  const finish = (draft: Draft, rank: number, consequences: readonly Finding[]): Finding => {
    const {
      key,
      notes,
      weightUs,
      depth,
      isOfSegment: _,
      covers: __,
      places: ___,
      ...others
    } = draft
    const {
      scope: ____,
      strata: _____,
      tallies: ______,
      forms: _______,
      estimateUs: ________,
      ...timed
    } = others
    const { inTime = onsets.get(draft)!, ...told } = timed
    const { began, bursts } = inTime
    const contributionUs = withConsequences(draft, consequences)
    const clearUs = changeIsClear ? observedChangeUs : Number.NaN
    const ofPeriods = (counted: (period: Period) => number) =>
      [Math.round(counted(BEFORE)), Math.round(counted(AFTER))] as const
    const all = ofPeriods((period) => flows.countedIn(period))
    const worth = ofPeriods((period) => flows.worthIn(period))
    const follows = began && eventBefore(began, { flows, events, services: draft.services })
    const since = began && onsetAt(began, follows)
    const interference = interferences.get(draft) ?? null
    const parts = withoutNames(key, knowledge).split('\n').sort()
    const id = `${draft.kind}-${fingerprint(parts.join('\n'))}`
    const facts = [
      ...factsOf(draft, { all: Math.max(requests, draft.requests), quantity }),
      ...meaningFact(categories, draft),
      ...sinceFact(since, follows),
      ...burstsFact(draft, bursts),
      ...interferenceFacts(interference),
      ...(knowledge === null ? [] : noteTexts(knowledge.notes, id, subjectsOf(categories, draft))),
    ]
    return {
      ...told,
      id,
      rank,
      operation: operationOf(draft),
      size: sizeOf(draft, { all, worth, quantity }),
      since,
      follows,
      interference,
      look: draft.look + interferenceLook(interference),
      title: `${draft.where}: ${draft.what}${segmentClause(draft)}${interferenceClause(interference)}`,
      text: facts.join(' · '),
      facts,
      contributionUs,
      shareOfChange: contributionUs / clearUs,
      mutations: mutationsOf(draft),
      exemplars:
        draft.exemplars ?? slowExamples(sources.steps, draft, exemplarsOf(categories, draft)),
      consequences,
    }
  }
  const errors = sources.steps.errors.filter(({ changed }) => changed)
  const failing = new Set(errors.flatMap((change) => [...change.failing]))
  const findings = kept.map(({ cause, consequences }, i) =>
    finish(
      cause,
      i + 1,
      consequences.map((draft) => finish(draft, i + 1, [])),
    ),
  )
  const slow = slowRequests(sources.steps, drafts)
  const isTold = found.length > 0 || slow.slowStretch !== null || slow.fewSlow !== null
  return new Findings({
    findings,
    omitted: causes.length - findings.length,
    otherWay: found.length - causes.length,
    observedChangeUs,
    mixUs: mixChange(sources),
    failures: failureShift(flows, failing),
    requests,
    changeIsClear,
    testable: found.length > 0 || anyTestable(sources),
    detectable: found.length > 0 ? [] : detectableShifts(sources.steps, edges),
    nearest: isTold ? null : nearestStep(sources.steps),
    nearestFailure: found.length > 0 ? '' : nearestFailure(sources.steps),
    ...slow,
    flows,
  })
}

/** Returns the total change by the request mix alone; 0 where findings count requests of all types. */
function mixChange({ evidence, edges }: FindingSources): number {
  const { counts, smPThreshold } = evidence.precursors.structural.options
  const { flows } = edges.categories
  const isPerType = counts !== 'weighted' && smPThreshold === 'auto'
  return isPerType ? (otherMix(flows)?.shiftUs ?? 0) * flows.wholes(AFTER) : 0
}

function draftsOfSteps({
  evidence,
  edges,
  steps,
  segments,
  columns,
}: FindingSources): readonly Draft[] {
  const found = segments?.segments ?? []
  const ofSteps = [
    ...errorFindings(steps, edges),
    ...stepFindings(steps, edges),
    ...callFindings(steps, { evidence, edges, segments: found }).filter(
      (draft) => edges.categories.flows.quantity === TIME || isCostly(draft),
    ),
  ]
  const { serviceLogs = [] } = steps.flows
  const others = withServiceLogs(withLogs(ofSteps, logFindings(steps, edges)), serviceLogs)
  const of = { categories: edges.categories, steps }
  const read = columns ?? new RequestColumns(steps.flows)
  const sources = { ...of, columns: read }
  const placed = [
    ...placeFindings(sources),
    ...draftsInTime(withSegments(others, togetherAlike(found), of), of),
  ]
  const prices = new Prices(steps, read)
  const groups = nestConsequences(of, placed, observedChange(edges) < 0)
  const told = withOtherValues(
    withCovered(prices.priced(placed, groups), sources),
    segments?.otherValues ?? [],
  )
  const drafts = [...loadFindings(steps, edges, told), ...told.sort(byContribution)]
  const whole = draftsInTime(wholeRequests(found, edges.categories), of)
  const left = unattributedFindings(steps, { drafts, edges, whole, prices })
  return withSharedConditions(withSameFactor([...drafts, ...left], steps), sources)
}

/** Whether a change of calls surely changes how much requests take. */
function isCostly({ eachInterval: [low, high] }: Draft): boolean {
  return low > 0 || high < 0
}

function draftsOfEdges({ evidence, edges }: FindingSources): Draft[] {
  const ofEdges = edgeFindings(edges)
  const explained = claimMutations(evidence.responseTime, ofEdges)
  const ofRequests = requestFindings(evidence.responseTime, {
    explained: new Set(explained.map(({ category }) => category)),
    edges,
  })
  const recorded = [...ofEdges, ...ofRequests].map((draft) => weighed(draft, edges.categories))
  const structural = structureFindings(evidence, edges)
  return [...recorded, ...withoutDelays(structural, recorded, edges.categories)].sort(
    byContribution,
  )
}

/** Leaves of the price of another structure what delays do not account for: what these add to its requests. */
function withoutDelays(
  structural: readonly Draft[],
  delays: readonly Draft[],
  categories: Categories,
): Draft[] {
  const delayUs = new Float64Array(categories.size)
  for (const { categories: ids, contributionUs } of delays) {
    const requests = sum(ids, (id) => categories.counted(id, AFTER))
    for (const id of ids) addAt(delayUs, id, contributionUs / requests || 0)
  }
  return structural.map((draft) => {
    const { contributionUs, moves } = draft
    const toldUs = sum(moves, ({ from, to, requests }) => {
      // The usual form is that of after if enough requests have it: delayed, too.
      const isUsual = categories.count(from, AFTER) >= MIN_USUAL
      return requests * (at(delayUs, to) - (isUsual ? at(delayUs, from) : 0))
    })
    const part = Math.min(1, Math.max(0, toldUs / contributionUs || 0))
    return { ...draft, contributionUs: (1 - part) * contributionUs, estimateUs: contributionUs }
  })
}

function anyTestable({ evidence: { responseTime }, edges, steps }: FindingSources) {
  const { size, flows } = edges.categories
  const isTested = edges.tested.length > 0 || (steps.steps.length > 0 && hasTestableType(flows))
  return isTested || range(size).some((one) => responseTime.test(one).testable)
}

/**
 * Lays each mutation to at most one draft: a structural one to that which moves requests to its
 * category; another to that whose edges shifted it most, else to the requests no step accounts for.
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
    const { kinds, classFrom, classTo } = responseTime.categories.structure(category)
    edges.forEach(({ test, beforeMeanUs, afterMeanUs }, number) => {
      const [from, to] = [classFrom, classTo].map((ends) => at(kinds, at(ends, number)))
      const draft = ofEdge.get(keyOf({ from: from as string, to: to as string }))
      if (draft === undefined || test.rejected !== true) return
      const shift = Math.abs(afterMeanUs - beforeMeanUs)
      shifts.set(draft, (shifts.get(draft) ?? 0) + shift)
    })
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
