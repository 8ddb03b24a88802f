// Over every call of a period: the loops index with `!`.
import type { TraceSet } from '../../src/traces/trace-set.ts'
import {
  type ExecutionModel,
  type ExecutionModels,
  learnExecutionModels,
} from '../../src/whatif/models/execution-models.ts'
import { type LogNormal, logNormalOf } from './log-normal.ts'
import type { SimulatedCall, SimulatedFlow, SimulatedSystem } from './simulated-system.ts'

/**
 * The system behind traces, as far as they show it: services follow the flows that were learned, as
 * often as was recorded along the same path, and what they spend and the network to them are log-normal
 * with the recorded mean and variance. Runs of it resemble the traces; times that go together there
 * (a request that is slow everywhere) are independent here.
 *
 * Calls that nobody waits for are left out: they do not add to any latency. `table()` of the learned
 * models counts them.
 *
 * @param traces one period's
 * @throws OptionError as of `learnExecutionModels`
 *
 * Source: Ostrowski, Mann and Sandler 2011, §5.
 *
 * @example
 * systemSize(learnSystem(before)).services // 4
 */
export function learnSystem(traces: TraceSet): SimulatedSystem {
  const models = learnExecutionModels(traces)
  const flows = observedFlows(models)
  const { paths, forests } = models
  const calls: SimulatedCall[] = []
  // A path's number is larger than its caller's: what it calls is made before it.
  for (let path = paths.size - 1; path >= 0; path--) {
    calls[path] = {
      service: paths.service(path),
      operation: paths.operation(path),
      flows: flowsOf(flows.get(path), calls, models),
    }
  }
  const weights = new Map<number, number>()
  forests[0]?.requestOffsets.subarray(0, -1).forEach((root, request) => {
    const path = forests[0]!.path[root]!
    weights.set(path, (weights.get(path) ?? 0) + forests[0]!.weight[request]!)
  })
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  return {
    roots: Array.from(weights, ([path, weight]) => ({
      call: calls[path]!,
      probability: weight / total,
    })),
  }
}

/** The calls along one path that follow one model. */
interface ObservedFlow {
  calls: number
  readonly replyUs: Moments
  readonly steps: readonly ObservedStep[]
}

interface ObservedStep {
  readonly path: number
  readonly preprocessingUs: Moments
  readonly networkUs: Moments
  twoSided: boolean
}

/** By path, then by model. */
function observedFlows(models: ExecutionModels): Map<number, Map<number, ObservedFlow>> {
  const { forest, modelOf, nodeCalls } = models.period(0)
  const { preprocessingUs, replyUs } = models.ownTimes(0)
  const found = new Map<number, Map<number, ObservedFlow>>()
  for (let call = 0; call < forest.path.length; call++) {
    const first = forest.childOffsets[call]!
    const model = modelOf[call]!
    const { nodes } = models.models[model] as ExecutionModel
    const ofPath = found.get(forest.path[call]!) ?? new Map<number, ObservedFlow>()
    found.set(forest.path[call]!, ofPath)
    const flow = ofPath.get(model) ?? {
      calls: 0,
      replyUs: new Moments(),
      steps: nodes.map((_, node) => ({
        path: forest.path[nodeCalls[first + node]!]!,
        preprocessingUs: new Moments(),
        networkUs: new Moments(),
        twoSided: false,
      })),
    }
    ofPath.set(model, flow)
    flow.calls++
    flow.replyUs.add(replyUs[call]!)
    flow.steps.forEach((step, node) => {
      const child = nodeCalls[first + node]!
      step.preprocessingUs.add(preprocessingUs[child]!)
      step.networkUs.add(forest.latencyUs[child]! - forest.serverUs[child]!)
      if (forest.clientSpan[child]! >= 0) step.twoSided = true
    })
  }
  return found
}

function flowsOf(
  observed: ReadonlyMap<number, ObservedFlow> = new Map(),
  calls: readonly SimulatedCall[],
  { models }: ExecutionModels,
): SimulatedFlow[] {
  const total = [...observed.values()].reduce((sum, flow) => sum + flow.calls, 0)
  return Array.from(observed, ([model, flow]) => {
    const { predecessors, returnPredecessors } = models[model] as ExecutionModel
    return {
      probability: flow.calls / total,
      steps: flow.steps.map(({ path, preprocessingUs, networkUs, twoSided }, node) => ({
        call: calls[path]!,
        after: predecessors[node]!,
        preprocessingUs: preprocessingUs.logNormal(),
        networkUs: twoSided ? networkUs.logNormal() : null,
      })),
      replyAfter: returnPredecessors,
      replyUs: flow.replyUs.logNormal(),
    }
  })
}

/** Mean and variance of values as they come (Welford 1962). */
class Moments {
  #count = 0
  #mean = 0
  #squares = 0

  add(value: number): void {
    const delta = value - this.#mean
    this.#count++
    this.#mean += delta / this.#count
    this.#squares += delta * (value - this.#mean)
  }

  logNormal(): LogNormal {
    return logNormalOf(this.#mean, this.#squares / this.#count)
  }
}
