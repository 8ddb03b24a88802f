import { range } from 'd3-array'
import { calleesWithoutSpans } from '../../calls/unrecorded-callees.ts'
import { Categories } from '../../compare/categories/categories.ts'
import type { PooledEdge } from '../../compare/edges/edge-times.ts'
import { findEdgeChanges } from '../../compare/edges/find-edge-changes.ts'
import { nestConsequences, withConsequences } from '../../compare/findings/consequences.ts'
import { detectableShifts, findingsLevel, nearestStep } from '../../compare/findings/detectable.ts'
import {
  type Claim,
  claimMutations,
  draftFindings,
  type FindingSources,
} from '../../compare/findings/draft-findings.ts'
import { servicesOf } from '../../compare/findings/edge-findings.ts'
import { nearestFailure } from '../../compare/findings/error-findings.ts'
import {
  type Compared,
  type Draft,
  type EdgesEvidence,
  type Finding,
  observedChange,
  operationOf,
  type PausesEvidence,
  type RateEvidence,
  sizeOf,
  TOLD,
} from '../../compare/findings/finding.ts'
import { onsetsOf } from '../../compare/findings/finding-onsets.ts'
import { placeName } from '../../compare/findings/names.ts'
import { differs, wholeShifts } from '../../compare/findings/request-findings.ts'
import { exemplarsOf, slowExamples } from '../../compare/findings/slow-examples.ts'
import { slowRequests } from '../../compare/findings/slow-stretch.ts'
import { findInterference } from '../../compare/interference/find-interference.ts'
import { findResponseTimeMutations } from '../../compare/mutations/find-response-time-mutations.ts'
import { findStructuralMutations } from '../../compare/mutations/find-structural-mutations.ts'
import { eventBefore, onsetAt, seenEvents, type TimedEvent } from '../../compare/onset/events.ts'
import { matchPrecursors } from '../../compare/precursors/match-precursors.ts'
import {
  type RankedMutation,
  type Ranking,
  rankMutations,
} from '../../compare/ranking/rank-mutations.ts'
import { findSegments } from '../../compare/segments/find-segments.ts'
import { findStepChanges } from '../../compare/steps/find-step-changes.ts'
import { hasTestableType } from '../../compare/steps/root-types.ts'
import { requireStage } from '../../core/errors.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import { count, defineOptions, level, type OptionsOf, readOptions } from '../../core/options.ts'
import { changeWords, type Quantity } from '../../core/quantity.ts'
import { formatDuration, grouped, listed, MAX_NAMED, percent, printable } from '../../core/words.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { operationName } from '../../flows/node-labels.ts'
import { otherMix } from '../fairness/request-types.ts'
import {
  callsWords,
  logsWords,
  logText,
  movesWords,
  orderWords,
  serviceLogsText,
} from './call-words.ts'
import {
  burstsFact,
  factsOf,
  interferenceClause,
  interferenceFacts,
  interferenceLook,
  requestsWords,
  restWords,
  sinceFact,
  type Words,
} from './finding-facts.ts'
import { Findings } from './findings.ts'
import {
  failuresWords,
  lookFor,
  segmentClause,
  segmentNotes,
  segmentWords,
  valueChangeText,
} from './segment-words.ts'
import { conditionWords, factorWords, placeWords, stepsWords } from './step-words.ts'

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
 * Makes findings of drafts: with their sentences and the mutations that they account for. A delay seen elsewhere stands
 * under its cause.
 */
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
  }: {
    limit?: number
    /** Changes of times that are reported; others always are. */
    alternative?: Draft['direction'] | 'two-sided'
    interference?: boolean
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
      .slice(0, MAX_NAMED)
      .map(({ cause }) => [cause, findInterference(sources, cause)]),
  )
  // Services come before callees that record no spans.
  const callees = calleesWithoutSpans(flows)
  const finish = (draft: Draft, rank: number, consequences: readonly Finding[]): Finding => {
    const { inTime = onsets.get(draft)! } = draft
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
    const parts = draft.key.split('\n').sort()
    const id = `${draft.kind}-${fingerprint(parts.join('\n'))}`
    const { where, what, look, notes } = wordsOf(draft, compared, follows?.services ?? [])
    const facts = [
      ...factsOf(draft, { all: Math.max(requests, draft.requests), quantity, notes }),
      ...sinceFact(since, { follows, flows }),
      ...burstsFact(draft, bursts),
      ...interferenceFacts(interference),
    ]
    const clauses = segmentClause({ ...draft, what }) + interferenceClause(interference)
    return {
      ...toldOf(draft),
      services: draft.services.toSorted((a, b) => +callees.has(a) - +callees.has(b)),
      id,
      rank,
      where,
      what,
      operation: operationOf(draft),
      size: sizeOf(draft, { all, worth, quantity }),
      since,
      follows,
      interference,
      look: look + interferenceLook(interference),
      title: `${where}: ${what}${clauses}`,
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
  const findings = kept.map(({ cause, consequences }, i) =>
    finish(
      cause,
      i + 1,
      consequences.map((draft) => finish(draft, i + 1, [])),
    ),
  )
  const slow = slowRequests(sources, drafts)
  const isTold = found.length > 0 || slow.slowStretch !== null || slow.fewSlow !== null
  return new Findings({
    findings,
    omitted: causes.length - findings.length,
    otherWay: found.length - causes.length,
    observedChangeUs,
    mixUs: mixChange(sources),
    requests,
    changeIsClear,
    testable: found.length > 0 || anyTestable(sources),
    detectable: found.length > 0 ? [] : detectableShifts(sources.steps, edges),
    nearest: isTold ? null : nearestStep(sources.steps),
    nearestFailure: found.length > 0 ? null : nearestFailure(sources.steps),
    ...slow,
    flows,
  })
}

function toldOf(draft: Draft): Pick<Draft, (typeof TOLD)[number]> {
  const told = TOLD.filter((name) => name in draft).map((name) => [name, draft[name]])
  return Object.fromEntries(told) as Pick<Draft, (typeof TOLD)[number]>
}

/** Returns the total change by the request mix alone; 0 where findings count requests of all types. */
function mixChange({ evidence, edges }: FindingSources): number {
  const { counts, smPThreshold } = evidence.precursors.structural.options
  const { flows } = edges.categories
  const isPerType = counts !== 'weighted' && smPThreshold === 'auto'
  return isPerType ? (otherMix(flows)?.shiftUs ?? 0) * flows.wholes(AFTER) : 0
}

function anyTestable({ evidence: { responseTime }, edges, steps }: FindingSources) {
  const { size, flows } = edges.categories
  const isTested = edges.tested.length > 0 || (steps.steps.length > 0 && hasTestableType(flows))
  return isTested || range(size).some((one) => responseTime.test(one).testable)
}

/**
 * Writes the sentences of a finding: those of its evidence, its segment, and its logs.
 *
 * @param changed services whose versions or hosts changed just before
 */
export function wordsOf(draft: Draft, compared: Compared, changed: readonly string[]): Words {
  const { evidence, segment, because, meanwhile, logs, serviceLogs } = draft
  const own = ownWords(draft, compared, changed)
  const { quantity } = compared.categories.flows
  const isOfSegment = segment === undefined || evidence.of === 'segment'
  return {
    where: own.where,
    what: because ? `${own.what}, because ${valueChangeText(because.change)}` : own.what,
    look: isOfSegment ? own.look : lookFor(segment, own.look),
    notes: [
      ...own.notes,
      ...(logs ? [logText(logs)] : []),
      ...(serviceLogs ? [serviceLogsText(serviceLogs)] : []),
      ...(isOfSegment ? [] : segmentNotes(segment, draft, quantity)),
      ...(meanwhile ? [`at the same time, ${valueChangeText(meanwhile.change)}`] : []),
    ],
  }
}

function ownWords(
  { evidence, segment, direction }: Draft,
  { categories, steps }: Compared,
  changed: readonly string[],
): Words {
  const { flows } = categories
  switch (evidence.of) {
    case 'steps':
      return stepsWords(steps.flows, evidence, { ...(segment && { segment }), changed })
    case 'segment':
      return segmentWords(flows, evidence, segment!)
    case 'calls':
      return callsWords(evidence, steps)
    case 'order':
      return orderWords(evidence)
    case 'failures':
      return failuresWords(evidence)
    case 'logs':
      return logsWords(evidence)
    case 'place':
      return placeWords(evidence, flows.quantity)
    case 'factor':
      return factorWords(evidence)
    case 'condition':
      return conditionWords(evidence, flows.quantity)
    case 'rate':
      return rateWords(evidence, flows.quantity)
    case 'pauses':
      return pausesWords(evidence, direction)
    case 'edges':
      return { ...whatChanged(evidence, direction), look: whereToLook(evidence), notes: [] }
    case 'moves':
      return movesWords(categories, evidence, direction)
    case 'requests':
      return requestsWords(evidence, flows.quantity)
    case 'rest':
      return restWords(steps.flows, evidence)
  }
}

const CLIENTS = { where: 'clients', look: 'who sends requests, and when' }

/** Says how many more, or fewer, requests arrive, and what of the change that explains. */
function rateWords({ rate, verdict, share }: RateEvidence, quantity: Quantity): Words {
  const { ratio, perSecond } = rate
  const isMore = ratio > 1
  const { change } = changeWords(quantity, isMore)
  const times = (isMore ? ratio : 1 / ratio).toPrecision(2)
  const rates = `${perSecond[AFTER].toPrecision(3)} a second, ${perSecond[BEFORE].toPrecision(3)} before`
  const load = verdict === 'unseen' ? 'never had this load' : 'had this load only for moments'
  return {
    ...CLIENTS,
    what: `send ${times} times ${isMore ? 'the' : 'fewer'} requests: ${rates}`,
    notes: [
      share !== null
        ? `the load explains ${percent(Math.min(1, share))} of the ${change}`
        : verdict === 'few'
          ? `too few requests to say how much of the ${change} this explains`
          : `the before period ${load}, so its share of the ${change} is unknown`,
    ],
  }
}

/** Says that clients leave more, or fewer, gaps between requests. */
function pausesWords({ change }: PausesEvidence, direction: string): Words {
  const { pauses, requests, typicalUs } = change
  const more = direction === 'slower' ? 'more' : 'fewer'
  return {
    ...CLIENTS,
    what:
      `leave ${more} gaps of about ${formatDuration(typicalUs)} between requests: ` +
      `${grouped(pauses[AFTER])} among ${grouped(requests[AFTER])} ` +
      `(before: ${grouped(pauses[BEFORE])} among ${grouped(requests[BEFORE])})`,
    notes: ['not part of response times'],
  }
}

function whereToLook({ scope, edges }: EdgesEvidence): string {
  const isOfEdges = scope.of === 'edge' || scope.of === 'step'
  const services = isOfEdges ? [...new Set(edges.flatMap(servicesOf))] : [scope.service]
  if (services.length === 0) return 'the work between these two points'
  const network = edges.every(({ kind }) => kind === 'network') ? ' (network)' : ''
  const named = scope.of === 'step' ? services : services.slice(0, 1)
  return `${listed(named.map(printable), 3)}${network}`
}

function whatChanged({ scope, edges }: EdgesEvidence, direction: string) {
  const [first] = edges
  const shift = `${formatDuration(Math.abs(first.shiftUs))} ${direction === 'slower' ? 'longer' : 'less'}`
  const what = stepWords(first, shift)
  if (scope.of === 'edge') return { where: placeOf(first), what }
  if (scope.of === 'step') {
    const services = [...new Set(edges.flatMap(servicesOf))].map(printable)
    return { where: listed(services, 3), what }
  }
  const others = `and ${edges.length - 1} other ${edges.length === 2 ? 'step' : 'steps'}`
  const service = printable(scope.service)
  if (scope.of === 'calls') return { where: `calls to ${service}`, what: `${what}, ${others}` }
  const at = first.kind === 'network' ? `${placeOf(first)}, ` : ''
  return { where: service, what: `${at}${what}, ${others}` }
}

function placeOf({ kind, fromNode, toNode, from, to, fromRoundBefore }: PooledEdge): string {
  if (fromNode.phase === 'point') {
    return `${printable(from)}${fromRoundBefore ? ' of the previous round' : ''} → ${printable(to)}`
  }
  return kind === 'self' ? placeName(fromNode) : `${placeName(fromNode)} → ${placeName(toNode)}`
}

function stepWords(edge: PooledEdge, shift: string): string {
  const { kind, fromNode, toNode, fromRoundBefore } = edge
  if (fromNode.phase === 'point') return `takes ${shift}`
  const [from, to] = [operationName(fromNode), operationName(toNode)]
  if (kind === 'network') {
    return fromNode.phase === 'reply' && toNode.phase === 'reply'
      ? `reply of ${from}${fromRoundBefore ? ' of the previous round' : ''} takes ${shift}`
      : `call of ${to}${fromRoundBefore ? ' of the next round' : ''} takes ${shift}`
  }
  if (fromRoundBefore) return `gap between ${from} of the previous round and ${to} takes ${shift}`
  if (fromNode.phase === 'call' && toNode.phase === 'call') {
    return `${from} takes ${shift} before it calls ${to}`
  }
  if (fromNode.phase === 'reply' && toNode.phase === 'reply') {
    return `${to} takes ${shift} after ${from} ends`
  }
  if (fromNode.phase === 'reply') return `gap between ${from} and ${to} takes ${shift}`
  return from === to ? `${from} itself takes ${shift}` : `${from} to ${to} takes ${shift}`
}
