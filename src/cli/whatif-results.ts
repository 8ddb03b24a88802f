import type { Population } from '../calls/call-forest.ts'
import {
  COUNT,
  document,
  FLAG,
  listOf,
  MEASURED,
  NUMBER,
  optional,
  orNull,
  plain,
  RANK,
  record,
  SHARE,
  TEXT,
  truncated,
  words,
} from '../core/json-parts.ts'
import type { WhatifResults } from '../views/text/whatif-text.ts'
import type {
  DiagnosedScenario,
  ExplainedFinding,
  LatencyDiagnosis,
} from '../whatif/diagnosis/latency-diagnosis.ts'
import type { LatencyProfile } from '../whatif/recompute/latency-profile.ts'
import type { ScenarioProfile } from '../whatif/scenarios/apply-scenario.ts'
import { requestsOf } from '../whatif/scenarios/predict-scenarios.ts'
import { WARNINGS } from './document.ts'

/** Latencies before, with a change of so many requests, and after. */
interface Changed {
  readonly profiles: readonly [LatencyProfile, LatencyProfile, LatencyProfile | null]
  readonly touched: number
  readonly within: number | null
}

function stepOf({ profiles }: Changed, of: (profile: LatencyProfile) => number) {
  const [before, scenario, after] = profiles
  return { before: of(before), scenario: of(scenario), after: after && of(after) }
}

const quantile = (q: number) =>
  record({ before: MEASURED, scenario: MEASURED, after: orNull(MEASURED) }).from(
    (changed: Changed) => stepOf(changed, (profile) => profile.quantile(q)),
  )

const CHANGE = {
  requests: COUNT.from(({ touched }: Changed) => touched, 'Requests that it changes.'),
  p50Us: quantile(0.5),
  p90Us: quantile(0.9),
  p99Us: quantile(0.99),
  within: optional(
    record({ us: NUMBER, before: SHARE, scenario: SHARE, after: orNull(SHARE) }),
  ).from((changed: Changed) => {
    const { within: us } = changed
    return us === null ? undefined : { us, ...stepOf(changed, (one) => one.shareWithin(us)) }
  }, 'With --within: shares of requests within that time.'),
}

const CAUSE = record<DiagnosedScenario & Changed>({
  rank: RANK,
  depth: RANK,
  parent: orNull(RANK).from(
    ({ parent }) => parent?.rank,
    'Rank of the cause that this one lies within.',
  ),
  scenario: TEXT.from(({ scenario }) => scenario.title),
  kind: TEXT.from(({ scenario }) => scenario.kind),
  service: orNull(TEXT).from(({ scenario }) => scenario.service),
  operation: orNull(TEXT).from(({ scenario }) => scenario.operation),
  score: MEASURED,
  divergence: MEASURED,
  gain: MEASURED,
  significant: FLAG,
  q: MEASURED,
  ...CHANGE,
})

const DEPTH = plain<number | 'auto'>({ anyOf: [COUNT.schema, { const: 'auto' }] })

export const WHATIF_DOCUMENT = document<WhatifResults>(
  'whatif',
  'What `flowdelta whatif --json` prints.',
  {
    divergence: orNull(TEXT).from(
      ({ diagnosis }) => diagnosis?.options.divergence,
      'How the distance between profiles is measured; null with --apply.',
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
    ).from(({ diagnosis }) => diagnosis?.options),
    target: optional(TEXT).from(({ diagnosis }) => diagnosis?.targetTitle),
    requests: record({ before: COUNT, after: orNull(COUNT) }).from(
      ({ diagnosis, predictions }) => predictions?.requests ?? requestsOf(diagnosis!.models),
    ),
    calls: optional(
      record<Required<Population>>({ service: TEXT, operation: TEXT, caller: TEXT }),
    ).from(
      callsOf,
      'Whose calls are the requests; absent where they come from outside. Empty names may be any.',
    ),
    unchanged: optional(record({ divergence: MEASURED, p: MEASURED })).from(
      ({ diagnosis }) => diagnosis && { divergence: diagnosis.divergence, p: diagnosis.changeP },
      'How far the recorded before period is from the target.',
    ),
    state: optional(words('running', 'interrupted', 'complete')).from(
      ({ diagnosis }) => diagnosis?.state,
    ),
    causes: listOf(CAUSE).from(
      ({ diagnosis, limit, within }) =>
        (diagnosis?.ranked ?? []).slice(0, limit).map((cause) => ({
          ...cause,
          profiles: [diagnosis!.base, cause.evaluation.profile, diagnosis!.target] as const,
          within,
        })),
      'The tree of causes flattened, best first; cut at --limit.',
    ),
    findings: optional(
      listOf(
        record<ExplainedFinding>({
          rank: RANK.from(({ finding }) => finding.rank),
          id: TEXT.from(({ finding }) => finding.id),
          title: TEXT.from(({ finding }) => finding.title),
          cause: orNull(RANK).from(({ cause }) => cause?.rank),
        }),
      ),
    ).from(
      ({ explained }) => (explained.length === 0 ? undefined : explained),
      'With --findings or --finding: findings of flowdelta compare, each with the rank of the matching cause; null for none.',
    ),
    together: optional(listOf(record({ rank: RANK, gain: MEASURED }))).from(
      ({ diagnosis }) => diagnosis?.together.map(({ cause, gain }) => ({ rank: cause.rank, gain })),
      'The first significant cause, then causes that explain clearly more together with it: ranks (also of causes that --limit cut), and the share explained up to each.',
    ),
    predictions: optional(
      listOf(
        record<Pick<ScenarioProfile, 'title'> & Changed>({
          scenario: TEXT.from(({ title }) => title),
          ...CHANGE,
        }),
      ),
    ).from(
      ({ predictions, within }) =>
        predictions?.profiles.map((one) => ({
          ...one,
          profiles: [one.before, one.profile, predictions.after] as const,
          within,
        })),
      'With --apply: one a scenario, and of several one of all together.',
    ),
    warnings: WARNINGS,
    truncated: truncated('causes', ({ diagnosis, limit }) => ({
      all: diagnosis?.ranked.length ?? 0,
      limit,
    })),
  },
)

function callsOf({ diagnosis, predictions }: WhatifResults) {
  const population: Population = predictions?.population ?? diagnosis?.options ?? {}
  const { service = '', operation = '', caller = '' } = population
  return service || operation || caller ? { service, operation, caller } : undefined
}
