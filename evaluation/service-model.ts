import { type RandomSource, randomSource } from '../src/stats/random.ts'

/** What one operation of a service does: its own work, and calls in turn. */
export interface ModelOperation {
  readonly service: string
  /** Median of its own work, µs. */
  readonly workUs: number
  /** Names of operations that it calls, one after the other. */
  readonly calls?: readonly ModelCall[]
}

/** An operation by its name, or one that only a share of the calls make. */
export type ModelCall = string | { readonly call: string; readonly share: number }

/** How a system is expected to perform: its operations by name, the first of which takes requests. */
export type ServiceModel = Readonly<Record<string, ModelOperation>>

export interface ModelOptions {
  /** Default 200. */
  readonly requests?: number
  /** Default 1. */
  readonly seed?: number
  /** Where it runs: part of the names of hosts. Default `'model'`. */
  readonly cluster?: string
  /** Median of the way of a call and of its reply, µs. Default 100. */
  readonly networkUs?: number
}

/** How much times vary (SD of the logarithm). */
const SIGMA = 0.2
const BETWEEN_US = 5000

/**
 * Requests as a model expects them, as a file for `loadTraces` (Zipkin JSON): the period before,
 * where no good one was recorded, or one of two places that run the same.
 *
 * Source: Sambasivan 2013, §2.4 (a model of expected performance) and §3.4.1 (two clusters).
 */
export function expectedTraces(
  model: ServiceModel,
  { requests = 200, seed = 1, cluster = 'model', networkUs = 100 }: ModelOptions = {},
): { readonly name: string; readonly bytes: string } {
  const random = randomSource(seed)
  const [root = ''] = Object.keys(model)
  const spans = Array.from({ length: requests }, (_, request) => {
    const trace = new ModelTrace(model, { random, seed, networkUs, cluster, id: request + 1 })
    trace.run(root, request * BETWEEN_US)
    return trace.spans
  })
  return { name: `${cluster}.json`, bytes: JSON.stringify(spans.flat()) }
}

interface ModelRun extends Required<Pick<ModelOptions, 'networkUs' | 'cluster' | 'seed'>> {
  readonly random: RandomSource
  readonly id: number
}

class ModelTrace {
  readonly spans: object[] = []
  readonly #model: ServiceModel
  readonly #run: ModelRun

  constructor(model: ServiceModel, run: ModelRun) {
    this.#model = model
    this.#run = run
  }

  /** Runs an operation and all that it calls; gives the time of its end, µs. */
  run(name: string, startUs: number, parentId?: string): number {
    const operation = this.#model[name]
    if (operation === undefined) throw new Error(`The model has no operation ${name}.`)
    const { random, seed, networkUs, cluster, id: request } = this.#run
    const { service, workUs, calls = [] } = operation
    const about = (us: number) => us * random.logNormal(0, SIGMA)
    const id = `${hex(request)}${hex(this.spans.length + 1)}`
    const place = this.spans.push({}) - 1
    const made = calls.flatMap((call) => {
      if (typeof call === 'string') return [call]
      return random.next() < call.share ? [call.call] : []
    })
    const pieceUs = workUs / (made.length + 1)
    let nowUs = startUs + about(pieceUs)
    for (const call of made) {
      nowUs = this.run(call, nowUs + about(networkUs), id) + about(networkUs) + about(pieceUs)
    }
    this.spans[place] = {
      traceId: `${hex(seed)}${hex(request)}`,
      id,
      ...(parentId !== undefined && { parentId }),
      name,
      kind: 'SERVER',
      timestamp: 1_700_000_000_000_000 + Math.round(startUs),
      duration: Math.max(1, Math.round(nowUs) - Math.round(startUs)),
      localEndpoint: { serviceName: service },
      tags: { 'host.name': `${cluster}-${service}` },
    }
    return nowUs
  }
}

function hex(number: number): string {
  return number.toString(16).padStart(8, '0')
}

/** The same model with some operations that take so many times as long, by service; or all. */
export function slowedModel(
  model: ServiceModel,
  factors: Readonly<Record<string, number>>,
  all = 1,
): ServiceModel {
  return Object.fromEntries(
    Object.entries(model).map(([name, operation]) => [
      name,
      { ...operation, workUs: operation.workUs * (factors[operation.service] ?? all) },
    ]),
  )
}

/** A service with its dependencies, as that of the thesis's load tests in two clusters. */
export const LOAD_TESTED: ServiceModel = {
  SEARCH: { service: 'frontend', workUs: 800, calls: ['AUTH', 'RANK'] },
  AUTH: { service: 'auth', workUs: 300 },
  RANK: { service: 'ranker', workUs: 1500, calls: ['READ ROWS', { call: 'PREFETCH', share: 0.5 }] },
  'READ ROWS': { service: 'table', workUs: 1200 },
  PREFETCH: { service: 'table', workUs: 500 },
}
