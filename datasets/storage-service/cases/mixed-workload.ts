import type { MixedWorkload } from '../client/workload.ts'

/** What the client does unless a case says otherwise. */
export const mixedWorkload: MixedWorkload = {
  kind: 'mixed',
  workers: 2,
  thinkMs: 5,
  directories: 16,
  files: 200,
  fileBlocks: { least: 1, most: 6 },
  mix: { read: 34, write: 26, commit: 4, create: 5, remove: 5, lookup: 14, getattr: 12 },
  readBytes: [4096, 16384, 32768],
  writeBytes: [4096, 16384],
  stableShare: 0.5,
  appendShare: 0.1,
  hot: { files: 0.15, reads: 0.7 },
}
