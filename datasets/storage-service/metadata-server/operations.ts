import type { FileRecord } from './page.ts'

/** What the metadata server offers. A name is a path: directory, slash, file; a directory's is the directory. */
export interface MetadataServerOperations {
  'MDS LOOKUP': { args: { name: string }; result: { record?: FileRecord } }
  /** What has to be known of a file before its data can be reached on the data storage node. */
  'MDS GETLAYOUT': { args: { name: string }; result: { record?: FileRecord } }
  'MDS MKDIR': { args: { name: string }; result: object }
  'MDS CREATE': { args: { name: string }; result: { record: FileRecord } }
  'MDS SETATTR': { args: { name: string; sizeBytes: number }; result: { record: FileRecord } }
  'MDS REMOVE': { args: { name: string }; result: { removed: boolean } }
}
