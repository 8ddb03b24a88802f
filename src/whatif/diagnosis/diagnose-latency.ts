import type { TraceSet } from '../../traces/trace-set.ts'
import { firstCandidates } from '../scenarios/call-candidates.ts'
import { candidateContext } from '../scenarios/candidate-context.ts'
import { type DiagnosisOptions, diagnosisOptions } from './diagnosis-options.ts'
import {
  type LatencyTarget,
  type PreparedDiagnosis,
  prepareDiagnosis,
} from './diagnosis-subject.ts'
import { growDiagnosis, type TriedScenario } from './grow-diagnosis.ts'
import { LatencyDiagnosis } from './latency-diagnosis.ts'

/** More calls than this, and trees are 3 levels deep instead of 5. */
const MANY_CALLS = 100_000

/** How far a diagnosis has come. */
export interface DiagnosisProgress {
  /** How many scenarios were tried … */
  readonly tried: number
  /** … of how many that are known so far; each level of the tree adds some. */
  readonly planned: number
  /** Level of the tree that is being tried, from 1. */
  readonly depth: number
  /** What was tried last. */
  readonly scenario: string
  /** The diagnosis so far; `.state` says whether it goes on. */
  readonly diagnosis: LatencyDiagnosis
}

/**
 * Which single change explains best why latency is another than before, or would make it what it
 * should be?
 *
 * Scenarios are tried one by one: each changes one thing about the requests of before (a service's own
 * time, the time in its server, the network to it, which requests come, or one kind of call that is
 * slower than the others), recomputes every request, and is judged by how close that brings the
 * profile of response times to the target's. The most promising are taken apart: what lies within a
 * server's time is its own time and the calls it makes. So the tree leads from the top down to the
 * cause. Siblings are scored by rank, 0 the best and 1 the worst.
 *
 * With traces for a target, each call's time is moved to the same quantile of the calls along the same
 * path there; calls along a path that is missing there take no time. Otherwise times are multiplied by
 * each of `factors`. Which calls are made does not change, but the order of them may; that requests
 * take other flows is what the mixes of requests and of calls are for.
 *
 * Where several scenarios are as close to the target, up to chance, the one whose changed calls differ
 * most surely between the periods comes first. `significant` tells a cause from chance, see there; a change of
 * load or concurrency may as well be what slowness led to.
 *
 * A wish `{ quantile: 0.99, belowUs: 300_000 }` is met by a profile in which latencies up to the median
 * are the base's and those above are moved towards it by one factor.
 *
 * @param before traces of spans: the base
 * @param target traces of spans, a histogram `{ edges, counts }` (µs), or a wish
 * @param options see {@link DiagnosisOptions}
 * @throws FlowdeltaError for traces that are no spans, or none; OptionError for options out of range,
 *   a histogram that is none, and a wish that is met already.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §4. Bins, pruning, the treatment of near ties and the
 * tests are choices of ours.
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
  const { subject, grow } = started(prepareDiagnosis(before, target, chosen))
  const tried: TriedScenario[] = []
  for (const node of grow) {
    tried.push(node)
    if (chosen.signal?.aborted) return new LatencyDiagnosis(subject, tried, 'interrupted')
  }
  return new LatencyDiagnosis(subject, tried, 'complete')
}

/**
 * `diagnoseLatency` step by step: says after every scenario how far it has come, with the diagnosis so
 * far, and lets other work go on between them. Leaving the loop stops it, and so does `signal`, which
 * gives what was found by then once more, as `'interrupted'`.
 *
 * The last step's diagnosis is the whole one, `'complete'`; so is what the generator returns. Parameters
 * and errors as of `diagnoseLatency`, thrown at the first step.
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
  const { subject, grow } = started(prepareDiagnosis(before, target, chosen))
  const tried: TriedScenario[] = []
  const stepTo = (state: LatencyDiagnosis['state']): DiagnosisProgress => {
    const last = tried[tried.length - 1]
    return {
      ...{ tried: tried.length, planned: last?.planned ?? 0, depth: last?.depth ?? 0 },
      scenario: last?.candidate.title ?? '',
      // What is found later does not belong to it.
      diagnosis: new LatencyDiagnosis(subject, tried.slice(), state),
    }
  }
  for (const node of grow) {
    tried.push(node)
    if (chosen.signal?.aborted) break
    yield stepTo('running')
    await otherWork()
    if (chosen.signal?.aborted) break
  }
  const last = stepTo(chosen.signal?.aborted ? 'interrupted' : 'complete')
  yield last
  return last.diagnosis
}

function started(prepared: PreparedDiagnosis) {
  const { subject, base, target, evaluator } = prepared
  const { options, models } = subject
  const calls = models.forests.reduce((sum, { path }) => sum + path.length, 0)
  const depth = options.depth === 'auto' ? (calls > MANY_CALLS ? 3 : 5) : options.depth
  const first = firstCandidates(candidateContext(base, target, options), options)
  return { subject, grow: growDiagnosis(first, evaluator, { ...options, depth }) }
}

/** Lets timers, requests and key presses be served. */
function otherWork(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0)
  })
}
