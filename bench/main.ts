// npm run bench: what flowdelta takes at the scale that the authors' own program needed 64 s for.
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { bundle } from './bundle.ts'
import { SIMULATED, simulatedFiles } from './simulated-files.ts'

const RUNS = 5
const AUTHORS_SECONDS = 64
/** Time in all over that of JSON.parse for the same graphs, memory, and one step of the slider. */
const TARGET = { ratio: 1.3, MB: 500, sliderMs: 50 }

interface CompareRun {
  readonly stages: Record<string, number>
  readonly total: number
  readonly peakMB: number
  /** From the default threshold straight to 1: most mutations, nothing prepared. */
  readonly jumpMs: number
  /** From 100 down to 1, step by step. */
  readonly drag: readonly number[]
}

const say = (line = '') => process.stdout.write(`${line}\n`)
const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] as number

const runProgram = <T>(program: string, files: readonly string[]) =>
  JSON.parse(
    execFileSync(process.execPath, [program, ...files], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    }),
  ) as T

const { before, after } = simulatedFiles()
const files = [before, after]
const MB = files.reduce((sum, file) => sum + statSync(file).size, 0) / 1e6
const { requestsPerPeriod, kinds } = SIMULATED
say(`${2 * requestsPerPeriod} simulated requests of ${kinds} kinds, ${MB.toFixed(0)} MB of DOT`)
say(`median of ${RUNS} runs, alternating, each a process of its own; node ${process.version}\n`)
const sources = ['compare-dot.ts', 'read-plain.ts', 'parse-json.ts']
await bundle(sources, (programs) => {
  const [compare, plainly, parse] = programs as [string, string, string]
  const compared: CompareRun[] = []
  const plain: number[] = []
  const json: number[] = []
  for (let run = 0; run < RUNS; run++) {
    compared.push(runProgram(compare, files))
    plain.push(runProgram<{ MBps: number }>(plainly, files).MBps)
    json.push(runProgram<{ seconds: number }>(parse, files).seconds)
  }
  for (const stage of Object.keys(compared[0]?.stages ?? {})) {
    const took = median(compared.map(({ stages }) => stages[stage] as number))
    say(`${stage.padEnd(44)}${took.toFixed(0).padStart(7)} ms`)
  }
  const seconds = median(compared.map(({ total }) => total)) / 1000
  const peakMB = Math.max(...compared.map((run) => run.peakMB))
  const jumpMs = median(compared.map((run) => run.jumpMs))
  const dragMs = median(compared.map(({ drag }) => Math.max(...drag)))
  const read = MB / (median(compared.map(({ stages }) => stages['read'] as number)) / 1000)
  say(`${'in all'.padEnd(44)}${(seconds * 1000).toFixed(0).padStart(7)} ms`)
  const jsonSeconds = median(json)
  const ratio = seconds / jsonSeconds
  say(
    `\nin all: ${seconds.toFixed(2)} s, ${ratio.toFixed(2)} times JSON.parse of the same graphs ` +
      `(${jsonSeconds.toFixed(2)} s; target ${TARGET.ratio} times), ` +
      `1/${(AUTHORS_SECONDS / seconds).toFixed(0)} of the ${AUTHORS_SECONDS} s of the program of 2013`,
  )
  say(`peak memory: ${peakMB.toFixed(0)} MB (target ${TARGET.MB} MB)`)
  say(
    `reading: ${read.toFixed(0)} MB/s, both periods at once; ` +
      `without parsing ${median(plain).toFixed(0)} MB/s`,
  )
  say(
    `with({ smPThreshold }): ${jumpMs.toFixed(1)} ms straight from 50 to 1, ` +
      `${dragMs.toFixed(1)} ms at worst from 100 to 1 step by step (target ${TARGET.sliderMs} ms)`,
  )
  const missed = [
    ...(ratio > TARGET.ratio ? ['time'] : []),
    ...(peakMB > TARGET.MB ? ['memory'] : []),
    ...(Math.max(jumpMs, dragMs) > TARGET.sliderMs ? ['slider'] : []),
  ]
  if (missed.length > 0) {
    say(`\nmissed: ${missed.join(', ')}`)
    process.exitCode = 1
  }
})
