import type { OrderChange } from '../../compare/precursors/order-difference.ts'
import type { Phase } from '../../flows/node-labels.ts'
import type { Direction } from '../../stats/two-sample.ts'
import type { FlowDifferences } from './flow-differences.ts'

export interface EdgeLatencies {
  /**
   * Number of its edge class in the category's structure. Edges of one class, such as parallel calls
   * of one operation, are told of together; they are on critical paths one for the other.
   */
  readonly edgeClass: number
  /** Requests with a latency; for an edge into a join, those in which the join waited for it. */
  readonly requests: number
  /** Of these latencies, in µs; `null` where there are none, or too few for a deviation. */
  readonly meanUs: number | null
  readonly medianUs: number | null
  readonly sdUs: number | null
  /** In what share of all requests the edge is on the critical path. */
  readonly criticalShare: number
  /**
   * Its part of the mean response time, in µs, edges of one class having equal parts; over all edges
   * of a flow these add up to it.
   */
  readonly criticalUs: number
  /** Mean latency in the requests in which the join it leads to waited for another edge, in µs. */
  readonly waitUs: number | null
  /** The join it leads to mostly waited for another edge: its length is waiting; draw it thin. */
  readonly mostlyWaiting: boolean
}

/** A step of one of the compared flows. */
export interface FlowNode {
  readonly label: string
  /** The label, or the readable name given for it. */
  readonly name: string
  readonly service: string
  readonly operation: string
  /** The empty string where hosts are left out of labels. */
  readonly host: string
  readonly phase: Phase
  /** Of a reply, requests in which the call failed; 0 where outcomes were not recorded. */
  readonly failed: number
  readonly structureNode: number
}

/** An edge of one of the compared flows; `from` and `to` are places in its `nodes`. */
export interface FlowEdge {
  readonly from: number
  readonly to: number
  /** The node it leads to waits for other edges as well. */
  readonly intoJoin: boolean
  readonly latencies: EdgeLatencies
}

export interface FlowSide {
  readonly category: number
  readonly period: 'before' | 'after'
  readonly requests: number
  /** Mean response time; `null` without requests. */
  readonly meanUs: number | null
  /** Depth first, siblings by label. */
  readonly nodes: readonly FlowNode[]
  readonly edges: readonly FlowEdge[]
}

/**
 * How sure it is that two nodes are the same step: `'sure'` where their label is unique on both
 * sides or the flows are the same, `'likely'` where it recurs and at least half of their
 * neighbours are matched with each other, else `'doubtful'`.
 */
export type Certainty = 'sure' | 'likely' | 'doubtful'

/** Two nodes taken for the same step; `before` and `after` are places in the sides' `nodes`. */
export interface NodeMatch {
  readonly before: number
  readonly after: number
  readonly certainty: Certainty
  /** Their label occurs more than once on either side. */
  readonly recurs: boolean
  /**
   * How many of their neighbours are matched with each other, as a share of the neighbours of the
   * one that has more; 1 if there are none.
   */
  readonly neighbourShare: number
}

export interface UnionNode extends Omit<FlowNode, 'structureNode' | 'failed'> {
  readonly id: number
  readonly inBefore: boolean
  readonly inAfter: boolean
  /** Its place in the nodes of each side; `null` where it is not there. */
  readonly before: number | null
  readonly after: number | null
  /** On each side, requests in which the call that it replies to failed. */
  readonly failed: { readonly before: number; readonly after: number }
  /** `null` for a node of one side only. */
  readonly certainty: Certainty | null
}

/** Why a large change of an edge's mean may be chance. */
export type QuietReason = 'variance' | 'too few requests' | 'never waited for'

/** What became of the latency of an edge that is on both sides. */
export interface EdgeVerdict {
  /** `'changed'` when it is `significant` and `large`. */
  readonly verdict: 'changed' | 'unchanged' | 'untested'
  /** `null` for an edge that one side has no times of. */
  readonly p: number | null
  /** p corrected over the tested edges of this comparison. */
  readonly q: number | null
  readonly direction: Direction | null
  /** Mean after − before, in µs; where an edge is never waited for, of its waiting. */
  readonly shiftUs: number | null
  readonly medianShiftUs: number | null
  /** q is below α. */
  readonly significant: boolean
  /** The shift is at least `largeShift` of the mean response time, or an edge's even part of it. */
  readonly large: boolean
  /** Why a large shift is not called a change; else `null`. */
  readonly reason: QuietReason | null
}

/** An edge of the union of both flows; `from` and `to` are ids of its nodes. */
export interface UnionEdge extends EdgeVerdict {
  readonly id: number
  readonly from: number
  readonly to: number
  readonly inBefore: boolean
  readonly inAfter: boolean
  /** Its latencies on each side; `null` where it is not there. */
  readonly before: EdgeLatencies | null
  readonly after: EdgeLatencies | null
  readonly intoJoin: boolean
}

/** Nodes of the union that can be shown as one, without hiding what leads where. */
export interface FlowGroup {
  readonly id: number
  /** What its nodes have in common: the same on both sides; on one side only; at one place; none. */
  readonly kind: 'identical' | 'added' | 'removed' | 'component' | 'others'
  /** Said of the whole: `23 steps in both`, `4 added steps`, or where the steps happen. */
  readonly name: string
  /** Service of its steps, or both where they are of two; the empty string for more. */
  readonly service: string
  /** Host of a component's traversal; else the empty string. */
  readonly host: string
  /** Ids of its nodes, and of the edges between them. */
  readonly nodes: readonly number[]
  readonly edges: readonly number[]
  readonly inBefore: boolean
  readonly inAfter: boolean
  /** All its nodes and edges are on both sides and no latency changed. */
  readonly identical: boolean
  readonly changedEdges: number
  /** Edges with a large change that may be chance. */
  readonly quietEdges: number
  /** How long requests whose critical path leads through it are in it, in µs; 0 for none. */
  readonly beforeUs: number
  readonly afterUs: number
}

/**
 * Two flows side by side and as one: what a view needs to draw them beside each other, as a diff,
 * or one turning into the other. Plain data, but for `ranked`, a stage; ids are places in their lists, times in µs.
 */
export interface FlowComparison {
  readonly before: FlowSide
  readonly after: FlowSide
  readonly matches: readonly NodeMatch[]
  /** Edit distance of both structures, read depth first. */
  readonly distance: number
  /** 1 less that distance as a share of the longer structure: 1 for equal ones. */
  readonly confidence: number
  /** The same in words. */
  readonly confidenceText: string
  /** Pairs kept apart because some step would have followed itself. */
  readonly droppedMatches: number
  /** The union of both flows, such that edges lead from lower to higher ids. */
  readonly nodes: readonly UnionNode[]
  readonly edges: readonly UnionEdge[]
  /** Steps of both sides that lie otherwise to each other, by ids of the union. */
  readonly orderChanges: readonly OrderChange[]
  /** Connected steps that are the same on both sides and took no other time: two nodes or more. */
  readonly regions: readonly FlowGroup[]
  /**
   * Connected steps that are on one side only: what was added, what removed. Regions and
   * differences can be drawn as one node each at the same time; their ids are one sequence.
   */
  readonly differences: readonly FlowGroup[]
  /** Traversals of one component, its service and host: every node that has either is in one. */
  readonly components: readonly FlowGroup[]
  /** What differs, ranked by its part of the change of the mean response time. */
  readonly ranked: FlowDifferences
}
