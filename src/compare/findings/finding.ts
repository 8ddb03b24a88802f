import { range, sum } from 'd3-array'
import type { Quantity } from '../../core/quantity.ts'
import type { ServiceLogChange } from '../../flows/flow-logs.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { type NodeLabel, place } from '../../flows/node-labels.ts'
import { twoProportionsTest } from '../../stats/two-proportions.ts'
import type { Categories } from '../categories/categories.ts'
import type { EdgeChange, EdgeChanges } from '../edges/find-edge-changes.ts'
import type { Interference } from '../interference/interference.ts'
import type { MovedRequests } from '../mutations/find-structural-mutations.ts'
import type { TimedEvent } from '../onset/events.ts'
import type { Bursts, Onset } from '../onset/onset.ts'
import type { PlaceChange, PlaceEnd, PlaceName } from '../places/places.ts'
import type { OrderChange } from '../precursors/match-precursors.ts'
import type { Exemplars, RankedMutation } from '../ranking/rank-mutations.ts'
import type { OtherValues, Segment } from '../segments/segments.ts'
import type { PauseChange, RateChange } from '../steps/arrivals.ts'
import type { CallChoice } from '../steps/call-counts.ts'
import type { Operation } from '../steps/call-order.ts'
import type { ErrorChange, PassedOn } from '../steps/compare-errors.ts'
import type { LogChange } from '../steps/compare-log-counts.ts'
import type { CallChange, RepeatChange, StepChange, StepChanges } from '../steps/step-changes.ts'
import type { StepStratum } from '../steps/step-strata.ts'
import type { Step } from '../steps/step-times.ts'
import type { CountsTest } from '../steps/time-blocks.ts'

/** Content of a finding, as data. `words/` writes the sentences. */
export type Evidence =
  | StepsEvidence
  | SegmentEvidence
  | CallsEvidence
  | OrderEvidence
  | FailureEvidence
  | LogsEvidence
  | PlaceEvidence
  | FactorEvidence
  | ConditionEvidence
  | RateEvidence
  | PausesEvidence
  | EdgesEvidence
  | MovesEvidence
  | RequestsEvidence
  | RestEvidence

export type StepScope =
  | { readonly of: 'step' }
  /** The ways to a service, whoever calls it. */
  | { readonly of: 'calls to'; readonly service: string }
  /** The ways to all that a service calls. */
  | { readonly of: 'calls by'; readonly service: string }
  /** A service's work, and the calls it takes and makes. */
  | { readonly of: 'service'; readonly service: string }
  /** One operation in several services, which run the same code. */
  | { readonly of: 'operation'; readonly operation: string }

/** Steps that take another time, for one reason. */
export interface StepsEvidence {
  readonly of: 'steps'
  readonly scope: StepScope
  readonly steps: readonly [StepChange, ...StepChange[]]
  /**
   * If all of it lies in the finding's segment: change of the first step there, or `'segment'` if the segment's spans
   * say it themselves.
   */
  readonly inSegment?: StepChange | 'segment'
}

/** The finding's segment alone. */
export interface SegmentEvidence {
  readonly of: 'segment'
  /** The part of whole requests' change that other findings leave unexplained. */
  readonly left?: RestOfRequests
}

/** Calls that an operation makes more or less often, or repeats. */
export interface CallsEvidence {
  readonly of: 'calls'
  readonly changes: ServiceChanges
  /** Equal changes of other operations, with its own. */
  readonly alike: readonly Pick<RepeatChange, 'of'>[]
  /** Call that was answered before, if the same for all. */
  readonly previous: Operation | null
}

export interface ToldCall extends CallChange {
  /** Requests in which alone it changed. */
  readonly within?: ReadonlySet<number>
  readonly times?: readonly [before: number, after: number]
}

/** Changed calls of a service, and calls repeated more or fewer times. */
export interface ServiceChanges {
  readonly service: string
  readonly calls: readonly ToldCall[]
  readonly repeats: readonly RepeatChange[]
}

/** The same calls, made in another order, again, or without waiting. */
export interface OrderEvidence {
  readonly of: 'order'
  readonly changes: readonly [ConcurrencyChange, ...ConcurrencyChange[]]
  readonly counts: RequestCounts
}

export type RequestCounts = readonly [before: RequestCount, after: RequestCount]
type RequestCount = readonly [n: number, of: number]

export interface ConcurrencyChange {
  readonly of: Operation
  readonly calls: readonly [CallChange, ...CallChange[]]
  readonly isNew: (request: number) => boolean | undefined
}

/** Calls that fail more or less often. */
export interface FailureEvidence {
  readonly of: 'failures'
  readonly change: ErrorChange
  /** A caller that fails with these calls; `null` for the calls themselves. */
  readonly passed: PassedOn | null
  readonly counts: Pick<CountsTest, 'made' | 'chances' | 'worth'>
  readonly deadline: Deadline | null
}

