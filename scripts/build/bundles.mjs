import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'esbuild'
import { noteBundled, writeNotices } from './notices.mjs'

/** CommonJS has no import.meta.url; what asks for it there gets the file's own. */
const CJS_META_URL = {
  define: { 'import.meta.url': 'importMetaUrl' },
  banner: { js: 'const importMetaUrl = require("node:url").pathToFileURL(__filename).href;' },
}

/**
 * Small, as all of it is in the package; functions and classes keep their names for messages, and lines
 * stay short, as Node prints the line that threw.
 *
 * @type {import('esbuild').BuildOptions}
 */
const FOR_NODE = {
  platform: 'node',
  target: 'node20.19',
  packages: 'external',
  minify: true,
  keepNames: true,
  lineLimit: 120,
}

/** Packages that are loaded when a store, a table or an agent needs them. */
const ON_DEMAND = [
  '@clickhouse/client',
  '@duckdb/node-api',
  '@modelcontextprotocol/server',
  'arquero',
  'hyparquet',
  'hyparquet-compressors',
  'hyparquet-writer',
]

/**
 * How a program for Node is bundled that carries its packages with it: loading a hundred small files
 * takes longer than many a comparison.
 *
 * @param {string} root
 * @returns {import('esbuild').BuildOptions}
 */
export function programOptions(root) {
  const path = join(root, ARQUERO_ON_DEMAND)
  return {
    ...FOR_NODE,
    packages: 'bundle',
    external: ON_DEMAND,
    plugins: [
      replacing('arquero on demand', /\/arquero\.ts$/, () => ({ path })),
      builtins,
      leavingOut('d3-transition'),
    ],
    format: 'esm',
  }
}

const ARQUERO_ON_DEMAND = 'scripts/build/arquero-on-demand.mjs'

/**
 * What needs Node, by the name of its file in `dist`; `imports` in package.json says what bundlers
 * for browsers take instead.
 */
const NODE_ONLY = {
  arquero: ARQUERO_ON_DEMAND,
  connect: 'src/views/notebook/connect.ts',
  'open-file': 'src/traces/readers/open-file.ts',
  ...Object.fromEntries(
    ['clickhouse', 'duckdb', 'jaeger', 'save-otlp', 'save-parquet', 'tempo'].map((name) => [
      name,
      `src/traces/stores/${name}.ts`,
    ]),
  ),
}

/** What pages have instead. */
const IN_PAGES = {
  arquero: 'src/core/arquero.ts',
  connect: 'src/views/widgets/page/connect-page.ts',
  'open-file': 'src/traces/readers/fetch-file.ts',
  'no-store': 'src/traces/stores/no-store.ts',
}

/**
 * @param {string} name
 * @param {RegExp} filter
 * @param {(asked: import('esbuild').OnResolveArgs) => import('esbuild').OnResolveResult | undefined} resolve
 * @returns {import('esbuild').Plugin}
 */
function replacing(name, filter, resolve) {
  return { name, setup: ({ onResolve }) => onResolve({ filter }, resolve) }
}

/**
 * Asks for Node's own modules as an ES module can: Commander is CommonJS and has no `require` there.
 *
 * @type {import('esbuild').Plugin}
 */
const builtins = {
  name: 'builtins',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]commander[\\/]lib[\\/]/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(
        /\brequire\('(node:[^']+)'\)/g,
        "globalThis.process.getBuiltinModule('$1')",
      ),
    })),
}

/**
 * The library, its statistics on their own, the command line, and the threads in which both read
 * traces. What several of them need is there once: `instanceof` holds for an error whichever of them
 * threw it. Each command is a chunk of its own, so that --help does not load them all; so is what
 * needs Node, so that bundlers for browsers can leave it out.
 *
 * @param {string} root
 */
