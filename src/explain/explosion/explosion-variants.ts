import { group } from 'd3-array'
import type { Categories } from '../../compare/categories/categories.ts'
import { categorize } from '../../compare/categories/categorize.ts'
import { buildFlows } from '../../flows/build-flows.ts'
import { type Concurrency, FlowSet } from '../../flows/flow-set.ts'
import { NodeLabels } from '../../flows/node-labels.ts'
import { selectRequests } from '../../flows/select-requests.ts'
import { ShapeTable } from '../../traces/shape-table.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import type { LabelChange } from './label-parts.ts'

export type Fold = (flows: FlowSet) => FlowSet

export interface Variant {
  readonly concurrency?: Concurrency | undefined
  readonly changes?: readonly LabelChange[]
  readonly fold?: Fold | undefined
}

export class ExplosionVariants {
  readonly categories: Categories
  readonly #rebuilt = new Map<Concurrency, FlowSet | string>()

  constructor(categories: Categories) {
    this.categories = categories
  }

  /** The requests built by a rule of concurrency, or why they cannot be. */
  flows(concurrency: Concurrency): FlowSet | string {
    const known = this.#rebuilt.get(concurrency) ?? rebuildFlows(this.categories.flows, concurrency)
    this.#rebuilt.set(concurrency, known)
    return known
  }

  /** Order first, then labels, then loops: folding needs names that repeat. */
  categorize({ concurrency, changes = [], fold }: Variant): Categories {
    const { flows, options } = this.categories
    const built = concurrency === undefined ? flows : this.flows(concurrency)
    const relabelled = relabelFlows(typeof built === 'string' ? flows : built, changes)
    const folded = fold === undefined ? relabelled : fold(relabelled)
    return folded === flows ? this.categories : categorize(folded, options)
  }
}

/**
 * The same requests with flows built by another rule of concurrency, or why that cannot be: their
 * traces are not there (in a page), or carry their own forks and joins.
 */
function rebuildFlows(flows: FlowSet, concurrency: Concurrency): FlowSet | string {
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
  const keyOf = ({ recordedIn, traceOf, startUs, ids }: FlowSet, row: number) =>
    `${recordedIn[row]} ${traceOf[row]} ${startUs[row]} ${ids[row]}`
  const rows = group(rebuilt.ids.keys(), (row) => keyOf(rebuilt, row))
  const periods: [number[], number[]] = [[], []]
  for (let request = flows.size - 1; request >= 0; request--) {
    const row = rows.get(keyOf(flows, request))?.pop()
    if (row === undefined) return undefined
    periods[flows.period[request] as 0 | 1].push(row)
  }
  const [before, after] = [periods[0].reverse(), periods[1].reverse()]
  return selectRequests(rebuilt, { before, after })
}

/**
 * The same flows with other labels at their nodes. Shapes that now are the same become one, so that
 * folding and categorizing see what a system with such names would have recorded.
 */
function relabelFlows(flows: FlowSet, changes: readonly LabelChange[]): FlowSet {
  if (changes.length === 0) return flows
  const labels = new NodeLabels()
  const codes = Uint32Array.from({ length: flows.labels.size }, (_, code) =>
    labels.code(changes.reduce((node, change) => change(node), flows.labels.get(code))),
  )
  const shapes = new ShapeTable()
  const numbers = Uint32Array.from({ length: flows.shapes.size }, (_, shape) => {
    const relabeled = flows.shapes.labels(shape).map((code) => codes[code] as number)
    const [from, to] = [flows.shapes.from(shape), flows.shapes.to(shape)]
    const edges = { from, to, edgeCount: from.length }
    return shapes.intern(relabeled, relabeled.length, edges)
  })
  const { periods, ids, period, traceOf, startUs, responseTimeUs, latencyUs } = flows
  const { latencyOffsets, weight, spanRows, spanOffsets } = flows
  return new FlowSet(
    {
      ...{ periods, labels, shapes, ids, period, traceOf, startUs, responseTimeUs, latencyUs },
      ...{ latencyOffsets, weight, spanRows, spanOffsets },
      shapeOf: flows.shapeOf.map((shape) => numbers[shape] as number),
    },
    flows.options,
    flows.report,
  )
}
