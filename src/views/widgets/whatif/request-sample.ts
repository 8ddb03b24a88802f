// Over every call of the sampled requests, twice: the loops index with `!`.
import { FlowdeltaError } from '../../../core/errors.ts'
import { shortText } from '../../../core/shown-text.ts'
import { randomSource } from '../../../stats/random.ts'
import type { ExecutionModels } from '../../../whatif/models/execution-models.ts'
import type { WaitPlan } from '../../../whatif/models/wait-plan.ts'

/** A `WaitPlan` as it travels; columns as there. */
export type PackedPlan = readonly [
  order: readonly number[],
  waitsFor: readonly number[],
  replyWaitsFor: number,
  setOffsets: readonly number[],
  setNodes: readonly number[],
]

/** The form of a request: its calls, each after its caller, those of one caller in its plan's order. */
export type PackedShape = readonly [
  paths: readonly number[],
  plans: readonly number[],
  /** How many calls each makes, unawaited ones among them. */
  children: readonly number[],
]

/** Requests of one period as they travel into a page, enough to recompute them after any change. */
export interface RequestSample {
  readonly services: readonly string[]
  readonly operations: readonly string[]
  /** Paths of calls: the caller's, −1 for roots, and numbers of service and operation. */
  readonly paths: readonly (readonly [parent: number, service: number, operation: number])[]
  readonly plans: readonly PackedPlan[]
  readonly shapes: readonly PackedShape[]
  readonly shapeOf: readonly number[]
  /** By call, request by request, µs. */
  readonly offsetUs: readonly number[]
  readonly latencyUs: readonly number[]
  /** Between client and server. */
  readonly networkUs: readonly number[]
  /** Of requests; `null` where all are 1. */
  readonly weight: readonly number[] | null
  readonly slackUs: number
  /** How many requests there are, and how many of them have too many calls to be chosen. */
  readonly ofRequests: number
  readonly tooLarge: number
}

export interface RequestSampleOptions {
  readonly period: 0 | 1
  readonly seed: number
  /** Most requests. */
  readonly requests: number
  /** Most characters of JSON. */
  readonly size: number
}

/** Digits of times: far more than can be seen. */
const DIGITS = 5
/** Characters of JSON a call takes at least; requests whose calls would not fit by half are left out. */
const LEAST_PER_CALL = 8
const LONGEST_NAME = 300

/**
 * A sample of requests small enough for a page: in the order of their response times, every k-th from
 * a random one on, so that the profile of few is close to that of all. Requests of very many calls
 * are left out and counted. Times are rounded to five digits.
 *
 * @throws FlowdeltaError where no request is small enough
 */
export function sampleRequests(
  models: ExecutionModels,
  options: RequestSampleOptions,
): RequestSample {
  const first = Math.floor(options.size / 2 / LEAST_PER_CALL)
  for (let mostCalls = first; mostCalls > 0; mostCalls >>= 1) {
    const sample = sampleUpTo(models, mostCalls, options)
    if (sample !== null) return sample
  }
  throw new FlowdeltaError(
    `No request has as few as ${first} calls, with names short enough for a page. Use applyScenario, which has no limit.`,
  )
}

/** As many of the requests of at most so many calls as fit; `null` where none does. */
function sampleUpTo(
  models: ExecutionModels,
  mostCalls: number,
  { period, seed, requests, size }: RequestSampleOptions,
): RequestSample | null {
  const { requestOffsets, requestTrace, latencyUs } = models.period(period).forest
  const fitting = Array.from(requestTrace, (_, request) => request)
    .filter((request) => requestOffsets[request + 1]! - requestOffsets[request]! <= mostCalls)
    .sort((a, b) => latencyUs[requestOffsets[a]!]! - latencyUs[requestOffsets[b]!]! || a - b)
  const ofRequests = requestTrace.length
  const tooLarge = ofRequests - fitting.length
  const start = randomSource(seed).next()
  for (let count = Math.min(requests, fitting.length); count > 0; ) {
    const step = fitting.length / count
    const chosen = Array.from({ length: count }, (_, i) => fitting[Math.floor((i + start) * step)]!)
    const sample = { ...packRequests(models, period, chosen), ofRequests, tooLarge }
    const length = JSON.stringify(sample).length
    if (length <= size) return sample
    count = Math.min(count - 1, Math.max(1, Math.floor((0.97 * count * size) / length)))
  }
  return null
}

