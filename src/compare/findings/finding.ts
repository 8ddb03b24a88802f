import type { ServiceLogChange } from '../../flows/flow-logs.ts'
import type { Period } from '../../flows/flow-set.ts'
import type { Categories } from '../categories/categories.ts'
import type { EdgeChange } from '../edges/find-edge-changes.ts'
import type { Interference } from '../interference/interference.ts'
import type { MovedRequests } from '../mutations/find-structural-mutations.ts'
import type { TimedEvent } from '../onset/events.ts'
import type { Bursts, Onset } from '../onset/onset.ts'
import type { PlaceEnd, PlaceName } from '../places/places.ts'
import type { Exemplars, RankedMutation } from '../ranking/rank-mutations.ts'
import type { OtherValues, Segment } from '../segments/segments.ts'
import type { CallChoice, CountsTest } from '../steps/call-counts.ts'
import type { Operation } from '../steps/call-order.ts'
import type { StepChanges } from '../steps/step-changes.ts'
import type { StepStratum } from '../steps/step-strata.ts'
import type { Step } from '../steps/step-times.ts'
import type { Evidence, LogsEvidence, RequestCounts, StructureChange } from './evidence.ts'

export type { StructureChange }

/** A step whose time changed: the work of a service, the way of a call, or whole requests. */
export interface FindingStep extends Step {
  /** Operation that works, is called, or is requested. */
  readonly operation: string
  /** Shift of a call in µs, positive if slower. */
  readonly shiftUs: number
  /** Share of its calls that changed, if the typical call did not. */
  readonly share?: number
}

/** Something an operation does more or less often; `worth`: see `CountsTest`. */
export interface FindingCall
  extends Pick<CountsTest, 'made' | 'chances'>,
    Partial<Pick<CountsTest, 'worth'>> {
  /**
   * See `CallChoice`; or `'repeats'`: makes a call several times, of requests that make it;
   * `'fails'`: fails though nothing that it calls does; `'fails with'`: fails with `previous`.
   */
  readonly kind: CallChoice['kind'] | 'repeats' | 'fails' | 'fails with'
  readonly of: Operation
  /**
   * The other operation: for `'next'`, the call that was answered before; for two calls, one of them (for `'before'`,
   * the first); for `'fails with'`, the one that failed. `null` for none.
   */
  readonly previous: Operation | null
  /** Call that is made; `null` where the operation makes no further call. */
  readonly call: Operation | null
  /**
   * For `'calls'` that some operations make several times: mean number of calls per operation that makes any; NaN if
   * none does.
   */
  readonly times?: readonly [before: number, after: number]
  /** For calls made more or less often: the time this adds to all requests after, in µs. */
  readonly us?: number
}

/**
 * Kinds of findings. `'latency'`: steps take another time; `'structure'`: services make other calls; `'errors'`:
 * requests fail more or less often; `'concurrency'`: the same calls run in another order; `'load'`: more or fewer
 * requests arrive; `'unattributed'`: requests take another time that no step accounts for.
 */
export const FINDING_KINDS = [
  'latency',
  'structure',
  'errors',
  'concurrency',
  'load',
  'unattributed',
] as const

/** Requests of one type whose flow is of the new form, and those of the form that it replaces. */
export interface FormsOfType {
  readonly now: readonly number[]
  readonly usual: readonly number[]
  readonly period: Period
}

/** Requests whose flow is of the new form, and those of the form that it replaces. */
export interface Forms extends Pick<FormsOfType, 'now' | 'usual'> {
  /** Whether types have all requests that could have either form: those after, and those before. */
  readonly isWhole: boolean
  readonly types: readonly FormsOfType[]
  /** Requests before whose flow was of the new form. */
  readonly was: readonly number[]
  readonly counts: RequestCounts
}

/** When a finding began, and in which bursts its slow requests come. */
export interface InTime {
  readonly began: Onset | null
  readonly bursts: Bursts | null
}

/** Stages that drafts are made from. */
export interface Compared {
  readonly categories: Categories
  readonly steps: StepChanges
}

