import { accessSync, constants } from 'node:fs'
import { tmpdir } from 'node:os'
import { env } from 'node:process'

const IN_MEMORY = '/dev/shm'

/**
 * Where the storage nodes keep their files: the folder that TMPDIR names, else one in memory where
 * the system has that, so that no other program's disk traffic gets into the timings.
 */
export function scratchDirectory(): string {
  if (env['TMPDIR'] !== undefined) return tmpdir()
  try {
    accessSync(IN_MEMORY, constants.W_OK)
    return IN_MEMORY
  } catch {
    return tmpdir()
  }
}
