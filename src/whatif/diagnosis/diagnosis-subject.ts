import { OptionError } from '../../core/errors.ts'
import type { TraceSet } from '../../traces/trace-set.ts'
import { requireSpans } from '../calls/index-calls.ts'
import { sampleTraces } from '../calls/select-traces.ts'
import { learnExecutionModels } from '../models/learn-execution-models.ts'
import { LatencyProfile } from '../recompute/latency-profile.ts'
import { RequestModel } from '../recompute/request-model.ts'
import type { DiagnosisOptions } from './diagnosis-options.ts'
import { Evaluator } from './evaluate-scenario.ts'
import type { DiagnosisSubject } from './latency-diagnosis.ts'
import {
  type HistogramTarget,
  histogramTarget,
  type KnownTarget,
  type WishTarget,
  wishTarget,
} from './latency-target.ts'
import {
  type ChangeTest,
  divergenceTo,
  knownChangeP,
  periodChangeP,
  type WeighedLatencies,
} from './target-divergence.ts'

/** What the base is to come close to: the traces of another period, a histogram, or a wish. */
export type LatencyTarget = TraceSet | HistogramTarget | WishTarget

/** A diagnosis before anything was tried. */
export interface PreparedDiagnosis {
  readonly subject: DiagnosisSubject
  readonly base: RequestModel
  /** Null where the target is no traces. */
  readonly target: RequestModel | null
  readonly evaluator: Evaluator
}

/** Samples, learns, and measures how far the base is from the target. */
export function prepareDiagnosis(
  before: TraceSet,
  target: LatencyTarget,
  options: DiagnosisOptions,
): PreparedDiagnosis {
  const { sampleSize, seed, similarity } = options
  const base = sampleTraces(requireSpans(before, 'before'), sampleSize, seed)
  if (!('kind' in target))
    return prepared(learnExecutionModels(base, { similarity }), target, options)
  const after = sampleTraces(requireSpans(target, 'target'), sampleSize, seed)
  return prepared(learnExecutionModels([base, after], { similarity }), null, options)
}

function prepared(
  models: DiagnosisSubject['models'],
  goal: HistogramTarget | WishTarget | null,
  options: DiagnosisOptions,
): PreparedDiagnosis {
  const base = new RequestModel(models, 0)
  const target = goal === null ? new RequestModel(models, 1) : null
  const own = recorded(base)
  const known = goal === null ? null : knownTarget(own, goal)
  const theirs = target === null ? (known as KnownTarget).profile : recorded(target)
  const { latencyUs } = theirs
  // A profile that is known exactly has as many requests as one likes.
  const size =
    target === null ? own.latencyUs.length : Math.min(own.latencyUs.length, latencyUs.length)
  const range = { base: own.latencyUs, target: latencyUs, size }
  const { divergence: name, seed } = options
  const chosen = divergenceTo(latencyUs, name, range)
  const evaluator = new Evaluator({
    ...{ base, target, seed, targetWeight: theirs.weight },
    divergenceTo: chosen,
    distanceTo: name === 'wasserstein' ? chosen : divergenceTo(latencyUs, 'wasserstein', range),
  })
  const test: ChangeTest = { name, range, seed }
  const subject = {
    ...{ models, options, isOfTraces: target !== null, unchanged: evaluator.unchanged },
    target: LatencyProfile.ofRequests(latencyUs, theirs.weight),
    targetTitle: known?.title ?? (target as RequestModel).forest.traces.name,
    changeP: once(() => (target === null ? knownChangeP : periodChangeP)(own, theirs, test)),
  }
  return { subject, base, target, evaluator }
}

function recorded(model: RequestModel): WeighedLatencies {
  return { latencyUs: model.responseTimes([]), weight: model.forest.weight }
}

function knownTarget(base: WeighedLatencies, goal: HistogramTarget | WishTarget): KnownTarget {
  if ('edges' in goal) return histogramTarget(goal)
  if ('quantile' in goal) {
    return wishTarget(LatencyProfile.ofRequests(base.latencyUs, base.weight), goal)
  }
  throw new OptionError(
    'target',
    goal,
    'traces, a histogram { edges, counts }, or a wish { quantile, belowUs }',
  )
}

function once<T>(compute: () => T): () => T {
  let value: { readonly is: T } | undefined
  return () => {
    value ??= { is: compute() }
    return value.is
  }
}
