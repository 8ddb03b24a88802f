/** One piece of work for a disk thread. */
export type DiskJob =
  | {
      readonly kind: 'read'
      readonly path: string
      readonly offset: number
      readonly count: number
    }
  | {
      readonly kind: 'write'
      readonly path: string
      readonly offset: number
      readonly bytes: Uint8Array
      /** Processor time burnt after the write and before the answer: the planted code change. */
      readonly spinUs: number
    }
  | { readonly kind: 'remove'; readonly path: string }

/** What came of it; the times are the disk's alone, by the monotonic clock. */
export interface DiskDone {
  readonly bytes: Uint8Array
  readonly startNs: bigint
  readonly endNs: bigint
}

export type DiskAnswer = DiskDone | { readonly error: string }
