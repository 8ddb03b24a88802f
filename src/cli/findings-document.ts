import type { Comparison } from '../compare/comparison.ts'
import type { EdgeChange } from '../compare/edges/edge-changes.ts'
import type { Finding, StructureChange } from '../compare/findings/finding.ts'
import type { ExplainedRank } from './explain-rank.ts'
import { explanationDocument } from './explanation-document.ts'
import { finiteOrNull, numbers } from './json-numbers.ts'

/** Steps listed with one finding; `changedSteps` says how many there are. */
const MOST_STEPS = 10
/** Parts of a flow listed with one finding; `changedParts` says how many there are. */
const MOST_PARTS = 50

/** The findings of a comparison, most important first, and what they leave unexplained. */
export function findingsDocument(
  { findings, edges }: Comparison,
  explained: ExplainedRank | null = null,
) {
  const attributedUs = findings.findings.reduce((sum, finding) => sum + finding.contributionUs, 0)
  return {
    findings: findings.findings.map((finding) => ({
      ...findingEntry(finding),
      ...(explained?.finding &&
        explained.rank === finding.rank && {
          explanation: explanationDocument(explained.finding),
        }),
    })),
    change: {
      usualUs: edges.usualUs,
      observedUs: findings.observedChangeUs,
      attributedUs,
      remainderUs: findings.observedChangeUs - attributedUs,
      omittedFindings: findings.omitted,
    },
  }
}

function findingEntry(finding: Finding) {
  return {
    ...findingFacts(finding),
    consequences: finding.consequences.map(findingFacts),
  }
}

function findingFacts(finding: Finding) {
  const { id, title, where, what, text, facts, look, kind, direction, services } = finding
  const { requests, contributionUs, q } = finding
  return {
    ...{ id, title, where, what, text, facts, look, kind, direction, services },
    mutations: finding.mutations.map(({ rank }) => rank),
    ...{ requests, contributionUs, shareOfChange: finiteOrNull(finding.shareOfChange), q },
    changedEdges: finding.changedEdges.slice(0, MOST_STEPS).map(stepEntry),
    changedSteps: finding.changedEdges.length,
    changedStructure: finding.changedStructure.slice(0, MOST_PARTS).map(structureEntry),
    changedParts: finding.changedStructure.length,
    exemplars: finding.exemplars,
  }
}

function stepEntry(edge: EdgeChange) {
  const { from, to, kind, shiftUs, interval, probabilitySlower, q } = edge
  return {
    ...{ from, to, kind, shiftUs },
    effect: effectEntry({ medianShiftUs: shiftUs, interval, probabilitySlower, q }),
    requests: { before: edge.beforeRequests, after: edge.afterRequests },
    contributionUs: edge.contributionUs,
  }
}

function structureEntry({ change, label, after, answered }: StructureChange) {
  return {
    ...{ change, label },
    after: after?.label ?? null,
    answered:
      answered === null ? null : { service: answered.service, operation: answered.operation },
  }
}

/** What `effect` is in the document: how large a change is, and how sure. */
export function effectEntry({
  medianShiftUs,
  interval,
  probabilitySlower,
  q,
}: {
  readonly medianShiftUs: number
  readonly interval: readonly [low: number, high: number]
  readonly probabilitySlower: number
  readonly q: number
}) {
  return {
    ...numbers({ medianShiftUs, probabilitySlower, q }),
    interval: interval.map(finiteOrNull) as [number | null, number | null],
  }
}
