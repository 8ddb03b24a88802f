import type { NodeLabel } from '../../flows/node-labels.ts'
import type { EdgeChange } from '../edges/find-edge-changes.ts'
import type { ExpectedAtLoad } from '../load/expected-at-load.ts'
import type { MovedRequests } from '../mutations/find-structural-mutations.ts'
import type { PlaceChange } from '../places/places.ts'
import type { OrderChange } from '../precursors/match-precursors.ts'
import type { PauseChange, RateChange } from '../steps/arrivals.ts'
import type { CountsTest } from '../steps/call-counts.ts'
import type { Operation } from '../steps/call-order.ts'
import type { ErrorChange, PassedOn } from '../steps/compare-errors.ts'
import type { LogChange } from '../steps/compare-log-counts.ts'
import type { CallChange, RepeatChange, StepChange } from '../steps/step-changes.ts'

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

export interface ConditionTimes {
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
  readonly verdict: ExpectedAtLoad['verdict']
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