function packRequests(
  models: ExecutionModels,
  period: 0 | 1,
  chosen: readonly number[],
): Omit<RequestSample, 'ofRequests' | 'tooLarge'> {
  const { options } = models
  const { forest, planOf, plans, nodeCalls } = models.period(period)
  const { requestOffsets, childOffsets, path } = forest
  const packer = new NamePacker(models)
  const planNumbers = new Numbered<WaitPlan>()
  const shapes = new Map<string, number>()
  const packedShapes: PackedShape[] = []
  const calls: number[] = []
  const shapeOf = chosen.map((request) => {
    const shape: [number[], number[], number[]] = [[], [], []]
    const pending = [requestOffsets[request]!]
    // Depth first: restored in one pass, as the children of a call are known by their number.
    for (let call = pending.pop(); call !== undefined; call = pending.pop()) {
      const first = childOffsets[call]!
      const count = childOffsets[call + 1]! - first
      calls.push(call)
      shape[0].push(packer.path(path[call]!))
      shape[1].push(planNumbers.of(plans[planOf[call]!]!))
      shape[2].push(count)
      for (let at = first + count - 1; at >= first; at--) pending.push(nodeCalls[at]!)
    }
    const key = JSON.stringify(shape)
    const known = shapes.get(key) ?? packedShapes.push(shape) - 1
    shapes.set(key, known)
    return known
  })
  const rounded = (us: number) => Number(us.toPrecision(DIGITS))
  const weights = chosen.map((request) => forest.weight[request]!)
  return {
    ...packer.packed(),
    plans: planNumbers.all.map(packPlan),
    ...{ shapes: packedShapes, shapeOf, slackUs: options.slackUs },
    offsetUs: calls.map((call) => rounded(forest.offsetUs[call]!)),
    latencyUs: calls.map((call) => rounded(forest.latencyUs[call]!)),
    networkUs: calls.map((call) => rounded(forest.latencyUs[call]! - forest.serverUs[call]!)),
    weight: weights.every((weight) => weight === 1) ? null : weights,
  }
}

function packPlan(plan: WaitPlan): PackedPlan {
  const { order, waitsFor, replyWaitsFor, setOffsets, setNodes } = plan
  return [[...order], [...waitsFor], replyWaitsFor, [...setOffsets], [...setNodes]]
}

/** Numbers things in the order in which they are first asked for. */
class Numbered<T> {
  readonly all: T[] = []
  readonly #numbers = new Map<T, number>()

  of(thing: T): number {
    let number = this.#numbers.get(thing)
    if (number === undefined) {
      number = this.all.push(thing) - 1
      this.#numbers.set(thing, number)
    }
    return number
  }
}

/** Only the paths that occur, callers before what they call. */
class NamePacker {
  readonly #models: ExecutionModels
  readonly #services = new Numbered<string>()
  readonly #operations = new Numbered<string>()
  readonly #numbers = new Map<number, number>()
  readonly #paths: (readonly [number, number, number])[] = []

  constructor(models: ExecutionModels) {
    this.#models = models
  }

  path(path: number): number {
    const known = this.#numbers.get(path)
    if (known !== undefined) return known
    const { paths } = this.#models
    const caller = paths.parent(path)
    const parent = caller < 0 ? caller : this.path(caller)
    const number =
      this.#paths.push([
        parent,
        this.#services.of(paths.service(path)),
        this.#operations.of(paths.operation(path)),
      ]) - 1
    this.#numbers.set(path, number)
    return number
  }

  packed(): Pick<RequestSample, 'services' | 'operations' | 'paths'> {
    return {
      services: distinct(this.#services.all.map(cut)),
      operations: distinct(this.#operations.all.map(cut)),
      paths: this.#paths,
    }
  }
}

/** Names are whole, to be written in code, unless they are very long. */
function cut(name: string): string {
  return name.length <= LONGEST_NAME ? name : shortText(name, LONGEST_NAME)
}

/** Different names stay different. */
function distinct(names: readonly string[]): string[] {
  const seen = new Set<string>()
  return names.map((name) => {
    let own = name
    for (let times = 2; seen.has(own); times++) own = `${name} (${times})`
    seen.add(own)
    return own
  })
}
