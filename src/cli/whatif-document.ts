import type { LatencyDiagnosis } from '../whatif/diagnosis/latency-diagnosis.ts'
import { type ProfileQuantiles, profileQuantiles } from '../whatif/scenarios/apply-scenario.ts'
import { finiteOrNull, numbers } from './json-numbers.ts'
import type { PeriodWarning } from './one-period.ts'
import type { Predictions } from './whatif-predictions.ts'

const SCHEMA = 'flowdelta.whatif/1'

/**
 * A diagnosis as a JSON document, `flowdelta.whatif/1`: the tree flattened, best first; `parent` is the
 * rank of what a cause lies within, `null` for those tried first.
 *
 * @param options `limit`: most causes listed; `warnings`: what is in doubt about the traces
 */
export function whatifDocument(
  diagnosis: LatencyDiagnosis,
  { limit, warnings }: { readonly limit: number; readonly warnings: readonly PeriodWarning[] },
) {
  const { options, ranked, base, target, models, state } = diagnosis
  const [before, after] = [profileQuantiles(base), profileQuantiles(target)]
  const { depth, beam, sampleSize, similarity, alpha, seed } = options
  return {
    schema: SCHEMA,
    divergence: options.divergence,
    parameters: { depth, beam, sampleSize, similarity, alpha, seed },
    target: diagnosis.targetTitle,
    requests: {
      before: models.forests[0]?.requestTrace.length ?? 0,
      after: models.forests[1]?.requestTrace.length ?? null,
    },
    unchanged: { ...numbers({ divergence: diagnosis.divergence, p: diagnosis.changeP }) },
    state,
    causes: ranked.slice(0, limit).map((cause) => ({
      ...{ rank: cause.rank, depth: cause.depth, parent: cause.parent?.rank ?? null },
      ...{ scenario: cause.scenario.title, kind: cause.scenario.kind },
      ...{ service: cause.scenario.service, operation: cause.scenario.operation },
      ...numbers({ score: cause.score, divergence: cause.divergence, gain: cause.gain }),
      ...{ significant: cause.significant, q: finiteOrNull(cause.q), requests: cause.touched },
      ...quantilesOf(before, cause, after),
    })),
    warnings: listed(warnings),
    ...(ranked.length > limit && { truncated: { causes: ranked.length } }),
  }
}

/** Predictions as the same document: no causes, as nothing was looked for. */
export function predictionDocument(
  { requests, after, profiles }: Predictions,
  warnings: readonly PeriodWarning[],
) {
  return {
    schema: SCHEMA,
    divergence: null,
    requests,
    causes: [],
    predictions: profiles.map((profile) => ({
      ...{ scenario: profile.title, requests: profile.touched },
      ...quantilesOf(profile.beforeQuantiles, profile.quantiles, after),
    })),
    warnings: listed(warnings),
  }
}

function listed(warnings: readonly PeriodWarning[]) {
  return warnings.map(({ code, message }) => ({ code, message }))
}

const QUANTILES = ['p50Us', 'p90Us', 'p99Us'] as const

/** `{ p50Us: { before, scenario, after }, … }`. */
function quantilesOf(
  before: ProfileQuantiles,
  scenario: ProfileQuantiles,
  after: ProfileQuantiles | null,
) {
  const entries = QUANTILES.map((name) => [
    name,
    { before: before[name], scenario: scenario[name], after: after?.[name] ?? null },
  ])
  return Object.fromEntries(entries) as Record<
    (typeof QUANTILES)[number],
    { before: number; scenario: number; after: number | null }
  >
}
