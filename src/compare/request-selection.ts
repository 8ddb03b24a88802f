import { FlowdeltaError, show } from '../core/errors.ts'
import type { FlowSet } from '../flows/flow-set.ts'
import { requestsBetween, type Selection } from '../flows/select-requests.ts'
import type { Segment } from './segments/segments.ts'

/** What `comparison.where` takes. */
export type RequestSelection =
  | Pick<Segment, 'requests'>
  | { readonly segment?: Segment }
  | ((request: number) => boolean)

/**
 * Returns the rows of the requests that are selected, by period.
 *
 * @throws FlowdeltaError for a finding that has no segment, and where a period has no such request
 */
export function selectedRows(selection: RequestSelection, flows: FlowSet): Selection {
  if (typeof selection === 'function') return nonEmpty(requestsBetween(flows, { where: selection }))
  const segment = 'segment' in selection ? selection.segment : selection
  const requests = segment !== undefined && 'requests' in segment ? segment.requests : undefined
  if (!Array.isArray(requests)) {
    throw new FlowdeltaError(
      `comparison.where got ${show(selection)}, which has no segment. Give a finding that says 'only where', a segment, or a function of a request's row.`,
    )
  }
  const inside = new Set<number>(requests)
  return nonEmpty(requestsBetween(flows, { where: (request) => inside.has(request) }))
}

/** Names the trace of a request, and its period. */
export function traceKey({ period, ids }: FlowSet, request: number): string {
  return `${period[request]} ${ids[request]}`
}

function nonEmpty(rows: Selection): Selection {
  const missing = rows.before.length === 0 ? 'before' : rows.after.length === 0 ? 'after' : null
  if (missing === null) return rows
  throw new FlowdeltaError(
    `comparison.where leaves no request ${missing}. Choose requests of both periods.`,
  )
}
