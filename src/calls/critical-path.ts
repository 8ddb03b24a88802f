// Runs once an edge of a request: the loops index with `!`.
import { ascending } from 'd3-array'
import { InternalError, requireStage } from '../core/errors.ts'
import { TIME } from '../core/quantity.ts'
import { memoized } from '../core/remembered.ts'
import { CriticalWalk, planWalk, type WalkPlan } from '../flows/critical-walk.ts'
import { FlowSet } from '../flows/flow-set.ts'
import { areFromSpans, NS, type SpanTree, spanTree } from '../flows/span-tree.ts'
import { ShapeGraph } from '../traces/shape-table.ts'
import { spanTimes } from './span-times.ts'

/** Edge on a critical path, with the time on the path that ends at the end of the edge. */
export interface PathStep {
  readonly edge: number
  /** Start of that time, in µs since the request began. */
  readonly startUs: number
  readonly us: number
}

/**
 * Finds critical paths: the steps that a request waited for. The times on a path add up to the response time.
 *
 * With trace points, the path leads back from the reply, always to the predecessor that arrived last; if several arrive
 * at the same moment, to the first by label. With spans, it is the blocking path (`BlockingPath`), whatever order of
 * siblings their flow has: an edge has the time before its end since the caller's previous wait ended.
 *
 * One finder serves many requests: work that depends only on structure is done once per shape.
 *
 * Source: Sambasivan 2013, §2.3; Zhang et al. 2022, §3.
 */
export class CriticalPathFinder {
  readonly #flows: FlowSet
  /** Data shared by all requests of a shape. */
  readonly plan: (shape: number) => WalkPlan
  readonly #walk = new CriticalWalk()
  readonly #edgeTo: (shape: number) => EdgeFinder

  constructor(flows: FlowSet) {
    requireStage('new CriticalPathFinder(flows)', flows, FlowSet)
    this.#flows = flows
    this.plan = memoized((shape) => planShape(flows, shape))
    this.#edgeTo = memoized((shape) => edgeFinder(spanTree(flows, shape)))
  }

  /**
   * Marks the edges on the critical path of a request with 1 in `onPath`, all others with 0;
   * edges are those of the request's shape, in its order.
   *
   * @returns by edge, its time on the path; of edges off the path, their latency
   */
  mark(request: number, onPath: Uint8Array): Float64Array {
    onPath.fill(0)
    const latencyUs = this.#flows.latencies(request)
    if (this.#isOfSpans(request)) {
      const waitedUs = latencyUs.slice()
      this.#followSpans(request, (edge, us) => {
        onPath[edge] = 1
        waitedUs[edge] = us
      })
      return waitedUs
    }
    const path = this.#follow(request, latencyUs)
    for (let at = 0; at < path.length; at++) onPath[path[at]!] = 1
    return latencyUs
  }

  /** Returns the critical path of a request, first to last. */
  path(request: number): PathStep[] {
    const latencyUs = this.#flows.latencies(request)
    if (this.#isOfSpans(request)) {
      const steps: PathStep[] = []
      this.#followSpans(request, (edge, us, startUs) => steps.push({ edge, startUs, us }))
      return steps.reverse()
    }
    const { from } = this.plan(this.#flows.shapeOf[request]!)
    return Array.from(this.#follow(request, latencyUs), (edge) => ({
      edge,
      startUs: this.#walk.timeUs[from[edge]!]!,
      us: latencyUs[edge]!,
    })).reverse()
  }

  /** Returns when the nodes of a request happen, in µs since it began. */
  nodeTimes(request: number): Float64Array {
    if (this.#isOfSpans(request))
      return spanTimes(this.#flows)
        .of(request)
        .map((ns) => ns / NS)
    this.#follow(request, this.#flows.latencies(request))
    const { nodes } = this.plan(this.#flows.shapeOf[request]!)
    return this.#walk.timeUs.slice(0, nodes)
  }

  /** Returns the edges on the critical path of a request, first to last. */
  edges(request: number): number[] {
    return this.path(request).map(({ edge }) => edge)
  }

  #follow(request: number, latencyUs: Float64Array): Uint32Array {
    const { shapeOf, responseTimeUs } = this.#flows
    return this.#walk.follow(this.plan(shapeOf[request]!), latencyUs, responseTimeUs[request]!)
  }

  /** Whether the nodes of a request are calls and replies of spans: those of folded flows are not. */
  #isOfSpans(request: number): boolean {
    const { outcomes, shapes, shapeOf, quantity } = this.#flows
    if (quantity !== TIME || !areFromSpans(this.#flows)) return false
    const spans = outcomes && outcomes.offsets[request + 1]! - outcomes.offsets[request]!
    return 2 * (spans ?? 0) === shapes.nodeCount(shapeOf[request]!)
  }

  /** Visits the edges by which the nodes on the path are reached, last to first. */
  #followSpans(request: number, visit: (edge: number, us: number, startUs: number) => void): void {
    const edgeTo = this.#edgeTo(this.#flows.shapeOf[request]!)
    const { previous, nodeNs, endedNs } = spanTimes(this.#flows).follow(request)
    for (let node = 1; previous[node]! >= 0; node = previous[node]!) {
      const edge = edgeTo(previous[node]!, node)
      visit(edge, nodeNs[node]! / NS, (endedNs[node]! - nodeNs[node]!) / NS)
    }
  }
}

type EdgeFinder = (source: number, target: number) => number

/** Finds the edge between two nodes; where flows have none, one that ends there and so has the same owner. */
function edgeFinder({ from, to, timedBy }: SpanTree): EdgeFinder {
  const nodes = timedBy.length
  const known = new Map<number, number>()
  from.forEach((source, edge) => {
    known.set(source * nodes + to[edge]!, edge)
  })
  return (source, target) => known.get(source * nodes + target) ?? timedBy[target]!
}

function planShape({ shapes, labels }: FlowSet, shape: number): WalkPlan {
  const graph = GRAPH.load(shapes, shape)
  if (!graph.acyclic) throw new InternalError(`shape ${shape} has a cycle`)
  const from = shapes.from(shape)
  const codes = shapes.labels(shape)
  const labelOf = (edge: number) => labels.text(codes[from[edge]!]!)
  return planWalk({ from, to: shapes.to(shape) }, graph.order.subarray(0, graph.nodes), {
    bySource: (a, b) => ascending(labelOf(a), labelOf(b)),
  })
}

/** Serves for shape after shape. */
const GRAPH = new ShapeGraph()
