// Over every call of the sampled requests: the loops index with `!`.
import { cumsum } from 'd3-array'
import type { CallForest } from '../../../calls/call-forest.ts'
import { CallPaths } from '../../../calls/call-paths.ts'
import { decodeColumns, encodeColumns } from '../../../core/columns.ts'
import { FlowdeltaError } from '../../../core/errors.ts'
import { randomSource } from '../../../stats/random.ts'
import { QualityLog } from '../../../traces/quality.ts'
import { SpanTracesBuilder } from '../../../traces/span-traces-builder.ts'
import { ExecutionModels } from '../../../whatif/models/execution-models.ts'
import { RequestModel } from '../../../whatif/recompute/request-model.ts'
import { namesInPage } from '../../drawing/text.ts'

type RequestSample = NonNullable<ReturnType<typeof sampleUpTo>>

interface RequestSampleOptions {
  readonly seed: number
  readonly requests: number
  readonly size: number
}

/** Characters of JSON that a call takes at least. */
const MIN_CALL_SIZE = 8
const MAX_NAME_LENGTH = 300
const NONE = -1

/**
 * Samples requests before: every k-th by response time, so that the profile of few is close to that
 * of all. Requests of very many calls are left out and counted.
 */
export function sampleRequests(
  models: ExecutionModels,
  options: RequestSampleOptions,
): RequestSample {
  const first = Math.floor(options.size / 2 / MIN_CALL_SIZE)
  for (let maxCalls = first; maxCalls > 0; maxCalls >>= 1) {
    const sample = sampleUpTo(models, maxCalls, options)
    if (sample !== null) return sample
  }
  throw new FlowdeltaError(
    `No request has as few as ${first} calls, with names short enough for a page. Use applyScenario, which has no limit.`,
  )
}

function sampleUpTo(
  models: ExecutionModels,
  maxCalls: number,
  { seed, requests, size }: RequestSampleOptions,
) {
  const { requestOffsets, requestTrace, latencyUs } = models.period(0).forest
  const fitting = Array.from(requestTrace, (_, request) => request)
    .filter((request) => requestOffsets[request + 1]! - requestOffsets[request]! <= maxCalls)
    .sort((a, b) => latencyUs[requestOffsets[a]!]! - latencyUs[requestOffsets[b]!]! || a - b)
  const ofRequests = requestTrace.length
  const start = randomSource(seed).next()
  for (let count = Math.min(requests, fitting.length); count > 0; ) {
    const step = fitting.length / count
    const chosen = Array.from({ length: count }, (_, i) => fitting[Math.floor((i + start) * step)]!)
    const carried = encodeColumns(carriedRequests(models, chosen))
    const length = JSON.stringify(carried).length
    if (length <= size) {
      /** Number of all requests with too many calls to be chosen. */
      const tooLarge = ofRequests - fitting.length
      return { carried, requests: count, ofRequests, tooLarge }
    }
    count = Math.min(count - 1, Math.max(1, Math.floor((0.97 * count * size) / length)))
  }
  return null
}

function carriedRequests(models: ExecutionModels, chosen: readonly number[]) {
  const { forest, planOf, plans, nodeCalls } = models.period(0)
  const { requestOffsets, childOffsets, offsetUs, latencyUs, serverUs } = forest
  const calls: number[] = []
  const sizes = Uint32Array.from(chosen, (request) => {
    const first = calls.length
    calls.push(requestOffsets[request]!)
    for (let at = first; at < calls.length; at++) {
      const call = calls[at]!
      for (let child = childOffsets[call]!; child < childOffsets[call + 1]!; child++) {
        calls.push(nodeCalls[child]!)
      }
    }
    return calls.length - first
  })
  const paths = numbered(calls.map((call) => forest.path[call]!))
  const services = paths.values.map((path) => models.paths.service(path))
  const operations = paths.values.map((path) => models.paths.operation(path))
  const ownPlans = numbered(calls.map((call) => planOf[call]!))
  const rounded = (time: (call: number) => number) =>
    Float64Array.from(calls, (call) => Math.fround(time(call)))
  return {
    services: services.map(namesInPage(services, MAX_NAME_LENGTH)),
    operations: operations.map(namesInPage(operations, MAX_NAME_LENGTH)),
    /** Calling path of each path, −1 for roots; callers come before callees. */
    parentPath: Int32Array.from(
      paths.values,
      (path) => paths.numbers.get(models.paths.parent(path)) ?? NONE,
    ),
    /** In lists, which are short. */
    plans: ownPlans.values.map((number) => {
      const { order, waitsFor, replyWaitsFor, setOffsets, setNodes } = plans[number]!
      return {
        order: [...order],
        waitsFor: [...waitsFor],
        replyWaitsFor,
        setOffsets: [...setOffsets],
        setNodes: [...setNodes],
      }
    }),
    sizes,
    weight: Float64Array.from(chosen, (request) => forest.weight[request]!),
    slackUs: models.options.slackUs,
    // Calls level by level within a request, so that calls of one caller stand together.
    childCounts: Uint32Array.from(calls, (call) => childOffsets[call + 1]! - childOffsets[call]!),
    path: Uint32Array.from(calls, (call) => paths.numbers.get(forest.path[call]!)!),
    planOf: Uint32Array.from(calls, (call) => ownPlans.numbers.get(planOf[call]!)!),
    offsetUs: rounded((call) => offsetUs[call]!),
    latencyUs: rounded((call) => latencyUs[call]!),
    /** Time between client and server: mostly 0 if there are only spans of servers. */
    networkUs: rounded((call) => latencyUs[call]! - serverUs[call]!),
  }
}

