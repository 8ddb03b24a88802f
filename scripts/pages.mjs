// Runs the notebooks and writes each as a page under out/. What has not changed is not run again.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { buildFingerprint } from './build.mjs'
import { indexPage, notebookPage, pageName } from './notebook-page.mjs'
import { listNotebooks, NotebookError, runNotebook } from './notebook-runner.mjs'
import { readChapter } from './notebooks/book.mjs'
import { ROOT, say } from './setup.mjs'

const OUT = join(ROOT, 'out')
const STAMP = join(OUT, '.pages.json')

/**
 * @typedef {object} Page
 * @property {string} file the page's path
 * @property {string} title
 */

/**
 * Writes a page for every notebook, and an index.
 *
 * @returns {Promise<{ pages: Page[], failures: string[] }>} failures are messages to print
 */
export async function writePages() {
  const pages = []
  const failures = []
  for (const notebook of listNotebooks()) {
    const { file, fingerprint } = pageOf(notebook)
    const stamp = readStamps()[file]
    if (stamp?.fingerprint === fingerprint && existsSync(file)) {
      pages.push({ file, title: stamp.title })
      continue
    }
    try {
      const { title } = await writePage(notebook)
      pages.push({ file, title })
    } catch (error) {
      if (!(error instanceof NotebookError)) throw error
      failures.push(error.message)
    }
  }
  const isThere = (/** @type {string} */ notebook) => existsSync(join(OUT, pageName(notebook)))
  writeFileSync(
    join(OUT, 'index.html'),
    indexPage(listNotebooks().filter(isThere).map(readChapter)),
  )
  return { pages, failures }
}

/**
 * Runs a notebook and writes its page. Fails with a `NotebookError` as `runNotebook` does.
 *
 * @param {string} notebook
 * @returns {Promise<Awaited<ReturnType<typeof runNotebook>> & { file: string }>} the run and the
 * path of its page
 */
export async function writePage(notebook) {
  const { file, fingerprint } = pageOf(notebook)
  const name = basename(notebook)
  const start = performance.now()
  const terminal = process.stdout.isTTY === true
  const clear = terminal ? '\r\u001b[K' : ''
  if (!terminal) say(`${name}: running …`)
  mkdirSync(OUT, { recursive: true })
  stamp(file, undefined)
  try {
    const run = await runNotebook(notebook, {
      onCell: (done, total) => {
        if (terminal) process.stdout.write(`\r${name}: cell ${done} of ${total} \u001b[K`)
      },
    })
    writeFileSync(file, notebookPage(run))
    stamp(file, { fingerprint, title: run.title })
    say(`${clear}${name}: done (${((performance.now() - start) / 1000).toFixed(1)} s)`)
    return { ...run, file }
  } catch (error) {
    say(`${clear}${name}: failed`)
    throw error
  }
}

/** @param {string} notebook */
function pageOf(notebook) {
  sharedPart ??= sharedFingerprint()
  return {
    file: join(OUT, pageName(notebook)),
    fingerprint: `${sharedPart} ${hash(readFileSync(notebook))}`,
  }
}

/** @type {string | undefined} */
let sharedPart

/** @returns {Record<string, { fingerprint: string, title: string } | undefined>} */
function readStamps() {
  return existsSync(STAMP) ? JSON.parse(readFileSync(STAMP, 'utf8')) : {}
}

/**
 * @param {string} file
 * @param {{ fingerprint: string, title: string } | undefined} made
 */
function stamp(file, made) {
  writeFileSync(STAMP, `${JSON.stringify({ ...readStamps(), [file]: made }, null, 2)}\n`)
}

/** Everything but its own text that a notebook's page depends on. */
function sharedFingerprint() {
  const scripts = ['notebook-page.mjs', 'notebook-runner.mjs', 'notebooks'].flatMap((name) =>
    filesUnder(join(ROOT, 'scripts', name)),
  )
  const data = filesUnder(join(ROOT, 'datasets')).map((file) => {
    const { size, mtimeMs } = statSync(file)
    return `${file} ${size} ${mtimeMs}`
  })
  return hash(
    [buildFingerprint(), ...scripts.map((file) => readFileSync(file, 'utf8')), ...data].join('\n'),
  )
}

/**
 * @param {string} path
 * @returns {string[]}
 */
function filesUnder(path) {
  if (!existsSync(path)) return []
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesUnder(join(path, name)))
}

/** @param {string | Buffer} content */
function hash(content) {
  return createHash('sha256').update(content).digest('hex')
}
