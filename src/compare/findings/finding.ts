import type { NodeLabel } from '../../flows/node-labels.ts'
import type { EdgeChange } from '../edges/edge-changes.ts'
import type { Exemplars } from '../ranking/exemplars.ts'
import type { RankedMutation } from '../ranking/ranking.ts'

/** A part of a flow that requests have now and had not before, or the reverse. */
export interface StructureChange {
  readonly change: 'added' | 'removed'
  /** Label of the first node of the part. */
  readonly label: string
  readonly node: NodeLabel
  /** The node it follows, which both structures have; `null` at the root. */
  readonly after: { readonly label: string; readonly node: NodeLabel } | null
  /** The last other service that answered before it: what it said may decide; `null` for none. */
  readonly answered: AnsweredCall | null
}

/** A call to another service, with all that happens until its answer. */
export interface AnsweredCall {
  readonly service: string
  readonly operation: string
  /** Other services called for the answer, the last to reply first. */
  readonly restsOn: readonly string[]
  /** Labels of all nodes from the call to its reply. */
  readonly labels: ReadonlySet<string>
}

/** Requests of one category that would have belonged to another before. */
export interface StructureMove {
  readonly from: number
  readonly to: number
  readonly requests: number
}

/** What is known of a finding before it is ranked and put into words. */
export interface Draft {
  /** A step takes another time; requests do, and no one step of them; or they do other work. */
  readonly kind: 'edges' | 'requests' | 'structure'
  readonly direction: 'slower' | 'faster'
  /** What changed, in a few words. */
  readonly title: string
  /** What makes it the same finding in another comparison. */
  readonly key: string
  /** Categories concerned, the one with the most requests after first. */
  readonly categories: readonly number[]
  /** Requests after that it touches. */
  readonly requests: number
  /** What it adds to the sum of all response times after, in µs; negative where it saves. */
  readonly contributionUs: number
  /** Where to look, the likeliest first. */
  readonly services: readonly string[]
  /**
   * Edges whose time changed, the largest contribution first. Of a structural finding: those within
   * the call that was answered just before the ways part.
   */
  readonly changedEdges: readonly EdgeChange[]
  readonly changedStructure: readonly StructureChange[]
  readonly moves: readonly StructureMove[]
  /** The smallest corrected p among what it rests on. */
  readonly q: number
}

/** One change in the system, with every mutation that it accounts for. */
export interface Finding extends Omit<Draft, 'key'> {
  /** Stays the same while the same edges or the same part of the flow changed. */
  readonly id: string
  /** 1 for the most important one. */
  readonly rank: number
  /** Two sentences: how much, how sure, and where to look next. */
  readonly text: string
  /** Ranked mutations of the comparison that this accounts for. */
  readonly mutations: readonly RankedMutation[]
  /** Its contribution over the observed change of that sum; `NaN` where that may as well be 0. */
  readonly shareOfChange: number
  readonly exemplars: Exemplars
}
