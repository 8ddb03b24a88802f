import type { Population } from '../whatif/calls/index-calls.ts'
import type { LatencyDiagnosis } from '../whatif/diagnosis/latency-diagnosis.ts'
import { type ProfileQuantiles, profileQuantiles } from '../whatif/recompute/latency-profile.ts'
import type { ScenarioProfile } from '../whatif/scenarios/apply-scenario.ts'
import {
  about,
  COUNT,
  document,
  FLAG,
  listOf,
  MEASURED,
  optional,
  orNull,
  type Part,
  RANK,
  record,
  TEXT,
  WARNINGS,
  words,
} from './document.ts'
import type { PrintedWarning } from './printing.ts'

export interface Predictions {
  readonly requests: { readonly before: number; readonly after: number | null }
  readonly population: Population
  readonly after: ProfileQuantiles | null
  readonly profiles: readonly ScenarioProfile[]
}

const STEP = record({ before: MEASURED, scenario: MEASURED, after: orNull(MEASURED) })
const CHANGE = {
  requests: about('Requests that it changes.', COUNT),
  p50Us: STEP,
  p90Us: STEP,
  p99Us: STEP,
}
const DEPTH: Part<number | 'auto'> = {
  schema: { anyOf: [COUNT.schema, { const: 'auto' }] },
  write: (value) => value,
}

export const WHATIF_DOCUMENT = document('whatif', 'What `flowdelta whatif --json` prints.', {
  divergence: about(
    'How the distance between profiles is measured; null with --apply.',
    orNull(TEXT),
  ),
  parameters: optional(
    record<LatencyDiagnosis['options']>({
      depth: DEPTH,
      beam: COUNT,
      sampleSize: COUNT,
      similarity: MEASURED,
      alpha: MEASURED,
      seed: MEASURED,
    }),
  ),
  target: optional(TEXT),
  requests: record({ before: COUNT, after: orNull(COUNT) }),
  calls: about(
    'Whose calls are the requests; absent where they come from outside. Empty names may be any.',
    optional(record<Required<Population>>({ service: TEXT, operation: TEXT, caller: TEXT })),
  ),
  unchanged: about(
    'What was recorded before against the target.',
    optional(record({ divergence: MEASURED, p: MEASURED })),
  ),
  state: optional(words('running', 'interrupted', 'complete')),
  causes: about(
    'The tree of causes flattened, best first; cut at --limit.',
    listOf(
      record({
        rank: RANK,
        depth: RANK,
        parent: about('Rank of the cause that this one lies within.', orNull(RANK)),
        scenario: TEXT,
        kind: TEXT,
        service: orNull(TEXT),
        operation: orNull(TEXT),
        score: MEASURED,
        divergence: MEASURED,
        gain: MEASURED,
        significant: FLAG,
        q: MEASURED,
        ...CHANGE,
      }),
    ),
  ),
  together: about(
    'The first significant cause, then those that explain clearly more with it: ranks, also of causes that --limit cut, and the share that each and those before it explain.',
    optional(listOf(record({ rank: RANK, gain: MEASURED }))),
  ),
  predictions: about(
    'With --apply: one a scenario, and of several one of all together.',
    optional(listOf(record({ scenario: TEXT, ...CHANGE, limits: optional(TEXT) }))),
  ),
  warnings: WARNINGS,
  truncated: about('Present when --limit left something out.', optional(record({ causes: COUNT }))),
})

/** A diagnosis, or predictions with no causes, and what is in doubt about the traces. */
type WhatifResults = Parameters<typeof WHATIF_DOCUMENT.write>[0]

export function diagnosisResults(
  diagnosis: LatencyDiagnosis,
  limit: number,
  warnings: readonly PrintedWarning[],
): WhatifResults {
  const { options, ranked, base, target, models } = diagnosis
  const [before, after] = [profileQuantiles(base), profileQuantiles(target)]
  const [forest, later] = models.forests
  return {
    divergence: options.divergence,
    parameters: options,
    target: diagnosis.targetTitle,
    requests: {
      before: forest?.requestTrace.length ?? 0,
      after: later?.requestTrace.length ?? null,
    },
    calls: callsOf(options),
    unchanged: { divergence: diagnosis.divergence, p: diagnosis.changeP },
    state: diagnosis.state,
    causes: ranked.slice(0, limit).map(({ scenario, parent, touched, ...cause }) => ({
      ...cause,
      parent: parent?.rank ?? null,
      scenario: scenario.title,
      kind: scenario.kind,
      service: scenario.service,
      operation: scenario.operation,
      requests: touched,
      ...steps(before, cause, after),
    })),
    together: diagnosis.together.map(({ cause, gain }) => ({ rank: cause.rank, gain })),
    warnings,
    truncated: ranked.length > limit ? { causes: ranked.length } : undefined,
    predictions: undefined,
  }
}

export function predictionResults(
  { requests, population, after, profiles }: Predictions,
  warnings: readonly PrintedWarning[],
): WhatifResults {
  const predictions = profiles.map(({ title, touched, limits, beforeQuantiles, quantiles }) => ({
    scenario: title,
    requests: touched,
    ...steps(beforeQuantiles, quantiles, after),
    limits: limits ?? undefined,
  }))
  const none = { parameters: undefined, target: undefined, unchanged: undefined, state: undefined }
  return {
    ...none,
    divergence: null,
    requests,
    calls: callsOf(population),
    causes: [],
    together: undefined,
    predictions,
    warnings,
    truncated: undefined,
  }
}

function callsOf({ service = '', operation = '', caller = '' }: Population) {
  return service || operation || caller ? { service, operation, caller } : undefined
}

function steps(
  before: ProfileQuantiles,
  scenario: ProfileQuantiles,
  after: ProfileQuantiles | null,
) {
  const step = (name: keyof ProfileQuantiles) => ({
    before: before[name],
    scenario: scenario[name],
    after: after?.[name] ?? null,
  })
  return { p50Us: step('p50Us'), p90Us: step('p90Us'), p99Us: step('p99Us') }
}
