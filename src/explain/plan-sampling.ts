import { extent, group, mean, sum } from 'd3-array'
import { Comparison, compare } from '../compare/comparison.ts'
import { placeTitle } from '../compare/findings/names.ts'
import type { StepChange } from '../compare/steps/step-changes.ts'
import { strataOfStep } from '../compare/steps/step-times.ts'
import { at } from '../core/entries.ts'
import { entryNamed, FlowdeltaError, requireStage } from '../core/errors.ts'
import {
  custom,
  defineOptions,
  type OptionsOf,
  optionalText,
  readOptions,
} from '../core/options.ts'
import { memoized } from '../core/remembered.ts'
import { columnarStage, own, rowTable, type StageTable } from '../core/stage.ts'
import { readDuration } from '../core/words.ts'
import type { FlowSet } from '../flows/flow-set.ts'
import { rankSignals } from '../stats/detectable-shift.ts'
import { normalTail } from '../stats/distributions.ts'
import { logOf, MIN_VALUES } from '../stats/moderated-shifts.ts'
import { type Moments, moments } from '../stats/moments.ts'
import { SelectableTraces } from '../traces/selection/selectable-traces.ts'
import type { TraceSet } from '../traces/trace-set.ts'
import { ThinnedComparisons } from './thinned-comparisons.ts'

/** Defines an option for a duration in µs, or the value of `defaultUs`. */
function duration<Default extends number | null>(defaultUs: Default, sentence: string) {
  const isDuration = (value: unknown) => typeof value === 'number' && value > 0 && value < Infinity
  return custom<number | Default>({
    default: defaultUs,
    unit: 'µs',
    sentence,
    expected: "a duration above 0, such as '5ms' (in code, in µs)",
    accepts: (value) => value === defaultUs || isDuration(value),
    parse: readDuration,
    schema: { type: defaultUs === null ? ['number', 'null'] : 'number', exclusiveMinimum: 0 },
  })
}

export const PLAN_OPTIONS = defineOptions({
  shiftUs: {
    ...duration(1000, 'Slowdown to find: how much longer each call of a step takes'),
    flag: 'shift <duration>',
  },
  withinUs: {
    ...duration(null, 'Length of each period; default: half of the recording'),
    flag: 'within <duration>',
  },
  service: optionalText('Only steps of this service', 'service <name>'),
})

export type PlanOptions = OptionsOf<typeof PLAN_OPTIONS>

/** Requests needed to find that one step takes longer. */
export interface PlannedStep {
  /** `payments charge itself`, or `shop → payments charge` for the way to it. */
  readonly step: string
  readonly service: string
  readonly operation: string
  /** Mean time of a call, in µs. */
  readonly meanUs: number
  /** A shift below this is too small to matter (`minimumEffect`), in µs. */
  readonly leastUs: number
  /** Requests of a period that have the step, if all are kept. */
  readonly requests: number
  /** Requests that have the step, of each period, that are enough; ∞ where the shift hardly matters. */
  readonly needed: number
}

/** Share of comparisons that should find the shift. */
const POWER = 0.8
/** Largest number of requests that is planned. */
const MAX_REQUESTS = 2 ** 40
/** Times of fewer requests say too little of how times vary. */
const MIN_REQUESTS = 20

/**
 * Plans how many requests to keep so that a comparison of two periods finds a slowdown of one step. The variation of
 * times and the drift of their levels are learned from the recording; tests with few requests are learned from
 * comparisons of random parts of it.
 *
 * A head sampler keeps a share of all requests (`rate`); a tail sampler can keep the same share of the requests that
 * have the step, and no others. Assumes that times move up by the shift and vary as before.
 *
 * @param source a comparison of two similar periods, or the traces of one recording, whose halves are then compared
 * @param options see {@link PLAN_OPTIONS}
 * @throws OptionError for an invalid duration; FlowdeltaError for traces without spans, a service without work in them,
 *   and too few requests
 *
 * Sources: Lehmann 1975, "Nonparametrics", §2.3 (power of rank tests); Johnson and Welch 1940,
 * "Applications of the non-central t-distribution", Biometrika 31:362-389 (of means of logs); the plan
 * is our own.
 *
 * @example
 * const plan = planSampling(before, { shiftUs: 500 })
 * plan.steps[0].needed
 */
