import type { MixedWorkload } from '../client/workload.ts'

/**
 * Many sizes, and files of which only a part is in memory, so that there are many ways for a
 * request to find some blocks there and others not. One worker only, so that nothing but the
 * service itself takes the processors, and both periods' requests are the same to the last cache
 * hit.
 */
export const sfsWorkload: MixedWorkload = {
  kind: 'mixed',
  workers: 1,
  thinkMs: 2,
  directories: 6,
  files: 70,
  fileBlocks: { least: 1, most: 16 },
  mix: { read: 26, write: 34, commit: 5, create: 6, remove: 6, lookup: 12, getattr: 11 },
  readBytes: [4096, 16384, 65536, 131072],
  writeBytes: [4096, 16384, 32768],
  stableShare: 0.6,
  appendShare: 0.1,
  hot: { files: 0.15, reads: 0.4 },
}
