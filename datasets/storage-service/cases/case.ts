import type { Order } from '../client/traffic.ts'
import type { Workload } from '../client/workload.ts'
import type { LargeReads } from '../storage-node/main.ts'
import type { ServiceConfiguration } from './configuration.ts'
import type { Truth } from './truth.ts'

/** One period's side of a case: the service as it is set up, and what its client does. */
export interface Side {
  readonly service: ServiceConfiguration
  readonly workload: Workload
}

/** How much of a case is recorded. */
export interface Extent {
  /** Requests per period. */
  readonly requests: number
  /** Times that the service is emptied and filled anew for the next share of them. */
  readonly blocks: number
  /** Untraced requests at the start of every block. */
  readonly warmUp: number
}

/** A data storage node to start. Each is a process of its own, so one host may have several, of which one is used. */
export interface DataNode {
  /** As `FrontEndConfiguration.dataNodes` calls it. */
  readonly name: string
  readonly host: string
  readonly version?: string
  readonly largeReads?: LargeReads
}

/** Something that changes between a before and an after period. */
export interface Case {
  /** The name on the command line and of the folder recorded into. */
  readonly name: string
  readonly description: string
  readonly before: Side
  readonly after: Side
  readonly truth: Truth
  /** Where the recorder's usual extent does not do. */
  readonly extent?: Partial<Extent>
  /** Whether the processes keep logs, which are recorded beside the spans. */
  readonly logs?: boolean
  /** How the requests of the two periods are sent; `'in turns'` unless given. */
  readonly order?: Order
  /** Data storage nodes; one that is called `storage-data` unless given. */
  readonly dataNodes?: readonly DataNode[]
  /** Block that the after side starts with; before it, the after period does what before does. */
  readonly changesAtBlock?: number
  /**
   * The periods are the start and the end of one run (of the before side), and this many requests
   * lie between them.
   */
  readonly requestsBetween?: number
}
