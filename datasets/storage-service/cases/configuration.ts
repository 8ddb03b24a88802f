/** How the storage nodes behave. */
export interface StorageNodeConfiguration {
  /** Processor time burnt in the write path after each disk write; 0 for none. */
  readonly writeSpinUs: number
  /** 16 KB blocks each node keeps in memory. */
  readonly cacheBlocks: number
}

/**
 * How a page of an index is spread over parts, objects of its storage node, as a code that survives the
 * loss of `parity` parts: cut into `data` stripes, and beside them as many copies (of one stripe)
 * or exclusive-or sums (of several; then one at most).
 */
export interface Distribution {
  readonly scheme: 'replication' | 'erasure'
  readonly data: number
  readonly parity: number
}

/** How the metadata server behaves. */
export interface MetadataServerConfiguration {
  /** Size of a page of a directory's index; small pages split often and make a deep index. */
  readonly pageBytes: number
  /** Pages kept in memory, of all directories together. */
  readonly pageCachePages: number
  /** The storage node that holds the pages of the directories' indexes. */
  readonly metadataNode: 'storage-meta' | 'storage-data'
  readonly distribution: Distribution
  /** Records of other files of the directory that go with every answer; 0 for none. */
  readonly prefetchFiles: number
  /** Processor time burnt before an answer to GETLAYOUT; 0 for none. */
  readonly layoutSpinUs: number
  /** Pause after a batch of the files of a directory that are listed, so that others get on. */
  readonly scanPauseMs: number
  /** Whether it holds records against their checksums, or cannot and says so; by default neither. */
  readonly checksums?: 'verified' | 'no key'
}

/** How the front end behaves. */
export interface FrontEndConfiguration {
  /** 16 KB blocks kept in memory, clean and dirty. */
  readonly cacheBlocks: number
  /** An unstable WRITE that leaves more dirty blocks than this writes some back. */
  readonly dirtyBlockLimit: number
  /** How many it then writes back. */
  readonly writeBackBatch: number
  /** Files whose attributes are kept in memory. */
  readonly attributeCacheFiles: number
  /** Replicas that hold the data of files, by name: writes go to all, reads to one of them. */
  readonly dataNodes: readonly string[]
}

/** Everything that can be set in the service. */
export interface ServiceConfiguration {
  readonly storageNodes: StorageNodeConfiguration
  readonly metadataServer: MetadataServerConfiguration
  readonly frontEnd: FrontEndConfiguration
}

/** The service as it should run; a case names what it changes. */
export const usualService: ServiceConfiguration = {
  storageNodes: { writeSpinUs: 0, cacheBlocks: 320 },
  metadataServer: {
    pageBytes: 256,
    pageCachePages: 14,
    metadataNode: 'storage-meta',
    distribution: { scheme: 'replication', data: 1, parity: 0 },
    prefetchFiles: 0,
    layoutSpinUs: 0,
    scanPauseMs: 0,
  },
  frontEnd: {
    cacheBlocks: 128,
    dirtyBlockLimit: 8,
    writeBackBatch: 4,
    attributeCacheFiles: 130,
    dataNodes: ['storage-data'],
  },
}
