// npm run notebooks: runs notebooks without Jupyter or Python, see runNotebook.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { contents, readChapter } from './notebooks/book.mjs'
import { startKernel } from './notebooks/kernel.mjs'
import { OutputCollector } from './notebooks/outputs.mjs'
import { readArguments } from './setup.mjs'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const KERNELSPEC = join(ROOT, 'notebooks', 'kernels', 'flowdelta')

/** What tslab prints to stderr when something went wrong that its status does not tell. */
const UNHANDLED = /^(UnhandledPromiseRejection|UncaughtException):/m
const DIAGNOSTIC = /^(\S+ )?\d+:\d+ - /m

/** How long after the last cell a promise may still be rejected unnoticed, in milliseconds. */
const LATE_MS = 150

/**
 * @typedef {object} ExecutedCell
 * @property {'markdown' | 'code' | 'raw'} type
 * @property {string} source
 * @property {import('./notebooks/outputs.mjs').Output[]} outputs
 * @property {number | null} executionCount
 */

/** A cell failed, or the kernel did: `message` names notebook, cell, source and what was printed. */
export class NotebookError extends Error {
  name = 'NotebookError'
}

/**
 * Runs the cells of a notebook in order, in its own folder. Fails with a `NotebookError` when a
 * cell does not compile, throws, takes too long, or leaves a rejected promise behind.
 *
 * @param {string} path
 * @param {object} [options]
 * @param {number} [options.timeoutMs] for one cell; default 2 minutes
 * @param {Record<string, string>} [options.env] added to the kernel's environment
 * @param {(done: number, total: number) => void} [options.onCell] called after each code cell
 * @returns {Promise<{ path: string, title: string, cells: ExecutedCell[] }>}
 */
export async function runNotebook(path, { timeoutMs = 120_000, env, onCell } = {}) {
  const cells = readCells(path)
  const kernel = await startKernel({
    kernelspec: KERNELSPEC,
    cwd: dirname(resolve(path)),
    ...(env && { env }),
  })
  try {
    await runCells(kernel, path, cells, { timeoutMs, onCell })
  } finally {
    await kernel.stop()
  }
  return { path, title: titleOf(path, cells), cells }
}

/**
 * @param {import('./notebooks/kernel.mjs').Kernel} kernel
 * @param {string} path
 * @param {ExecutedCell[]} cells
 * @param {{ timeoutMs: number, onCell: ((done: number, total: number) => void) | undefined }} options
 */
async function runCells(kernel, path, cells, { timeoutMs, onCell }) {
  const collector = new OutputCollector()
  const code = cells.filter((cell) => cell.type === 'code' && cell.source.trim() !== '')
  for (const [index, cell] of code.entries()) {
    const { status, messages } = await kernel.execute(cell.source, timeoutMs)
    collector.collect(messages, cell.outputs)
    cell.executionCount = index + 1
    const problem = problemOf(cell, status, timeoutMs)
    if (problem !== undefined) throw failure(path, cells, cell, problem, kernel.log())
    onCell?.(index + 1, code.length)
  }
  const last = code.at(-1)
  if (last === undefined) return
  await new Promise((later) => setTimeout(later, LATE_MS))
  collector.collect(kernel.late(), last.outputs)
  const problem = problemOf(last, 'ok', timeoutMs)
  if (problem !== undefined) throw failure(path, cells, last, problem, kernel.log())
}

/**
 * @param {ExecutedCell} cell
 * @param {string} status
 * @param {number} timeoutMs
 * @returns {string | undefined}
 */
function problemOf({ outputs }, status, timeoutMs) {
  const stderr = printed(outputs)
  if (status === 'timeout') return `did not end within ${timeoutMs / 1000} s`
  if (status === 'died') return 'ended the kernel'
  if (UNHANDLED.test(stderr)) return 'or one before it left a rejected promise behind'
  if (DIAGNOSTIC.test(stderr)) return 'does not compile'
  return status === 'ok' ? undefined : 'threw an error'
}

/**
 * @param {string} path
 * @param {ExecutedCell[]} cells
 * @param {ExecutedCell} cell
 * @param {string} problem
 * @param {string} log
 */
