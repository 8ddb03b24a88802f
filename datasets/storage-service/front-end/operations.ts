import type { FileRecord } from '../metadata-server/page.ts'

/** What the front end offers: a few procedures of NFS version 3 (RFC 1813), by name, not handle. */
export interface FrontEndOperations {
  'NFS3 GETATTR': { args: { name: string }; result: { record: FileRecord } }
  'NFS3 LOOKUP': { args: { name: string }; result: { record: FileRecord } }
  /** Every file of a directory with its record; only their number is sent back. */
  'NFS3 READDIRPLUS': { args: { name: string }; result: { entries: number } }
  'NFS3 MKDIR': { args: { name: string }; result: object }
  'NFS3 CREATE': { args: { name: string }; result: { record: FileRecord } }
  'NFS3 REMOVE': { args: { name: string }; result: object }
  /** Up to `count` bytes from `offset`; fewer where the file ends. */
  'NFS3 READ': { args: { name: string; offset: number; count: number }; result: object }
  /** A stable write has reached the storage node when it is answered; another waits for COMMIT. */
  'NFS3 WRITE': { args: { name: string; offset: number; stable: boolean }; result: object }
  'NFS3 COMMIT': { args: { name: string }; result: object }
}
