import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Returns the path of a file or folder in the folder `shared` next to the repository, or wherever
 * the environment variable FLOWDELTA_SHARED says; `null` when it is not there.
 */
export function sharedData(relativePath: string): string | null {
  const { FLOWDELTA_SHARED: named } = process.env
  const folder = named || fileURLToPath(new URL('../../../shared', import.meta.url))
  const path = join(folder, relativePath)
  return existsSync(path) ? path : null
}

/** Which cases of a list are taken; `null` for all. */
export type Half = 'even' | 'odd' | null

/**
 * Returns every second case of each group, the first of each for `'even'`: what is fixed on one half
 * can be checked on the other.
 */
export function halfOf<Case>(
  cases: readonly Case[],
  half: Half,
  group: (one: Case) => string,
): Case[] {
  const counts = new Map<string, number>()
  return cases.filter((one) => {
    const place = counts.get(group(one)) ?? 0
    counts.set(group(one), place + 1)
    return half === null || place % 2 === (half === 'even' ? 0 : 1)
  })
}
