import { requireSpans, shownName } from '../../calls/call-forest.ts'
import { FlowdeltaError, OptionError, requireArgument } from '../../core/errors.ts'
import { formatDuration, readDuration } from '../../core/words.ts'
import { randomSource } from '../../stats/random.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import { learnExecutionModels } from '../models/execution-models.ts'
import { LatencyProfile, profileOf } from '../recompute/latency-profile.ts'
import { RequestModel } from '../recompute/request-model.ts'
import { candidatesAt, firstCandidates } from '../scenarios/call-candidates.ts'
import { candidateContext } from '../scenarios/candidate-context.ts'
import { exactPercent } from '../scenarios/scenario.ts'
import {
  divergenceTo,
  knownChangeP,
  makeEvaluator,
  stretchesOf,
  testScenarios,
} from './evaluate-scenario.ts'
import {
  DIAGNOSIS_OPTIONS,
  type DiagnosisOptions,
  type DiagnosisSubject,
  diagnosisOptions,
  growDiagnosis,
  LatencyDiagnosis,
  type TriedScenario,
} from './latency-diagnosis.ts'

/** Number of calls above which trees are 3 levels deep instead of 5. */
const MAX_DEEP_CALLS = 100_000

/** Progress of a diagnosis. */
export interface DiagnosisProgress {
  /** Number of scenarios tried … */
  readonly tried: number
  /** … of how many known; each level of the tree adds some. */
  readonly planned: number
  /** Level of the tree that is being tried, from 1. */
  readonly depth: number
  /** Title of the scenario tried last. */
  readonly scenario: string
  /** The diagnosis so far; `.state` says whether it goes on. */
  readonly diagnosis: LatencyDiagnosis
}

/**
 * Finds the single change that best explains why latency differs from before, or that would bring it to a wished value.
 *
 * Each scenario changes one thing about the requests of before (a service's own time, the time in its
 * server, the network to it, the mix of requests, or one kind of call that is slower than others),
 * recomputes every request, and is judged by how close that brings the latency profile to the target's.
 * The best scenarios are taken apart: a server's time into its own time and the calls it makes. So the
 * tree leads from the top down to the cause. Scores rank siblings: 0 is best, 1 worst.
 *
 * If the target is traces, each call's time moves to the same quantile of the calls along the same path
 * there; calls along a path that is missing there take no time. Otherwise times are multiplied by each
 * of `factors`. Scenarios keep the calls that are made, but may change their order; scenarios of the mix
 * of requests and of calls stand for requests that take other flows.
 *
 * Scenarios are ordered by the certainty that the quantity they change did change between the periods (KS test, tails,
 * χ² of kinds), times the root of the distance that they move the mean response time towards the target's. A cause
 * comes before a scenario that contains it. Their divergence says how much of the change they explain. `significant`
 * distinguishes a cause from chance. A change of load may also be a consequence of slowness. Towards a
 * histogram or a wish, the nearest comes first.
 *
 * A wish `{ quantile: 0.99, belowUs: 300_000 }` becomes a profile with the base's latencies up to the
 * median, and those above moved towards it by one factor.
 *
 * @param before traces of spans: the base
 * @param target traces of spans, a histogram `{ edges, counts }` (µs), or a wish
 * @param options see {@link DIAGNOSIS_OPTIONS}
 * @throws FlowdeltaError for traces without spans, or no traces; OptionError for a value that an option does not take,
 *   a bad histogram, or a wish that the base already meets
 *
 * Source: Ostrowski, Mann and Sandler 2011, §4. Bins, pruning, the order and the tests are choices of
 * ours.
 *
 * @example
 * const diagnosis = diagnoseLatency(before, after, { depth: 2 })
 * diagnosis.best.rank // 1
 * diagnosis.table().print()
 * diagnosis.profile(1).table().print()
 */
export function diagnoseLatency(
  before: TraceSet,
  target: LatencyTarget,
  options: Partial<DiagnosisOptions> = {},
): LatencyDiagnosis {
  const chosen = diagnosisOptions(options)
  const { subject, grow } = startDiagnosis(before, target, chosen)
  const tried: TriedScenario[] = []
  for (const node of grow) {
    tried.push(node)
    if (chosen.signal?.aborted) return new LatencyDiagnosis(subject, tried, 'interrupted')
  }
  return new LatencyDiagnosis(subject, tried, 'complete')
}

