import type { Workload } from './workload.ts'

/** What the client is to send from now on, to a service that has just been emptied. */
export interface Traffic {
  readonly workload: Workload
  readonly seed: string
}

/** How much of it to send next. */
export interface Batch {
  readonly requests: number
  /** Whether these requests may be traced; the sampler still picks. */
  readonly traced: boolean
}
