import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { quantile } from '../../stats/quantile.ts'
import type { Categories } from '../categories/categories.ts'
import { type Exemplars, exemplars } from '../ranking/rank-mutations.ts'
import { rootTypes } from '../steps/root-types.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import type { StepStratum } from '../steps/step-strata.ts'
import { stepKey, strataOfStep } from '../steps/step-times.ts'
import { MAX_FOLLOWED } from '../thresholds.ts'
import type { Draft } from './finding.ts'

/** Returns the first requests of each period among some, to look at. */
export function firstExemplars(flows: FlowSet, requests: readonly number[]) {
  const [before, after] = ([BEFORE, AFTER] as const).map((period) =>
    flows
      .within(period, requests)
      .slice(0, MAX_FOLLOWED)
      .map((request) => flows.ids[request] as string),
  ) as [string[], string[]]
  return { before, after }
}

interface RequestTime {
  readonly request: number
  readonly us: number
}

/**
 * Returns examples of a step that changed in a segment, or in few of its calls: requests of the segment, with a slow
 * call if the period has any, whose time in the step is nearest the median of these. Returns `usual` if the finding
 * concerns all calls, or a period has no suitable request.
 */
export function slowExamples(steps: TestedSteps, draft: Draft, usual: Exemplars): Exemplars {
  const { flows } = steps
  const { of, isOfSegment, share } = timesOfFinding(steps, draft)
  if (!isOfSegment && share === null) return usual
  const slowPeriod = draft.direction === 'slower' ? AFTER : BEFORE
  const candidates = (period: Period): RequestTime[] => {
    const some = of(period)
    if (share === null || period !== slowPeriod) return some
    const slow = of(period, share)
    return slow.length > 0 ? slow : some
  }
  const slow = nearestMedian(candidates(slowPeriod))
  // Usual ones are of the same type of request as the first slow one.
  const { typeOf } = rootTypes(flows)
  const others = candidates(slowPeriod === AFTER ? BEFORE : AFTER)
  const alike = others.filter(
    ({ request }) => slow[0] !== undefined && typeOf[request] === typeOf[slow[0]],
  )
  const usually = nearestMedian(alike.length > 0 ? alike : others)
  const [before, after] = (slowPeriod === AFTER ? [usually, slow] : [slow, usually]).map((found) =>
    found.map((request) => flows.ids[request] as string),
  ) as [string[], string[]]
  return {
    before: before.length > 0 ? before : usual.before,
    after: after.length > 0 ? after : usual.after,
  }
}

type TestedSteps = Pick<StepChanges, 'flows' | 'times' | 'steps'>

/** Returns the times of a finding's step: those of its segment if it has one, else of all requests. */
export function timesOfFinding(
  { times, steps }: TestedSteps,
  { segment, steps: [first] }: Pick<Draft, 'segment' | 'steps'>,
) {
  const within = segment?.measure === 'time' ? segment : undefined
  const step = within?.step ?? first ?? { kind: 'work', service: '', caller: null }
  const key = stepKey(step)
  const change = steps.find((one) => stepKey(one) === key)
  const changed = change?.operations.find((one) => one.changed)?.operation
  const operation = within?.operation ?? changed ?? ''
  const callingOperation = within?.callingOperation ?? null
  const strata = strataOfStep(times, { ...step, operation }).filter(
    (one) => callingOperation === null || one.callingOperation === callingOperation,
  )
  const inSegment = within && new Set(within.requests)
  return {
    isOfSegment: within !== undefined,
    // If only the segment was found to change, the step has no share of changed calls.
    share: change?.changed ? (change.minority?.share ?? null) : null,
    of: (period: Period, share = 1) =>
      timesOf(strata, period, share).filter(({ request }) => inSegment?.has(request) ?? true),
  }
}

/** Times of a period; of each stratum, the slowest `share` alone. */
function timesOf(strata: readonly StepStratum[], period: Period, share = 1): RequestTime[] {
  return strata.flatMap(({ before, after }) => {
    const { values, requests } = period === BEFORE ? before : after
    const from = values.length - Math.round(share * values.length)
    return Array.from(values.subarray(from), (us, i) => ({
      request: requests[from + i] as number,
      us,
    }))
  })
}

function nearestMedian(times: readonly RequestTime[]): number[] {
  const median = quantile(Float64Array.from(times, ({ us }) => us).sort(), 0.5)
  const nearest = times.toSorted(
    (a, b) => Math.abs(a.us - median) - Math.abs(b.us - median) || a.request - b.request,
  )
  return [...new Set(nearest.map(({ request }) => request))].slice(0, MAX_FOLLOWED)
}

/** Returns typical requests of the first category of a draft, or of its first move. */
export function exemplarsOf(categories: Categories, { moves, categories: ids }: Draft) {
  const [move] = moves
  return exemplars(categories, {
    category: move?.to ?? (ids[0] as number),
    kind: move === undefined ? 'response-time' : 'structural',
    precursors: move === undefined ? [] : [{ category: move.from, nsed: 0, weight: 1 }],
  })
}
