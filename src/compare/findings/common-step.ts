import { greatest, group, mean, rollup, sum } from 'd3-array'
import { at } from '../../core/entries.ts'
import { printable } from '../../core/words.ts'
import { BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { operationName } from '../../flows/node-labels.ts'
import type { StepStratum } from '../steps/step-strata.ts'
import { type Step, type StepTimes, stepKey } from '../steps/step-times.ts'
import { type OwnTime, ownTimes } from '../steps/work-parts.ts'
import type { Draft } from './finding.ts'
import { placeTitle } from './names.ts'

export interface Place extends Pick<Step, 'kind' | 'service' | 'caller'> {
  /** Operation that holds most of it; empty where none does. */
  readonly operation: string
  readonly strata: readonly StepStratum[]
  /** Total time the requests took longer there. */
  readonly heldUs: number
}

const MIN_HELD = 0.5

/**
 * Returns the step that holds most of the excess time of these requests (`excessUs` in all), on critical paths and
 * compared with similar requests before; `null` if no step holds half of it.
 */
export function commonStep(
  times: readonly StepTimes[],
  requests: ReadonlySet<number>,
  excessUs: number,
): Place | null {
  const own = times.filter(({ kind, part }) => kind !== 'request' && part !== 'message')
  const places = Array.from(
    group(own, ({ kind, service, caller }) => stepKey({ kind, service, caller })).values(),
    (parts) => {
      const strata = parts.flatMap((one) => one.strata)
      const held = rollup(
        strata,
        (some) => sum(some, (stratum) => heldUs(stratum, requests)),
        ({ operation }) => operation,
      )
      const [{ kind, service, caller }] = parts as [StepTimes]
      return { kind, service, caller, strata, held, heldUs: sum(held.values()) }
    },
  )
  const most = greatest(places, (place) => place.heldUs / excessUs)
  if (most === undefined || !(most.heldUs / excessUs >= MIN_HELD)) return null
  const { held, ...place } = most
  const [operation, us] = greatest(held, ([, us]) => us / excessUs) as [string, number]
  return { ...place, operation: us / place.heldUs >= MIN_HELD ? operation : '' }
}

function heldUs({ before, after: { recorded } }: StepStratum, slow: ReadonlySet<number>): number {
  const usualUs = mean(before.recorded.criticalUs) ?? Number.NaN
  const { requests, criticalUs } = recorded
  return sum(requests, (request, row) => (slow.has(request) ? at(criticalUs, row) - usualUs : 0))
}

/** Smallest share of a step's excess from which a span within the service gives the name. */
export const MIN_WITHIN = 0.7

interface NamedPlace {
  readonly name: string
  /** Times of requests in the named span within the service; `null` if the operation gives the name. */
  readonly within: readonly [before: readonly OwnTime[], after: readonly OwnTime[]] | null
}

/** Returns the name of the span within the service that holds most of the excess there, or else of the operation. */
export function namePlace(
  flows: FlowSet,
  { strata, ...place }: Place,
  requests: ReadonlySet<number>,
): NamedPlace {
  const name = placeTitle(place, place.operation)
  if (place.kind !== 'work') return { name, within: null }
  const having = strata.flatMap(({ before, after }) => [
    ...before.recorded.requests,
    ...after.recorded.requests,
  ])
  const { service } = place
  for (const [operation, own] of ownTimes(flows, { service, requests: [...new Set(having)] })) {
    if (strata.some((one) => one.operation === operation)) continue
    const usualUs = mean(own[BEFORE], ({ us }) => us) ?? Number.NaN
    const [, after] = own
    const heldUs = sum(after, ({ request, us }) => (requests.has(request) ? us - usualUs : 0))
    if (heldUs / place.heldUs >= MIN_WITHIN)
      return { name: `${printable(service)} ${operationName({ operation })}`, within: own }
  }
  return { name, within: null }
}

/**
 * Whether a finding may tell of the same: of its services, or of whatever whole requests do.
 */
export function isTold({ kind, services }: Draft, place: Place | null): boolean {
  if (kind === 'load' || kind === 'unattributed') return true
  return place === null || services.some((one) => one === place.service || one === place.caller)
}
