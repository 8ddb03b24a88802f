// npm run fuzz: mutates inputs of every reader, histories and random spans.
import { join } from 'node:path'
import { ROOT, readArguments, run, say } from './setup.mjs'

/** More than there are kinds of input, each of which has its minutes. */
const READERS = 24
/** Status of what a signal ended. */
const KILLED = 130

const HELP = `npm run fuzz        mutates inputs of every reader, histories and random spans; prints its seed, and
                    what breaks as the smallest input, to keep as a test

  --minutes N       how long each (default: 30)
  --seed N          the inputs of an earlier hunt
  --help            this text`

const { values } = await readArguments(HELP, {
  options: { minutes: { type: 'string', default: '30' }, seed: { type: 'string' } },
})
const minutes = Number(values.minutes)
const seed = values.seed ?? String(Date.now() % 2 ** 31)
if (!(minutes > 0)) {
  process.stderr.write(`--minutes is ${values.minutes}. Give a number above 0.\n`)
  process.exit(2)
}
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
