// npm run bench:growth: how time grows with requests, nodes of a graph and categories. Writes
// bench/README.md with a log-log chart and slopes; `-- --whole` goes up to 1,000,000 requests,
// 15,000 nodes and 10,000 categories.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import * as vega from 'vega'
import { compile, type TopLevelSpec } from 'vega-lite'
import {
  evenScale,
  simulatedDot,
  simulatedTemplates,
} from '../datasets/simulated/simulated-flows.ts'
import { writePieces } from '../datasets/simulated/write-pieces.ts'
import { compare } from '../src/comparison/comparison.ts'
import { loadTraces } from '../src/traces/load-traces.ts'

const isWhole = process.argv.includes('--whole')
const GROWTH = {
  requests: isWhole ? [1e3, 1e4, 1e5, 1e6] : [1e3, 3e3, 1e4, 3e4],
  'nodes of a graph': isWhole ? [10, 100, 1000, 15_000] : [10, 100, 1000, 3000],
  categories: isWhole ? [10, 100, 1000, 10_000] : [10, 100, 1000, 3000],
} as const
const TARGET_SLOPE = 1.1

interface Scale {
  readonly requests: number
  readonly kinds: number
  readonly nodes: number
}
const SCALES: Readonly<Record<keyof typeof GROWTH, (size: number) => Scale>> = {
  requests: (requests) => ({ requests, kinds: 50, nodes: 29 }),
  'nodes of a graph': (nodes) => ({ requests: 400, kinds: 4, nodes }),
  categories: (kinds) => ({ requests: 10 * GROWTH.categories.at(-1)!, kinds, nodes: 10 }),
}

const folder = mkdtempSync(join(tmpdir(), 'flowdelta-growth-'))

/** Seconds from the files of two periods to findings. */
async function seconds({ requests, kinds, nodes }: Scale): Promise<number> {
  const templates = simulatedTemplates(evenScale(kinds, nodes), { seed: 1 })
  const files = ([0, 1] as const).map((period) => {
    const file = join(folder, `${period}.dot`)
    writePieces(file, simulatedDot(templates, { requests: requests / 2, period, seed: 7 }))
    return file
  })
  const began = performance.now()
  const [before, after] = await Promise.all(files.map((file) => loadTraces(file)))
  if (before === undefined || after === undefined) throw new Error('nothing was loaded')
  void compare(before, after).findings.text()
  return (performance.now() - began) / 1e3
}

/** Slope of a line through logarithms: 1 where time grows as the size does. */
function slopeOf(points: readonly { readonly size: number; readonly seconds: number }[]): number {
  const [x, y] = [
    points.map(({ size }) => Math.log(size)),
    points.map((one) => Math.log(one.seconds)),
  ]
  const mean = (of: readonly number[]) => of.reduce((sum, one) => sum + one, 0) / of.length
  const [mx, my] = [mean(x), mean(y)]
  const over = x.reduce((sum, one, i) => sum + (one - mx) * (y[i]! - my), 0)
  return over / x.reduce((sum, one) => sum + (one - mx) ** 2, 0)
}

await seconds(SCALES.requests(1000)) // Compiles what is measured.
const points: { of: string; size: number; seconds: number }[] = []
for (const [of, sizes] of Object.entries(GROWTH)) {
  for (const size of sizes) {
    const took = await seconds(SCALES[of as keyof typeof GROWTH](size))
    points.push({ of, size, seconds: took })
    process.stdout.write(`${size.toLocaleString('en')} ${of}: ${took.toFixed(2)} s\n`)
  }
}
rmSync(folder, { recursive: true })
const chart: TopLevelSpec = {
  data: { values: points },
  width: 520,
  height: 300,
  mark: { type: 'line', point: true },
  encoding: {
    x: {
      field: 'size',
      type: 'quantitative',
      scale: { type: 'log' },
      title: 'how many',
      axis: { format: '~s' },
    },
    y: {
      field: 'seconds',
      type: 'quantitative',
      scale: { type: 'log' },
      title: 'seconds from files to findings',
    },
    color: {
      field: 'of',
      type: 'nominal',
      title: null,
      scale: { range: ['#0072B2', '#E69F00', '#009E73'] },
    },
  },
}
const view = new vega.View(vega.parse(compile(chart).spec), { renderer: 'none' })
const at = new URL('.', import.meta.url)
writeFileSync(new URL('growth.svg', at), await view.toSVG())
const rows = Object.keys(GROWTH).map((of) => {
  const own = points.filter((point) => point.of === of)
  const times = own.map(
    ({ size, seconds }) => `${size.toLocaleString('en')}: ${seconds.toFixed(2)} s`,
  )
  return `| ${of} | ${times.join(', ')} | ${slopeOf(own).toFixed(2)} | ${slopeOf(own.slice(-2)).toFixed(2)} |`
})
writeFileSync(
  new URL('README.md', at),
  `# How time grows

Made by \`npm run bench:growth${isWhole ? ' -- --whole' : ''}\` on ${cpus().length} cores under a load of ${loadavg()[0]!.toFixed(0)}, with one run per size. It measures the time from DOT files to findings for both periods together. The target is a slope of at most ${TARGET_SLOPE}. The last column is the slope between the two largest sizes, where fixed costs matter least.

| grows | seconds | slope | slope at the end |
|---|---|---|---|
${rows.join('\n')}

![Seconds by size, both logarithmic](growth.svg)

\`npm run bench:against-python\` compares with SciPy, pandas and scikit-learn on the same numbers, \`npm run bench\` with reading the bytes and with \`JSON.parse\`.
`,
)
