// Over every call of a period: the loops index with `!`.
import { quantile } from '../../stats/quantile.ts'
import type { ExecutionModel, ExecutionModels } from '../../whatif/models/execution-models.ts'

/** Median times of a model's nodes over all calls that follow it, µs. */
export interface ExecutionModelTimes {
  /** By node, then the reply: from the end of the last call it waits for, or the start. */
  readonly preprocessingUs: readonly number[]
  /** By node: as its caller sees it. */
  readonly latencyUs: readonly number[]
}

/** The median times of one model. */
export function executionModelTimes(
  models: ExecutionModels,
  { id, period, nodes }: ExecutionModel,
): ExecutionModelTimes {
  const { forest, modelOf, nodeCalls } = models.period(period)
  const { preprocessingUs, replyUs } = models.ownTimes(period)
  const waits = Array.from({ length: nodes.length + 1 }, (): number[] => [])
  const latencies = nodes.map((): number[] => [])
  for (let call = 0; call < modelOf.length; call++) {
    if (modelOf[call] !== id) continue
    const first = forest.childOffsets[call]!
    for (let node = 0; node < nodes.length; node++) {
      const child = nodeCalls[first + node]!
      waits[node]!.push(preprocessingUs[child]!)
      latencies[node]!.push(forest.latencyUs[child]!)
    }
    waits[nodes.length]!.push(replyUs[call]!)
  }
  const median = (sample: number[]) => quantile(Float64Array.from(sample).sort(), 0.5)
  return { preprocessingUs: waits.map(median), latencyUs: latencies.map(median) }
}
