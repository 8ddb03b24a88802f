// npm test: everything that is checked, from whatever state the clone is in.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkNode, ensureBuild, ensureDependencies, ROOT, run, say } from './setup.mjs'

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

/** @type {[name: string, run: () => Promise<Counts>][]} */
const STEPS = [
  ['npm packages', () => onePass(ensureDependencies)],
  ['type check', () => program(['typescript', 'bin', 'tsc'], ['--noEmit'])],
  ['lint', () => program(['@biomejs', 'biome', 'bin', 'biome'], ['check'])],
  ['build', () => onePass(ensureBuild)],
  ['Chromium', chromium],
  ['unit, oracle, widget and notebook tests', vitest],
  ['nbconvert', nbconvert],
  ['browser', browser],
]

async function main() {
  const totals = { passed: 0, failed: 0, skipped: 0 }
  for (const [name, step] of STEPS) {
    say(`\n── ${name}`)
    const start = performance.now()
    const counts = await step().catch((error) => {
      say(error?.message ?? String(error))
      return { passed: 0, failed: 1, skipped: 0 }
    })
    totals.passed += counts.passed
    totals.failed += counts.failed
    totals.skipped += counts.skipped
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    say(`── ${name}: ${counts.failed > 0 ? 'failed' : 'done'} (${seconds} s)`)
    if (counts.failed > 0) break
  }
  const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : ''
  process.exitCode = totals.failed > 0 ? 1 : 0
  say(`\n${totals.passed} passed, ${totals.failed} failed${skipped}`)
}

/**
 * @param {() => Promise<unknown>} step fails by throwing
 * @returns {Promise<Counts>}
 */
async function onePass(step) {
  await step()
  return { passed: 1, failed: 0, skipped: 0 }
}

/**
 * @param {string[]} path of a program below node_modules
 * @param {string[]} args
 * @returns {Promise<Counts>}
 */
async function program(path, args) {
  const failed = (await run(process.execPath, [join(ROOT, 'node_modules', ...path), ...args])) !== 0
  return { passed: failed ? 0 : 1, failed: failed ? 1 : 0, skipped: 0 }
}

/** @returns {Promise<Counts>} */
async function vitest() {
  const folder = mkdtempSync(join(tmpdir(), 'flowdelta-test-'))
  const report = join(folder, 'report.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  try {
    const path = ['vitest', 'vitest.mjs']
    const { failed: stopped } = await program(path, ['run', ...reporters])
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(
      readFileSync(report, 'utf8'),
    )
    // A file that cannot even be loaded fails without a failed test of its own.
    const failed = Math.max(numFailedTests, stopped)
    return { passed: numPassedTests, failed, skipped: numPendingTests + numTodoTests }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Widgets are tested in a browser: it has to be there before the tests run.
 *
 * @returns {Promise<Counts>}
 */
async function chromium() {
  const { findBrowser } = await import('./browser-check.mjs')
  const path = await findBrowser()
  if (path === undefined) return skippable('no Chromium here, and it could not be installed')
  process.env['FLOWDELTA_CHROMIUM'] = path
  say(path)
  return { passed: 1, failed: 0, skipped: 0 }
}

/** @returns {Promise<Counts>} */
async function nbconvert() {
  const { listNotebooks } = await import('./notebook-runner.mjs')
  const { checkWithNbconvert } = await import('./nbconvert-check.mjs')
  const [first] = listNotebooks()
  return skippable(first === undefined ? 'there is no notebook' : await checkWithNbconvert(first))
}

/** @returns {Promise<Counts>} */
async function browser() {
  const { writePages } = await import('./pages.mjs')
  const { checkInBrowser } = await import('./browser-check.mjs')
  const { pages, failures } = await writePages()
  if (failures.length > 0) throw new Error(failures.join('\n\n'))
  if (pages.length === 0) return skippable('there is no notebook')
  return skippable(await checkInBrowser(pages.map(({ file }) => file)))
}

/**
 * @param {string | undefined} reason why a step was skipped
 * @returns {Counts}
 */
function skippable(reason) {
  if (reason === undefined) return { passed: 1, failed: 0, skipped: 0 }
  say(`Skipped: ${reason}.`)
  return { passed: 0, failed: 0, skipped: 1 }
}

checkNode()
await main()
