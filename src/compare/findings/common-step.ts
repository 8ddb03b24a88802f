import { greatest, mean, rollup, sum } from 'd3-array'
import { at } from '../../core/entries.ts'
import type { StepStratum } from '../steps/step-strata.ts'
import type { Step, StepTimes } from '../steps/step-times.ts'
import type { Draft } from './finding.ts'

export type Place = Pick<Step, 'kind' | 'service' | 'caller'> & { readonly operation: string }

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
  const places = times
    .filter(({ kind, part }) => kind !== 'request' && part !== 'message')
    .flatMap(({ kind, service, caller, strata }) =>
      Array.from(
        rollup(
          strata,
          (own) => sum(own, (stratum) => heldUs(stratum, requests)),
          ({ operation }) => operation,
        ),
        ([operation, us]) => ({ kind, service, caller, operation, held: us / excessUs }),
      ),
    )
  const most = greatest(places, ({ held }) => held)
  return most !== undefined && most.held >= MIN_HELD ? most : null
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
