// npm run fuzz: mutates inputs of every reader, and random spans, for half an hour each; --minutes N for
// another time, --seed N for the inputs of an earlier hunt. Prints the seed; what breaks is printed as the
// smallest input, to keep as a test.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT, run, say } from './setup.mjs'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '30' }, seed: { type: 'string' } },
})
const minutes = Number(values.minutes)
const seed = values.seed ?? String(Date.now() % 2 ** 31)
if (!(minutes > 0)) throw new Error('Give --minutes N, a number above 0.')
say(`${minutes} minutes each with --seed ${seed}`)
process.env['FLOWDELTA_FUZZ_MINUTES'] = String(minutes)
process.env['FLOWDELTA_SEED'] = seed
const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
const file = 'test/traces/mutated-inputs.test.ts'
process.exitCode = await run(process.execPath, [vitest, 'run', '--project', 'unit', file])
