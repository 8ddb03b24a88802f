import { existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  evenScale,
  simulatedDot,
  simulatedTemplates,
} from '../datasets/simulated/simulated-flows.ts'
import { writePieces } from '../datasets/simulated/write-pieces.ts'

/** What the files are made of; another value makes other files. */
export const SIMULATED = { requestsPerPeriod: 25_000, kinds: 1602, nodes: 29, seed: 1 } as const

/** Two periods of simulated requests as DOT, made once and kept in the temporary folder. */
export function simulatedFiles(): { before: string; after: string } {
  const { requestsPerPeriod, kinds, nodes, seed } = SIMULATED
  const folder = join(tmpdir(), `flowdelta-bench-${requestsPerPeriod}-${kinds}-${nodes}-${seed}-v3`)
  mkdirSync(folder, { recursive: true })
  const templates = simulatedTemplates(evenScale(kinds, nodes), { seed })
  const [before, after] = (['before', 'after'] as const).map((name, period) => {
    const file = join(folder, `${name}.dot`)
    if (!existsSync(file)) {
      process.stdout.write(`making ${file}\n`)
      const options = { requests: requestsPerPeriod, period: period as 0 | 1, seed: seed + 6 }
      writePieces(file, simulatedDot(templates, options))
    }
    return file
  })
  return { before: before as string, after: after as string }
}
