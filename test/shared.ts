import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, test } from 'vitest'

// Oracles and sample data are not part of the repository: they stand in a folder `shared` next
// to it, or wherever the environment variable FLOWDELTA_SHARED says.
const SHARED = sharedFolder()

function sharedFolder(): string | undefined {
  const { FLOWDELTA_SHARED: named } = process.env
  const folder = named || fileURLToPath(new URL('../../shared', import.meta.url))
  if (existsSync(folder)) return folder
  if (named)
    throw new Error(`FLOWDELTA_SHARED is ${named}, which does not exist. Correct or unset it.`)
  return undefined
}

/** The path of a file or folder in the shared folder, or undefined when it is not there. */
export function sharedFile(relativePath: string): string | undefined {
  if (SHARED === undefined) return undefined
  const path = join(SHARED, relativePath)
  return existsSync(path) ? path : undefined
}

/** The content of a JSON file in the shared folder, taken to be a `T`; throws when it is missing. */
export function sharedJson<T>(relativePath: string): T {
  const path = sharedFile(relativePath)
  if (path === undefined) {
    throw new Error(`The shared folder (${SHARED ?? 'absent'}) has no ${relativePath}.`)
  }
  return JSON.parse(readFileSync(path, 'utf8')) as T
}

/**
 * `describe` for tests that read the shared folder. Without that folder `fn` is not called; a
 * warning and a skipped test say so.
 */
export function describeWithShared(title: string, fn: () => void): void {
  if (SHARED !== undefined) {
    describe(title, fn)
    return
  }
  const notice = 'NOT RUN: needs the folder ../shared (or FLOWDELTA_SHARED)'
  console.warn(`${title}: ${notice}`)
  describe(title, () => {
    test.skip(notice, () => {})
  })
}