export function planSampling(
  source: Comparison | TraceSet,
  options: Partial<PlanOptions> = {},
): SamplingPlan {
  const { shiftUs, withinUs, service } = readOptions(PLAN_OPTIONS, options)
  if (!(source instanceof Comparison))
    requireStage('planSampling(traces)', source, SelectableTraces)
  const comparison = source instanceof Comparison ? source : ofHalves(source)
  const { flows, steps: changes } = comparison
  const thinned = new ThinnedComparisons(comparison)
  const lasted = recordedUs(flows)
  const periodUs = withinUs ?? lasted / 2
  const places = changes.steps.filter(
    ({ kind, part, service: own }) =>
      kind !== 'request' && part === undefined && (service === null || own === service),
  )
  const planned = places
    .flatMap((step) => plannedOf({ comparison, thinned, step, share: periodUs / lasted }))
    .sort((a, b) => b.requests - a.requests || b.meanUs - a.meanUs)
  if (planned.length === 0) throw nothingToPlan(changes.steps, service)
  return new SamplingPlan({
    shiftUs,
    periodUs,
    allRequests: Math.round((flows.size * periodUs) / lasted),
    planned,
  })
}

function ofHalves(traces: TraceSet): Comparison {
  const rows = Array.from({ length: traces.size }, (_, row) => row)
  const middle = Math.ceil(rows.length / 2)
  return compare(
    traces.pick(rows.slice(0, middle), { name: 'first half' }),
    traces.pick(rows.slice(middle), { name: 'second half' }),
  )
}

/** Returns the total length of all recordings. */
function recordedUs({ startUs, recordedIn }: FlowSet): number {
  const recordings = group(startUs.keys(), (request) => at(recordedIn, request))
  return sum(recordings.values(), (requests) => {
    const [first = 0, last = 0] = extent(requests, (request) => at(startUs, request))
    return last - first
  })
}

function plannedOf({
  comparison: { flows, steps: changes },
  thinned,
  step,
  share,
}: {
  readonly comparison: Comparison
  readonly thinned: ThinnedComparisons
  readonly step: StepChange
  /** The share of the recording that one period is. */
  readonly share: number
}): Planned[] {
  const strata = group(strataOfStep(changes.times, step), ({ operation }) => operation)
  return Array.from(strata, ([operation, some]): Planned | [] => {
    const samples = some.flatMap(({ before, after }) => [before, after])
    const values = Float64Array.from(samples.flatMap((sample) => [...sample.values]))
    const critical = sum(samples, ({ criticalCalls }) => criticalCalls)
    if (values.length < MIN_REQUESTS || critical === 0) return []
    const requests = samples.flatMap((sample) => [...sample.recorded.requests])
    const responseUs = mean(requests, (request) => at(flows.responseTimeUs, request)) ?? 0
    const { minimumEffect } = changes.options
    return {
      place: { step: placeTitle(step, operation), service: step.service, operation },
      meanUs: mean(values) ?? Number.NaN,
      requests: Math.round(share * requests.length),
      values,
      testsOf: memoized((parts) => thinned.testsOf(step, parts)),
      excess: Math.max(0, step.designEffect - 1) / (step.beforeRequests + step.afterRequests),
      leastUs: (minimumEffect * responseUs * requests.length) / critical,
    }
  }).flat()
}

interface Planned {
  readonly place: Pick<PlannedStep, 'step' | 'service' | 'operation'>
  readonly meanUs: number
  readonly requests: number
  /** Times of its calls, in µs, one a request. */
  readonly values: Float64Array
  /** Growth of the design effect per request with the step, in both periods: levels drift. */
  readonly excess: number
  /** Tests of the step in each part of the recording, if it is cut into that many. */
  readonly testsOf: (parts: number) => ReturnType<ThinnedComparisons['testsOf']>
  /** Smallest relevant slowdown of a call, in µs. */
  readonly leastUs: number
}
/** Requests of each period that find a shift, and find it large enough to matter. */
function neededFor(planned: Planned, shiftUs: number): number {
  if (shiftUs <= planned.leastUs) return Number.POSITIVE_INFINITY
  const powerOf = powersOf(planned, shiftUs)
  let enough = 2
  while (powerOf(enough) < POWER) {
    if (enough > MAX_REQUESTS) return Number.POSITIVE_INFINITY
    enough *= 2
  }
  for (let few = enough / 2; enough - few > 1; ) {
    const between = Math.floor((few + enough) / 2)
    if (powerOf(between) >= POWER) enough = between
    else few = between
  }
  return enough
}

/**
 * Returns the probability that periods with that many requests of the step show the shift: the mean over the tests of
 * parts.
 */
