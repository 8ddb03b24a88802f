import { rmSync } from 'node:fs'
import { build } from '../scripts/build.mjs'
import { FOLDER_OF_RUN, temporaryFolder } from './temporary-folder.ts'

/** Notebooks, charts and type contracts use the built library; let it be the current one. */
export async function setup(): Promise<() => void> {
  await build()
  const folder = temporaryFolder()
  process.env[FOLDER_OF_RUN] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
