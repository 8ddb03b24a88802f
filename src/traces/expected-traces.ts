import { range, sum } from 'd3-array'
import {
  entryNamed,
  FlowdeltaError,
  OptionError,
  requireArgument,
  requireFields,
} from '../core/errors.ts'
import {
  count,
  defineOptions,
  number,
  type OptionsOf,
  optionalText,
  readOptions,
  text,
} from '../core/options.ts'
import { normalQuantile } from '../stats/distributions.ts'
import { type RandomSource, randomSource } from '../stats/random.ts'
import { QualityLog } from './quality.ts'
import type { SpanTraces } from './span-traces.ts'
import { SpanTracesBuilder } from './span-traces-builder.ts'

/**
 * Expected time of something, in µs: a median, whose times vary by `spread`; a median with a 99th percentile,
 * log-normal; or a list of equally likely times.
 */
export type ExpectedTime =
  | number
  | { readonly medianUs: number; readonly p99Us: number }
  | readonly number[]

/** A call by the name of an operation of the model. */
export type ExpectedCall =
  | string
  | {
      readonly call: string
      /** Share of the operation's calls in which it is made; default 1. */
      readonly share?: number
      /** Number of sequential repetitions; default 1. */
      readonly times?: number
    }

/** Work of one operation of a service. */
export interface ExpectedOperation {
  readonly service: string
  /** Name of its spans' operation; default its name in the model. */
  readonly operation?: string
  /** Own work, before, between and after its calls in equal parts. */
  readonly workUs: ExpectedTime
  /** Calls, one after the other; those of an inner list are made at the same time. */
  readonly calls?: readonly (ExpectedCall | readonly ExpectedCall[])[]
  /** Number of requests that begin with it, relative to others; default 1, or 0 if another operation calls it. */
  readonly requests?: number
}

/** Expected performance of a system: its operations by name. */
export type ServiceModel = Readonly<Record<string, ExpectedOperation>>

const MAX_REQUESTS = 1e6

export const EXPECTED_OPTIONS = defineOptions({
  requests: count({ default: 1000, max: MAX_REQUESTS, sentence: 'Number of requests to generate' }),
  perSecond: number({
    default: 100,
    min: 1e-6,
    sentence:
      'Requests that arrive each second, at random; give the rate of the period you compare with',
  }),
  networkUs: number({
    default: 100,
    min: 0,
    unit: 'µs',
    sentence: 'Median transit time of each call, and of each reply',
  }),
  spread: number({
    default: 0.2,
    min: 0,
    sentence: 'Variation of times given as a number: standard deviation of their logarithm',
  }),
  hosts: optionalText('Prefix of host names, before the name of the service; no hosts by default'),
  name: text({ default: 'model', sentence: 'Name of the period' }),
  seed: count({ default: 1, min: 0, sentence: 'Seed of the random numbers' }),
})

export type ExpectedOptions = OptionsOf<typeof EXPECTED_OPTIONS>

/**
 * Returns traces as a model expects them: a period for `compare` where no good one was recorded.
 *
 * Operations work before, between and after their calls. Compare with `omitHosts: true`, unless the model has
 * the hosts of the other period.
 *
 * @param model operations by name; requests begin with those that no other calls
 * @param options see {@link EXPECTED_OPTIONS}
 * @throws FlowdeltaError for a call to an operation that the model does not have, and for operations that call
 *   each other in a circle; OptionError for times and shares that are none
 *
 * Source: Sambasivan 2013, §2.4 (a model of expected performance as the non-problem period).
 *
 * @example
 * const model = {
 *   SEARCH: { service: 'frontend', workUs: 800, calls: ['RANK'] },
 *   RANK: { service: 'ranker', workUs: { medianUs: 1500, p99Us: 9000 } },
 * }
 * expectedTraces(model, { requests: 50 }).size // 50
 */
export function expectedTraces(
  model: ServiceModel,
  options: Partial<ExpectedOptions> = {},
): SpanTraces {
  const read = readOptions(EXPECTED_OPTIONS, options)
  checkModel(model)
  const roots = rootsOf(model)
  const random = randomSource(read.seed)
  const builder = new SpanTracesBuilder(new QualityLog())
  const run = runnerOf(model, { options: read, random, builder })
  let nowUs = 0
  for (let request = 1; request <= read.requests; request++) {
    run(drawnRoot(roots, random), { request, startUs: nowUs, parentId: null })
    nowUs -= (1e6 / read.perSecond) * Math.log(1 - random.next())
  }
  return builder.finish(read.name)
}

function checkModel(model: ServiceModel): void {
  const isRecord = typeof model === 'object' && model !== null && !Array.isArray(model)
  requireArgument('expectedTraces(model)', model, isRecord, 'a record of operations')
  for (const [name, operation] of Object.entries(model)) {
    requireFields(`expectedTraces(model), operation ${name},`, operation, 'service', 'workUs')
    if (!isTime(operation.workUs)) {
      const expected = 'a time above 0 in µs, { medianUs, p99Us }, or a list of times'
      throw new OptionError(`workUs of ${name}`, operation.workUs, expected)
    }
    for (const { call, share, times } of callsOf(operation).flat()) {
      entryNamed(model, call, 'no operation of the model', 'There are')
      if (!(share >= 0 && share <= 1)) throw new OptionError('share', share, 'a share from 0 to 1')
      if (!(times >= 1)) throw new OptionError('times', times, 'a number from 1 on')
    }
  }
  for (const name of Object.keys(model)) checkCircle(model, [name])
}

