// Runs the notebooks and writes each as a page under out/. What has not changed is not run again.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { buildFingerprint } from './build.mjs'
import { indexPage, notebookPage } from './notebook-page.mjs'
import { listNotebooks, NotebookError, runNotebook } from './notebook-runner.mjs'
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
  mkdirSync(OUT, { recursive: true })
  /** @type {Record<string, { fingerprint: string, title: string }>} */
  const stamps = existsSync(STAMP) ? JSON.parse(readFileSync(STAMP, 'utf8')) : {}
  const shared = sharedFingerprint()
  const pages = []
  const failures = []
  for (const notebook of listNotebooks()) {
    const file = join(OUT, `${basename(notebook, '.ipynb')}.html`)
    const fingerprint = `${shared} ${hash(readFileSync(notebook))}`
    if (stamps[file]?.fingerprint !== fingerprint || !existsSync(file)) {
      delete stamps[file]
      const result = await writePage(notebook, file)
      if (typeof result === 'string') failures.push(result)
      else stamps[file] = { fingerprint, title: result.title }
    }
    if (stamps[file]) pages.push({ file, title: stamps[file].title })
  }
  writeFileSync(STAMP, `${JSON.stringify(stamps, null, 2)}\n`)
  writeIndex(pages)
  return { pages, failures }
}

/**
 * @param {string} notebook
 * @param {string} file
 * @returns {Promise<{ title: string } | string>} the message, if the notebook fails
 */
async function writePage(notebook, file) {
  const name = basename(notebook)
  const start = performance.now()
  const terminal = process.stdout.isTTY === true
  if (!terminal) say(`${name}: running …`)
  try {
    const run = await runNotebook(notebook, {
      onCell: (done, total) => {
        if (terminal) process.stdout.write(`\r${name}: cell ${done} of ${total} \u001b[K`)
      },
    })
    writeFileSync(file, notebookPage(run))
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    say(`${terminal ? '\r\u001b[K' : ''}${name}: done (${seconds} s)`)
    return run
  } catch (error) {
    if (!(error instanceof NotebookError)) throw error
    say(`${terminal ? '\r\u001b[K' : ''}${name}: failed`)
    return error.message
  }
}

/** @param {Page[]} pages */
function writeIndex(pages) {
  const links = pages.map(({ file, title }) => ({ file: basename(file), title }))
  writeFileSync(join(OUT, 'index.html'), indexPage(links))
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
