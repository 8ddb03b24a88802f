import { formatDuration } from '../../core/units.ts'
import { AFTER } from '../../flows/flow-set.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import type { StepChanges } from '../steps/find-step-changes.ts'
import { byRequestsAfter } from './categories-concerned.ts'
import type { Draft } from './finding.ts'
import { operationName, printable } from './names.ts'

/** Findings account for requests that changed when they add up to this share of it. */
const MIN_ACCOUNTED = 0.8

/** Drafts a finding for requests that changed by more than all other findings account for. */
export function unattributedFindings(
  { steps, flows }: StepChanges,
  { drafts, edges: { categories } }: { drafts: readonly Draft[]; edges: EdgeChanges },
): Draft[] {
  return steps.flatMap((step): Draft[] => {
    const { kind, changed, service, operations, shiftUs, contributionUs, requests } = step
    if (kind !== 'request' || !changed) return []
    const direction = shiftUs > 0 ? 'slower' : 'faster'
    const accountedUs = drafts
      .filter((draft) => draft.direction === direction)
      .reduce((sum, draft) => sum + draft.contributionUs, 0)
    if (Math.abs(accountedUs) >= MIN_ACCOUNTED * Math.abs(contributionUs)) return []
    const after = requests.filter((request) => flows.period[request] === AFTER)
    const leftUs = contributionUs - accountedUs
    const operation = operations.find((one) => one.changed) ?? operations[0]
    const share = leftUs / contributionUs / after.length
    const each = (us: number) => us * share * (contributionUs / shiftUs)
    return [
      {
        kind: 'requests',
        direction,
        key: `requests ${direction} ${service}`,
        where: `${printable(service)} ${operationName({ operation: operation?.operation ?? '' })}`,
        what:
          `requests take ${formatDuration(Math.abs(shiftUs))} ${direction === 'slower' ? 'longer' : 'less'}; ` +
          (accountedUs === 0
            ? 'no single step changed enough to be sure of'
            : `${formatDuration(Math.abs(leftUs) / after.length)} of it in no step that could be told`),
        categories: byRequestsAfter(
          categories,
          after.map((request) => categories.categoryOf[request] as number),
        ),
        requests: after.length,
        contributionUs: leftUs,
        eachInterval: [each(step.interval[0]), each(step.interval[1])],
        probabilitySlower: step.probabilitySlower,
        notes: [],
        look: 'what all steps share: host, runtime, load',
        services: [],
        changedEdges: [],
        changedStructure: [],
        moves: [],
        q: step.q,
      },
    ]
  })
}
