import type { EdgeClass } from '../../compare/categories/category-structure.ts'
import type { Comparison } from '../../compare/comparison.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import type { FlowChoice } from '../flow-pair/flow-pair.ts'

/** The time of each request that is asked to be slow or not. */
export interface RequestTimes {
  /** What it is: `response time`, or the edge from where to where. */
  readonly name: string
  /** In µs; NaN where a request has none. */
  readonly of: (request: number) => number
}

/**
 * The time in which a change shows most: of a category that is compared with itself, the latency of
 * the changed edge whose mean moved furthest (the mean over its calls, where it has several);
 * otherwise the response time.
 */
export function requestTimes(
  { categories, responseTime }: Comparison,
  before: FlowChoice,
  after: FlowChoice,
): RequestTimes {
  const { flows } = categories
  const { category } = after
  const whole = {
    name: 'response time',
    of: (request: number) => flows.responseTimeUs[request] as number,
  }
  if (before.category !== category) return whole
  const moved = responseTime
    .edges(category)
    .map((edge, number) => ({
      ...edge,
      number,
      shiftUs: Math.abs(edge.afterMeanUs - edge.beforeMeanUs),
    }))
    .filter(({ test }) => test?.rejected === true)
    .sort((a, b) => b.shiftUs - a.shiftUs)[0]
  if (moved === undefined) return whole
  return {
    name: edgeName(moved.edge),
    of: (request) => {
      const classes = categories.recordedClassOf(request)
      const latencies = recordedFlows(flows).latencies(request)
      let [sum, calls] = [0, 0]
      classes.forEach((edgeClass, edge) => {
        if (edgeClass !== moved.number) return
        sum += latencies[edge] as number
        calls++
      })
      return sum / calls
    },
  }
}

function edgeName({ from, to }: EdgeClass): string {
  return `${from} → ${to}`
}
