import type { Period } from '../volumes/period.ts'
import type { Workload } from './workload.ts'

/** What the client is to send from now on to one period's volume, which has just been emptied. */
export interface Traffic {
  readonly period: Period
  readonly workload: Workload
  readonly seed: string
}

/** How much of it to send next. */
export interface Batch {
  /** To send to each of these volumes. */
  readonly periods: readonly Period[]
  /**
   * `'in turns'`: a request to one volume, and then the same to the other; a coin says
   * who is first. `'together'`: to both at the same time, each worker at its own pace.
   */
  readonly order: Order
  /** Per volume. */
  readonly requests: number
  /** Whether these requests may be traced; the sampler still picks. */
  readonly traced: boolean
}

export type Order = 'in turns' | 'together'
