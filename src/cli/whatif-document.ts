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

interface Requests {
  readonly before: number
  readonly after: number | null
}

/** What scenarios would make of the response times. */
export interface Predictions {
  readonly requests: Requests
  /** As recorded after, where that was given: what became of it. */
  readonly after: ProfileQuantiles | null
  /** One a scenario, then, of several, one of all together. */
  readonly profiles: readonly ScenarioProfile[]
}

/** One quantile before, under a scenario, and after. */
interface Step {
  readonly before: number
  readonly scenario: number
  readonly after: number | null
}

type Steps = Readonly<Record<keyof ProfileQuantiles, Step>>

interface Prediction extends Steps {
  readonly scenario: string
  readonly requests: number
}

interface Cause
  extends Prediction,
    Pick<LatencyDiagnosis['ranked'][number], 'rank' | 'depth' | 'q'> {
  readonly parent: number | null
  readonly kind: string
  readonly service: string
  readonly operation: string
  readonly score: number
  readonly divergence: number
  readonly gain: number
  readonly significant: boolean
}

/** A diagnosis, or predictions with no causes, and what is in doubt about the traces. */
export interface WhatifResults {
  readonly divergence: string | null
  readonly parameters?: LatencyDiagnosis['options']
  readonly target?: string
  readonly requests: Requests
  readonly unchanged?: { readonly divergence: number; readonly p: number }
  readonly state?: LatencyDiagnosis['state']
  readonly causes: readonly Cause[]
  readonly predictions?: readonly Prediction[]
  readonly warnings: readonly PrintedWarning[]
  readonly truncated?: { readonly causes: number }
}

const STEP = record<Step>({ before: MEASURED, scenario: MEASURED, after: orNull(MEASURED) })
const CHANGE = {
  requests: about('Requests that it changes.', COUNT),
  ...{ p50Us: STEP, p90Us: STEP, p99Us: STEP },
}
const DEPTH: Part<number | 'auto'> = {
  schema: { anyOf: [COUNT.schema, { const: 'auto' }] },
  write: (value) => value,
}

export const WHATIF_DOCUMENT = document<WhatifResults>(
  'whatif',
  'What `flowdelta whatif --json` prints.',
  {
    divergence: about(
      'How the distance between profiles is measured; null with --apply.',
      orNull(TEXT),
    ),
    parameters: optional(
      record<LatencyDiagnosis['options']>({
        ...{ depth: DEPTH, beam: COUNT, sampleSize: COUNT },
        ...{ similarity: MEASURED, alpha: MEASURED, seed: MEASURED },
      }),
    ),
    target: optional(TEXT),
    requests: record<Requests>({ before: COUNT, after: orNull(COUNT) }),
    unchanged: about(
      'What was recorded before against the target.',
      optional(record({ divergence: MEASURED, p: MEASURED })),
    ),
    state: optional(words('running', 'interrupted', 'complete')),
    causes: about(
      'The tree of causes flattened, best first; cut at --limit.',
      listOf(
        record<Cause>({
          ...{ rank: RANK, depth: RANK },
          parent: about('Rank of the cause that this one lies within.', orNull(RANK)),
          ...{ scenario: TEXT, kind: TEXT, service: orNull(TEXT), operation: orNull(TEXT) },
          ...{ score: MEASURED, divergence: MEASURED, gain: MEASURED, significant: FLAG },
          ...{ q: MEASURED, ...CHANGE },
        }),
      ),
    ),
    predictions: about(
      'With --apply: one a scenario, and of several one of all together.',
      optional(listOf(record<Prediction>({ scenario: TEXT, ...CHANGE }))),
    ),
    warnings: WARNINGS,
    truncated: about(
      'Present when --limit left something out.',
      optional(record({ causes: COUNT })),
    ),
  },
)

/** Returns what the document of a diagnosis holds, of at most `limit` causes. */
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
    unchanged: { divergence: diagnosis.divergence, p: diagnosis.changeP },
    state: diagnosis.state,
    causes: ranked.slice(0, limit).map(({ scenario, parent, touched, ...cause }) => ({
      ...{ ...cause, parent: parent?.rank ?? null, scenario: scenario.title, kind: scenario.kind },
      ...{ service: scenario.service, operation: scenario.operation, requests: touched },
      ...steps(before, cause, after),
    })),
    warnings,
    ...(ranked.length > limit && { truncated: { causes: ranked.length } }),
  }
}

/** Returns what the document of predictions holds. */
export function predictionResults(
  { requests, after, profiles }: Predictions,
  warnings: readonly PrintedWarning[],
): WhatifResults {
  const predictions = profiles.map(({ title, touched, beforeQuantiles, quantiles }) => ({
    ...{ scenario: title, requests: touched, ...steps(beforeQuantiles, quantiles, after) },
  }))
  return { divergence: null, requests, causes: [], predictions, warnings }
}

function steps(
  before: ProfileQuantiles,
  scenario: ProfileQuantiles,
  after: ProfileQuantiles | null,
): Steps {
  const step = (name: keyof ProfileQuantiles): Step => ({
    ...{ before: before[name], scenario: scenario[name], after: after?.[name] ?? null },
  })
  return { p50Us: step('p50Us'), p90Us: step('p90Us'), p99Us: step('p99Us') }
}
