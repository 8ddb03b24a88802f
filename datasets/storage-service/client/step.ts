/** One request a workload wants sent. */
export type Step =
  | {
      readonly kind: 'read'
      readonly name: string
      readonly offset: number
      readonly count: number
    }
  | {
      readonly kind: 'write'
      readonly name: string
      readonly offset: number
      readonly count: number
      readonly stable: boolean
    }
  | {
      readonly kind: 'mkdir' | 'commit' | 'create' | 'remove' | 'lookup' | 'getattr' | 'list'
      readonly name: string
    }

/** What one worker sends. */
export interface Steps {
  /** The requests that bring this worker's files into being. */
  populate(): Iterable<Step>
  /** The next request; there is always one. */
  next(): Step
}