function powersOf({ values, testsOf, excess, leastUs }: Planned, shiftUs: number) {
  const signalOf = rankSignals(values, shiftUs)
  const [usual, slower] = [0, shiftUs].map((us) =>
    moments(values.map((one) => logOf(one + us))),
  ) as [Moments, Moments]
  const spread = usual.variance + slower.variance
  /** Probability that a shift of that many standard errors is found large enough to matter. */
  const isLarge = (signal: number) => normalTail(-signal * (1 - leastUs / shiftUs))
  return (count: number): number => {
    // Level shifts common to all requests widen the sum of fewer requests less.
    const spreads = 1 + 2 * excess * count
    const signal = (slower.mean - usual.mean) / Math.sqrt((spread * spreads) / count)
    const parts = 2 ** Math.max(0, Math.round(Math.log2(values.length / 2 / count)))
    return mean(testsOf(parts), (test) => {
      if (test === null) return 0
      // A comparison may take chance for drift, which makes it less sure.
      const wider = Math.sqrt(Math.max(spreads, test.designEffect))
      const [ranks, logs] = test.leastOf(count)
      const ofRanks = signalOf(count, { least: wider * ranks, designEffect: spreads })
      const rank = Math.min(ofRanks.power, isLarge(ofRanks.signal))
      if (count < MIN_VALUES) return rank
      const least = (wider * logs) / Math.sqrt(spreads)
      return Math.max(
        rank,
        Math.min(powerOfT(signal, { critical: least, df: test.logDf }), isLarge(signal)),
      )
    }) as number
  }
}

/** Returns the approximate probability that a t with this noncentrality exceeds `critical`. */
function powerOfT(signal: number, { critical, df }: { critical: number; df: number }): number {
  const ofMean = critical * (1 - 1 / (4 * df))
  return normalTail((ofMean - signal) / Math.sqrt(1 + critical ** 2 / (2 * df)))
}

interface PlanColumns {
  readonly shiftUs: number
  /** Length of each period, in µs. */
  readonly periodUs: number
  /** Requests of a period, if all are kept. */
  readonly allRequests: number
}

/** Number of requests that find a slowdown, for each step. */
export class SamplingPlan extends columnarStage<PlanColumns>() {
  static readonly madeBy: string = 'what planSampling returns'
  /** Steps by how many requests have them, the most first. */
  readonly steps: readonly PlannedStep[]
  readonly #planned: readonly Planned[]

  /** Use `planSampling` instead. */
  constructor({ planned, ...columns }: PlanColumns & { readonly planned: readonly Planned[] }) {
    super(columns)
    this.#planned = planned
    this.steps = planned.map((one) => ({
      ...one.place,
      meanUs: one.meanUs,
      leastUs: one.leastUs,
      requests: one.requests,
      needed: neededFor(one, this.shiftUs),
    }))
  }

  /**
   * Returns the share of requests to keep to find `shiftUs` in a step, by its place in `steps`; above 1 where all are
   * too few.
   */
  rate(step: number, shiftUs: number = this.shiftUs): number {
    const planned = this.#planned[step]
    if (planned === undefined) {
      throw new FlowdeltaError(
        `The plan has no step ${step}. It has ${this.steps.length}, numbered from 0.`,
      )
    }
    return neededFor(planned, shiftUs) / planned.requests
  }

  /**
   * Returns one row per step. `rate` is the share to keep; `headTraces` and `tailTraces` are the traces of a period
   * that are then kept: of all requests, or of those that have the step. `timeUs` is how long a period must be if every
   * request is kept.
   */
  table(): StageTable {
    const rows = this.steps.map((one, i) => ({ ...one, rate: this.rate(i) }))
    return rowTable(rows, {
      ...own('step service operation meanUs leastUs requests needed rate'),
      headTraces: ({ rate }) => Math.ceil(rate * this.allRequests),
      tailTraces: 'needed',
      timeUs: ({ rate }) => rate * this.periodUs,
    })
  }
}

function nothingToPlan(steps: readonly StepChange[], service: string | null): FlowdeltaError {
  if (service !== null && steps.length > 0) {
    const services = new Set(steps.map((step) => step.service))
    entryNamed(
      Object.fromEntries([...services].sort().map((name) => [name, name])),
      service,
      'no service that has steps',
      'There are',
    )
  }
  return new FlowdeltaError(
    `No step has ${MIN_REQUESTS} requests with spans, so the variation of its times is unknown. Load more traces, with spans.`,
  )
}
