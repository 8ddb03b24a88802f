// One run of a notebook the way Jupyter itself does it: jupyter nbconvert with our kernelspec.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DEBIAN_JUPYTER, jupyterEnvironment } from './jupyter.mjs'
import { findProgram, installDebianPackages, isRoot, run } from './setup.mjs'

/**
 * Executes `notebook` with nbconvert.
 *
 * @param {string} notebook
 * @returns {Promise<string | undefined>} why it was skipped
 */
export async function checkWithNbconvert(notebook) {
  const options = { purpose: 'to run a notebook with nbconvert', yes: isRoot() }
  const found =
    findNbconvert() ?? ((await installDebianPackages(DEBIAN_JUPYTER, options)) && findNbconvert())
  if (!found) return 'no jupyter nbconvert here, and it could not be installed'
  const folder = mkdtempSync(join(tmpdir(), 'flowdelta-nbconvert-'))
  try {
    const args = [
      '--to',
      'notebook',
      '--execute',
      '--log-level=WARN',
      '--output-dir',
      folder,
      notebook,
    ]
    const status = await run(found, args, { env: jupyterEnvironment() })
    if (status !== 0)
      throw new Error(`nbconvert ended with status ${status} on ${basename(notebook)}`)
    checkOutputs(join(folder, basename(notebook)))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function findNbconvert() {
  return findProgram('jupyter-nbconvert')
}

/** nbconvert does not look at what a cell prints; a rejected promise would go unnoticed. */
function checkOutputs(/** @type {string} */ file) {
  const { cells } = JSON.parse(readFileSync(file, 'utf8'))
  const outputs = cells.flatMap((/** @type {{ outputs?: object[] }} */ cell) => cell.outputs ?? [])
  if (outputs.length === 0)
    throw new Error(`${basename(file)}: nbconvert ran it and no cell has an output`)
  const wrong = JSON.stringify(outputs).match(
    /(UnhandledPromiseRejection|UncaughtException):[^"]{0,300}/,
  )
  if (wrong) throw new Error(`${basename(file)}: ${wrong[0]}`)
}
