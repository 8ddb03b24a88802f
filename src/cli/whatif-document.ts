import { type Population, stoodFor } from '../calls/call-forest.ts'
import type { ExplainedFinding, LatencyDiagnosis } from '../whatif/diagnosis/latency-diagnosis.ts'
import type { LatencyProfile } from '../whatif/recompute/latency-profile.ts'
import type { ScenarioProfile } from '../whatif/scenarios/apply-scenario.ts'
import {
  about,
  COUNT,
  document,
  FLAG,
  listOf,
  MEASURED,
  NUMBER,
  optional,
  orNull,
  type Part,
  RANK,
  record,
  SHARE,
  TEXT,
  WARNINGS,
  words,
} from './document.ts'
import type { PrintedWarning } from './printing.ts'

export interface Predictions {
  readonly requests: { readonly before: number; readonly after: number | null }
  readonly population: Population
  readonly after: LatencyProfile | null
  readonly profiles: readonly ScenarioProfile[]
}

const STEP = record({ before: MEASURED, scenario: MEASURED, after: orNull(MEASURED) })
const CHANGE = {
  requests: about('Requests that it changes.', COUNT),
  p50Us: STEP,
  p90Us: STEP,
  p99Us: STEP,
  within: about(
    'With --within: shares of requests within that time.',
    optional(record({ us: NUMBER, before: SHARE, scenario: SHARE, after: orNull(SHARE) })),
  ),
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
  findings: about(
    'With --findings or --finding: findings of flowdelta compare, each with the rank of the matching cause; null for none.',
    optional(listOf(record({ rank: RANK, id: TEXT, title: TEXT, cause: orNull(RANK) }))),
  ),
  together: about(
    'The first significant cause, then causes that explain clearly more together with it: ranks (also of causes that --limit cut), and the share explained up to each.',
    optional(listOf(record({ rank: RANK, gain: MEASURED }))),
  ),
  predictions: about(
    'With --apply: one a scenario, and of several one of all together.',
    optional(listOf(record({ scenario: TEXT, ...CHANGE }))),
  ),
  warnings: WARNINGS,
  truncated: about('Present when --limit left something out.', optional(record({ causes: COUNT }))),
})

interface Printing {
  readonly warnings: readonly PrintedWarning[]
  /** A target, µs. */
  readonly within: number | null
}

interface DiagnosisPrinting extends Printing {
  readonly limit: number
  readonly explained: readonly ExplainedFinding[]
}

/** Results: a diagnosis, or predictions without causes, and doubts about the traces. */
type WhatifResults = Parameters<typeof WHATIF_DOCUMENT.write>[0]

export function diagnosisResults(
  diagnosis: LatencyDiagnosis,
  { limit, warnings, within, explained }: DiagnosisPrinting,
): WhatifResults {
  const { options, ranked, base, target, models } = diagnosis
  const [forest, later] = models.forests
  return {
    divergence: options.divergence,
    parameters: options,
    target: diagnosis.targetTitle,
    requests: {
      before: forest === undefined ? 0 : stoodFor(forest),
      after: later === undefined ? null : stoodFor(later),
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
      ...steps([base, cause.evaluation.profile, target], within),
    })),
    findings:
      explained.length === 0
        ? undefined
        : explained.map(({ finding: { rank, id, title }, cause }) => ({
            rank,
            id,
            title,
            cause: cause?.rank ?? null,
          })),
    together: diagnosis.together.map(({ cause, gain }) => ({ rank: cause.rank, gain })),
    warnings,
    truncated: ranked.length > limit ? { causes: ranked.length } : undefined,
    predictions: undefined,
  }
}

export function predictionResults(
  { requests, population, after, profiles }: Predictions,
  { warnings, within }: Printing,
): WhatifResults {
  const predictions = profiles.map(({ title, touched, before, profile }) => ({
    scenario: title,
    requests: touched,
    ...steps([before, profile, after], within),
  }))
  const none = { parameters: undefined, target: undefined, unchanged: undefined, state: undefined }
  return {
    ...none,
    divergence: null,
    requests,
    calls: callsOf(population),
    causes: [],
    findings: undefined,
    together: undefined,
    predictions,
    warnings,
    truncated: undefined,
  }
}

function callsOf({ service = '', operation = '', caller = '' }: Population) {
  return service || operation || caller ? { service, operation, caller } : undefined
}

type Steps = readonly [
  before: LatencyProfile,
  scenario: LatencyProfile,
  after: LatencyProfile | null,
]

function steps([before, scenario, after]: Steps, us: number | null) {
  const step = (of: (profile: LatencyProfile) => number) => ({
    before: of(before),
    scenario: of(scenario),
    after: after && of(after),
  })
  return {
    p50Us: step((profile) => profile.quantile(0.5)),
    p90Us: step((profile) => profile.quantile(0.9)),
    p99Us: step((profile) => profile.quantile(0.99)),
    within: us === null ? undefined : { us, ...step((profile) => profile.shareWithin(us)) },
  }
}
