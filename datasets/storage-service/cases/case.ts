import type { Workload } from '../client/workload.ts'
import type { ServiceConfiguration } from './configuration.ts'
import type { Truth } from './truth.ts'

/** One period's side of a case: the service as it is set up, and what its client does. */
export interface Side {
  readonly service: ServiceConfiguration
  readonly workload: Workload
}

/** Something that changes between a before and an after period. */
export interface Case {
  /** The name on the command line and of the folder recorded into. */
  readonly name: string
  readonly description: string
  readonly before: Side
  readonly after: Side
  readonly truth: Truth
}
