import { greatest, group, mean, rollup, sum } from 'd3-array'
import { at } from '../../core/entries.ts'
import type { StepStratum } from '../steps/step-strata.ts'
import { type Step, type StepTimes, stepKey } from '../steps/step-times.ts'
import type { Draft } from './finding.ts'

export interface Place extends Pick<Step, 'kind' | 'service' | 'caller'> {
  /** Operation that holds most of it; empty where none does. */
  readonly operation: string
  readonly strata: readonly StepStratum[]
  /** What the requests took longer there, in all. */
  readonly heldUs: number
}

const MIN_HELD = 0.5

/**
 * Returns the step in which requests after took most of what they took longer in all (`excessUs`), on
 * their critical paths, than such requests took in it before; `null` where none holds half of it.
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

/** Whether a finding may tell of the same: of its services, or of whatever whole requests do. */
export function isTold({ kind, services }: Draft, place: Place | null): boolean {
  return (
    place === null ||
    kind === 'load' ||
    kind === 'unattributed' ||
    services.some((one) => one === place.service || one === place.caller)
  )
}
