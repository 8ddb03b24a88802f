// Runs once a visit of a request: the loops index with `!`.
import { sum } from 'd3-array'
import { spanTimes } from '../calls/span-times.ts'
import { allVisits, type ShapeVisits } from '../calls/visits.ts'
import { Comparison } from '../compare/comparison.ts'
import { RequestColumns } from '../compare/segments/request-columns.ts'
import { entryNamed, requireStage } from '../core/errors.ts'
import { defineOptions, type OptionsOf, optionalText, readOptions } from '../core/options.ts'
import type { Quantity } from '../core/quantity.ts'
import { columnarStage, own, rowTable, type StageTable } from '../core/stage.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../flows/flow-set.ts'
import { recordedFlows } from '../flows/fold/folded-flows.ts'
import { NS } from '../flows/span-tree.ts'
import { requireVisited } from './focus-graph.ts'

/** Work of a service for one submitter's requests, in one period. */
export interface Submitted {
  /** Requests that call the service. */
  readonly requests: number
  readonly calls: number
  /**
   * Time that the service works for them, without its calls, in µs, divided by all requests of the period. The times of
   * all submitters add up to the service's work for a mean request.
   */
  readonly causedUs: number
  /** Share of the service's whole work. */
  readonly causedShare: number
  /** Mean wait of their requests for the service, with its calls, in µs; `NaN` without requests. */
  readonly waitedUs: number
}

/** Submitter of requests, with its load in both periods. */
export interface Submitter {
  readonly submitter: string
  readonly before: Submitted
  readonly after: Submitted
}

export const SUBMITTER_OPTIONS = defineOptions({
  by: optionalText(
    'Attribute of roots that names the submitter, such as tenant; by default, the operation of the root',
    null,
  ),
})

/**
 * Finds whose requests make a shared service work, and who waits for it: a tenant, a client, or a kind of
 * request that causes more work than before, and the others that pay for it.
 *
 * @param comparison of traces with spans
 * @param service name of the shared service
 * @param options see {@link SUBMITTER_OPTIONS}
 * @throws FlowdeltaError for trace points, a service that no request visits, and an attribute that divides no requests
 *
 * @example
 * findSubmitters(comparison, 'frontend').submitters.map(({ submitter }) => submitter)
 */
export function findSubmitters(
  comparison: Comparison,
  service: string,
  options: Partial<OptionsOf<typeof SUBMITTER_OPTIONS>> = {},
): Submitters {
  requireStage('findSubmitters(comparison)', comparison, Comparison)
  const { by } = readOptions(SUBMITTER_OPTIONS, options)
  const flows = recordedFlows(comparison.flows)
  requireVisited(flows, service)
  const shapes = allVisits(flows)
  const submitterOf = by === null ? rootOf(flows, shapes) : attributeOf(flows, by)
  const sums = new Map<string, readonly [Sums, Sums]>()
  for (let request = 0; request < flows.size; request++) {
    const visits = shapes.get(flows.shapeOf[request]!)?.visits ?? []
    const own = visits.filter((visit) => visit.service === service)
    const times = spanTimes(flows).of(request)
    if (own.length === 0 || times.length === 0) continue
    const name = submitterOf(request)
    const known = sums.get(name) ?? ([newSums(), newSums()] as const)
    sums.set(name, known)
    const weight = flows.countOf(request)
    const asked = known[flows.period[request] as Period]
    asked.requests += weight
    asked.calls += weight * own.length
    for (const { entry, atCaller, calls } of own) {
      const called = calls.map(({ span }) => span)
      asked.causedUs += (weight * spanTimes(flows).uncoveredNs(request, entry, called)) / NS
      asked.waitedUs += (weight * (times[2 * atCaller + 1]! - times[2 * atCaller]!)) / NS
    }
  }
  const worked = ([BEFORE, AFTER] as const).map((period) =>
    sum(sums.values(), (own) => own[period].causedUs),
  )
  const submittedOf = ({ requests, calls, causedUs, waitedUs }: Sums, period: Period) => ({
    requests,
    calls,
    causedUs: causedUs / flows.countedIn(period),
    causedShare: causedUs / worked[period]! || 0,
    waitedUs: waitedUs / requests,
  })
  const submitters = Array.from(sums, ([submitter, [before, after]]) => ({
    submitter,
    before: submittedOf(before, BEFORE),
    after: submittedOf(after, AFTER),
  }))
  return new Submitters({
    service,
    by,
    submitters: submitters.sort((a, b) => mostOf(b) - mostOf(a)),
    quantity: flows.quantity,
  })
}

interface Sums {
  requests: number
  calls: number
  causedUs: number
  waitedUs: number
}

function newSums(): Sums {
  return { requests: 0, calls: 0, causedUs: 0, waitedUs: 0 }
}

function mostOf({ before, after }: Submitter): number {
  return Math.max(before.causedUs, after.causedUs)
}

/** `shop GET`, of each request. */
function rootOf(flows: FlowSet, shapes: ReadonlyMap<number, ShapeVisits>) {
  const names = new Map(
    Array.from(shapes, ([shape, { services, operations }]) => [
      shape,
      `${services[0]} ${operations[0]}`,
    ]),
  )
  return (request: number) => names.get(flows.shapeOf[request]!)!
}

/** Returns the value of an attribute of the root, or the placeholder for none. */
function attributeOf(flows: FlowSet, attribute: string) {
  const columns = new RequestColumns(flows).of(null).columns.filter(({ kind }) => kind !== 'called')
  const named = Object.fromEntries(columns.map((column) => [column.attribute, column]))
  const { codes, values } = entryNamed(
    named,
    attribute,
    'no attribute of roots that divides requests',
    'There are',
  )
  return (request: number) => values[codes[request]!] || 'not recorded, or rare'
}

interface SubmitterColumns {
  readonly service: string
  /** Attribute that names the submitter; `null` for the root's operation. */
  readonly by: string | null
  /** Submitters, those that cause most work in either period first. */
  readonly submitters: readonly Submitter[]
  readonly quantity: Quantity
}

/** Submitters whose requests make a service work. */
export class Submitters extends columnarStage<SubmitterColumns>() {
  static readonly madeBy: string = 'what findSubmitters returns'

  /** Returns one row per submitter, those first that cause most work. */
  table(): StageTable {
    return rowTable(
      this.submitters,
      {
        ...own('submitter'),
        beforeRequests: ({ before }) => before.requests,
        afterRequests: ({ after }) => after.requests,
        beforeCausedUs: ({ before }) => before.causedUs,
        afterCausedUs: ({ after }) => after.causedUs,
        beforeShare: ({ before }) => before.causedShare,
        afterShare: ({ after }) => after.causedShare,
        beforeWaitedUs: ({ before }) => before.waitedUs,
        afterWaitedUs: ({ after }) => after.waitedUs,
      },
      this.quantity,
    )
  }
}
