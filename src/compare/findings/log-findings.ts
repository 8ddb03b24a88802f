import { group } from 'd3-array'
import { printable } from '../../core/words.ts'
import type { ServiceLogChange } from '../../flows/flow-logs.ts'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { usualMeanUs } from '../edges/edge-times.ts'
import type { EdgeChanges } from '../edges/find-edge-changes.ts'
import { ERRORS, type LogChange } from '../steps/compare-log-counts.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import { PART } from '../thresholds.ts'
import { changedCalls, findingCall } from './call-findings.ts'
import { type Draft, isStructural, NO_EVIDENCE } from './finding.ts'
import { formsOf, movedRequests, priceOf } from './form-prices.ts'
import { categoriesOf, surest } from './names.ts'
import { firstExemplars } from './slow-examples.ts'

/** Drafts a finding a service whose spans log otherwise: its code takes another path. */
export function logFindings({ flows, logs }: StepChanges, { categories }: EdgeChanges): Draft[] {
  const usualUs = usualMeanUs(flows)
  const changed = logs.filter((one) => one.changed)
  return [...group(changed, ({ of }) => of.service)].flatMap(([service, all]): Draft | [] => {
    const own = all.toSorted(
      (a, b) => changedCalls(b) - changedCalls(a) || +(a.kind !== 'logs') - +(b.kind !== 'logs'),
    ) as [LogChange, ...LogChange[]]
    const [first] = own
    const isMore = first.difference > 0
    const forms = formsOf(flows, (request) =>
      first.able.has(request) ? first.doing.has(request) === isMore : undefined,
    )
    const requests = Math.max(1, movedRequests(forms))
    const price = priceOf(flows, forms, requests)
    const isError = own.some(
      ({ difference, statement }) =>
        difference > 0 && ERRORS.has(flows.logs?.statements[statement]?.level ?? ''),
    )
    const weight = isError ? 1 : PART
    const usual = flows.within(BEFORE, forms.usual)
    return {
      ...NO_EVIDENCE,
      kind: 'structure',
      direction: price.contributionUs < 0 ? 'faster' : 'slower',
      evidence: { of: 'logs', changes: own },
      key: own.map(({ of, kind, call }) => JSON.stringify([of, kind, call])).join('\n'),
      categories: categoriesOf(categories, forms.now),
      requests,
      concerned: [forms.counts[BEFORE][0], forms.counts[AFTER][0]],
      contributionUs: price.contributionUs,
      weightUs: Math.max(Math.abs(price.contributionUs), requests * weight * usualUs),
      eachInterval: price.eachInterval,
      services: [service],
      calls: own.map(findingCall),
      depth: Math.max(...own.map(({ depth }) => depth)),
      exemplars: firstExemplars(flows, [...usual, ...forms.now]),
      ...surest(own),
    }
  })
}

/** Adds a service's changes of logs to the finding on its other changes, if there is one. */
export function withLogs(drafts: readonly Draft[], logs: readonly Draft[]): Draft[] {
  const hostOf = ({ services }: Draft) =>
    drafts.find(
      (draft) =>
        draft.services[0] === services[0] &&
        (isStructural(draft) || (draft.kind === 'errors' && draft.calls[0]?.kind === 'fails')),
    )
  const told = drafts.map((draft) => {
    const own = logs.find((log) => hostOf(log) === draft)
    if (own === undefined) return draft
    const { weightUs = Math.abs(draft.contributionUs) } = draft
    return {
      ...draft,
      ...(own.evidence.of === 'logs' && { logs: own.evidence.changes }),
      calls: [...draft.calls, ...own.calls],
      weightUs: Math.max(weightUs, own.weightUs ?? 0),
      ...(own.depth !== undefined && { depth: own.depth }),
    }
  })
  return [...told, ...logs.filter((log) => hostOf(log) === undefined)]
}

/** Adds to findings the changes of their service's logs in records that name no request. */
export function withServiceLogs(
  drafts: readonly Draft[],
  changes: readonly ServiceLogChange[],
): readonly Draft[] {
  return drafts.map((draft) => {
    const serviceLogs = changes.filter(
      ({ service }) => printable(service) === draft.services[0] || service === draft.services[0],
    )
    return serviceLogs.length === 0 ? draft : { ...draft, serviceLogs }
  })
}
