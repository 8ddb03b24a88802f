import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { type Population, requireSpans } from '../calls/call-forest.ts'
import type { Finding } from '../compare/findings/finding.ts'
import { compare } from '../comparison/comparison.ts'
import { FlowdeltaError } from '../core/errors.ts'
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
import { custom, defineOptions, flag, optionalText } from '../core/options.ts'
import type { Terms } from '../core/result-conditions.ts'
import { grouped, readDuration } from '../core/words.ts'
import { findingCalled } from '../explain/listed-findings.ts'
import type { SpanTraces } from '../traces/span-traces.ts'
import type { TraceSet } from '../traces/trace-set.ts'
import { type WhatifResults, whatifText } from '../views/text/whatif-text.ts'
import {
  diagnoseLatencyStepwise,
  type HistogramTarget,
  type LatencyTarget,
  parseWish,
  type WishTarget,
} from '../whatif/diagnosis/diagnose-latency.ts'
import {
  DIAGNOSIS_OPTIONS,
  type DiagnosedScenario,
  type ExplainedFinding,
  type LatencyDiagnosis,
} from '../whatif/diagnosis/latency-diagnosis.ts'
import { whatifWarnings } from '../whatif/diagnosis/trace-warnings.ts'
import type { LatencyProfile } from '../whatif/recompute/latency-profile.ts'
import {
  predictScenarios,
  requestsOf,
  type ScenarioProfile,
} from '../whatif/scenarios/apply-scenario.ts'
import { conditions, failOn } from './conditions.ts'
import {
  addOptions,
  type Flags,
  type FlagsOf,
  optionsFrom,
  paths,
  rarely,
  required,
} from './flags.ts'
import { addSplit, isSplit, LOAD_FLAGS, loadPeriods, type SplitFlags } from './load-period.ts'
import { listFlags, MAX_IN_JSON, MAX_IN_TEXT, printResults, WARNINGS } from './printing.ts'
import { showProgress, stoppable } from './progress.ts'

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
    calls: optional(record({ service: TEXT, operation: TEXT, caller: TEXT })).from(
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

const { service, operation, caller, similarity } = DIAGNOSIS_OPTIONS
const MODEL_FLAGS = { service, operation, caller, similarity }
const { depth, beam, divergence, sampleSize, features, seed } = DIAGNOSIS_OPTIONS
const SEARCH_FLAGS = { depth, beam, divergence, sampleSize, features, seed }
const DIAGNOSIS_FLAGS = { ...SEARCH_FLAGS, ...MODEL_FLAGS }

const FINDING_FLAGS = defineOptions({
  findings: flag({
    default: false,
    sentence: 'Also compare the periods, and show which finding each cause explains',
  }),
  finding: optionalText('Start from a finding of flowdelta compare, by id or rank', 'finding <id>'),
})

const PRINT_FLAGS = defineOptions({
  ...listFlags('causes'),
  within: custom<number | null>({
    default: null,
    parse: readDuration,
    accepts: (value) => value === null || (value as number) > 0,
    expected: "a time, as '300ms'",
    flag: 'within <time>',
    sentence: "Also show how many requests finish within a time: '300ms'",
  }),
})

const TERMS: Terms<DiagnosedScenario, LatencyDiagnosis> = {
  things: ({ ranked }) => ranked.filter(({ significant }) => significant),
  nameOf: ({ rank, scenario }) => `#${rank} ${scenario.title}`,
  words: { any: ({ evaluation }) => evaluation.impactUs > 0 },
  quantities: {
    impact: {
      percent: ({ evaluation }, { base }) => (100 * evaluation.impactUs) / base.meanUs,
      us: ({ evaluation }) => evaluation.impactUs,
    },
  },
  examples: "'impact>5%', 'impact>10ms' or 'any'",
}

const PERIOD_FLAGS = defineOptions({
  before: paths('before <file...>', 'Traces of the good period'),
})

const TARGET_FLAGS = defineOptions({
  after: paths('after <file...>', 'Traces of the bad period, to be explained'),
  target: {
    ...custom<WishTarget | HistogramTarget | null>({
      default: null,
      flag: 'target <wish>',
      sentence:
        "Target instead of traces: a wish such as 'p99<300ms', or a histogram file with JSON { edges, counts } in µs",
      expected: 'a wish or a histogram',
      accepts: () => true,
      parse: targetFrom,
    }),
    conflictsWith: ['after', 'apply'],
  },
  apply: paths(
    'apply <scenario...>',
    "Predict instead: 'inventory*0.5', 'network:inventory+10ms', 'attribute:cache.hit=true:90%'; double-quote names that contain these signs; several are also applied together",
  ),
  failOn: {
    ...conditions(
      'fail-on',
      "End with exit code 1 when a significant cause makes requests slower on average by more: 'impact>5%' of the mean before, 'impact>10ms', or 'any'",
      TERMS,
    ),
    conflictsWith: ['target', 'apply'],
  },
})

interface WhatifFlags
  extends SplitFlags,
    FlagsOf<typeof PERIOD_FLAGS & typeof TARGET_FLAGS & typeof MODEL_FLAGS>,
    FlagsOf<typeof FINDING_FLAGS & typeof PRINT_FLAGS> {}

export function addWhatif(command: Command, args: readonly string[]): void {
  addOptions(addSplit(command), isSplit(args) ? PERIOD_FLAGS : required(PERIOD_FLAGS))
  addOptions(command, TARGET_FLAGS, rarely(DIAGNOSIS_FLAGS), FINDING_FLAGS)
  addOptions(command, LOAD_FLAGS, PRINT_FLAGS).action(runWhatif)
}

async function runWhatif(files: string[], flags: WhatifFlags & Flags): Promise<void> {
  const { json, limit, apply, after, target, within = null } = flags
  if ([after, target, apply, flags.split].every((given) => given === undefined)) {
    throw new FlowdeltaError(
      'There is nothing to explain. Give --after with traces, --target with a wish, or --apply with a scenario.',
    )
  }
  const [first, second] = await loadPeriods(
    { ...flags, files },
    [flags.before ?? [], after],
    'before',
  )
  const spansOf = (traces: TraceSet) => {
    const name = flags.split === undefined ? `the ${traces.name} period` : traces.name
    return requireSpans(traces, name)
  }
  const before = spansOf(first)
  const later = second === undefined ? null : spansOf(second)
  const warnings = whatifWarnings(before, later)
  if (apply !== undefined) {
    const predictions = predictScenarios(before, later, {
      ...optionsFrom(MODEL_FLAGS, flags),
      texts: apply,
    })
    const results = { predictions, warnings, within, limit: 0, explained: [] }
    printResults(results, { json, document: WHATIF_DOCUMENT, text: whatifText })
    return
  }
  const isCompared = flags.findings || flags.finding
  if (isCompared && later === null) {
    throw new FlowdeltaError('Findings need a period to compare with. Give --after.')
  }
  // One of the two is there: see above.
  const comparison = isCompared && later ? compare(before, later) : null
  const finding = comparison && flags.finding ? findingCalled(comparison, flags.finding) : null
  const diagnosis = await diagnose(
    before,
    later ?? (target as WishTarget | HistogramTarget),
    flags,
    finding,
  )
  const explained = comparison === null ? [] : diagnosis.explains(comparison.findings)
  const wish = target !== undefined && 'quantile' in target ? target : undefined
  const most = limit ?? (json ? MAX_IN_JSON : MAX_IN_TEXT)
  const results = { diagnosis, limit: most, warnings, within, explained }
  printResults(results, {
    json,
    document: WHATIF_DOCUMENT,
    text: (of, width) => whatifText(of, { wish, ...width }),
  })
  failOn(diagnosis, flags.failOn, TERMS)
}

/** Diagnoses, showing progress once it takes a second; Ctrl-C returns the results so far. */
function diagnose(
  before: SpanTraces,
  target: LatencyTarget,
  flags: Flags,
  finding: Finding | null,
): Promise<LatencyDiagnosis> {
  let [shownMs, everyMs] = [performance.now() + FIRST_SHOWN_MS, 0]
  return stoppable(async (signal) => {
    const steps = diagnoseLatencyStepwise(before, target, {
      ...optionsFrom(DIAGNOSIS_FLAGS, flags),
      finding,
      signal,
    })
    for (;;) {
      const step = await steps.next()
      if (step.done === true) return step.value
      if (performance.now() < shownMs) continue
      const { tried, planned } = step.value
      showProgress(
        `${grouped(tried)} of ${grouped(planned)} scenarios tried; Ctrl-C shows what was found so far`,
      )
      // Lines stay where there is no terminal: fewer and fewer of them.
      everyMs = process.stderr.isTTY ? SHOWN_EVERY_MS : Math.max(FIRST_SHOWN_MS, 2 * everyMs)
      shownMs = performance.now() + everyMs
    }
  })
}

const FIRST_SHOWN_MS = 1000
const SHOWN_EVERY_MS = 100

/** Reads a wish, or a file with a histogram. */
function targetFrom(text: string): WishTarget | HistogramTarget {
  if (!text.endsWith('.json')) return parseWish(text)
  try {
    return JSON.parse(readFileSync(text, 'utf8')) as HistogramTarget
  } catch (problem) {
    throw new FlowdeltaError(
      `The file cannot be read as JSON: ${(problem as Error).message}. Give { "edges": […], "counts": […] } with edges in µs.`,
    )
  }
}
