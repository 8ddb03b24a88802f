// npm run bench:otlp [-- REQUESTS a period, default 211000]: OTLP lines of two periods to findings, by
// default of a sample of them, and of all requests, beside JSON.parse of the same lines on one core.
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { COMPARISON_OPTIONS } from '../src/comparison/comparison-options.ts'
import { bundle } from './bundle.ts'
import { otlpFiles, SPANS } from './simulated-otlp.ts'

const [argument = '211000'] = process.argv.slice(2)
const REQUESTS = Number(argument)
/** Time over that of JSON.parse, what is beside it at the thesis's size, and memory. */
const TARGET = { ratio: 0.7, seconds: 5, MB: 2000 }
const say = (line = '') => process.stdout.write(`${line}\n`)

const files = otlpFiles(REQUESTS)
const MB = files.reduce((sum, file) => sum + statSync(file).size, 0) / 1e6
say(
  `${REQUESTS} requests a period of ${SPANS} spans (${2 * SPANS} nodes), ${MB.toFixed(0)} MB of OTLP lines`,
)
/** Requests of a period that are compared in the end. */
const SAMPLES = [COMPARISON_OPTIONS.sample.default, 'all']
await bundle(['compare-files.ts', 'parse-lines.ts'], ([compare, parse]) => {
  const run = <T>(program: string | undefined, ...more: string[]) =>
    JSON.parse(
      execFileSync(process.execPath, [program as string, ...files, ...more], { encoding: 'utf8' }),
    ) as T
  const { seconds } = run<{ seconds: number }>(parse)
  const most = TARGET.ratio * seconds + TARGET.seconds
  for (const sample of SAMPLES) {
    say(`\nrequests of a period that are compared: ${sample}`)
    const { stages, total, peakMB } = run<{
      stages: Record<string, number>
      total: number
      peakMB: number
    }>(compare, String(sample))
    for (const [stage, ms] of Object.entries(stages))
      say(`${stage.padEnd(44)}${ms.toFixed(0).padStart(7)} ms`)
    say(
      `in all: ${(total / 1e3).toFixed(1)} s, ${(total / 1e3 / seconds).toFixed(2)} times JSON.parse of the same lines ` +
        `(${seconds.toFixed(1)} s); target at 211,000 requests ${TARGET.ratio} times and ${TARGET.seconds} s: ${most.toFixed(1)} s`,
    )
    say(`peak memory: ${peakMB.toFixed(0)} MB (target ${TARGET.MB} MB)`)
  }
})