/**
 * Does what `diagnoseLatency` does step by step: yields progress and the diagnosis so far after every
 * scenario, and lets other work go on in between. Leave the loop to stop, or abort `signal`, which
 * yields the diagnosis so far once more as `'interrupted'`.
 *
 * The last step's diagnosis is `'complete'`, and is also the generator's return value. Takes the
 * parameters and throws the errors of `diagnoseLatency`, at the first step.
 *
 * @example
 * let found = null
 * for await (const { tried, diagnosis } of diagnoseLatencyStepwise(before, after)) {
 *   found = diagnosis.best
 *   if (tried === 3) break
 * }
 * found.rank // 1
 */
export async function* diagnoseLatencyStepwise(
  before: TraceSet,
  target: LatencyTarget,
  options: Partial<DiagnosisOptions> = {},
): AsyncGenerator<DiagnosisProgress, LatencyDiagnosis> {
  const chosen = diagnosisOptions(options)
  const { subject, grow } = startDiagnosis(before, target, chosen)
  const tried: TriedScenario[] = []
  const stepTo = (state: LatencyDiagnosis['state']): DiagnosisProgress => {
    const last = tried[tried.length - 1]
    return {
      tried: tried.length,
      planned: last?.planned ?? 0,
      depth: last?.depth ?? 0,
      scenario: last?.candidate.title ?? '',
      // A copy: scenarios found later do not belong to it.
      diagnosis: new LatencyDiagnosis(subject, tried.slice(), state),
    }
  }
  for (const node of grow) {
    tried.push(node)
    if (chosen.signal?.aborted) break
    yield stepTo('running')
    // Timers, requests and key presses are served.
    await new Promise((resolve) => {
      setTimeout(resolve, 0)
    })
    if (chosen.signal?.aborted) break
  }
  const last = stepTo(chosen.signal?.aborted ? 'interrupted' : 'complete')
  yield last
  return last.diagnosis
}

function startDiagnosis(before: TraceSet, goal: LatencyTarget, options: DiagnosisOptions) {
  const subject = prepareDiagnosis(before, goal, options)
  const { base, target, evaluator } = subject
  const calls = base.models.forests.reduce((sum, { path }) => sum + path.length, 0)
  const depth = options.depth === 'auto' ? (calls > MAX_DEEP_CALLS ? 3 : 5) : options.depth
  const context = candidateContext(base, target, options)
  const { finding } = options
  const candidates =
    finding === null ? firstCandidates(context, options) : candidatesAt(context, finding)
  if (candidates.length === 0 && finding !== null) {
    throw new FlowdeltaError(
      `Finding ${finding.id} is about no call of these requests. Give a finding of a comparison of these periods, with spans.`,
    )
  }
  return { subject, grow: growDiagnosis(candidates, evaluator, { ...options, depth }) }
}

/** Samples, learns, and measures how far the base is from the target. */
export function prepareDiagnosis(
  before: TraceSet,
  goal: LatencyTarget,
  options: DiagnosisOptions,
): DiagnosisSubject {
  const { sampleSize, seed, similarity, divergence: name } = options
  const { service, operation, caller } = options
  const sampled = (traces: TraceSet, which: string) =>
    sampleTraces(requireSpans(traces, which), sampleSize, seed)
  const first = sampled(before, 'before')
  requireArgument(
    'diagnoseLatency(before, target)',
    goal,
    typeof goal === 'object' && goal !== null,
    'traces, a histogram or a wish',
  )
  const periods = 'kind' in goal ? ([first, sampled(goal, 'target')] as const) : first
  const models = learnExecutionModels(periods, { similarity, service, operation, caller })
  const base = new RequestModel(models, 0)
  const target = 'kind' in goal ? new RequestModel(models, 1) : null
  const known = 'kind' in goal ? null : knownTarget(profileOf(base.recorded), goal)
  const theirs = known?.profile ?? (target as RequestModel).recorded
  const own = base.recorded
  // A profile that is known exactly has as many requests as one likes.
  const size =
    target === null ? own.latencyUs.length : Math.min(own.latencyUs.length, theirs.latencyUs.length)
  const range = { base: profileOf(own), size }
  const targetProfile = known?.profile ?? profileOf(theirs)
  const stretches = target && stretchesOf(base, target)
  const evaluator = makeEvaluator({
    order: options.order,
    base,
    target,
    divergenceTo: divergenceTo(targetProfile, name, range),
    targetProfile,
    stretches,
  })
  return {
    options,
    base,
    target,
    targetProfile,
    targetTitle: known?.title ?? shownName((target as RequestModel).forest.traces),
    evaluator,
    test: (tried) =>
      target === null || stretches === null
        ? {
            changeP: knownChangeP(range.base, targetProfile, { name, range, seed }),
            ps: tried.map(() => Number.NaN),
            responsePs: [],
          }
        : testScenarios([base, target], { stretches, tried }),
  }
}

