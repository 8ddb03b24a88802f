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
  made,
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

/** What scenarios would make of the response times. */
export interface Predictions {
  readonly requests: { readonly before: number; readonly after: number | null }
  /** As recorded after, where that was given: what became of it. */
  readonly after: ProfileQuantiles | null
  /** One a scenario, then, of several, one of all together. */
  readonly profiles: readonly ScenarioProfile[]
}

interface PrintedDiagnosis {
  readonly diagnosis: LatencyDiagnosis
  /** Most causes listed. */
  readonly limit: number
}

/** A diagnosis or predictions, and what is in doubt about the traces. */
export interface WhatifResults {
  readonly diagnosis: PrintedDiagnosis | null
  readonly predictions: Predictions | null
  readonly warnings: readonly PrintedWarning[]
}

type Cause = LatencyDiagnosis['ranked'][number]

/** Something that changes response times, between those before and those after. */
interface Step<Change> {
  readonly change: Change
  readonly before: ProfileQuantiles
  readonly scenario: ProfileQuantiles
  readonly after: ProfileQuantiles | null
}

const QUANTILES = { p50Us: quantile('p50Us'), p90Us: quantile('p90Us'), p99Us: quantile('p99Us') }

function quantile(name: keyof ProfileQuantiles) {
  return made(
    (step: Step<unknown>) => step,
    record<Step<unknown>>({
      before: made(({ before }) => before[name], MEASURED),
      scenario: made(({ scenario }) => scenario[name], MEASURED),
      after: made(({ after }) => after?.[name] ?? null, orNull(MEASURED)),
    }),
  )
}

const CAUSE = record<Step<Cause>>({
  rank: made(({ change }) => change.rank, RANK),
  depth: made(({ change }) => change.depth, RANK),
  parent: about(
    'Rank of the cause that this one lies within.',
    made(({ change }) => change.parent?.rank ?? null, orNull(RANK)),
  ),
  scenario: made(({ change }) => change.scenario.title, TEXT),
  kind: made(({ change }) => change.scenario.kind, TEXT),
  service: made(({ change }) => change.scenario.service, orNull(TEXT)),
  operation: made(({ change }) => change.scenario.operation, orNull(TEXT)),
  score: made(({ change }) => change.score, MEASURED),
  divergence: made(({ change }) => change.divergence, MEASURED),
  gain: made(({ change }) => change.gain, MEASURED),
  significant: made(({ change }) => change.significant, FLAG),
  q: made(({ change }) => change.q, MEASURED),
  requests: about(
    'Requests that it changes.',
    made(({ change }) => change.touched, COUNT),
  ),
  ...QUANTILES,
})

const PREDICTION = record<Step<ScenarioProfile>>({
  scenario: made(({ change }) => change.title, TEXT),
  requests: about(
    'Requests that it changes.',
    made(({ change }) => change.touched, COUNT),
  ),
  ...QUANTILES,
})

const REQUESTS = record<Predictions['requests']>({ before: COUNT, after: orNull(COUNT) })

/** Of a diagnosis only. */
const diagnosed = <Value>(get: (diagnosis: LatencyDiagnosis) => Value, part: Part<Value>) =>
  made(
    ({ diagnosis }: WhatifResults) =>
      diagnosis === null ? undefined : { value: get(diagnosis.diagnosis) },
    optional<{ readonly value: Value }>({
      schema: part.schema,
      write: ({ value }) => part.write(value),
    }),
  )

/** The document of `flowdelta whatif`: a diagnosis, or predictions with no causes. */
export const WHATIF_DOCUMENT = document<WhatifResults>(
  'whatif',
  'What `flowdelta whatif --json` prints.',
  {
    divergence: about(
      'How the distance between profiles is measured; null with --apply.',
      made(({ diagnosis }) => diagnosis?.diagnosis.options.divergence, orNull(TEXT)),
    ),
    parameters: diagnosed(
      ({ options }) => options,
      record<LatencyDiagnosis['options']>({
        depth: orNumberOf('auto'),
        beam: COUNT,
        sampleSize: COUNT,
        similarity: MEASURED,
        alpha: MEASURED,
        seed: MEASURED,
      }),
    ),
    target: diagnosed(({ targetTitle }) => targetTitle, TEXT),
    requests: made(requestsOf, REQUESTS),
    unchanged: about(
      'What was recorded before against the target.',
      diagnosed(
        (diagnosis) => diagnosis,
        record<LatencyDiagnosis>({
          divergence: MEASURED,
          p: made(({ changeP }) => changeP, MEASURED),
        }),
      ),
    ),
    state: diagnosed(({ state }) => state, words('running', 'interrupted', 'complete')),
    causes: about(
      'The tree of causes flattened, best first; cut at --limit.',
      made(causesOf, listOf(CAUSE)),
    ),
    predictions: about(
      'With --apply: one a scenario, and of several one of all together.',
      made(predictionsOf, optional(listOf(PREDICTION))),
    ),
    warnings: WARNINGS,
    truncated: about(
      'Present when --limit left something out.',
      made(truncatedOf, optional(record<{ readonly causes: number }>({ causes: COUNT }))),
    ),
  },
)

function orNumberOf(word: string): Part<number | string> {
  return {
    schema: { anyOf: [COUNT.schema, { const: word }] },
    write: (value) => value,
  }
}

function requestsOf({ diagnosis, predictions }: WhatifResults): Predictions['requests'] {
  if (predictions !== null) return predictions.requests
  const [before, after] = diagnosis?.diagnosis.models.forests ?? []
  return {
    before: before?.requestTrace.length ?? 0,
    after: after?.requestTrace.length ?? null,
  }
}

function causesOf({ diagnosis: printed }: WhatifResults): Step<Cause>[] {
  if (printed === null) return []
  const { diagnosis, limit } = printed
  const before = profileQuantiles(diagnosis.base)
  const after = profileQuantiles(diagnosis.target)
  return diagnosis.ranked
    .slice(0, limit)
    .map((change) => ({ change, before, scenario: change, after }))
}

function predictionsOf({ predictions }: WhatifResults): Step<ScenarioProfile>[] | undefined {
  return predictions?.profiles.map((change) => ({
    change,
    before: change.beforeQuantiles,
    scenario: change.quantiles,
    after: predictions.after,
  }))
}

function truncatedOf({ diagnosis: printed }: WhatifResults) {
  if (printed === null) return undefined
  const causes = printed.diagnosis.ranked.length
  return causes > printed.limit ? { causes } : undefined
}
