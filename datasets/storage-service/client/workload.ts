/** How often each kind of request comes, in shares of any sum. */
export interface Mix {
  readonly read: number
  readonly write: number
  readonly commit: number
  readonly create: number
  readonly remove: number
  readonly lookup: number
  readonly getattr: number
}

/**
 * A mix of requests on many files, like the SPEC SFS benchmark's: a few files take most reads,
 * writes go everywhere, new files come and old ones go.
 */
export interface MixedWorkload {
  readonly kind: 'mixed'
  /** Each sends its next request when it has the answer to the one before. */
  readonly workers: number
  /** Mean pause of a worker between an answer and its next request, exponential. */
  readonly thinkMs: number
  readonly directories: number
  /** Files there are before the first request; every file belongs to one worker. */
  readonly files: number
  /** 16 KB blocks of a file at the start, evenly between these. */
  readonly fileBlocks: { readonly least: number; readonly most: number }
  readonly mix: Mix
  /** Sizes of READs, each as likely as the other; smaller than a block, or whole blocks. */
  readonly readBytes: readonly number[]
  /** Sizes of WRITEs likewise. */
  readonly writeBytes: readonly number[]
  /** Share of WRITEs that are stable. */
  readonly stableShare: number
  /** Share of WRITEs that append to a file created during the run, if there is one. */
  readonly appendShare: number
  /** This share of the files takes that share of the READs. */
  readonly hot: { readonly files: number; readonly reads: number }
}

/** What a client can be told to drive. Each kind has its file in workloads/. */
export type Workload = MixedWorkload
