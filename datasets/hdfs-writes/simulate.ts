// npx tsx datasets/hdfs-writes/simulate.ts: a run of HDFS requests as DOT.
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { writePieces } from '../simulated/write-pieces.ts'
import { RAND_SORT } from './hdfs-requests.ts'
import { hdfsDot } from './hdfs-traces.ts'

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'out/hdfs-writes/rand-sort.dot' },
    writes: { type: 'string', default: String(RAND_SORT.writes) },
    others: { type: 'string', default: String(RAND_SORT.others) },
    datanodes: { type: 'string', default: '10' },
    replication: { type: 'string', default: '3' },
    portions: { type: 'string', default: '1024' },
    partial: { type: 'string', default: String(RAND_SORT.partial) },
    seed: { type: 'string', default: '1' },
  },
})
const { out, ...numbers } = values
const workload = Object.fromEntries(
  Object.entries(numbers).map(([option, text]) => [option, Number(text)]),
)
mkdirSync(dirname(out), { recursive: true })
writePieces(out, hdfsDot(workload))
process.stdout.write(`${out}: ${(statSync(out).size / 1e6).toFixed(0)} MB\n`)
