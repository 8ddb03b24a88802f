import { group, range, sort } from 'd3-array'
import { Comparison } from '../../../compare/comparison.ts'
import { traceKey } from '../../../compare/comparison-inputs.ts'
import { RequestColumns } from '../../../compare/segments/request-columns.ts'
import { takeSnapshot } from '../../../compare/snapshot.ts'
import { getOrInsert } from '../../../core/entries.ts'
import { remembered } from '../../../core/remembered.ts'
import type { FlowSet } from '../../../flows/flow-set.ts'
import { recordedFlows } from '../../../flows/fold/folded-flows.ts'
import {
  type RequestRanges,
  requestsBetween,
  type Selection,
  selectRequests,
} from '../../../flows/select-requests.ts'

/** Most times of steps that a page carries: that many are compared again within seconds. */
const MAX_TIMES = 36_000
/** Spreads what comes in order evenly between 0 and 1, whatever rhythm it has. */
const GOLDEN = 0.618_033_988_749_895

/** Requests that a page compares anew, with the times of their steps. */
export type CarriedRequests = ReturnType<typeof carriedRequests>

/** Takes all requests of a comparison, or one in `every`, spread evenly over both periods. */
export const carriedRequests = remembered((comparison: Comparison) => {
  const { flows, categories } = comparison
  const every = Math.max(1, Math.ceil(recordedFlows(flows).latencyUs.length / MAX_TIMES))
  const rows = every === 1 ? requestsBetween(flows) : oneOf(every, flows)
  // With the claims, everything that findings are reported from has been read.
  void comparison.claims
  const carried =
    every === 1
      ? comparison
      : ofRequests(comparison, rows, (some) => columnsOf(comparison, rowsOf(rows), some))
  return {
    every,
    snapshot: takeSnapshot(carried, { ids: true, latenciesOf: () => true, claims: false }),
    /** Category in the whole comparison, by row. */
    categories: rowsOf(rows).map((row) => categories.categoryOf[row] as number),
  }
})

/** Chooses one in `every` traces of each period; requests of one trace stay together. */
function oneOf(every: number, flows: FlowSet): Selection {
  const places = [new Map<string, number>(), new Map<string, number>()]
  const placeOf = (row: number) => {
    const own = places[flows.period[row] as number] as Map<string, number>
    return getOrInsert(own, traceKey(flows, row), () => own.size)
  }
  for (const row of sort(range(flows.size), (one) => flows.startUs[one])) placeOf(row)
  return requestsBetween(flows, { where: (row) => (placeOf(row) * GOLDEN) % 1 < 1 / every })
}

function rowsOf({ before, after }: Selection): number[] {
  return [...Array.from(before), ...Array.from(after)]
}

/** Compares some of the requests that a page carries; a text where a period has none of them. */
export function comparedStretch(carried: Comparison, ranges: RequestRanges): Comparison | string {
  const rows = requestsBetween(carried.flows, ranges)
  for (const [period, own] of [['before', rows.before] as const, ['after', rows.after] as const]) {
    if (own.length === 0) return `No request ${period} is selected, so there is nothing to compare.`
  }
  return ofRequests(carried, rows, (flows) => columnsOf(carried, rowsOf(rows), flows))
}

function ofRequests(
  { runs, after, options, seen, flows }: Comparison,
  rows: Selection,
  columns: (flows: FlowSet) => RequestColumns,
): Comparison {
  const selected = selectRequests(flows, rows)
  return new Comparison({ runs, after }, options, {
    flows: selected,
    columns: columns(selected),
    seen,
  })
}

function columnsOf({ columns }: Comparison, rows: readonly number[], flows: FlowSet) {
  const placeOf = new Map(rows.map((row, i) => [row, i]))
  const { request, span, attribute, value, names } = columns.resources()
  const kept = range(request.length).filter((use) => placeOf.has(request[use] as number))
  const pick = (column: Uint32Array) => Uint32Array.from(kept, (use) => column[use] as number)
  return new RequestColumns(
    recordedFlows(flows),
    columns.all().map((own) => {
      const spansOf = own.requests && group(own.requests.keys(), (at) => own.requests?.[at])
      const units = spansOf ? rows.flatMap((row) => spansOf.get(row) ?? []) : rows
      const requestOf = (unit: number) => placeOf.get(own.requests?.[unit] ?? unit) as number
      return {
        ...own,
        ...(own.requests && { requests: Uint32Array.from(units, requestOf) }),
        columns: own.columns.map((column) => ({
          ...column,
          codes: Uint16Array.from(units, (unit) => column.codes[unit] as number),
        })),
      }
    }),
    {
      request: pick(request).map((row) => placeOf.get(row) as number),
      span: pick(span),
      attribute: pick(attribute),
      value: pick(value),
      names,
    },
  )
}
