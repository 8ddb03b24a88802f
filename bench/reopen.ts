// npm run bench:reopen -- FILE…: how long traces take to read from where they are, and once saved as Parquet,
// cold (in a process of its own) and warm (median of five).
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadTraces } from '../src/traces/load-traces.ts'

const TARGET = 0.1
const [first = '', ...files] = process.argv.slice(2)

interface Opened {
  readonly cold: number
  readonly warm: number
}

async function secondsToOpen(paths: readonly string[]): Promise<Opened> {
  const seconds: number[] = []
  for (let run = 0; run < 6; run++) {
    const start = performance.now()
    await loadTraces(paths)
    seconds.push((performance.now() - start) / 1000)
  }
  const [cold = 0, ...others] = seconds
  return { cold, warm: others.sort((a, b) => a - b)[2] ?? 0 }
}

function openedElsewhere(paths: readonly string[]): Opened {
  const own = fileURLToPath(import.meta.url)
  const args = [...process.execArgv, own, '--open', ...paths]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

if (first === '--open') {
  process.stdout.write(JSON.stringify(await secondsToOpen(files)))
} else {
  const folder = mkdtempSync(join(tmpdir(), 'flowdelta-reopen-'))
  try {
    const saved = join(folder, 'saved.parquet')
    await (await loadTraces([first, ...files])).save(saved)
    const source = openedElsewhere([first, ...files])
    const parquet = openedElsewhere([saved])
    for (const kind of ['cold', 'warm'] as const) {
      const ratio = parquet[kind] / source[kind]
      const times = `${parquet[kind].toFixed(3)} s after ${source[kind].toFixed(3)} s`
      process.stdout.write(`${kind}: ${times}, ratio ${ratio.toFixed(2)} (target ${TARGET})\n`)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