/** Statements that a service logs more or less often. */
export interface LogsEvidence {
  readonly of: 'logs'
  readonly changes: readonly [LogChange, ...LogChange[]]
}

/** Services in one place that take another time. */
export interface PlaceEvidence {
  readonly of: 'place'
  readonly change: PlaceChange
  /** Change of one call of each step that surely changed, in µs. */
  readonly eachUs: readonly number[]
}

/** Services whose own work takes longer by one factor. */
export interface FactorEvidence {
  readonly of: 'factor'
  readonly factor: number
  /** Number of services that agree, and of all. */
  readonly services: readonly [agreeing: number, all: number]
  /** Services with another factor, or an unknown one. */
  readonly others: readonly string[]
  readonly hosts: number
}

/** Several services that take longer, or fail, under one condition. */
export interface ConditionEvidence {
  readonly of: 'condition'
  readonly condition: string
  /** Whether it is of one place, in which they fail. */
  readonly isPlace: boolean
  readonly services: readonly string[]
  readonly times: ConditionTimes | null
  /** Requests that fail, of those under the condition. */
  readonly failures: (Pick<CountsTest, 'made' | 'chances'> & { readonly requests: number }) | null
}

interface ConditionTimes {
  /** Operation that takes longer, if it is one; `null` for several. */
  readonly operation: string | null
  /** Whether calls to the services take longer, not their work. */
  readonly isCall: boolean
  /** Whether nothing changed elsewhere. */
  readonly isAll: boolean
  readonly eachUs: readonly number[]
}

export interface RateEvidence {
  readonly of: 'rate'
  readonly rate: RateChange
  /** `'unseen'`: rates after never occurred before; `'independent'`: times ignore the rate. */
  readonly verdict: 'known' | 'unseen' | 'independent' | 'few'
  /** Share of the change that the rate explains; `null` if unknown. */
  readonly share: number | null
}

export interface PausesEvidence {
  readonly of: 'pauses'
  readonly change: PauseChange
}

/** Edges that take another time, for one reason. */
export interface EdgesEvidence {
  readonly of: 'edges'
  readonly scope: EdgeScope
  readonly edges: readonly [EdgeChange, ...EdgeChange[]]
}

export type EdgeScope =
  | { readonly of: 'edge' }
  /** Work inside a service. */
  | { readonly of: 'work'; readonly service: string }
  /** The way to a service and back, whoever calls it. */
  | { readonly of: 'calls'; readonly service: string }
  /** A service's work, and the calls it makes and takes. */
  | { readonly of: 'service'; readonly service: string }
  /** The same work in several services, which run the same code. */
  | { readonly of: 'step'; readonly step: string }

