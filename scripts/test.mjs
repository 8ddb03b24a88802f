// npm test, npm run test:full: what is checked, from whatever state the clone is in.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import {
  checkNode,
  ensureBuild,
  ensureDependencies,
  ROOT,
  readArguments,
  run,
  say,
} from './setup.mjs'

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */
/** @typedef {{ status: string, tags: string[] }} Assertion */

/** Tests that `npm test` leaves out are marked with a tag, or stand in a file of their own. */
const LONG = '--tags-filter=full'
const SHORT = '--tags-filter=!full'
/** Where two workers keep two cores busy, threads that collect garbage for them only hinder them. */
const ONE_THREAD_COLLECTS = '--single-threaded-gc'
const PROJECTS = ['unit', 'browser', 'notebooks'].flatMap((name) => ['--project', name])

/** @type {Record<'quick' | 'full', [name: string, run: () => Promise<Counts>][]>} */
const STEPS = {
  quick: [
    ['npm packages', () => onePass(ensureDependencies)],
    ['type check, lint, build', () => sum([typeCheck(), lint(), onePass(ensureBuild)])],
    ['Chromium', chromium],
    ['unit, oracle, widget and notebook tests', () => vitest([...PROJECTS, SHORT])],
  ],
  full: [
    ['npm packages', () => onePass(ensureDependencies)],
    ['build', () => onePass(ensureBuild)],
    ['Chromium', chromium],
    ['simulations, recording runs, public data', () => vitest(['--project', 'full'])],
    [
      'long tests that stand beside short ones',
      () => vitest([...PROJECTS, LONG, ...filesWithLongTests()]),
    ],
    ['nbconvert', nbconvert],
    ['fuzzing', () => program(['..', 'scripts', 'fuzz.mjs'], ['--minutes', '0.1', '--seed', '1'])],
    ['npm run bench', bench],
  ],
}

const HELP = `npm test              what is checked at every change, in minutes: types, lint, unit tests, three notebooks, a browser
npm run test:full     what takes longer: simulations, recording runs, public data, the other notebooks
npm run unit -- FILE  some of the unit tests`

async function main() {
  const { values } = await readArguments(HELP, {
    options: { full: { type: 'boolean', default: false } },
  })
  const totals = { passed: 0, failed: 0, skipped: 0 }
  const which = values.full ? 'full' : 'quick'
  for (const [name, step] of STEPS[which]) {
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
 * @param {string[]} [flags] of Node
 * @returns {Promise<Counts>}
 */
async function program(path, args, flags = []) {
  const script = join(ROOT, 'node_modules', ...path)
  const failed = (await run(process.execPath, [...flags, script, ...args])) !== 0
  return { passed: failed ? 0 : 1, failed: failed ? 1 : 0, skipped: 0 }
}

/**
 * @param {Promise<Counts>[]} all
 * @returns {Promise<Counts>}
 */
async function sum(all) {
  const counts = await Promise.all(all)
  return {
    passed: counts.reduce((total, { passed }) => total + passed, 0),
    failed: counts.reduce((total, { failed }) => total + failed, 0),
    skipped: counts.reduce((total, { skipped }) => total + skipped, 0),
  }
}

const typeCheck = () => program(['typescript', 'bin', 'tsc'], ['--noEmit'])
const lint = () => program(['@biomejs', 'biome', 'bin', 'biome'], ['check'])

/**
 * @param {string[]} chosen projects, tags and files
 * @returns {Promise<Counts>}
 */
async function vitest(chosen) {
  const folder = mkdtempSync(join(tmpdir(), 'flowdelta-test-'))
  const report = join(folder, 'report.json')
  const reporters = ['minimal', join(ROOT, 'scripts', 'test-progress.mjs'), 'json']
  const options = reporters.map((name) => `--reporter=${name}`)
  try {
    const args = ['run', ...chosen, ...options, `--outputFile.json=${report}`]
    const { failed: stopped } = await program(['vitest', 'vitest.mjs'], args, [ONE_THREAD_COLLECTS])
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'))
    // Those of the other tag are not skipped: the other command runs them.
    const skipped = testResults
      .flatMap((/** @type {{ assertionResults: Assertion[] }} */ file) => file.assertionResults)
      .filter((/** @type {Assertion} */ { status }) => status !== 'passed' && status !== 'failed')
      .filter(({ tags }) => tags.includes('full') === chosen.includes(LONG))
    say(`Longest: ${longest(testResults).join(', ')}`)
    // A file that cannot even be loaded fails without a failed test of its own.
    const failed = Math.max(numFailedTests, stopped)
    return { passed: numPassedTests, failed, skipped: skipped.length }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * The files that took longest: where to begin when the whole takes too long.
 *
 * @param {{ name: string, startTime: number, endTime: number }[]} files
 */
function longest(files) {
  return files
    .map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1000 }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, 8)
    .map(({ name, seconds }) => `${relative(join(ROOT, 'test'), name)} ${seconds.toFixed(0)} s`)
}

/** Test files that have tests with the tag `full`, by their paths. */
function filesWithLongTests() {
  const folder = join(ROOT, 'test')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name))
    .filter((path) => /tags: \[?'full'/.test(readFileSync(path, 'utf8')))
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

/**
 * What the bench missed is told and fails nothing here, as other programs slow it; `npm run bench` fails.
 *
 * @returns {Promise<Counts>}
 */
async function bench() {
  const { failed } = await program(['tsx', 'dist', 'cli.mjs'], [join(ROOT, 'bench', 'main.ts')])
  return skippable(failed ? 'the bench missed a figure on this machine, see above' : undefined)
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
