import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loads } from '../../datasets/storage-service/cases/load.ts'
import { Constellation } from '../../datasets/storage-service/recording/constellation.ts'
import { recordCase } from '../../datasets/storage-service/recording/record-case.ts'
import { FlowdeltaError } from '../../src/core/errors.ts'
import { loadTraces } from '../../src/traces/load-traces.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import type { ExecutionModels } from '../../src/whatif/models/execution-models.ts'
import { learnExecutionModels } from '../../src/whatif/models/learn-execution-models.ts'
import { applyScenario } from '../../src/whatif/scenarios/apply-scenario.ts'

const services: Constellation[] = []
const files: string[][] = []

beforeAll(async () => {
  for (const recorded of loads) {
    const service = new Constellation({ seed: recorded.name, sample: 1 })
    services.push(service)
    await service.start()
    const options = { requests: 1500, blocks: 1, warmUp: 200, seed: 1 }
    await recordCase(service, recorded, options)
    files.push(['before', 'after'].map((period) => join(service.directory, `${period}.jsonl`)))
  }
}, 180_000)

afterAll(() => Promise.all(services.map((service) => service.stop())))

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

test('times at twice the load are within 20 % of those recorded, or it is said that they cannot be told', async () => {
  const [once = [], more = [], twice = []] = files
  const truth = await modelsOf(twice)
  const recorded = applyScenario(truth, 'frontend*1').profile
  const seen = await modelsOf([...once, ...more])
  try {
    const { profile } = applyScenario(seen, `load=${perSecond(truth).toFixed(0)}/s`)
    for (const share of [0.5, 0.95]) {
      const ratio = profile.quantile(share) / recorded.quantile(share)
      expect(ratio).toBeGreaterThan(0.8)
      expect(ratio).toBeLessThan(1.2)
    }
  } catch (problem) {
    if (!(problem instanceof FlowdeltaError)) throw problem
    expect(problem.message).toContain('Times at that load cannot be predicted: ')
  }
}, 120_000)
