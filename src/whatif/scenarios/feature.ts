import type { RequestModel } from '../recompute/request-model.ts'
import type { Partition } from './request-partition.ts'

/** Something about requests and calls, other than how long they take, by which they can be divided. */
export interface Feature {
  /** `host`, `calls`, `load`, `concurrency`, `attribute:cache.hit`. */
  readonly name: string
  /** Divides the requests of a period. */
  ofRequests(model: RequestModel): Partition
  /** Divides some calls (rows) of a period; null where the feature is one of requests only. */
  readonly ofCalls: ((model: RequestModel, calls: Uint32Array) => Partition) | null
}
