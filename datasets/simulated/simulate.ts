// npm run simulate: two periods at the thesis's full scale, 211,000 simulated requests each, as DOT.
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { SFS97_SCALE, simulatedDot, simulatedTemplates } from './simulated-flows.ts'
import { writePieces } from './write-pieces.ts'

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'out/simulated' },
    requests: { type: 'string', default: '211000' },
    seed: { type: 'string', default: '1' },
  },
})
const requests = Number(values.requests)
const seed = Number(values.seed)
if (!(Number.isInteger(requests) && requests >= 1 && Number.isInteger(seed))) {
  process.stderr.write(
    'simulate: give whole numbers for --requests (1 or more, in each period) and --seed\n',
  )
  process.exit(2)
}
mkdirSync(values.out, { recursive: true })
const templates = simulatedTemplates(SFS97_SCALE, { seed })
for (const [period, name] of ['before', 'after'].entries()) {
  const file = join(values.out, `${name}.dot`)
  writePieces(file, simulatedDot(templates, { requests, period: period as 0 | 1, seed: seed + 6 }))
  process.stdout.write(
    `${file}: ${requests} requests, ${(statSync(file).size / 1e6).toFixed(0)} MB\n`,
  )
}
