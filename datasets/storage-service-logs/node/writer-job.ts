import type { Admission } from './shared-cache.ts'

/** From the node to a writer: what to work on, then what to write, then that this was all. */
export type WriterJob =
  | {
      readonly kind: 'open'
      readonly path: string
      readonly memory: SharedArrayBuffer
      readonly cacheBytes: number
    }
  | { readonly kind: 'write'; readonly bytes: Uint8Array; readonly offset: number }
  | { readonly kind: 'finish' }

/** From a writer, when a job is done. Times are by the monotonic clock. */
export interface WriterDone extends Admission {
  readonly startUs: number
  readonly endUs: number
}

export type WriterAnswer = WriterDone | { readonly error: string }