/** A part of a flow that requests gained or lost. */
export interface StructureChange {
  readonly change: 'added' | 'removed'
  /** Label of the first node of the part. */
  readonly label: string
  readonly node: NodeLabel
  /** Node it follows, which both structures have; `null` at the root. */
  readonly after: { readonly label: string; readonly node: NodeLabel } | null
  /** Last call answered before it, whose answer may decide; `null` for none. */
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

/** Moves of requests between categories that have a change of their flow in common. */
export interface MoveGroup {
  readonly moves: readonly MovedRequests[]
  readonly changes: readonly StructureChange[]
}

/** Requests that take another path. */
export interface MovesEvidence {
  readonly of: 'moves'
  readonly group: MoveGroup
  /** Services that requests gained and lost. */
  readonly services: { readonly gained: readonly string[]; readonly lost: readonly string[] }
  /** How they do the same steps otherwise; `null` where the steps themselves differ. */
  readonly otherwise: SameSteps | null
}

export type SameSteps =
  | {
      readonly how: 'repeated'
      readonly node: NodeLabel
      readonly times: readonly [before: number, after: number]
    }
  | { readonly how: 'another order' }
  | { readonly how: OrderChange['kind']; readonly first: NodeLabel; readonly second: NodeLabel }

/** Whole requests that take another time by many small changes. */
export interface RequestsEvidence {
  readonly of: 'requests'
  readonly roots: readonly NodeLabel[]
  /** Time that it adds to each, in µs. */
  readonly eachUs: number
}

/** Whole requests, what findings leave of their change. */
export interface RestEvidence {
  readonly of: 'rest'
  readonly step: StepChange
  readonly operation: string
  readonly left: RestOfRequests
}

export interface RestOfRequests {
  /** Unexplained change, and whole change, of each request, in µs. */
  readonly eachUs: number
  readonly allUs: number
  /** Whether all of it is unexplained. */
  readonly isAll: boolean
  /** Where most of it is spent; `null` if spread. */
  readonly place: { readonly name: string; readonly look: string } | null
  readonly deadline: Deadline | null
}

/** Calls that are given up after another time than before. */
export interface Deadline {
  /** The call, such as `playback → drm-proxy POST`. */
  readonly name: string
  /** Caller that gives up, and called service. */
  readonly services: readonly string[]
  /** Time after which calls are given up, in µs; before, `null` where they ended at any time. */
  readonly us: number
  readonly beforeUs: number | null
  /** Share of the calls before that took longer. */
  readonly longer: number
}

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

export const NO_INTERVAL = [Number.NaN, Number.NaN] as const

/** Empty evidence of a draft. */
export const NO_EVIDENCE = {
  eachInterval: NO_INTERVAL,
  probabilitySlower: Number.NaN,
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

/** Parts of a draft that its finding has, too. */
export const TOLD = [
  'kind',
  'direction',
  'isFirst',
  'categories',
  'requests',
  'concerned',
  'failedRequests',
  'eachInterval',
  'probabilitySlower',
  'services',
  'changedEdges',
  'changedStructure',
  'steps',
  'calls',
  'moves',
  'segment',
  'doing',
  'did',
  'place',
  'p',
  'q',
] as const satisfies readonly (keyof Draft)[]

/** One change in the system, with every mutation it explains. */
export interface Finding extends Pick<Draft, (typeof TOLD)[number] | 'contributionUs'> {
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

/** Returns the size of a change: a rate of actions or failures, or the time per request. */
export function sizeOf(
  draft: Draft,
  {
    all,
    worth: ofAll,
    quantity,
  }: Record<'all' | 'worth', Draft['concerned']> & { quantity: Quantity },
): FindingSize {
  const { kind, calls, concerned, contributionUs, requests, eachInterval } = draft
  if (draft.size !== undefined) return draft.size
  if (kind === 'latency' || kind === 'unattributed' || kind === 'concurrency') {
    const value = contributionUs / Math.max(1, requests)
    return { value, unit: quantity.unit ?? 'µs', per: 'request', interval: eachInterval }
  }
  const [call] = calls
  const { made, chances, worth = chances } = call ?? { made: concerned, chances: all, worth: ofAll }
  return rateSize({ made, chances, worth }, call === undefined ? 'request' : 'call')
}

/** Returns the growth of a share of calls, or of requests. */
export function rateSize(
  { made, chances, worth }: Required<Pick<FindingCall, 'made' | 'chances' | 'worth'>>,
  per: FindingSize['per'],
): FindingSize {
  const [before, after] = worth.map((size, i) => (made[i]! * size) / (chances[i]! || 1))
  const { difference, interval } = twoProportionsTest(before!, worth[0], after!, worth[1])
  return { value: difference, unit: 'rate', per, interval }
}

/** Returns the operation of the service to look at first; `null` where only those of others are known. */
export function operationOf(draft: Draft): string | null {
  const { services, steps, calls, changedStructure, changedEdges, place: shared } = draft
  if (shared !== undefined) return null
  const nodes = [
    ...changedStructure.map(({ node }) => node),
    ...changedEdges.flatMap(({ toNode, fromNode }) => [toNode, fromNode]),
  ].map((node) => ({ service: place(node), operation: node.operation }))
  const told = [steps, calls.map(({ of }) => of), nodes].find((list) => list.length > 0) ?? []
  const [first = told[0]?.service] = services
  return told.find(({ service }) => service === first)?.operation ?? null
}

/** Returns whether the cost of a change is within noise: its interval contains 0. */
export function isOpen({ eachInterval: [low, high] }: Pick<Draft, 'eachInterval'>): boolean {
  return Math.min(low, high) < 0 && Math.max(low, high) > 0
}

/** Returns the calls that fail after, in per cent, if a finding says that more do; else 0. */
export function errorRate({ kind, direction, size, segment, calls: [call] }: Finding): number {
  if (kind !== 'errors' || direction !== 'slower') return 0
  if (call !== undefined) return (100 * call.made[1]) / call.chances[1]
  return 100 * (segment?.inside.afterMean ?? size.value)
}

/** Returns a draft of recorded requests as one of all that these stand for; the same where each counts once. */
export function weighed(draft: Draft, categories: Categories): Draft {
  const ids = draft.categories.length > 0 ? draft.categories : range(categories.size)
  const factorOf = (period: Period) =>
    sum(ids, (id) => categories.counted(id, period)) /
      sum(ids, (id) => categories.count(id, period)) || 1
  const [before, after] = [factorOf(BEFORE), factorOf(AFTER)]
  return {
    ...draft,
    requests: Math.round(draft.requests * after),
    concerned: [Math.round(draft.concerned[0] * before), Math.round(draft.concerned[1] * after)],
    contributionUs: draft.contributionUs * after,
  }
}

/**
 * Returns how much longer all requests after took than as many before, in µs, including those the recorded ones stand
 * for.
 */
export function observedChange({ observedChangeUs, categories: { flows } }: EdgeChanges): number {
  return (observedChangeUs * flows.countedIn(AFTER)) / flows.wholes(AFTER) || 0
}
