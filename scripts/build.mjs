// Builds dist/ from src/. A step whose inputs have not changed is skipped.
import { createHash } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { bundleEvaluation, bundleNotices, bundlePrograms, bundleRuntime } from './build/bundles.mjs'
import { emitTypes } from './build/types.mjs'

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const STAMP = join(ROOT, 'dist', '.build.json')

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string[]} inputs files and folders whose content decides whether the step runs
 * @property {string[]} outputs files that must be there for it to be skipped
 * @property {(root: string) => Promise<unknown>} run
 */

const TOOLS = [
  'scripts/build.mjs',
  'scripts/build',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
]

/** @type {Step[]} */
const STEPS = [
  {
    name: 'library and command line',
    inputs: [...TOOLS, 'src'],
    outputs: [
      ...['dist/index.js', 'dist/index.cjs', 'dist/stats.js', 'dist/stats.cjs'],
      ...['dist/cli.js', 'dist/trace-worker.js'],
    ],
    run: bundlePrograms,
  },
  {
    name: 'evaluation',
    inputs: [...TOOLS, 'src', 'evaluation', 'datasets/hdfs-writes', 'datasets/simulated'],
    outputs: ['dist/evaluation.cjs'],
    run: bundleEvaluation,
  },
  {
    name: 'chart runtime',
    inputs: [...TOOLS, 'src/views', 'src/core'],
    outputs: ['dist/chart-runtime.cjs'],
    run: (root) =>
      bundleRuntime(root, 'src/views/notebook/chart-runtime.ts', 'dist/chart-runtime.cjs'),
  },
  {
    name: 'widget runtime',
    inputs: [...TOOLS, 'src'],
    outputs: ['dist/widget-runtime.js'],
    run: (root) =>
      bundleRuntime(root, 'src/views/widgets/page/widget-runtime.ts', 'dist/widget-runtime.js'),
  },
  {
    name: 'notices',
    inputs: [...TOOLS, 'src'],
    outputs: ['dist/THIRD-PARTY-NOTICES.txt'],
    run: bundleNotices,
  },
  {
    name: 'type declarations',
    inputs: [...TOOLS, 'src', 'evaluation'],
    outputs: ['dist/types/index.d.ts', 'dist/evaluation.d.cts'],
    run: emitTypes,
  },
]

/**
 * Brings dist/ up to date. A build that is asked for during another one of this checkout waits for it.
 *
 * @param {{ log?: (line: string) => void }} [options]
 * @returns {Promise<string[]>} the names of the steps that ran
 */
export async function build({ log = console.log } = {}) {
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  const unlock = await lock()
  try {
    return await runSteps(log)
  } finally {
    unlock()
  }
}

/** @param {(line: string) => void} log */
async function runSteps(log) {
  linkToItself()
  const tools = hashInputs(TOOLS)
  if (readStamps()['tools'] !== tools) clear()
  const stamps = { ...readStamps(), tools }
  const ran = []
  for (const step of STEPS) {
    const hash = hashInputs(step.inputs)
    const made = step.outputs.every((output) => existsSync(join(ROOT, output)))
    if (made && stamps[step.name] === hash) continue
    const start = performance.now()
    await step.run(ROOT)
    stamps[step.name] = hash
    writeFileSync(STAMP, `${JSON.stringify(stamps, null, 2)}\n`)
    log(`build: ${step.name} (${((performance.now() - start) / 1000).toFixed(1)} s)`)
    ran.push(step.name)
  }
  return ran
}

/** Removes all but the lock: what earlier steps made under other names would be packed. */
function clear() {
  const old = readdirSync(join(ROOT, 'dist')).filter((name) => name !== '.build.lock')
  for (const name of old) rmSync(join(ROOT, 'dist', name), { recursive: true })
}

/**
 * Waits until no other process builds.
 *
 * @returns {Promise<() => void>} ends the turn of this one
 */
async function lock() {
  const file = join(ROOT, 'dist', '.build.lock')
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' })
      return () => rmSync(file, { force: true })
    } catch (/** @type {any} */ error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (hasEnded(file)) rmSync(file, { force: true })
    else await delay(100)
  }
}

/**
 * Whether the process that a lock names is gone, having been killed amid a build.
 *
 * @param {string} file
 */
function hasEnded(file) {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0)
    return false
  } catch (/** @type {any} */ error) {
    return error.code === 'ESRCH'
  }
}

/** One name for the state of the built library, for whoever caches what depends on it. */
export function buildFingerprint() {
  return createHash('sha256').update(JSON.stringify(readStamps())).digest('hex')
}

/** A cell of a notebook imports the library by name: let node_modules/flowdelta be this folder. */
function linkToItself() {
  const { name } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const link = join(ROOT, 'node_modules', name)
  const target = '..'
  const there = lstatSync(link, { throwIfNoEntry: false })
  if (there?.isSymbolicLink() && ['..', ROOT, `${ROOT}/`].includes(readlinkSync(link))) return
  if (there !== undefined) rmSync(link, { recursive: true })
  symlinkSync(process.platform === 'win32' ? ROOT : target, link, 'junction')
}

/** @returns {Record<string, string>} */
function readStamps() {
  return existsSync(STAMP) ? JSON.parse(readFileSync(STAMP, 'utf8')) : {}
}

/** @param {string[]} inputs */
function hashInputs(inputs) {
  const hash = createHash('sha256')
  for (const file of inputs.flatMap((input) => filesUnder(join(ROOT, input)))) {
    hash.update(relative(ROOT, file)).update('\0').update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex')
}

/**
 * @param {string} path
 * @returns {string[]}
 */
function filesUnder(path) {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return []
  if (!stat.isDirectory()) return [path]
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesUnder(join(path, name)))
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  // What packs reads the name of the package from standard output.
  const ran = await build({ log: console.error })
  if (ran.length === 0) console.error('build: up to date')
}
