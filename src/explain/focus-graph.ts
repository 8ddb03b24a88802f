// Runs once a visit of a request: the loops index with `!`.
import { spanTimes } from '../calls/span-times.ts'
import { allVisits, type Visit } from '../calls/visits.ts'
import { Comparison } from '../compare/comparison.ts'
import { getOrInsert } from '../core/entries.ts'
import { entryNamed, FlowdeltaError, requireStage } from '../core/errors.ts'
import type { Quantity } from '../core/quantity.ts'
import { columnarStage, own, rowTable, type StageTable } from '../core/stage.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../flows/flow-set.ts'
import { recordedFlows } from '../flows/fold/folded-flows.ts'
import { NS } from '../flows/span-tree.ts'

/** Calls between the service in focus and another one, in both periods. */
export interface FocusCalls {
  readonly direction: 'caller' | 'callee'
  /** The other service; `null` for clients that record nothing. */
  readonly service: string | null
  readonly beforeCalls: number
  readonly afterCalls: number
  /** Mean time of a call, as its caller waits for it, in µs; `NaN` without calls. */
  readonly beforeUs: number
  readonly afterUs: number
  /** Extra time of a mean request in these calls, over all requests, in µs. */
  readonly changeUs: number
}

/**
 * Finds the callers and callees of a service, with the number and time of calls in both periods. A call's time is the
 * wait of its caller, or the time of the called service if the caller recorded nothing.
 *
 * @param comparison of traces with spans
 * @param service name of the service in focus
 * @throws FlowdeltaError for trace points, and for a service that no request visits
 *
 * @example
 * focusOn(comparison, 'frontend').calls.map(({ direction, service }) => `${direction} ${service}`)
 */
export function focusOn(comparison: Comparison, service: string): FocusGraph {
  requireStage('focusOn(comparison)', comparison, Comparison)
  const flows = recordedFlows(comparison.flows)
  requireVisited(flows, service)
  const shapes = allVisits(flows)
  const found = new Map<string, Sums>()
  const itself: Sums = newSums()
  for (let request = 0; request < flows.size; request++) {
    const times = spanTimes(flows).of(request)
    if (times.length === 0) continue
    const weight = flows.countOf(request)
    const period = flows.period[request] as Period
    const usOf = (span: number) => (times[2 * span + 1]! - times[2 * span]!) / NS
    const add = (sums: Sums, us: number) => {
      sums[period].calls += weight
      sums[period].us += weight * us
    }
    for (const visit of shapes.get(flows.shapeOf[request]!)?.visits ?? []) {
      if (visit.service !== service) continue
      add(itself, usOf(visit.entry))
      add(sumsOf(found, 'caller', callerOf(visit)), usOf(visit.atCaller))
      for (const call of visit.calls) add(sumsOf(found, 'callee', call.service), usOf(call.span))
    }
  }
  const requests = [BEFORE, AFTER].map((period) => flows.countedIn(period))
  const rows = Array.from(found, ([key, sums]) => callsOf(key, sums, requests))
  return new FocusGraph({
    service,
    calls: rows.sort((a, b) => Math.abs(b.changeUs) - Math.abs(a.changeUs)),
    itself: meansOf(itself),
    quantity: flows.quantity,
  })
}

/** Checks that requests visit a service, of traces with spans. */
export function requireVisited(flows: FlowSet, service: string): void {
  const names = new Set([...allVisits(flows).values()].flatMap(({ services }) => services))
  if (names.size === 0 || flows.spanRows === undefined) {
    throw new FlowdeltaError(
      'Flows of trace points have no services that call each other. Give traces with spans.',
    )
  }
  const named = Object.fromEntries([...names].sort().map((name) => [name, name]))
  entryNamed(named, service, 'no service that requests visit', 'Visited are')
}

type Sums = readonly [before: Sum, after: Sum]
interface Sum {
  calls: number
  us: number
}

function newSums(): Sums {
  return [
    { calls: 0, us: 0 },
    { calls: 0, us: 0 },
  ]
}

function sumsOf(
  found: Map<string, Sums>,
  direction: FocusCalls['direction'],
  service: string | null,
) {
  return getOrInsert(found, JSON.stringify([direction, service]), newSums)
}

function callerOf({ caller }: Visit): string | null {
  return caller?.service ?? null
}

function meansOf([before, after]: Sums) {
  return {
    beforeCalls: before.calls,
    afterCalls: after.calls,
    beforeUs: before.us / before.calls,
    afterUs: after.us / after.calls,
  }
}

function callsOf(key: string, sums: Sums, requests: readonly number[]): FocusCalls {
  const [direction, service] = JSON.parse(key) as [FocusCalls['direction'], string | null]
  const [beforeUs = 0, afterUs = 0] = sums.map(({ us }, period) => us / requests[period]! || 0)
  return { direction, service, ...meansOf(sums), changeUs: afterUs - beforeUs }
}

interface FocusColumns {
  readonly service: string
  /** Calls with each other service, those first whose time changed most. */
  readonly calls: readonly FocusCalls[]
  /** Number of calls to the service, and its time with all its calls. */
  readonly itself: Omit<FocusCalls, 'direction' | 'service' | 'changeUs'>
  readonly quantity: Quantity
}

/** A service with who calls it and whom it calls. */
export class FocusGraph extends columnarStage<FocusColumns>() {
  static readonly madeBy: string = 'what focusOn returns'

  /** Callers or callees. */
  of(direction: FocusCalls['direction']): readonly FocusCalls[] {
    return this.calls.filter((one) => one.direction === direction)
  }

  /** Returns one row for the calls with each other service, callers first. */
  table(): StageTable {
    return rowTable(
      [...this.of('caller'), ...this.of('callee')],
      own('direction service beforeCalls afterCalls beforeUs afterUs changeUs'),
      this.quantity,
    )
  }
}
