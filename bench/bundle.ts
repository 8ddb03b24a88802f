import { mkdtempSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { programOptions } from '../scripts/build/bundles.mjs'

const HERE = fileURLToPath(new URL('.', import.meta.url))

/**
 * Bundles programs, named from this folder, and the threads that they read in, as the command line is:
 * packages and all, nothing to compile. They are gone when `use` is done.
 */
export async function bundle(
  sources: readonly string[],
  use: (programs: readonly string[]) => void,
): Promise<void> {
  const folder = mkdtempSync(join(HERE, '.bench-'))
  try {
    await build({
      ...programOptions(fileURLToPath(new URL('..', import.meta.url))),
      entryPoints: [...sources, '../src/traces/readers/trace-worker.ts'].map((source) =>
        join(HERE, source),
      ),
      entryNames: '[name]',
      outdir: folder,
      bundle: true,
      splitting: true,
      logLevel: 'error',
    })
    use(sources.map((source) => join(folder, basename(source).replace(/\.ts$/, '.js'))))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
