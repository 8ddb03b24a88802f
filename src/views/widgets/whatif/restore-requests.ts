// Over every call of the sampled requests: the loops index with `!`.
import { QualityLog } from '../../../traces/quality.ts'
import { SpanTracesBuilder } from '../../../traces/span-traces-builder.ts'
import { CallPaths } from '../../../whatif/calls/call-paths.ts'
import type { CallForest } from '../../../whatif/calls/index-calls.ts'
import { ExecutionModels } from '../../../whatif/models/execution-models.ts'
import type { WaitPlan } from '../../../whatif/models/wait-plan.ts'
import { RequestModel } from '../../../whatif/recompute/request-model.ts'
import type { PackedPlan, RequestSample } from './request-sample.ts'

const NONE = -1

/**
 * The requests of a sample, ready to be recomputed by the same code as in Node. What is not needed for
 * that, such as the models that the plans came from and the spans, is missing.
 */
export function restoreRequests(sample: RequestSample): RequestModel {
  const paths = restorePaths(sample)
  const calls = sample.latencyUs.length
  const planOf = new Uint32Array(calls)
  const forest = restoreCalls(sample, planOf)
  const period = {
    ...{ forest, planOf, plans: sample.plans.map(restorePlan) },
    // The children of a caller were numbered in its plan's order.
    nodeCalls: forest.children,
    ...{ modelOf: new Uint32Array(calls), orderOf: new Uint32Array(calls) },
  }
  const models = new ExecutionModels(
    paths,
    { models: [], orders: [], periods: [period] },
    { slackUs: sample.slackUs, similarity: 0, share: 1 },
  )
  return new RequestModel(models, 0)
}

function restorePaths({ services, operations, paths }: RequestSample): CallPaths {
  const restored = new CallPaths()
  const numbers: number[] = []
  for (const [parent, service, operation] of paths) {
    const name = restored.nameOf(services[service]!, operations[operation]!)
    numbers.push(parent < 0 ? restored.root(name) : restored.child(numbers[parent]!, name))
  }
  return restored
}

function restorePlan([order, waitsFor, replyWaitsFor, setOffsets, setNodes]: PackedPlan): WaitPlan {
  return {
    ...{ nodes: order.length, order: Uint32Array.from(order), replyWaitsFor },
    waitsFor: Int32Array.from(waitsFor),
    setOffsets: Uint32Array.from(setOffsets),
    setNodes: Uint32Array.from(setNodes),
  }
}

/** Numbers the calls as they were packed, and fills `planOf`. */
function restoreCalls(sample: RequestSample, planOf: Uint32Array): CallForest {
  const { shapes, shapeOf, latencyUs, networkUs, weight } = sample
  const calls = latencyUs.length
  const requestOffsets = new Uint32Array(shapeOf.length + 1)
  const request = new Uint32Array(calls)
  const parent = new Int32Array(calls).fill(NONE)
  const childOffsets = new Uint32Array(calls + 1)
  const path = new Uint32Array(calls)
  let row = 0
  shapeOf.forEach((shape, number) => {
    const [ownPaths, plans, childCounts] = shapes[shape]!
    // Callers that have calls to come, and how many.
    const open: [caller: number, left: number][] = []
    ownPaths.forEach((ownPath, i) => {
      const caller = open.at(-1)
      if (caller !== undefined) {
        parent[row] = caller[0]
        caller[1]--
      }
      while (open.at(-1)?.[1] === 0) open.pop()
      path[row] = ownPath
      planOf[row] = plans[i]!
      request[row] = number
      childOffsets[row + 1] = childOffsets[row]! + childCounts[i]!
      if (childCounts[i]! > 0) open.push([row, childCounts[i]!])
      row++
    })
    requestOffsets[number + 1] = row
  })
  const children = new Uint32Array(childOffsets[calls]!)
  const next = childOffsets.slice()
  for (let call = 0; call < calls; call++) {
    if (parent[call]! >= 0) children[next[parent[call]!]!++] = call
  }
  return {
    traces: new SpanTracesBuilder(new QualityLog()).finish('sample'),
    ...{ requestOffsets, request, parent, childOffsets, children, path },
    requestTrace: Uint32Array.from(shapeOf, (_, number) => number),
    weight: weight === null ? new Float64Array(shapeOf.length).fill(1) : Float64Array.from(weight),
    offsetUs: Float64Array.from(sample.offsetUs),
    latencyUs: Float64Array.from(latencyUs),
    serverUs: Float64Array.from(latencyUs, (us, call) => us - networkUs[call]!),
    serverSpan: new Uint32Array(calls),
    clientSpan: new Int32Array(calls).fill(NONE),
    detached: new Uint8Array(calls),
  }
}
