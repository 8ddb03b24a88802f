import { ksTwoSample } from '../../src/stats/ks-two-sample.ts'
import { welch } from '../../src/stats/welch.ts'
import type { SpanTraces } from '../../src/traces/span-traces.ts'
import { prepareDiagnosis } from '../../src/whatif/diagnosis/diagnose-latency.ts'
import {
  type DiagnosisOptions,
  type DiagnosisSubject,
  growDiagnosis,
  LatencyDiagnosis,
  type TriedScenario,
} from '../../src/whatif/diagnosis/latency-diagnosis.ts'
import type { RequestModel } from '../../src/whatif/recompute/request-model.ts'
import { firstCandidates } from '../../src/whatif/scenarios/call-candidates.ts'
import { candidateContext } from '../../src/whatif/scenarios/candidate-context.ts'
import { callRows } from '../../src/whatif/scenarios/change-parts.ts'
import { type CauseScore, causeScores, pathOf } from './cause-scores.ts'
import type { ChangeKind, PlannedChange } from './change-plan.ts'
import { ksBaselines } from './ks-baselines.ts'

/** How a cause is ranked: by the diagnosis, by parts of it, and by the baselines. */
export interface CauseRanks {
  /** By the diagnosis, among everything it tries at that place. */
  readonly diagnosis: number
  /** By the diagnosis, only among the calls that the same caller makes. */
  readonly diagnosisOfCalls: number
  /** The same by divergence alone. */
  readonly divergenceOfCalls: number
  /** By the KS test, among all services: the smallest p first. */
  readonly ksOfServices: number
  /** The same by the level of significance at which the test is passed: many are equals. */
  readonly ksOfServicesByLevel: number
  /** As `ksOfServices`, where a service counts as the surest of itself and what it calls. */
  readonly ksOfServicesAhead: number
  /** By the KS test, the smallest p first, among the calls that the same caller makes. */
  readonly ksOfCalls: number
  /** As `ksOfCalls`, where a call counts as the surest of itself and the calls below it. */
  readonly ksOfCallsAhead: number
}

/** What became of one change. */
export interface EvaluatedChange {
  readonly kind: ChangeKind
  readonly service: string
  readonly operation: string
  /** Services from the first to the one that changed. */
  readonly path: string
  /** How many calls lead to it. */
  readonly depth: number
  /** How many such calls a request makes before the change. */
  readonly callsPerRequest: number
  /** p of the KS test of response times, before against after. */
  readonly endToEndP: number
  /** Whether that is below `alpha`. */
  readonly significant: boolean
  /** By how many standard errors the mean response time of after lies above that of before. */
  readonly shiftErrors: number
  /** Whether the tree has the cause, with a score up to the pruning limit. */
  readonly detected: boolean
  /** Whether the diagnosis calls it significant as well. */
  readonly labelled: boolean
  /** Scores of each ancestor, the outermost first, and of the cause itself, last. */
  readonly ranks: readonly CauseRanks[]
}

/** Diagnoses a change that was made, and looks up where the diagnosis has its cause. */
export function evaluateChange(
  { kind, chain }: PlannedChange,
  { before, after }: { readonly before: SpanTraces; readonly after: SpanTraces },
  options: DiagnosisOptions,
): EvaluatedChange {
  const prepared = prepareDiagnosis(before, after, options)
  const { base } = prepared
  // The target is traces.
  const target = prepared.target as RequestModel
  const tried = grow(prepared, options)
  const scores = causeScores(chain, tried, prepared)
  const cause = scores[scores.length - 1] as CauseScore
  const path = pathOf(base.models.paths, chain)
  const last = chain[chain.length - 1] as PlannedChange['chain'][number]
  const [own, theirs] = [base, target].map(({ recorded }) => recorded.latencyUs) as [
    Float64Array,
    Float64Array,
  ]
  const endToEndP = ksTwoSample(own, theirs).p
  return {
    kind,
    service: last.service,
    operation: last.operation,
    depth: chain.length - 1,
    path: chain.map(({ service }) => service).join(' › '),
    callsPerRequest:
      path < 0 ? 0 : callRows(base.forest, [path]).length / base.forest.requestTrace.length,
    endToEndP,
    significant: endToEndP < options.alpha,
    shiftErrors: welch(own, theirs).statistic,
    detected: cause.isInTree && cause.score <= options.pruning,
    labelled:
      cause.isInTree &&
      new LatencyDiagnosis(prepared, tried, 'complete').ranked.some(
        ({ evaluation, significant }) => evaluation === cause.evaluation && significant,
      ),
    ranks: ranksOf(chain, scores, prepared),
  }
}

function grow({ base, target, evaluator }: DiagnosisSubject, options: DiagnosisOptions) {
  const first = firstCandidates(candidateContext(base, target, options), options)
  const depth = options.depth === 'auto' ? 5 : options.depth
  const tried: TriedScenario[] = [...growDiagnosis(first, evaluator, { ...options, depth })]
  return tried
}

function ranksOf(
  chain: PlannedChange['chain'],
  scores: readonly CauseScore[],
  { base, target }: DiagnosisSubject,
): CauseRanks[] {
  const baselines = ksBaselines(base, target as RequestModel)
  return scores.map(({ score, callScore, divergenceScore }, i) => {
    const path = pathOf(base.models.paths, chain.slice(0, i + 2))
    // What no call takes, nothing speaks for.
    const by = (ranks: Float64Array) => ranks[path] ?? 1
    return {
      diagnosis: score,
      diagnosisOfCalls: callScore,
      divergenceOfCalls: divergenceScore,
      ksOfServices: by(baselines.ofServices),
      ksOfServicesByLevel: by(baselines.ofServicesByLevel),
      ksOfServicesAhead: by(baselines.ofServicesAhead),
      ksOfCalls: by(baselines.ofCalls),
      ksOfCallsAhead: by(baselines.ofCallsAhead),
    }
  })
}
