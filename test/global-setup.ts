import { build } from '../scripts/build.mjs'

/** Notebooks, charts and type contracts use the built library; let it be the current one. */
export async function setup(): Promise<void> {
  await build()
}
