// npx tsx bench/decision-tree.ts: decision trees over 100,000 requests with 200 parameters each.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import {
  equalPartitions,
  growClassificationTree,
  growRegressionTree,
  type TreeColumn,
  type TreeNode,
} from '../src/stats/index.ts'
import { randomSource } from '../src/stats/random.ts'

const ROWS = 100_000
const COLUMNS = 200
const HOSTS = 50
const TARGET = { seconds: 5, MB: 1000 }
const MISSING = 0.05
/** Share of labels that say nothing, so that trees have noise to be led astray by. */
const WRONG_LABELS = 0.05

const say = (line = '') => process.stdout.write(`${line}\n`)

/** Continuous, few numbers, few names, many names, booleans; every fifth column has missing values. */
function simulatedColumns(): TreeColumn[] {
  const random = randomSource(1)
  return Array.from({ length: COLUMNS }, (_, index): TreeColumn => {
    const name = `parameter${index}`
    const missing = () => index % 5 === 4 && random.next() < MISSING
    const numbers = (draw: () => number): TreeColumn => ({
      name,
      kind: 'numeric',
      values: Float64Array.from({ length: ROWS }, () => (missing() ? Number.NaN : draw())),
    })
    const names = (count: number): TreeColumn => ({
      name,
      kind: 'categorical',
      codes: Int32Array.from({ length: ROWS }, () => (missing() ? -1 : random.integer(count))),
      levels: Array.from({ length: count }, (_, level) => `level${level}`),
    })
    const kind = index % 8
    if (kind < 3) return numbers(() => random.logNormal(3, 2))
    if (kind < 5) return numbers(() => 2 ** random.integer(12))
    if (kind === 5) return names(2)
    return kind === 6 ? names(8) : names(HOSTS)
  })
}

const RUNS: Record<string, (columns: readonly TreeColumn[]) => TreeNode<object>> = {
  'gain ratio (C4.5)': (columns) => growClassificationTree(columns, planted(columns).labels).root,
  'gain ratio, as strict as C4.5': (columns) =>
    growClassificationTree(columns, planted(columns).labels, { c45Strict: true }).root,
  'gini (CART)': (columns) =>
    growClassificationTree(columns, planted(columns).labels, { criterion: 'gini' }).root,
  regression: (columns) => growRegressionTree(columns, planted(columns).latencyUs).root,
  'columns that divide alike': (columns) => {
    equalPartitions(columns)
    return { kind: 'leaf' }
  },
}

/** A size up to 64 on one of ten hosts makes a mutation, and 20 ms slower. */
function planted(columns: readonly TreeColumn[]) {
  const random = randomSource(2)
  const [size, host] = [columns[3], columns[7]]
  if (size?.kind !== 'numeric' || host?.kind !== 'categorical') throw new Error('other columns')
  const labels = Uint8Array.from({ length: ROWS }, (_, row) => {
    if (random.next() < WRONG_LABELS) return random.integer(2)
    return Number(size.values[row]) <= 64 && Number(host.codes[row]) < 10 ? 1 : 0
  })
  const latencyUs = Float64Array.from(labels, (label) => random.logNormal(8, 0.5) + 20_000 * label)
  return { labels, latencyUs }
}

function leavesOf(node: TreeNode<object>): number {
  if (node.kind === 'leaf') return 1
  return node.children.reduce((sum, child) => sum + leavesOf(child), 0)
}

const [only] = process.argv.slice(2)
if (only === undefined) {
  say(`${ROWS} requests, ${COLUMNS} parameters; node ${process.version}; a process each\n`)
  // The resident size that a process has before it grows anything is that of its columns.
  for (const name of ['only the columns', ...Object.keys(RUNS)]) {
    const args = ['--import', 'tsx', fileURLToPath(import.meta.url), name]
    say(execFileSync(process.execPath, args, { encoding: 'utf8' }).trimEnd())
  }
  say(`\ntarget: ${TARGET.seconds} s, ${TARGET.MB} MB, columns and Node included`)
} else {
  const columns = simulatedColumns()
  planted(columns)
  const start = performance.now()
  const cpuStart = process.cpuUsage()
  const root = RUNS[only]?.(columns)
  const seconds = (performance.now() - start) / 1000
  const cpu = process.cpuUsage(cpuStart)
  const cpuSeconds = (cpu.user + cpu.system) / 1e6
  const MB = process.resourceUsage().maxRSS / 1000
  const leaves = root === undefined ? '' : `${leavesOf(root)} leaves`
  say(
    `${only.padEnd(32)}${seconds.toFixed(2).padStart(6)} s ${cpuSeconds.toFixed(2).padStart(6)} s of a core ${MB.toFixed(0).padStart(5)} MB  ${leaves}`,
  )
}
