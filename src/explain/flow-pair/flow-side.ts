import type { Categories } from '../../compare/categories/categories.ts'
import type { EdgeClass } from '../../compare/categories/category-structure.ts'
import { ClassTimes } from '../../compare/categories/class-times.ts'
import { addAt } from '../../core/entries.ts'

import { BEFORE, type Period } from '../../flows/flow-set.ts'
import { FoldedFlows } from '../../flows/fold/folded-flows.ts'
import { moments } from '../../stats/moments.ts'
import { quantile } from '../../stats/quantile.ts'
import { ascendingSample } from '../../stats/weighted-sample.ts'
import { placesIn } from '../../traces/group-rows.ts'
import type { EdgeLatencies, FlowSide } from './flow-comparison.ts'
import type { FlowForm } from './flow-form.ts'

/** The join an edge leads to mostly waits for others when it waits for it less often than this. */
const OFTEN_CRITICAL = 0.5

export function flowSide(
  categories: Categories,
  { form, period, nameOf }: { form: FlowForm; period: Period; nameOf: (label: string) => string },
): FlowSide {
  const { category } = form
  const { edgeClasses, classTo, loops } = categories.structure(category)
  const backTo = new Set(classTo.subarray(classTo.length - loops))
  const latencies = classLatencies(categories, { form, period })
  const failed = failedSteps(categories, category, period)
  return {
    category,
    period: period === BEFORE ? 'before' : 'after',
    requests: categories.count(category, period),
    meanUs: orNull(categories.responseTimeMoments(category, period).mean),
    nodes: form.labels.map((label, at) => {
      const structureNode = form.structureNodes[at] as number
      // Edges into such a node have the time to get there in all rounds, not only in the first.
      const name = `${nameOf(label)}${backTo.has(structureNode) ? ', every round' : ''}`
      const { service, operation, host, phase } = categories.shownNode(category, structureNode)
      return {
        label,
        name,
        service,
        operation,
        host,
        phase,
        structureNode,
        failed: failed[structureNode] ?? 0,
      }
    }),
    edges: form.edges.map(({ from, to, edgeClass }) => ({
      from,
      to,
      intoJoin: (edgeClasses[edgeClass] as EdgeClass).intoJoin,
      latencies: latencies[edgeClass] as EdgeLatencies,
    })),
  }
}

/** Requests in which the call that each node replies to failed; unknown of folded flows. */
export function failedSteps(categories: Categories, category: number, period: Period): Uint32Array {
  const { flows } = categories
  const { outcomes, shapeOf } = flows
  const failed = new Uint32Array(categories.nodeCount(category))
  if (outcomes === undefined || flows instanceof FoldedFlows) return failed
  const { preorder } = categories.structure(category)
  for (const request of categories.members(category, period)) {
    const failing = outcomes.failing(request)
    if (failing.length === 0) continue
    const places = placesIn(categories.preorderOf(shapeOf[request] as number))
    for (const span of failing) {
      const node = preorder[places[2 * span + 1] as number] as number
      failed[node] = (failed[node] as number) + 1
    }
  }
  return failed
}

function classLatencies(
  categories: Categories,
  { form, period }: { form: FlowForm; period: Period },
): EdgeLatencies[] {
  const { category } = form
  const { edgeClasses } = categories.structure(category)
  const samples = categories.wholeEdgeSamples(category)
  const { criticalUs, waitUs } = pathTimes(categories, category, period)
  const requests = categories.count(category, period)
  const edges = new Uint32Array(edgeClasses.length)
  for (const { edgeClass } of form.edges) edges[edgeClass] = (edges[edgeClass] as number) + 1
  return samples.map((sample, number): EdgeLatencies => {
    const { latencyUs, weights, onCriticalPath } = period === BEFORE ? sample.before : sample.after
    const { mean, sd } = moments(latencyUs, weights)
    const ascending = ascendingSample(latencyUs, weights)
    const { intoJoin } = edgeClasses[number] as EdgeClass
    return {
      edgeClass: number,
      requests: latencyUs.length,
      meanUs: orNull(mean),
      medianUs: orNull(quantile(ascending.values, 0.5, ascending.weights)),
      sdUs: orNull(sd),
      criticalShare: onCriticalPath,
      criticalUs: (criticalUs[number] as number) / (edges[number] as number),
      waitUs: orNull(waitUs[number] as number),
      mostlyWaiting: intoJoin && requests > 0 && onCriticalPath < OFTEN_CRITICAL,
    }
  })
}

/** JSON has no NaN. */
export function orNull(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

/** How much of the response time each edge class is, and how long joins wait for it. */
function pathTimes(categories: Categories, category: number, period: Period) {
  const times = new ClassTimes(categories, category, { whole: true })
  const { length } = times.waitingUs
  const criticalUs = new Float64Array(length)
  const waitUs = new Float64Array(length)
  const waits = new Float64Array(length)
  for (const request of categories.members(category, period)) {
    times.read(request)
    const weight = categories.flows.countOf(request)
    for (let number = 0; number < length; number++) {
      addAt(criticalUs, number, weight * (times.criticalUs[number] as number))
      addAt(waitUs, number, weight * (times.waitingUs[number] as number))
      addAt(waits, number, weight * (times.waitingCount[number] as number))
    }
  }
  return {
    criticalUs: criticalUs.map((sum) => sum / (categories.counted(category, period) || 1)),
    waitUs: waitUs.map((sum, number) => sum / (waits[number] as number)),
  }
}
