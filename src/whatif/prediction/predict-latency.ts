// Over every call: the loops index with `!`.
import { rejectUnknownOptions } from '../../core/errors.ts'
import { quantile } from '../../stats/quantile.ts'
import { randomSource } from '../../stats/random.ts'
import type { CallForest } from '../calls/call-forest.ts'
import type { ExecutionModels } from '../models/execution-models.ts'
import { HeldOutModel } from './held-out-model.ts'
import { type PredictionErrors, PredictionEvaluation } from './prediction-evaluation.ts'
import { criticalPathSum, regressionOf } from './simple-predictions.ts'

/**
 * Learns from each random half of a period's requests and predicts, from the latencies of its
 * children, how long every call of the other half takes in its server: by execution models, by linear
 * regression per operation (one column for each child, 0 where it was not called), and by the sum
 * along the critical path.
 *
 * All three are judged by the same calls; those that only the model could not predict are counted.
 *
 * @param options `seed` (default 1): an integer that chooses the halves
 * @throws FlowdeltaError for an unknown option.
 *
 * @example
 * evaluatePrediction(learnExecutionModels(before)).all.calls // 13940
 */
export function evaluatePrediction(
  models: ExecutionModels,
  options: { readonly seed?: number } = {},
): PredictionEvaluation {
  rejectUnknownOptions(options, ['seed'])
  const { seed = 1 } = options
  const tallies = new Map<number, Tally>()
  models.forests.forEach((forest, period) => {
    const half = halfOf(forest, seed)
    predictPeriod(models, { period, training: half, tallies })
    predictPeriod(models, { period, training: half.map((chosen) => 1 - chosen), tallies })
  })
  const all = new Tally()
  for (const tally of tallies.values()) all.add(tally)
  const operations = [...tallies].map(([name, tally]) => ({
    service: models.paths.serviceOf(name),
    operation: models.paths.operationOf(name),
    ...tally.errors(),
  }))
  return new PredictionEvaluation(
    all.errors(),
    operations.sort((a, b) => b.calls - a.calls),
  )
}

class Tally {
  readonly model: number[] = []
  readonly regression: number[] = []
  readonly criticalPath: number[] = []
  unlike = 0

  add(other: Tally): void {
    for (const way of ['model', 'regression', 'criticalPath'] as const) {
      for (const error of other[way]) this[way].push(error)
    }
    this.unlike += other.unlike
  }

  errors(): PredictionErrors {
    const median = (errors: number[]) => quantile(Float64Array.from(errors).sort(), 0.5)
    return {
      ...{ calls: this.model.length, unlike: this.unlike, model: median(this.model) },
      ...{ regression: median(this.regression), criticalPath: median(this.criticalPath) },
    }
  }
}

/** 1 for the calls of a random half of requests. */
function halfOf({ request, requestTrace }: CallForest, seed: number): Uint8Array {
  const random = randomSource(seed)
  const order = random.shuffle(Array.from(requestTrace.keys()))
  const chosen = new Uint8Array(order.length)
  for (const one of order.slice(0, order.length >> 1)) chosen[one] = 1
  return Uint8Array.from(request, (one) => chosen[one]!)
}

function predictPeriod(
  models: ExecutionModels,
  {
    period,
    training,
    tallies,
  }: { period: number; training: Uint8Array; tallies: Map<number, Tally> },
): void {
  const { serverUs } = models.period(period).forest
  const heldOut = new HeldOutModel(models, period, training)
  for (const [name, calls] of callersByName(models, period)) {
    const learned = calls.filter((call) => training[call] === 1)
    if (learned.length === 0) continue
    const regression = regressionOf(models, period, { calls, learned })
    const tally = tallies.get(name) ?? new Tally()
    tallies.set(name, tally)
    for (const call of calls) {
      const recordedUs = serverUs[call]!
      if (training[call] === 1 || recordedUs === 0) continue
      const predictedUs = heldOut.predict(call)
      if (predictedUs === null) {
        tally.unlike++
        continue
      }
      const error = (us: number) => Math.abs(us / recordedUs - 1)
      tally.model.push(error(predictedUs))
      tally.regression.push(error(regression(call)))
      tally.criticalPath.push(error(criticalPathSum(models, period, call)))
    }
  }
}

/** Calls that wait for others, by what they are calls to. */
function callersByName(models: ExecutionModels, period: number): Map<number, number[]> {
  const { orderOf } = models.period(period)
  const callers = new Map<number, number[]>()
  orderOf.forEach((number, call) => {
    const { name, nodes } = models.orders[number]!
    if (nodes.length === 0) return
    const known = callers.get(name)
    if (known === undefined) callers.set(name, [call])
    else known.push(call)
  })
  return callers
}
