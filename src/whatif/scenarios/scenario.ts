import type { RequestModel, ScenarioEffect } from '../recompute/request-model.ts'

export type ScenarioKind =
  | 'server'
  | 'network'
  | 'preprocessing'
  | 'children'
  | 'order'
  | 'count'
  | 'partition'
  | 'reweight'
  | 'scale'
  | 'combined'

/** Values of one period, one a request. */
export interface EvidenceSample {
  readonly values: Float64Array
  /** Numbers of the requests that have them. */
  readonly requests: Uint32Array
}

export const NO_SAMPLE: EvidenceSample = {
  values: new Float64Array(0),
  requests: new Uint32Array(0),
}

/** Measurements before and after of the quantity that a scenario changes. */
export interface ScenarioEvidence {
  /** Times in µs, or numbers of kinds, whose order means nothing. */
  readonly measured: 'times' | 'kinds'
  readonly before: EvidenceSample
  readonly after: EvidenceSample
  /** Times that were adjusted by other samples count as this share of their number. Default: 1. */
  readonly share?: number
  /** Whether it may as well be what slowness led to, as load is: then it is no sign of a cause. */
  readonly mayFollow?: boolean
}

/** A hypothesis: one thing about the system is different. */
export interface Scenario {
  readonly kind: ScenarioKind
  /** The change in words. */
  readonly title: string
  /** The service whose calls change; empty where requests change as a whole. */
  readonly service: string
  /** The operation that changes; empty where several do. */
  readonly operation: string
  /** Path of the calls that change, null if several or none do. */
  readonly path: number | null
  /** Returns the change of `base`; `target` is the other period, if there is one. */
  apply(base: RequestModel, target: RequestModel | null): ScenarioEffect
}

/** Scenario of the diagnosis tree, which also knows narrower ones, and the evidence for it. */
export interface Candidate extends Scenario {
  /** The same for candidates that change the same thing in the same way. */
  readonly key: string
  /** The service that is called more or less often; empty where numbers of calls stay. */
  readonly callee: string
  /** Whether it can be undone: requests of after can be made as before by it. */
  readonly isTwoWay: boolean
  /** Whether it is about a property that requests bring along, which nothing in the system can have caused. */
  readonly isGiven: boolean
  /** Candidates that change less: what lies within. */
  within(): readonly Candidate[]
  /** The calls that these make, path by path, as candidates: where a cause further down shows. */
  below(): readonly Candidate[]
  /** Times of the changed calls, one of each request, or the kind of each request. */
  evidence(base: RequestModel, target: RequestModel): ScenarioEvidence
}

export const MAX_NAME_LENGTH = 80

/** Returns a share that was given, as it was given: `12.5 %`, `99.9 %`. */
export function exactPercent(share: number): string {
  return `${Number((100 * share).toPrecision(12))} %`
}
