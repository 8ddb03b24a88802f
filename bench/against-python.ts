// npm run bench:against-python: what a user would pick instead, on the same numbers: SciPy, pandas,
// scikit-learn. Needs a Python that has them (Debian: python3-scipy, python3-pandas,
// python3-sklearn); what is absent is skipped with a notice.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { growClassificationTree } from '../src/stats/index.ts'
import { ksTwoSample } from '../src/stats/ks-two-sample.ts'
import { moments } from '../src/stats/moments.ts'
import { quantile } from '../src/stats/quantile.ts'
import { randomSource } from '../src/stats/random.ts'

const RUNS = 3
const TARGET = { ks: 10 }
const REQUESTS = 50_000
const CATEGORIES = 1602
/** Edges of a category whose latencies are compared as its response times are. */
const EDGES = 29
const TREE = { rows: 20_000, columns: 20 }
const PYTHON = process.env['PYTHON'] ?? '/usr/bin/python3'

const say = (line = '') => process.stdout.write(`${line}\n`)
const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] as number

/** Sizes of categories of a period, of which few are frequent, and latencies of all of their edges. */
function simulated() {
  const random = randomSource(1)
  const harmonic = Array.from({ length: CATEGORIES }, (_, i) => 1 / (i + 1))
  const all = harmonic.reduce((sum, one) => sum + one, 0)
  const sizes = harmonic.map((one) => Math.max(2, Math.round((REQUESTS * one) / all)))
  const series = sizes.flatMap((size) => Array.from({ length: EDGES + 1 }, () => size))
  const period = () =>
    Float64Array.from(
      { length: series.reduce((sum, size) => sum + size, 0) },
      () => Math.round(random.logNormal(6, 1) * 1000) / 1000,
    )
  return { series: Uint32Array.from(series), before: period(), after: period() }
}

const { series, before, after } = simulated()
const random = randomSource(2)
const columns = Array.from({ length: TREE.columns }, () =>
  Float64Array.from({ length: TREE.rows }, () => random.logNormal(3, 2)),
)
const labels = Uint8Array.from({ length: TREE.rows }, (_, row) =>
  random.next() < 0.05
    ? random.integer(2)
    : (columns[3]?.[row] as number) > 20 && (columns[7]?.[row] as number) < 9
      ? 1
      : 0,
)

function eachSeries(use: (before: Float64Array, after: Float64Array) => void): void {
  let at = 0
  for (const size of series) {
    use(before.subarray(at, at + size), after.subarray(at, at + size))
    at += size
  }
}

const OURS: Readonly<Record<string, () => unknown>> = {
  sort: () => [before.toSorted(), after.toSorted()],
  ks: () => eachSeries((b, a) => ksTwoSample(b, a)),
  groups: () =>
    eachSeries((b, a) => {
      for (const times of [b, a]) {
        moments(times)
        quantile(times.toSorted(), 0.95)
      }
    }),
  tree: () =>
    growClassificationTree(
      columns.map((values, i) => ({ name: `parameter${i}`, kind: 'numeric' as const, values })),
      labels,
      { criterion: 'gini' },
    ),
}

const THEIRS = `
import sys, time, json
import numpy as np
folder = sys.argv[1]
read = lambda name, kind: np.fromfile(folder + '/' + name, dtype=kind)
series, before, after = read('series', '<u4'), read('before', '<f8'), read('after', '<f8')
ends = np.cumsum(series)
def timed(run):
    began = time.perf_counter(); run(); return (time.perf_counter() - began) * 1e3
def ks():
    from scipy.stats import ks_2samp
    for end, size in zip(ends, series): ks_2samp(before[end - size:end], after[end - size:end], mode='asymp')
def groups():
    import pandas as pd
    code = np.repeat(np.arange(len(series)), series)
    for times in (before, after):
        by = pd.DataFrame({'series': code, 'us': times}).groupby('series')['us']
        by.agg(['mean', 'var', 'min', 'max']); by.quantile(0.95)
def tree():
    from sklearn.tree import DecisionTreeClassifier
    DecisionTreeClassifier(min_samples_leaf=2).fit(X, labels)
labels = read('labels', '<u1'); X = read('columns', '<f8').reshape(${TREE.columns}, -1).T.copy()
def sort(): np.sort(before); np.sort(after)
runs = {'sort': (sort, 'numpy'), 'ks': (ks, 'scipy.stats'), 'groups': (groups, 'pandas'), 'tree': (tree, 'sklearn.tree')}
run, package = runs[sys.argv[2]]
try: __import__(package)
except ImportError: print(json.dumps(None))
else: print(json.dumps([timed(run), getattr(sys.modules[package.split('.')[0]], '__version__', '')]))
`

const NAMES: Readonly<Record<string, string>> = {
  sort: 'sorting the numbers (numpy)',
  ks: `Kolmogorov-Smirnov of ${CATEGORIES.toLocaleString('en')} categories and ${EDGES} edges of each (SciPy)`,
  groups: 'mean, variance, extremes and p95 of each series (pandas)',
  tree: `a decision tree of ${TREE.rows.toLocaleString('en')} requests, ${TREE.columns} columns (scikit-learn)`,
}

const folder = mkdtempSync(join(tmpdir(), 'flowdelta-python-'))
try {
  writeFileSync(join(folder, 'series'), series)
  for (const [name, values] of Object.entries({ before, after })) {
    writeFileSync(join(folder, name), values)
  }
  writeFileSync(join(folder, 'labels'), labels)
  writeFileSync(
    join(folder, 'columns'),
    Buffer.concat(columns.map(({ buffer }) => Buffer.from(buffer))),
  )
  const theirs = (name: string) => {
    const { stdout, error } = spawnSync(PYTHON, ['-c', THEIRS, folder, name], { encoding: 'utf8' })
    return error === undefined && stdout !== ''
      ? (JSON.parse(stdout) as [ms: number, version: string] | null)
      : null
  }
  say(
    `${before.length.toLocaleString('en')} latencies a period, in ${series.length.toLocaleString('en')} series; node ${process.version}`,
  )
  say(`medians of ${RUNS} runs, alternating; reading and starting are not counted\n`)
  for (const [name, run] of Object.entries(OURS)) {
    const [own, other]: [number[], number[]] = [[], []]
    let version: string | null = null
    for (let i = 0; i < RUNS; i++) {
      const began = performance.now()
      run()
      own.push(performance.now() - began)
      const answered = theirs(name)
      if (answered === null) break
      other.push(answered[0])
      version = answered[1]
    }
    const ms = median(own)
    if (version === null) {
      say(`${NAMES[name]}: ${ms.toFixed(0)} ms; NOT COMPARED: ${PYTHON} has no such package`)
      continue
    }
    const ratio = median(other) / ms
    const asked = name in TARGET ? ` (asked: ${TARGET[name as keyof typeof TARGET]})` : ''
    say(
      `${NAMES[name]} ${version}: ${ms.toFixed(0)} ms against ${median(other).toFixed(0)} ms: ${ratio.toFixed(1)} times as fast${asked}`,
    )
  }
} finally {
  rmSync(folder, { recursive: true })
}
