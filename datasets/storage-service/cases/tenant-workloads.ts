import type { MixedWorkload, Tenant } from '../client/workload.ts'

const common: MixedWorkload = {
  kind: 'mixed',
  workers: 1,
  thinkMs: 4,
  directories: 3,
  files: 60,
  fileBlocks: { least: 8, most: 16 },
  mix: { read: 50, write: 14, commit: 2, create: 5, remove: 4, lookup: 14, getattr: 11 },
  readBytes: [16384, 65536],
  writeBytes: [16384],
  stableShare: 1,
  appendShare: 0,
  hot: { files: 0.15, reads: 0.4 },
}

/** Two tenants of one service: one reads much at once, the other mostly little. */
export const twoTenants: readonly Tenant[] = [
  { id: 'acme', workload: { ...common, readBytes: [16384, 65536, 131072] } },
  { id: 'globex', workload: { ...common, readBytes: [4096, 16384, 65536] } },
]