/** Numbers distinct values, the smallest first: paths stay after those of their callers. */
function numbered(all: readonly number[]) {
  const values = [...new Set(all)].sort((a, b) => a - b)
  return { values, numbers: new Map(values.map((value, number) => [value, number])) }
}

/** Returns the requests of a sample, recomputed by the same code as in Node; spans are missing. */
export function restoreRequests({ carried }: RequestSample): RequestModel {
  const { services, operations, parentPath, planOf, slackUs, ...columns } = decodeColumns(carried)
  const { sizes, weight, childCounts, path, offsetUs, latencyUs, networkUs } = columns
  const requestOffsets = offsetsOf(sizes)
  const childOffsets = offsetsOf(childCounts)
  const request = new Uint32Array(path.length)
  sizes.forEach((_, number) => {
    request.fill(number, requestOffsets[number], requestOffsets[number + 1])
  })
  const roots = new Set(requestOffsets)
  const children = Uint32Array.from(path.keys()).filter((call) => !roots.has(call))
  const parent = new Int32Array(path.length).fill(NONE)
  childCounts.forEach((_, call) => {
    for (const child of children.subarray(childOffsets[call], childOffsets[call + 1])) {
      parent[child] = call
    }
  })
  const nothing = new Uint32Array(path.length)
  const forest: CallForest = {
    traces: new SpanTracesBuilder(new QualityLog()).finish('sample'),
    requestOffsets,
    request,
    weight,
    parent,
    childOffsets,
    children,
    path,
    offsetUs,
    latencyUs,
    serverSpan: nothing,
    requestTrace: Uint32Array.from(sizes.keys()),
    serverUs: latencyUs.map((us, call) => us - networkUs[call]!),
    clientSpan: new Int32Array(path.length).fill(NONE),
    detached: new Uint8Array(path.length),
  }
  const paths = new CallPaths()
  parentPath.forEach((caller, each) => {
    const name = paths.nameOf(services[each]!, operations[each]!)
    paths.child(caller < 0 ? null : caller, name)
  })
  const plans = columns.plans.map((plan) => ({
    nodes: plan.order.length,
    order: Uint32Array.from(plan.order),
    waitsFor: Int32Array.from(plan.waitsFor),
    replyWaitsFor: plan.replyWaitsFor,
    setOffsets: Uint32Array.from(plan.setOffsets),
    setNodes: Uint32Array.from(plan.setNodes),
  }))
  const all = { service: '', operation: '', caller: '' }
  const options = { ...all, slackUs, similarity: 0, share: 1 }
  const period = {
    forest,
    planOf,
    plans,
    nodeCalls: children,
    modelOf: nothing,
    orderOf: nothing,
    clusters: [],
  }
  const models = new ExecutionModels({ paths, models: [], orders: [], options }, [period])
  return new RequestModel(models, 0)
}

/** Returns where each of some runs begins, and the end of the last. */
function offsetsOf(lengths: Uint32Array): Uint32Array {
  return Uint32Array.from([0, ...cumsum(lengths)])
}
