import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { build } from 'esbuild'
import { noteBundled, writeNotices } from './notices.mjs'

/** CommonJS has no import.meta.url; what asks for it there gets the file's own. */
const CJS_META_URL = {
  define: { 'import.meta.url': 'importMetaUrl' },
  banner: { js: 'const importMetaUrl = require("node:url").pathToFileURL(__filename).href;' },
}

/** @type {import('esbuild').BuildOptions} */
const FOR_NODE = { platform: 'node', target: 'node20.19', packages: 'external' }

/** Packages that are loaded when a store needs them: programs that carry the rest leave them out. */
const OF_STORES = [
  '@clickhouse/client',
  'hyparquet',
  'hyparquet-compressors',
  'hyparquet-writer',
  '@duckdb/node-api',
]

/**
 * The library, its statistics on their own, and the errors that both throw: one class each, so that
 * `instanceof` holds whichever of them threw.
 *
 * @param {string} root
 */
export async function bundleLibrary(root) {
  const entries = {
    errors: 'src/core/errors.ts',
    index: 'src/index.ts',
    stats: 'src/stats/index.ts',
  }
  const bundles = Object.entries(entries).flatMap(([name, entry]) =>
    /** @type {const} */ (['esm', 'cjs']).map((format) => {
      const outfile = `dist/${name}.${format === 'esm' ? 'js' : 'cjs'}`
      return bundle(root, {
        ...FOR_NODE,
        ...(format === 'cjs' && CJS_META_URL),
        ...(name === 'index' && { sourcemap: 'linked' }),
        ...(name !== 'errors' && { plugins: [errorsBeside(root, outfile), arqueroOnDemand(root)] }),
        entryPoints: [entry],
        format,
        outfile,
      })
    }),
  )
  await Promise.all(bundles)
}

/**
 * Leaves `core/errors.ts` to the bundle of that name.
 *
 * @param {string} root
 * @param {string} outfile
 * @returns {import('esbuild').Plugin}
 */
function errorsBeside(root, outfile) {
  const errors = join(root, 'src', 'core', 'errors.ts')
  const path = `./errors${extname(outfile)}`
  return {
    name: 'errors beside',
    setup: ({ onResolve }) => {
      onResolve({ filter: /\/errors\.ts$/ }, (asked) =>
        join(asked.resolveDir, asked.path) === errors ? { path, external: true } : undefined,
      )
    },
  }
}

/**
 * Loads Arquero with the first table.
 *
 * @param {string} root
 * @param {'on-demand' | 'beside'} from where: its package, or the bundle of it beside the program
 * @returns {import('esbuild').Plugin}
 */
function arqueroOnDemand(root, from = 'on-demand') {
  const path = join(root, 'scripts', 'build', `arquero-${from}.mjs`)
  return {
    name: 'arquero on demand',
    setup: ({ onResolve }) => {
      onResolve({ filter: /\/arquero\.ts$/ }, () => ({ path }))
    },
  }
}

/**
 * The program of threads that read traces, for the library and the command line.
 *
 * @param {string} root
 */
export function bundleTraceWorker(root) {
  return bundle(root, {
    ...programOptions(root),
    entryPoints: ['src/traces/readers/trace-worker.ts'],
    outfile: 'dist/trace-worker.js',
  })
}

/**
 * How a program for Node is bundled that carries its packages with it.
 *
 * @param {string} root
 * @returns {import('esbuild').BuildOptions}
 */
export function programOptions(root) {
  return {
    ...FOR_NODE,
    packages: 'bundle',
    external: OF_STORES,
    plugins: [arqueroOnDemand(root, 'beside')],
    format: 'esm',
    // CommonJS packages ask for Node's own modules through `require`.
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module'
const require = requireFrom(import.meta.url)`,
    },
  }
}

/**
 * What notebooks import to measure flowdelta; it is not published.
 *
 * @param {string} root
 */
export function bundleEvaluation(root) {
  return bundle(root, {
    ...FOR_NODE,
    ...CJS_META_URL,
    entryPoints: ['evaluation/index.ts'],
    format: 'cjs',
    outfile: 'dist/evaluation.cjs',
  })
}

/**
 * The command line carries its packages with it: loading a hundred small files takes longer than
 * many a comparison. Each command is a chunk of its own, so that --help does not load them all, and
 * Arquero is a file that few commands load.
 *
 * @param {string} root
 */
export async function bundleCommandLine(root) {
  const program = programOptions(root)
  await bundle(root, {
    ...FOR_NODE,
    packages: 'bundle',
    entryPoints: ['arquero'],
    format: 'cjs',
    outfile: 'dist/arquero.cjs',
    legalComments: 'eof',
  })
  const chunks = await bundle(root, {
    ...program,
    entryPoints: { cli: 'src/cli/main.ts' },
    outdir: 'dist',
    splitting: true,
    chunkNames: 'cli-[name]-[hash]',
    banner: { js: `#!/usr/bin/env node\n${program.banner?.['js']}` },
    legalComments: 'eof',
  })
  const made = new Set(chunks.map((path) => basename(path)))
  const old = readdirSync(join(root, 'dist')).filter(
    (name) => /^cli-.*\.js$/.test(name) && !made.has(name),
  )
  for (const name of old) rmSync(join(root, 'dist', name))
}

/**
 * Vega for Node waits at its top level for a canvas package, which a `require` cannot. Its browser
 * side does not, and draws SVG just as well.
 *
 * @param {string} root
 */
export function bundleVegaRenderer(root) {
  return bundle(root, {
    platform: 'browser',
    target: 'node20.19',
    entryPoints: ['src/views/notebook/vega-renderer.ts'],
    format: 'cjs',
    outfile: 'dist/vega-renderer.cjs',
    minify: true,
    legalComments: 'none',
  })
}

/**
 * A script for pages.
 *
 * @param {string} root
 * @param {string} entryPoint
 * @param {string} outfile
 */
export function bundleRuntime(root, entryPoint, outfile) {
  return bundle(root, {
    platform: 'browser',
    target: 'es2022',
    entryPoints: [entryPoint],
    format: 'iife',
    outfile,
    minify: true,
    legalComments: 'none',
    charset: 'ascii',
    // Pages neither read nor write files.
    external: ['./stores/*'],
  })
}

/**
 * Writes each output in one go, so that a program that is loading it never sees half a file.
 *
 * @param {string} root
 * @param {import('esbuild').BuildOptions} options
 * @returns {Promise<string[]>} paths of the files written
 */
async function bundle(root, options) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    logLevel: 'warning',
    tsconfigRaw: {
      compilerOptions: {
        ...{ target: 'ES2022', verbatimModuleSyntax: true },
        ...{ jsx: 'react-jsx', jsxImportSource: 'preact' },
      },
    },
    ...options,
  })
  for (const { path, contents } of outputFiles ?? []) {
    const partial = `${path}.${process.pid}.partial`
    writeFileSync(partial, contents, { mode: path.endsWith('cli.js') ? 0o755 : 0o644 })
    renameSync(partial, path)
  }
  if (metafile !== undefined) noteBundled(basename(options.outfile ?? 'cli.js'), metafile)
  return (outputFiles ?? []).map(({ path }) => path)
}

/** @param {string} root */
export function bundleNotices(root) {
  writeNotices(root)
  return Promise.resolve()
}
