import type { FileRecord } from './page.ts'

/** A file's record with its path. */
export interface NamedRecord {
  readonly name: string
  readonly record: FileRecord
}

/** Records of other files that the front end did not ask for but may want next. */
export interface WithPrefetched {
  readonly prefetched: readonly NamedRecord[]
}

/** What the metadata server offers. A name is a path: directory, slash, file; a directory's is the directory. */
export interface MetadataServerOperations {
  'MDS LOOKUP': { args: { name: string }; result: { record?: FileRecord } & WithPrefetched }
  /** What has to be known of a file before its data can be reached on the data storage node. */
  'MDS GETLAYOUT': { args: { name: string }; result: { record?: FileRecord } & WithPrefetched }
  'MDS MKDIR': { args: { name: string }; result: object }
  'MDS CREATE': { args: { name: string }; result: { record: FileRecord } & WithPrefetched }
  'MDS SETATTR': {
    args: { name: string; sizeBytes: number }
    result: { record: FileRecord } & WithPrefetched
  }
  /** How many files a directory has, each looked up. */
  'MDS READDIR': { args: { name: string }; result: { entries: number } }
  'MDS REMOVE': { args: { name: string }; result: { removed: boolean } }
}