/** A finding before it is ranked. */
export interface Draft {
  readonly kind: (typeof FINDING_KINDS)[number]
  readonly direction: 'slower' | 'faster'
  /** What it tells, as data. */
  readonly evidence: Evidence
  /** Identity of the finding, equal in another comparison that finds the same. */
  readonly key: string
  /** Whether all else may follow from it. */
  readonly isFirst?: boolean
  /**
   * Categories concerned, the one with the most requests after first; of steps, that which changed
   * the most in all.
   */
  readonly categories: readonly number[]
  /** Affected requests after; if times or failures surely start or end within after, those of that time. */
  readonly requests: number
  /** Requests of each period with the change, or with the behavior that became more or less frequent. */
  readonly concerned: readonly [before: number, after: number]
  /** Part of the change of all response times after, in µs; negative where it saves. */
  readonly contributionUs: number
  /** Time it adds by its own evidence alone, in µs; by default its contribution. */
  readonly estimateUs?: number
  /** Errors only: how many more requests after fail because of it; negative for fewer. */
  readonly failedRequests?: number
  /** Depth of a change of logs in its requests; the deeper one may be the cause. */
  readonly depth?: number
  /** Time that an error finding ranks by, in µs, in place of its contribution. */
  readonly weightUs?: number
  /** 95 % confidence interval of the contribution to each request, in µs; NaN if unknown. */
  readonly eachInterval: readonly [low: number, high: number]
  /** Share of pairs of a request before and one after in which the later one is slower. */
  readonly probabilitySlower: number
  /** Services to look at, the likeliest first. */
  readonly services: readonly string[]
  /**
   * Edges whose time changed, the largest contribution first. Of a structural finding: those within
   * the call that was answered just before the flows part.
   */
  readonly changedEdges: readonly EdgeChange[]
  readonly changedStructure: readonly StructureChange[]
  /** Steps that it rests on, the one in the title first; traces with spans only. */
  readonly steps: readonly FindingStep[]
  /** Changed behavior of one service, the one in the title first; traces with spans only. */
  readonly calls: readonly FindingCall[]
  readonly moves: readonly MovedRequests[]
  /** Size of the finding, if its kind does not define the measure. */
  readonly size?: FindingSize
  /** Segment of requests that the finding is confined to, if one was found. */
  readonly segment?: Segment
  /** Whether the segment is all that it tells, in its own numbers. */
  readonly isOfSegment?: boolean
  /** Trace ids of requests to look at, where they are not the typical ones of its categories. */
  readonly exemplars?: Exemplars
  /** Requests with changed calls, and those with the usual ones. */
  readonly forms?: Forms
  /** Rows of requests after with the changed behavior, if services call otherwise. */
  readonly doing?: readonly number[]
  /** Rows of requests before with that behavior, if the services chose it, whatever they had met. */
  readonly did?: readonly number[]
  /** Place where everything changed; `services` are those that run there. */
  readonly place?: PlaceName
  /** Changed work and calls in `place`, if the place has a price of its own. */
  readonly places?: readonly PlaceEnd[]
  /** Keys of drafts that this one includes. */
  readonly covers?: readonly string[]
  /** Other values that explain the change, or that calls have since it. */
  readonly because?: OtherValues
  readonly meanwhile?: OtherValues
  /** What its service logs otherwise, in its requests and in records of none. */
  readonly logs?: LogsEvidence['changes']
  readonly serviceLogs?: readonly ServiceLogChange[]
  readonly inTime?: InTime
  /** Changed step times, limited to the period since onset. */
  readonly strata?: readonly StepStratum[]
  /** Smallest p of its evidence, and the smallest corrected for the number of tests. */
  readonly p: number
  readonly q: number
}

/** Empty evidence of a draft. */
export const NO_EVIDENCE = {
  services: [],
  changedEdges: [],
  changedStructure: [],
  steps: [],
  calls: [],
  moves: [],
} as const satisfies Partial<Draft>

/** Size of a finding. */
export interface FindingSize {
  /**
   * Size of the change. In µs (or the unit of the measure): the extra time of each affected request. As a `'rate'`: the
   * additional requests a second, or the increase of the share of calls (or requests) that do it. For a repeated call:
   * the additional calls per request.
   */
  readonly value: number
  readonly unit: string
  readonly per: 'request' | 'call' | 'message' | 'second'
  /** 95 % confidence interval of the value; NaN if unknown. */
  readonly interval: readonly [low: number, high: number]
}

export function isStructural({ kind }: Pick<Draft, 'kind'>): boolean {
  return kind === 'structure' || kind === 'concurrency'
}

/** One change in the system, with every mutation it explains. */
export interface Finding
  extends Omit<
    Draft,
    | 'estimateUs'
    | 'evidence'
    | 'key'
    | 'forms'
    | 'weightUs'
    | 'depth'
    | 'isOfSegment'
    | 'covers'
    | 'because'
    | 'meanwhile'
    | 'logs'
    | 'serviceLogs'
    | 'inTime'
    | 'places'
    | 'strata'
  > {
  /** Place of the change, such as `productcatalogservice → frontend`. */
  readonly where: string
  /** The change itself, such as `reply of GetProduct takes 98.5 ms longer`. */
  readonly what: string
  /** Place to look at, without traces. */
  readonly look: string
  /** Stays the same while the same edges or the same part of the flow changed. */
  readonly id: string
  /** 1 for the most important; a consequence has the rank of its cause. */
  readonly rank: number
  /** Operation it is about, of the first of `services`; `null` if it is about none. */
  readonly operation: string | null
  readonly size: FindingSize
  /** Start of the change; `null` where unknown. */
  readonly since: Onset | null
  /** Event that it began just after; `null` for none. */
  readonly follows: TimedEvent | null
  /** Other requests that delay its slow calls; `null` where nobody looked for them. */
  readonly interference: Interference | null
  /** `where: what`, the first line. */
  readonly title: string
  /** `facts` in one line. */
  readonly text: string
  /** Facts: how many requests, how much each, slower than which share of requests before, p. */
  readonly facts: readonly string[]
  /** Ranked mutations that this accounts for. */
  readonly mutations: readonly RankedMutation[]
  /** Contribution with that of its consequences over the observed change; `NaN` if that may be 0. */
  readonly shareOfChange: number
  readonly exemplars: Exemplars
  /** Consequences: the same delay seen elsewhere, upstream or in a gap that no span covers. */
  readonly consequences: readonly Finding[]
}
