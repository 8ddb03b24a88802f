// npm run bench:reopen [-- FILE…; default 10,000 requests as OTLP lines]: how long traces take to read from where
// they are, and once saved as Parquet, in a process of its own: the first time (cold) and usually (warm, the median
// of eleven).
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadTraces } from '../src/traces/load-traces.ts'
import { bundle } from './bundle.ts'
import { otlpFiles } from './simulated-otlp.ts'

const TARGET = 1
const given = process.argv.slice(2)
const files = given.length > 0 ? given : otlpFiles(10_000).slice(0, 1)
const folder = mkdtempSync(join(tmpdir(), 'flowdelta-reopen-'))
try {
  const saved = join(folder, 'saved.parquet')
  await (await loadTraces(files)).save(saved)
  await bundle(['open-traces.ts'], ([program = '']) => {
    const opened = (paths: readonly string[]): Readonly<Record<'cold' | 'warm', number>> =>
      JSON.parse(execFileSync(process.execPath, [program, ...paths], { encoding: 'utf8' }))
    const [source, parquet] = [opened(files), opened([saved])]
    for (const kind of ['cold', 'warm'] as const) {
      const ratio = parquet[kind] / source[kind]
      const times = `${parquet[kind].toFixed(3)} s after ${source[kind].toFixed(3)} s`
      process.stdout.write(`${kind}: ${times}, ratio ${ratio.toFixed(2)} (target ${TARGET})\n`)
    }
  })
} finally {
  rmSync(folder, { recursive: true })
}