export async function bundlePrograms(root) {
  const libraries = { index: 'src/index.ts', stats: 'src/stats/index.ts' }
  const nameOf = new Map([
    ...Object.entries(NODE_ONLY).map(([name, path]) => [join(root, path), name]),
    [join(root, IN_PAGES.arquero), 'arquero'],
  ])
  const beside = replacing('what needs Node beside the rest', /\.ts$/, (asked) => {
    const name = nameOf.get(join(asked.resolveDir, asked.path))
    // A store may use another's definitions: only what asks for a whole store can do without.
    const isWhole = asked.kind === 'dynamic-import' || name === 'arquero' || name === 'connect'
    if (name === undefined || !isWhole || asked.kind === 'entry-point') return undefined
    return { path: `#node/${name}`, external: true }
  })
  /** @param {string} place @param {Record<string, string>} files */
  const named = (place, files) =>
    Object.fromEntries(Object.entries(files).map(([name, path]) => [`${place}-${name}`, path]))
  const chunks = await bundle(root, {
    ...programOptions(root),
    sourcemap: 'linked',
    external: [...ON_DEMAND, 'vega', 'vega-embed', 'vega-lite'],
    plugins: [beside, builtins, leavingOut('d3-transition')],
    entryPoints: {
      ...libraries,
      cli: 'src/cli/main.ts',
      'trace-worker': 'src/traces/readers/trace-worker.ts',
      ...named('node', NODE_ONLY),
      ...named('page', IN_PAGES),
    },
    outdir: 'dist',
    splitting: true,
    chunkNames: 'part-[name]-[hash]',
    legalComments: 'eof',
  })
  removeOthers(root, /^(part|node|page)-.*\.js(\.map)?$/, chunks)
  for (const name of Object.keys(libraries)) {
    // Every Node that is supported can require an ES module: one copy of each class for both.
    writeFileSync(join(root, 'dist', `${name}.cjs`), `module.exports = require('./${name}.js')\n`)
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
 * Removes what an earlier build made under other names.
 *
 * @param {string} root
 * @param {RegExp} names
 * @param {string[]} paths what this build made
 */
function removeOthers(root, names, paths) {
  const made = new Set(paths.map((path) => basename(path)))
  const old = readdirSync(join(root, 'dist')).filter((name) => names.test(name) && !made.has(name))
  for (const name of old) rmSync(join(root, 'dist', name))
}

/** What stands for modules whose code nothing reaches. */
const LEFT_OUT = {
  // Widgets hold tables and derive none by expressions, for which Arquero brings a parser of JavaScript.
  acorn: `export function parse() { throw Error('Widgets read no expressions.') }`,
  // Nothing glides while it is zoomed; d3-zoom only asks to stop that.
  'd3-transition': `import { selection } from 'd3-selection'
selection.prototype.interrupt = function () { return this }
export function interrupt() {}`,
}

/**
 * Leaves out what nothing reaches.
 *
 * @param {readonly (keyof typeof LEFT_OUT)[]} names
 * @returns {import('esbuild').Plugin}
 */
function leavingOut(...names) {
  return {
    name: 'left out',
    setup: ({ onResolve, onLoad }) => {
      const filter = new RegExp(`^(${names.join('|')})$`)
      onResolve({ filter }, ({ path }) => ({ path, namespace: 'left-out' }))
      onLoad({ filter: /./, namespace: 'left-out' }, ({ path }) => ({
        contents: LEFT_OUT[/** @type {keyof typeof LEFT_OUT} */ (path)],
        resolveDir: import.meta.dirname,
      }))
    },
  }
}

/**
 * Leaves out what makes the data of a widget, a function that its definition names: pages get the data.
 *
 * @type {import('esbuild').Plugin}
 */
const dataAlone = {
  name: 'data alone',
  setup: ({ onLoad }) => {
    onLoad({ filter: /-widget\.tsx?$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/^ {2}data: \w+,$/m, ''),
      loader: 'tsx',
    }))
  },
}

/**
 * A script for pages. That of charts also draws for Node: on this side Vega waits for no canvas
 * package at its top level, and draws SVG just as well.
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
    // That of charts is CommonJS to Node.
    logOverride: { 'commonjs-variable-in-esm': 'silent' },
    // Pages neither read nor write files.
    external: ['./stores/*'],
    plugins: [leavingOut('acorn', 'd3-transition'), dataAlone],
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
  for (const { path, contents, text } of outputFiles ?? []) {
    const partial = `${path}.${process.pid}.partial`
    writeFileSync(
      partial,
      options.keepNames && path.endsWith('js') ? withoutArrowNames(text) : contents,
    )
    renameSync(partial, path)
  }
  const [first = ''] = Object.keys(options.entryPoints ?? {})
  if (metafile !== undefined) noteBundled(basename(options.outfile ?? `${first}.js`), metafile)
  return (outputFiles ?? []).map(({ path }) => path)
}

/**
 * Leaves arrow functions unnamed. esbuild's helper would name an inner one on each run of the function
 * around it, which took a fortieth of a comparison's time.
 *
 * @param {string} code
 */
function withoutArrowNames(code) {
  return code.replace(
    /\((\w+),(\w+)\)=>(\w+\(\1,"name",\{value:\2,configurable:!0\}\))/,
    '($1,$2)=>$1.prototype||$1.constructor!==Function?$3:$1',
  )
}

/** @param {string} root */
export function bundleNotices(root) {
  writeNotices(root)
  return Promise.resolve()
}
