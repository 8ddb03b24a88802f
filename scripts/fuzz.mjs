// npm run fuzz: mutates inputs of every reader, and random spans, for half an hour each; --minutes N for
// another time. Prints the seed; what breaks is printed as the smallest input, to keep as a test.
import { join } from 'node:path'
import { ROOT, run, say } from './setup.mjs'

const at = process.argv.indexOf('--minutes')
const minutes = at < 0 ? 30 : Number(process.argv[at + 1])
const seed = process.env['FLOWDELTA_SEED'] ?? String(Date.now() % 2 ** 31)
if (!(minutes > 0)) throw new Error('Give --minutes N, a number above 0.')
say(`${minutes} minutes each with FLOWDELTA_SEED=${seed}`)
process.env['FLOWDELTA_FUZZ_MINUTES'] = String(minutes)
process.env['FLOWDELTA_SEED'] = seed
const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
const file = 'test/traces/mutated-inputs.test.ts'
process.exitCode = await run(process.execPath, [vitest, 'run', '--project', 'unit', file])
