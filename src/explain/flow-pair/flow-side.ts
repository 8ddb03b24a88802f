import type { Categories } from '../../compare/categories/categories.ts'
import type { EdgeClass } from '../../compare/categories/category-structure.ts'
import { BEFORE, type Period } from '../../flows/flow-set.ts'
import { moments } from '../../stats/moments.ts'
import { quantile } from '../../stats/quantile.ts'
import type { EdgeLatencies, FlowNode, FlowSide } from './flow-comparison.ts'
import type { FlowForm } from './flow-form.ts'
import { pathTimes } from './path-times.ts'

/** The join an edge leads to mostly waits for others when it waits for it less often than this. */
const OFTEN_CRITICAL = 0.5

/** One side of a comparison: a category's structure, and what its requests of a period took. */
export function flowSide(
  categories: Categories,
  { form, period, nameOf }: { form: FlowForm; period: Period; nameOf: (label: string) => string },
): FlowSide {
  const { category } = form
  const { edgeClasses, classEnds } = categories.structure(category)
  const backTo = new Set(
    edgeClasses.flatMap(({ fromRoundBefore }, i) => (fromRoundBefore ? [classEnds[i]?.to] : [])),
  )
  const latencies = classLatencies(categories, { form, period })
  return {
    category,
    period: period === BEFORE ? 'before' : 'after',
    requests: categories.count(category, period),
    meanUs: orNull(categories.responseTimeMoments(category, period).mean),
    nodes: form.labels.map((label, at) => {
      const structureNode = form.structureNodes[at] as number
      // Edges into such a node have the time to get there in all rounds, not only in the first.
      const name = `${nameOf(label)}${backTo.has(structureNode) ? ', every round' : ''}`
      return { label, name, ...place(categories, category, structureNode), structureNode }
    }),
    edges: form.edges.map(({ from, to, edgeClass }) => ({
      ...{ from, to, edgeClass },
      intoJoin: (edgeClasses[edgeClass] as EdgeClass).intoJoin,
      latencies: latencies[edgeClass] as EdgeLatencies,
    })),
  }
}

/** Where a node is: as in its label, without host where hosts are left out. */
function place(
  categories: Categories,
  category: number,
  node: number,
): Pick<FlowNode, 'service' | 'operation' | 'host' | 'phase'> {
  const { service, operation, host, phase } = categories.nodeLabel(category, node)
  return { service, operation, host: categories.options.omitHosts ? '' : host, phase }
}

/** What each edge class took. Edges of one class are alike, so that each has an equal part. */
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
    const { latencyUs, onCriticalPath } = period === BEFORE ? sample.before : sample.after
    const { mean, sd } = moments(latencyUs)
    const { intoJoin } = edgeClasses[number] as EdgeClass
    return {
      requests: latencyUs.length,
      meanUs: orNull(mean),
      medianUs: orNull(quantile(latencyUs.slice().sort(), 0.5)),
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
