import { buildFlows } from '../../flows/build-flows.ts'
import type { Concurrency, FlowSet } from '../../flows/flow-set.ts'
import { selectRequests } from '../../flows/select-requests.ts'
import type { TraceSet } from '../../traces/trace-set.ts'

/**
 * The same requests with flows built by another rule of concurrency, or why that cannot be: their
 * traces are not there (in a page), or carry their own forks and joins.
 */
export function rebuildFlows(flows: FlowSet, concurrency: Concurrency): FlowSet | string {
  if (flows.options.concurrency === concurrency) return flows
  const [first, second] = flows.periods
  if (first === undefined) return 'the traces are not at hand'
  if (first.kind === 'graphs') return 'trace points carry their own forks and joins'
  const periods: TraceSet | readonly [TraceSet, TraceSet] = second ? [first, second] : first
  const rebuilt = buildFlows(periods, { ...flows.options, concurrency })
  return sameRequests(flows, rebuilt) ?? 'the requests are not found again in their traces'
}

/** Of rebuilt flows the requests that a selection has, in its order and periods. */
function sameRequests(flows: FlowSet, rebuilt: FlowSet): FlowSet | undefined {
  const rows = new Map<string, number[]>()
  rebuilt.ids.forEach((id, row) => {
    const key = `${rebuilt.recordedIn[row]} ${rebuilt.traceOf[row]} ${rebuilt.startUs[row]} ${id}`
    const known = rows.get(key)
    if (known === undefined) rows.set(key, [row])
    else known.push(row)
  })
  const periods: [number[], number[]] = [[], []]
  for (let request = flows.size - 1; request >= 0; request--) {
    const key = `${flows.recordedIn[request]} ${flows.traceOf[request]} ${flows.startUs[request]} ${flows.ids[request]}`
    const row = rows.get(key)?.pop()
    if (row === undefined) return undefined
    periods[flows.period[request] as 0 | 1].push(row)
  }
  const [before, after] = [periods[0].reverse(), periods[1].reverse()]
  return selectRequests(rebuilt, { before, after })
}
