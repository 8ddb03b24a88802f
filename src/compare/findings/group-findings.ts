import { FlowdeltaError } from '../../core/errors.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import { BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { normalQuantile } from '../../stats/distributions.ts'
import { moments } from '../../stats/moments.ts'
import type { Categories } from '../categories/categories.ts'
import type { EdgeChanges } from '../edges/edge-changes.ts'
import type { ResponseTimeMutations } from '../mutations/response-time-mutations.ts'
import { exemplars } from '../ranking/exemplars.ts'
import type { RankedMutation, Ranking } from '../ranking/ranking.ts'
import { assignMutations } from './assign-mutations.ts'
import { edgeDrafts } from './edge-drafts.ts'
import type { Draft, Finding } from './finding.ts'
import { findingText } from './finding-text.ts'
import { Findings } from './findings.ts'
import { requestDrafts } from './request-drafts.ts'
import { structureDrafts } from './structure-drafts.ts'

/** What findings are made of; all of one comparison. */
export interface FindingSources {
  /** Whose mutations are told which finding they belong to. */
  readonly ranking: Ranking
  /** Mutations that are safe to make a finding of: tested and corrected. */
  readonly evidence: Ranking
  readonly edges: EdgeChanges
}

/**
 * Groups what changed into findings, one a cause: changed edges by the service or the step they
 * have in common, structural mutations by the part of the flow they gained or lost, and response
 * times that no edge accounts for by the kind of request. Every ranked mutation is counted to the
 * finding that explains the most of it. The largest contribution, up or down, comes first.
 *
 * @param sources stages of one comparison
 * @param options.limit most findings to keep; default 10
 * @throws FlowdeltaError when the stages come from different categories
 *
 * @example
 * comparison.findings.findings[0]?.title
 */
export function groupFindings(
  { ranking, evidence, edges }: FindingSources,
  { limit = 10 } = {},
): Findings {
  requireSame(ranking, evidence, edges)
  const { categories, observedChangeUs } = edges
  const { centre } = ranking.options
  const changeIsClear = meansDiffer(categories.flows)
  const ofEdges = edgeDrafts(edges)
  const explained = assignMutations(evidence, ofEdges).flat()
  const drafts = [
    ...ofEdges,
    ...structureDrafts(evidence.precursors, { edges, centre }),
    ...requestDrafts(evidence.responseTime, {
      explained: new Set(explained.map(({ category }) => category)),
      edges,
    }),
  ].sort((a, b) => Math.abs(b.contributionUs) - Math.abs(a.contributionUs) || a.q - b.q)
  const mutations = assignMutations(ranking, drafts)
  const findings = drafts.slice(0, limit).map(({ key, ...draft }, i): Finding => {
    const finding = {
      ...draft,
      id: `${draft.kind}-${fingerprint(key)}`,
      rank: i + 1,
      mutations: mutations[i] as readonly RankedMutation[],
      shareOfChange: changeIsClear ? draft.contributionUs / observedChangeUs : Number.NaN,
      exemplars: exemplarsOf(categories, draft),
    }
    return { ...finding, text: findingText(categories, finding) }
  })
  const omitted = drafts.length - findings.length
  const testable = drafts.length > 0 || anyTestable(evidence.responseTime, edges)
  return new Findings(findings, { omitted, observedChangeUs, changeIsClear, testable })
}

/** Whether the 95 % interval of the difference of the mean response times leaves 0 out. */
function meansDiffer(flows: FlowSet): boolean {
  const split = flows.count(BEFORE)
  const before = moments(flows.responseTimeUs.subarray(0, split))
  const after = moments(flows.responseTimeUs.subarray(split))
  const error = Math.sqrt(before.variance / before.count + after.variance / after.count)
  return Math.abs(after.mean - before.mean) > normalQuantile(0.975) * error
}

/** Whether any category's or edge's times could be tested. */
function anyTestable(responseTime: ResponseTimeMutations, { edges, categories }: EdgeChanges) {
  return (
    edges.some(({ q }) => !Number.isNaN(q)) ||
    Array.from({ length: categories.size }).some((_, one) => responseTime.test(one).testable)
  )
}

function requireSame(ranking: Ranking, evidence: Ranking, { categories }: EdgeChanges): void {
  const all = [ranking, evidence].map(({ responseTime }) => responseTime.categories)
  if (all.every((one) => one === categories)) return
  throw new FlowdeltaError(
    'The rankings and the edges come from different categories. ' +
      'Find all of them from one `categorize` result.',
  )
}

/** Typical requests of where a finding shows most. */
function exemplarsOf(categories: Categories, { moves, categories: ids }: Omit<Draft, 'key'>) {
  const [move] = moves
  return exemplars(categories, {
    ...{ rank: 0, requests: 0, contributionUs: 0, significant: true },
    category: move?.to ?? (ids[0] as number),
    kind: move === undefined ? 'response-time' : 'structural',
    precursors: move === undefined ? [] : [{ category: move.from, nsed: 0, weight: 1 }],
  })
}
