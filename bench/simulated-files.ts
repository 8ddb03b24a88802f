import { closeSync, existsSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { simulatedDot, simulatedTemplates } from './simulated-flows.ts'

/** What the files are made of; another value makes other files. */
export const SIMULATED = { requestsPerPeriod: 25_000, kinds: 1602, nodes: 29, seed: 1 } as const

/** Two periods of simulated requests as DOT, made once and kept in the temporary folder. */
export function simulatedFiles(): { before: string; after: string } {
  const { requestsPerPeriod, kinds, nodes, seed } = SIMULATED
  const folder = join(tmpdir(), `flowdelta-bench-${requestsPerPeriod}-${kinds}-${nodes}-${seed}-v2`)
  mkdirSync(folder, { recursive: true })
  const templates = simulatedTemplates({ kinds, nodes, seed })
  const [before, after] = (['before', 'after'] as const).map((name, period) => {
    const file = join(folder, `${name}.dot`)
    if (!existsSync(file)) {
      process.stdout.write(`making ${file}\n`)
      const options = { requests: requestsPerPeriod, period: period as 0 | 1, seed: seed + 6 }
      writeChunks(file, simulatedDot(templates, options))
    }
    return file
  })
  return { before: before as string, after: after as string }
}

/** Writes under another name first, so that an interrupted run leaves no half file. */
function writeChunks(file: string, pieces: Iterable<string>): void {
  const part = `${file}.part`
  const target = openSync(part, 'w')
  let pending = ''
  for (const piece of pieces) {
    pending += piece
    if (pending.length > 1 << 20) {
      writeSync(target, pending)
      pending = ''
    }
  }
  writeSync(target, pending)
  closeSync(target)
  renameSync(part, file)
}
