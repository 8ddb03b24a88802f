// npm run bench:capacity: records the storage service at 1, 1.5 and 2 times its load (three minutes, on a
// quiet machine), and predicts times at twice the load from the other two recordings.
import { join } from 'node:path'
import { loads } from '../datasets/storage-service/cases/load.ts'
import { Constellation } from '../datasets/storage-service/recording/constellation.ts'
import { recordCase } from '../datasets/storage-service/recording/record-case.ts'
import { FlowdeltaError } from '../src/core/errors.ts'
import { formatDuration } from '../src/core/words.ts'
import { loadTraces } from '../src/traces/load-traces.ts'
import type { SpanTraces } from '../src/traces/span-traces.ts'
import {
  type ExecutionModels,
  learnExecutionModels,
} from '../src/whatif/models/execution-models.ts'
import { applyScenario } from '../src/whatif/scenarios/apply-scenario.ts'

/** Largest share by which a predicted quantile may miss the recorded one. */
const TARGET = 0.2

const say = (line: string) => process.stdout.write(`${line}\n`)

const modelsOf = async (names: readonly string[]) =>
  learnExecutionModels((await loadTraces([...names])) as SpanTraces)

function perSecond({ forests: [forest] }: ExecutionModels): number {
  if (forest === undefined) return Number.NaN
  const { startUs } = forest.traces.spans
  const starts = Array.from(
    forest.requestOffsets.subarray(0, -1),
    (call) => startUs[forest.serverSpan[call] as number] as number,
  ).sort((a, b) => a - b)
  return (1e6 * starts.length) / ((starts.at(-1) as number) - (starts[0] as number))
}

const services: Constellation[] = []
try {
  const files: string[][] = []
  for (const recorded of loads) {
    const service = new Constellation({ seed: recorded.name, sample: 1 })
    services.push(service)
    await service.start()
    await recordCase(service, recorded, { requests: 1500, blocks: 1, warmUp: 200, seed: 1 })
    files.push(['before', 'after'].map((period) => join(service.directory, `${period}.jsonl`)))
  }
  const [once = [], more = [], twice = []] = files
  const truth = await modelsOf(twice)
  const recorded = applyScenario(truth, 'frontend*1').profile
  const wanted = `load=${perSecond(truth).toFixed(0)}/s`
  try {
    const { profile, limits } = applyScenario(await modelsOf([...once, ...more]), wanted)
    for (const share of [0.5, 0.95]) {
      const [predicted, seen] = [profile.quantile(share), recorded.quantile(share)]
      const missed = Math.abs(predicted / seen - 1) > TARGET ? ', MISSED' : ''
      say(
        `${wanted}: p${100 * share} ${formatDuration(predicted)} predicted, ${formatDuration(seen)} recorded${missed}`,
      )
    }
    say(limits ?? '')
  } catch (problem) {
    if (!(problem instanceof FlowdeltaError)) throw problem
    say(`${wanted}: ${problem.message}`)
  }
} finally {
  await Promise.all(services.map((service) => service.stop()))
}
