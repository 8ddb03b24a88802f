/** What every workload says. */
interface AnyWorkload {
  /** Each sends its next request when it has the answer to the one before. */
  readonly workers: number
  /** Mean pause of a worker between an answer and its next request, exponential. */
  readonly thinkMs: number
  /** A longer pause before one in so many requests; without it, there is none. */
  readonly pauses?: { readonly everyRequests: number; readonly pauseMs: number }
  readonly directories: number
}

/** Several tenants, each with a workload and workers of its own. */
export interface TenantsWorkload extends AnyWorkload {
  readonly kind: 'tenants'
  readonly tenants: readonly Tenant[]
}

/** One of those who share the service; its requests carry its id as baggage. */
export interface Tenant {
  readonly id: string
  readonly workload: Exclude<Workload, TenantsWorkload>
  /** Its workers start when all together have sent so many requests. */
  readonly startsAfter?: number
}

/** One directory after the other listed, again and again. */
export interface ListingWorkload extends AnyWorkload {
  readonly kind: 'listing'
  /** Number of the first directory that is listed; those up to `directories` follow. */
  readonly firstDirectory: number
  /** Files that each of them gets before the first request. */
  readonly files: number
}

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
export interface MixedWorkload extends AnyWorkload {
  readonly kind: 'mixed'
  /** Some READs may fail; everything else must be answered. */
  readonly mayFail?: boolean
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

/**
 * Transactions on a pool of small files, like the PostMark benchmark's: each is a file read whole
 * or appended to, and another created or removed. Files are opened (LOOKUP) and closed (COMMIT).
 */
export interface PostmarkWorkload extends AnyWorkload {
  readonly kind: 'postmark'
  /** Files there are before the first request; every file belongs to one worker. */
  readonly files: number
  /** Size of a new file and of what is appended, evenly between these. */
  readonly fileBytes: { readonly least: number; readonly most: number }
}

/** PostMark's first phase: nothing but CREATEs, of names in no order. */
export interface CreationWorkload extends AnyWorkload {
  readonly kind: 'creation'
}

/**
 * A source tree that is unpacked and built, package by package: sources are written, and then
 * each is compiled, which opens it and some headers and writes an object file.
 */
export interface SourceBuildWorkload extends AnyWorkload {
  readonly kind: 'source-build'
  /** Headers there are before the first request, in the directories evenly. */
  readonly headers: number
  readonly headerBytes: number
  readonly sourcesPerPackage: number
  /** Size of a source and of its object file, evenly between these. */
  readonly sourceBytes: { readonly least: number; readonly most: number }
  readonly headersPerSource: number
}

/** A file written, rewritten, read and read again from its start to its end, like IoZone's. */
export interface SequentialWorkload extends AnyWorkload {
  readonly kind: 'sequential'
  /** Size of a READ and of a WRITE. */
  readonly recordBytes: number
  /** From the start of one record to that of the next. */
  readonly strideBytes: number
  /** Records of the file. */
  readonly records: number
}

/** What a client can be told to drive. Each kind has its file in workloads/. */
export type Workload =
  | MixedWorkload
  | PostmarkWorkload
  | CreationWorkload
  | SourceBuildWorkload
  | SequentialWorkload
  | ListingWorkload
  | TenantsWorkload
