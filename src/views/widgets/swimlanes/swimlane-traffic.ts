import type { FlowSet } from '../../../flows/flow-set.ts'
import type { LaneBy, Traffic } from './swimlane-model.ts'
import { pointTraffic } from './swimlane-points.ts'
import { spanTraffic } from './swimlane-spans.ts'

/** Visits and messages of a request. */
export function requestTraffic(flows: FlowSet, request: number, by: LaneBy): Traffic {
  const traces = flows.tracesOf(request)
  return traces?.kind === 'graphs' ? pointTraffic(flows, request) : spanTraffic(flows, request, by)
}
