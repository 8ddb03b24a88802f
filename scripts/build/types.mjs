import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { reachableDeclarations } from './reachable-declarations.mjs'

/** Folders that have declarations, and theirs below dist. */
const FOLDERS = { src: 'types', evaluation: 'evaluation-types' }

/** Imports of sources (`./x.ts`) as a reader of declarations resolves them (`./x.js`). */
const SOURCE_IMPORT = /((?:from|import)\s*\(?\s*["'])(\.\.?\/[^"']+)\.tsx?(["'])/g

/** Typed arrays and views have been generic since TypeScript 5.7; tslab's compiler is older. */
const GENERIC_TYPED_ARRAY =
  /\b(DataView|(?:Big)?(?:Int|Uint|Float)\d+(?:Clamped)?Array)<ArrayBuffer(?:Like)?>/g

/**
 * Writes type declarations that TypeScript 5.0 with `moduleResolution: Node10` can read. Types are
 * checked by `npm test`, not here.
 *
 * @param {string} root
 */
export async function emitTypes(root) {
  const config = join(root, 'dist', 'tsconfig.types.json')
  const partial = join(root, 'dist', `types.${process.pid}.partial`)
  writeFileSync(config, JSON.stringify(typesConfig(partial)))
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', config], {
    cwd: root,
    encoding: 'utf8',
  })
  rmSync(config)
  if (status !== 0) {
    rmSync(partial, { recursive: true, force: true })
    throw new Error(`The type declarations could not be written:\n${stdout}${stderr}`)
  }
  for (const file of declarationFiles(partial)) rewrite(file)
  // For those who require the library; ES modules can import declarations of CommonJS as well.
  writeFileSync(join(partial, 'src', 'package.json'), '{ "type": "commonjs" }\n')
  for (const [folder, name] of Object.entries(FOLDERS)) {
    rmSync(join(root, 'dist', name), { recursive: true, force: true })
    renameSync(join(partial, folder), join(root, 'dist', name))
  }
  rmSync(partial, { recursive: true })
  keepReachable(join(root, 'dist', FOLDERS.src), [
    ...['index.d.ts', 'stats/index.d.ts'],
    join('..', FOLDERS.evaluation, 'index.d.ts'),
  ])
  const evaluation = `export * from './${FOLDERS.evaluation}/index.js'\n`
  writeFileSync(join(root, 'dist', 'evaluation.d.cts'), evaluation)
}

/** @param {string} outDir */
function typesConfig(outDir) {
  return {
    extends: '../tsconfig.json',
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      noCheck: true,
      stripInternal: true,
      rootDir: '..',
      outDir,
    },
    include: ['../src', '../evaluation'],
  }
}

/** @param {string} folder */
function declarationFiles(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.d.ts'))
    .map((name) => join(folder, name))
}

/**
 * Leaves the declarations that entries need: a third of the text goes, which every cell of a notebook
 * would have to read.
 *
 * @param {string} folder
 * @param {string[]} entries
 */
function keepReachable(folder, entries) {
  const kept = reachableDeclarations(entries.map((entry) => join(folder, entry)))
  for (const [file, text] of kept) writeFileSync(file, text)
  for (const file of declarationFiles(folder)) if (!kept.has(file)) rmSync(file)
}

/** @param {string} file */
function rewrite(file) {
  const text = readFileSync(file, 'utf8')
    .replace(SOURCE_IMPORT, '$1$2.js$3')
    .replace(GENERIC_TYPED_ARRAY, '$1')
    .replaceAll('../src/', `../${FOLDERS.src}/`)
  writeFileSync(file, text)
}
