// npm run fuzz: mutates inputs of every reader, and random spans, for half an hour each; --minutes N for
// another time, --seed N for the inputs of an earlier hunt. Prints the seed; what breaks is printed as the
// smallest input, to keep as a test.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT, run, say } from './setup.mjs'

/** More than there are kinds of input, each of which has its minutes. */
const READERS = 24
/** Status of what a signal ended. */
const KILLED = 130

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string' },
    help: { type: 'boolean' },
  },
})
if (values.help) {
  say('npm run fuzz -- [--minutes N, for each kind of input; default 30] [--seed N]')
  process.exit()
}
const minutes = Number(values.minutes)
const seed = values.seed ?? String(Date.now() % 2 ** 31)
if (!(minutes > 0)) throw new Error('Give --minutes N, a number above 0.')
say(`${minutes} minutes each with --seed ${seed}`)
process.env['FLOWDELTA_FUZZ_MINUTES'] = String(minutes)
process.env['FLOWDELTA_SEED'] = seed
const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
const file = 'test/traces/mutated-inputs.test.ts'
// What hangs in one call reaches no timeout of a test.
const timeout = (READERS * minutes + 5) * 60_000
const options = { timeout, killSignal: 'SIGKILL' }
process.exitCode = await run(process.execPath, [vitest, 'run', '--project', 'unit', file], options)
if (process.exitCode === KILLED) say(`Stopped after ${timeout / 60_000} minutes: an input hangs.`)