/** Draws at most `size` traces of a period, all equally likely, in their order. */
function sampleTraces(traces: SpanTraces, size: number, seed: number): SpanTraces {
  if (traces.size <= size) return traces
  const random = randomSource(seed)
  const chosen: number[] = []
  for (let row = 0; chosen.length < size; row++) {
    // Each further row is taken with the chance that is left.
    if (random.next() * (traces.size - row) < size - chosen.length) chosen.push(row)
  }
  return traces.pick(chosen)
}

/** Latencies as counts of requests; a bin reaches from one edge to the next, µs. */
export interface HistogramTarget {
  /** Ascending, one more than there are counts, µs. */
  readonly edges: readonly number[]
  readonly counts: readonly number[]
}

/** Wished latency. */
export interface WishTarget {
  /** Quantile, above 0 and below 1: 0.99 for p99. */
  readonly quantile: number
  /** Largest wished latency, in µs. */
  readonly belowUs: number
}

export interface KnownTarget {
  readonly profile: LatencyProfile
  readonly title: string
}

/** Target that the base should come close to: the traces of another period, a histogram, or a wish. */
export type LatencyTarget = TraceSet | HistogramTarget | WishTarget

/**
 * Returns the profile of a histogram, whose latencies are spread evenly within a bin, or of a wish.
 *
 * @throws OptionError for any other goal, an invalid histogram, and as in `wishTarget`
 */
export function knownTarget(base: LatencyProfile, goal: HistogramTarget | WishTarget): KnownTarget {
  if ('quantile' in goal) return wishTarget(base, goal)
  if (!('edges' in goal && 'counts' in goal)) {
    const expected = 'traces, a histogram { edges, counts }, or a wish { quantile, belowUs }'
    throw new OptionError('target', goal, expected)
  }
  const profile = LatencyProfile.fromHistogram(goal.edges, goal.counts)
  return { profile, title: 'the histogram given' }
}

/**
 * Returns the profile of a wish: latencies of the base up to the median stay, and those above are moved towards it by
 * one factor, so that the wished quantile is met exactly. If the wish lies below the median, or concerns a quantile
 * below it, all latencies are scaled by one factor.
 *
 * @throws OptionError for a quantile outside 0 to 1, a latency that is not above 0, or a wish that
 *   the base meets already.
 */
export function wishTarget(base: LatencyProfile, wish: WishTarget): KnownTarget {
  const { quantile, belowUs } = wish
  if (!(quantile > 0 && quantile < 1)) {
    const expected = 'a share above 0 and below 1, as 0.99 for p99'
    throw new OptionError('target.quantile', quantile, expected)
  }
  if (!(belowUs > 0 && belowUs < Number.POSITIVE_INFINITY)) {
    throw new OptionError('target.belowUs', belowUs, 'µs above 0')
  }
  const nowUs = base.quantile(quantile)
  if (nowUs <= belowUs) {
    throw new FlowdeltaError(
      `The target is p${quantile * 100} below ${formatDuration(belowUs)}, but it is ${formatDuration(nowUs)} already. Give a shorter time.`,
    )
  }
  const medianUs = base.quantile(0.5)
  const isBelowMedian = quantile <= 0.5 || belowUs <= medianUs
  const factor = isBelowMedian ? belowUs / nowUs : (belowUs - medianUs) / (nowUs - medianUs)
  const moved = (us: number) => {
    if (isBelowMedian) return us * factor
    return us <= medianUs ? us : medianUs + (us - medianUs) * factor
  }
  return {
    profile: LatencyProfile.ofRequests(base.latencyUs.map(moved), base.weight),
    title: `${exactPercent(quantile)} of requests in at most ${formatDuration(belowUs)}`,
  }
}

const WISH = /^p(\d+(?:\.\d+)?)\s*<=?\s*(.+)$/i

/** Reads a wish, such as `p99<300ms`. */
export function parseWish(text: string): WishTarget {
  const [, percents, below = ''] = WISH.exec(text.trim()) ?? []
  const belowUs = readDuration(below)
  const quantile = Number((Number(percents) / 100).toPrecision(12))
  if (quantile > 0 && quantile < 1 && belowUs >= 0) return { quantile, belowUs }
  throw new FlowdeltaError(
    "Give a quantile and a time, as 'p99<300ms' (units are us, ms and s), or a histogram in a .json file.",
  )
}
