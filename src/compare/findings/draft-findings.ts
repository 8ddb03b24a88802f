import { sum } from 'd3-array'
import { addAt, addTo, at } from '../../core/entries.ts'
import { FlowdeltaError } from '../../core/errors.ts'
import { TIME } from '../../core/quantity.ts'
import { AFTER } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import type { ResponseTimeMutations } from '../mutations/find-response-time-mutations.ts'
import type { RankedMutation, Ranking } from '../ranking/rank-mutations.ts'
import { togetherAlike } from '../segments/find-segments.ts'
import { RequestColumns } from '../segments/request-columns.ts'
import type { Segments } from '../segments/segments.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import { MIN_KNOWN } from '../thresholds.ts'
import { callFindings } from './call-findings.ts'
import { byContribution, nestConsequences } from './consequences.ts'
import { edgeFindings } from './edge-findings.ts'
import { errorFindings } from './error-findings.ts'
import { type Draft, observedChange, weighed } from './finding.ts'
import { draftsInTime } from './finding-onsets.ts'

import { loadFindings } from './load-findings.ts'
import { logFindings, withLogs, withServiceLogs } from './log-findings.ts'
import { Prices } from './prices.ts'
import { requestFindings, unattributedFindings } from './request-findings.ts'
import { wholeRequests, withOtherValues, withSegments } from './segment-findings.ts'
import {
  placeFindings,
  withCovered,
  withSameFactor,
  withSharedConditions,
} from './shared-changes.ts'
import { stepFindings } from './step-findings.ts'
import { structureFindings } from './structure-findings.ts'

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
      // Of other amounts, only calls count that surely change how much requests take.
      ({ eachInterval: [low, high] }) =>
        edges.categories.flows.quantity === TIME || low > 0 || high < 0,
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
  return withSharedConditions(withSameFactor([...drafts, ...left], of), sources)
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
      const isUsual = categories.count(from, AFTER) >= MIN_KNOWN
      return requests * (at(delayUs, to) - (isUsual ? at(delayUs, from) : 0))
    })
    const part = Math.min(1, Math.max(0, toldUs / contributionUs || 0))
    return { ...draft, contributionUs: (1 - part) * contributionUs, estimateUs: contributionUs }
  })
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
      addTo(shifts, draft, shift)
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