function failure(path, cells, cell, problem, log) {
  const number = cells.indexOf(cell) + 1
  const excerpt = cell.source.split('\n').slice(0, 12)
  const said = `${printed(cell.outputs)}${log}`.trim()
  return new NotebookError(
    [
      `${relative(process.cwd(), path) || path}, cell ${number} ${problem}.`,
      ...excerpt.map((line) => `  | ${line}`),
      said,
    ].join('\n'),
  )
}

/** @param {import('./notebooks/outputs.mjs').Output[]} outputs */
function printed(outputs) {
  return outputs
    .filter(({ output_type, name }) => output_type === 'stream' && name === 'stderr')
    .map(({ text }) => text)
    .join('')
}

/**
 * @param {string} path
 * @returns {ExecutedCell[]}
 */
function readCells(path) {
  const { cells } = JSON.parse(readFileSync(path, 'utf8'))
  return cells.map((/** @type {{ cell_type: any, source: string | string[] }} */ cell) => ({
    type: cell.cell_type,
    source: [cell.source].flat().join(''),
    outputs: [],
    executionCount: null,
  }))
}

/**
 * @param {string} path
 * @param {ExecutedCell[]} cells
 */
function titleOf(path, cells) {
  const heading = cells
    .filter((cell) => cell.type === 'markdown')
    .map((cell) => /^#\s+(.+)$/m.exec(cell.source)?.[1])
    .find((text) => text !== undefined)
  return heading ?? basename(path, '.ipynb')
}

/**
 * Writes the outputs of a run into its notebook, so that the same run gives the same file.
 *
 * @param {{ path: string, cells: ExecutedCell[] }} run
 */
export function writeOutputs({ path, cells }) {
  const notebook = JSON.parse(readFileSync(path, 'utf8'))
  notebook.cells.forEach((/** @type {Record<string, any>} */ cell, /** @type {number} */ index) => {
    cell.id ??= `cell-${String(index + 1).padStart(2, '0')}`
    cell.metadata = {}
    if (cell.cell_type !== 'code') return
    const { outputs, executionCount } = cells[index] ?? { outputs: [], executionCount: null }
    cell.execution_count = executionCount
    cell.outputs = outputs.map(storedOutput)
  })
  notebook.nbformat = 4
  notebook.nbformat_minor = 5
  writeFileSync(path, `${JSON.stringify(sortKeys(notebook), null, 1)}\n`)
}

/** Text as nbformat stores it: a list of lines. */
function storedOutput(/** @type {import('./notebooks/outputs.mjs').Output} */ output) {
  const { text, data, ...rest } = output
  return {
    ...rest,
    ...(text !== undefined && { text: lines(text) }),
    ...(data !== undefined && {
      data: Object.fromEntries(
        Object.entries(data).map(([mime, value]) => [
          mime,
          typeof value === 'string' ? lines(value) : value,
        ]),
      ),
    }),
    ...(output.output_type === 'execute_result' && { execution_count: null }),
  }
}

function lines(/** @type {string} */ text) {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** @returns {unknown} */
function sortKeys(/** @type {unknown} */ value) {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sortKeys(inner)]),
  )
}

/** The notebooks of this repository, in order. */
export function listNotebooks() {
  return readdirSync(join(ROOT, 'notebooks'))
    .filter((name) => name.endsWith('.ipynb'))
    .sort()
    .map((name) => join(ROOT, 'notebooks', name))
}

const HELP = `npm run notebooks -- [notebook.ipynb …]
                  runs notebooks, all of them by default, and stops at the first cell that fails

  --write         writes what their cells print into them
  --help          this text`

async function main() {
  const { values, positionals } = await readArguments(HELP, {
    options: { write: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const { build } = await import('./build.mjs')
  await build()
  const env = values.write ? { FLOWDELTA_STATIC: '1' } : {}
  for (const path of positionals.length > 0 ? positionals : listNotebooks()) {
    const start = performance.now()
    const run = await runNotebook(path, { env })
    if (values.write) {
      writeOutputs(run)
      writeFileSync(
        join(ROOT, 'notebooks', 'README.md'),
        contents(listNotebooks().map(readChapter)),
      )
    }
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    console.log(
      `${relative(process.cwd(), path)}: ${values.write ? 'written' : 'runs'} (${seconds} s)`,
    )
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main().catch((error) => {
    console.error(error instanceof NotebookError ? error.message : error)
    process.exitCode = 1
  })
}