function isTime(time: ExpectedTime): boolean {
  const isOne = (us: unknown) => typeof us === 'number' && us > 0 && us < Number.POSITIVE_INFINITY
  if (Array.isArray(time)) return time.length > 0 && time.every(isOne)
  if (typeof time !== 'object') return isOne(time)
  const { medianUs, p99Us } = time as Exclude<ExpectedTime, number | readonly number[]>
  return isOne(medianUs) && isOne(p99Us) && p99Us >= medianUs
}

function checkCircle(model: ServiceModel, path: readonly string[]): void {
  for (const { call } of callsOf(model[path.at(-1) as string] as ExpectedOperation).flat()) {
    if (path.includes(call)) {
      const circle = [...path.slice(path.indexOf(call)), call].join(' → ')
      throw new FlowdeltaError(`Operations of the model call each other in a circle: ${circle}.`)
    }
    checkCircle(model, [...path, call])
  }
}

/** Returns the calls of an operation in turn, each list made at the same time. */
function callsOf({ calls = [] }: ExpectedOperation) {
  return calls.map((together) =>
    (isList(together) ? together : [together]).map((one) => ({
      share: 1,
      times: 1,
      ...(typeof one === 'string' ? { call: one } : one),
    })),
  )
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value)
}

/** Operations that requests begin with, and how many do. */
function rootsOf(model: ServiceModel): [name: string, weight: number][] {
  const called = new Set(
    Object.values(model).flatMap((operation) =>
      callsOf(operation)
        .flat()
        .map(({ call }) => call),
    ),
  )
  const roots = Object.entries(model).flatMap(([name, { requests }]): [string, number][] => {
    const weight = requests ?? (called.has(name) ? 0 : 1)
    return weight > 0 ? [[name, weight]] : []
  })
  if (roots.length > 0) return roots
  throw new FlowdeltaError('No operation of the model takes requests. Say how many: `requests`.')
}

function drawnRoot(roots: readonly [name: string, weight: number][], random: RandomSource): string {
  let left = random.next() * sum(roots, ([, weight]) => weight)
  const found = roots.find(([, weight]) => {
    left -= weight
    return left < 0
  })
  return (found ?? (roots[0] as [string, number]))[0]
}

/** Returns what runs an operation and all that it calls, and returns when it ends, in µs. */
function runnerOf(
  model: ServiceModel,
  {
    options: { networkUs, hosts, seed, spread },
    random,
    builder,
  }: {
    readonly options: ExpectedOptions
    readonly random: RandomSource
    readonly builder: SpanTracesBuilder
  },
) {
  let spans = 0
  const timeOf = (time: ExpectedTime): number => {
    if (isList(time)) return time[random.integer(time.length)] as number
    if (typeof time === 'number') return time * random.logNormal(0, spread)
    return time.medianUs * random.logNormal(0, Math.log(time.p99Us / time.medianUs) / Z99)
  }
  /** Calls that a call of the operation makes, in turn. */
  const callsMade = (operation: ExpectedOperation) =>
    callsOf(operation).flatMap((together) => {
      const made = together.filter(({ share }) => share === 1 || random.next() < share)
      const rounds = Math.max(0, ...made.map(({ times }) => times))
      return range(rounds).map((round) =>
        made.filter(({ times }) => round < times).map(({ call }) => call),
      )
    })
  const runOne = (
    name: string,
    { request, startUs, parentId }: { request: number; startUs: number; parentId: string | null },
  ): number => {
    const operation = model[name] as ExpectedOperation
    const spanId = hex(++spans, 16)
    const made = callsMade(operation)
    const pieceUs = timeOf(operation.workUs) / (made.length + 1)
    let nowUs = startUs + pieceUs
    for (const together of made) {
      const ends = together.map((call) => {
        const arrivesUs = nowUs + timeOf(networkUs)
        return runOne(call, { request, startUs: arrivesUs, parentId: spanId }) + timeOf(networkUs)
      })
      nowUs = Math.max(...ends) + pieceUs
    }
    builder.add(
      {
        traceId: hex(request, 8) + hex(seed, 24),
        spanId,
        parentId,
        service: operation.service,
        operation: operation.operation ?? name,
        host: hosts === null ? '' : `${hosts}-${operation.service}`,
        kind: 'server',
        status: 'unset',
        startUs: builder.clock.offset(START_SECONDS, startUs),
        durationUs: nowUs - startUs,
        followsFrom: false,
      },
      {},
    )
    return nowUs
  }
  return runOne
}

const Z99 = normalQuantile(0.99)
/** Models have no time of day: traces begin on a day of their own. */
const START_SECONDS = 1_700_000_000

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0')
}
