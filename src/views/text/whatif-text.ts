import { least } from 'd3-array'
import type { Population } from '../../calls/call-forest.ts'
import { type PrintedWarning, warningLines } from '../../comparison/fairness/comparison-warning.ts'
import { signedAmount, TIME } from '../../core/quantity.ts'
import { leftOutLines, MAX_WIDTH, tableOf } from '../../core/text-layout.ts'
import {
  counted,
  formatDuration,
  grouped,
  percent,
  pValue,
  shortText,
  shortTexts,
  spoken,
} from '../../core/words.ts'
import type { WishTarget } from '../../whatif/diagnosis/diagnose-latency.ts'
import { divergenceText } from '../../whatif/diagnosis/evaluate-scenario.ts'
import type {
  DiagnosedScenario,
  ExplainedFinding,
  LatencyDiagnosis,
} from '../../whatif/diagnosis/latency-diagnosis.ts'
import { type LatencyProfile, profileQuantiles } from '../../whatif/recompute/latency-profile.ts'
import { type Predictions, requestsOf } from '../../whatif/scenarios/apply-scenario.ts'
import type { Scenario } from '../../whatif/scenarios/scenario.ts'

/** Results of a diagnosis, or predictions without causes, and doubts about the traces. */
export interface WhatifResults {
  readonly diagnosis?: LatencyDiagnosis
  readonly predictions?: Predictions
  readonly warnings: readonly PrintedWarning[]
  /** A target, µs. */
  readonly within: number | null
  readonly limit: number
  readonly explained: readonly ExplainedFinding[]
}

const MAX_TITLE_LENGTH = 90
const MAX_TARGET_LENGTH = 120

interface TextOptions {
  /** Wish that the causes are to meet, if there is one. */
  readonly wish?: WishTarget | undefined
  /** Characters of a line. Default: 100. */
  readonly width?: number
}

/** Writes which changes explain the profiles' distance, or what scenarios would change; doubts come last. */
export function whatifText(
  results: WhatifResults,
  { wish, width = MAX_WIDTH }: TextOptions = {},
): string {
  const { diagnosis, predictions, within, warnings } = results
  return spoken([
    diagnosis && diagnosisText(diagnosis, results, { wish, width }),
    predictions && predictionText(predictions, { within, width }),
    warningLines(warnings).join('\n'),
  ]).join('\n\n')
}

function diagnosisText(
  diagnosis: LatencyDiagnosis,
  { limit, within, explained }: WhatifResults,
  { wish, width }: TextOptions & { readonly width: number },
): string {
  const { state } = diagnosis
  const { told, shown } = toldCauses(diagnosis, limit)
  const paragraph = (...sentences: readonly string[]) => spoken(sentences).join(' ')
  return spoken([
    paragraph(profilesText(diagnosis), withinText(diagnosis, within)),
    paragraph(verdictText(diagnosis), wish === undefined ? '' : wishText(diagnosis, wish)),
    findingsText(explained),
    explained.length === 0 && wish === undefined && otherWays(diagnosis),
    paragraph(
      shown.length === 0 ? '' : causesTable(diagnosis, shown, { within, width }),
      othersText(diagnosis, told),
    ),
    ...leftOutLines(told - limit),
    state !== 'complete' && 'Stopped before everything was tried.',
  ]).join('\n\n')
}

/** Causes that explain more than chance does, the best first, with those that they lie within; towards a wish, all. */
function toldCauses({ ranked, models }: LatencyDiagnosis, limit: number) {
  const told = ranked.filter(({ significant }) => significant || models.forests.length < 2)
  const shown = new Set<number>()
  for (const { rank } of told.slice(0, limit)) {
    for (let at = ranked[rank - 1] ?? null; at !== null; at = at.parent) shown.add(at.rank)
  }
  return { told: told.length, shown: ranked.filter(({ rank }) => shown.has(rank)) }
}

/** `7 other changes explain no more than chance; --json lists them.` */
function othersText({ ranked }: LatencyDiagnosis, told: number): string {
  const others = ranked.length - told
  if (others === 0) return ''
  const [verb, them] = others === 1 ? ['explains', 'it'] : ['explain', 'them']
  const other = told === 0 ? 'change that was tried' : 'other change'
  const things = others === 1 ? other : other.replace('change', 'changes').replace('was', 'were')
  return `${grouped(others)} ${things} ${verb} no more than chance; --json lists ${them}.`
}

/** Suggests to look at single kinds of requests: a mix of kinds may hide the change of one. */
function otherWays({ models, options, changedCallers, changeP }: LatencyDiagnosis): string {
  if (models.forests.length < 2 || (options.service ?? '') !== '') return ''
  if (changedCallers !== null && changeP >= options.alpha) {
    const { service, operation, p } = changedCallers
    const called = shortText(`${service} ${operation}`.trim(), MAX_TITLE_LENGTH)
    return `Requests that call ${called} did change (${pValue(p)}), but this is lost among all requests. Start from the first finding of flowdelta compare (--finding 1), or select them with --where.`
  }
  return 'This is for all requests together. --findings shows which finding of flowdelta compare each cause explains; --finding 1 starts from the first finding.'
}

/** `3,000 requests`, `1,320 calls of mds`, `12 calls of mds LOOKUP from frontend`. */
function requestsText(count: number, { service = '', operation = '', caller = '' }: Population) {
  const called = [service, operation].filter((name) => name !== '').join(' ')
  if (called === '' && caller === '') return counted(count, 'request')
  const of = called === '' ? '' : ` of ${shortText(called, MAX_TITLE_LENGTH)}`
  const from = caller === '' ? '' : ` from ${shortText(caller, MAX_TITLE_LENGTH)}`
  return `${counted(count, 'call')}${of}${from}`
}

function profilesText(diagnosis: LatencyDiagnosis): string {
  const { base, target, models, changeP, options, divergence, targetTitle } = diagnosis
  const { before, after } = requestsOf(models)
  const requests = requestsText(before, options)
  const size =
    after === null
      ? `${requests} before; target: ${shortText(targetTitle, MAX_TARGET_LENGTH)}`
      : `${requests} before, ${grouped(after)} after`
  const differ = changeP < options.alpha ? 'differ' : 'may be the same'
  const steps = (['p50', 'p90', 'p99'] as const).map((name) => {
    const [was, is] = [base, target].map((one) => profileQuantiles(one)[`${name}Us`])
    return `${name} ${formatDuration(was ?? 0)} → ${formatDuration(is ?? 0)}`
  })
  return (
    `${size}: ${steps.join(', ')}. ` +
    (areSame(base, target)
      ? 'The profiles are the same.'
      : `The profiles ${differ} (${pValue(changeP)}${learnedFrom(diagnosis)}); their distance: ${distanceText(diagnosis, divergence)}.`)
  )
}

/** Says what p of the profiles learned its noise from, if not from everything: everything would give another p. */
function learnedFrom({ options, state, models }: LatencyDiagnosis): string {
  if (models.forests.length < 2) return ''
  if (options.finding !== null) return ', from the noise in the requests of this finding'
  return state === 'complete' ? '' : ', from the noise in the changes tried so far'
}

/** `Cause 1 explains finding 2: disk: READ itself takes 10 ms longer.` */
function findingsText(explained: readonly ExplainedFinding[]): string {
  return explained
    .map(({ finding: { rank, title }, cause }) => {
      const who =
        cause === null ? 'No cause beyond chance explains' : `Cause ${cause.rank} explains`
      return `${who} finding ${rank}: ${shortText(title, 2 * MAX_TITLE_LENGTH)}`
    })
    .join('\n')
}

/** `Within 300 ms: 97 % of requests before, 91 % after.` */
function withinText({ base, target, models }: LatencyDiagnosis, us: number | null): string {
  if (us === null) return ''
  const later = models.forests.length > 1 ? 'after' : 'of the target'
  const [before, after] = [base, target].map((profile) => percent(profile.shareWithin(us)))
  return `Within ${formatDuration(us)}: ${before} before, ${after} ${later}.`
}

/** Whether profiles are the same; small samples diverge from themselves, as what did not occur is expected, too. */
function areSame(one: LatencyProfile, other: LatencyProfile): boolean {
  return (
    one.latencyUs.length === other.latencyUs.length &&
    one.latencyUs.every((us, i) => us === other.latencyUs[i] && one.weight[i] === other.weight[i])
  )
}

function wishText(diagnosis: LatencyDiagnosis, { quantile, belowUs }: WishTarget): string {
  const reached = diagnosis.ranked.map(({ rank, scenario }) => ({
    title: shortText(scenario.title, 2 * MAX_TITLE_LENGTH),
    us: diagnosis.profile(rank).profile.quantile(quantile),
  }))
  const nearest = least(reached, ({ us }) => us)
  if (nearest === undefined || nearest.us <= belowUs) return ''
  return `No change that was tried meets the wish. Closest: ${nearest.title}, with ${formatDuration(nearest.us)}.`
}

function verdictText(diagnosis: LatencyDiagnosis): string {
  const { best, ranked, options, models, together } = diagnosis
  if (best === null) return 'There was no change to try.'
  if (!ranked.some(({ significant }) => significant)) {
    return 'No single change explains more than chance.'
  }
  const title = (scenario: Scenario) => shortText(scenario.title, 2 * MAX_TITLE_LENGTH)
  const share = models.forests.length > 1 ? ' of the difference' : ' of the way'
  const alone =
    best.gain > 0
      ? `By itself it ${models.forests.length > 1 ? 'explains' : 'is'} ${percent(best.gain)}${share}.`
      : 'By itself it brings the profiles no closer.'
  const sure = best.significant
    ? Number.isNaN(best.q)
      ? ''
      : ` Measured directly, that part did change (${pValue(best.q, 'q')}).`
    : ` It may be chance at the ${percent(options.alpha)} level.`
  const more = together
    .slice(1)
    .map(({ cause, gain }) => `${title(cause.scenario)}: ${percent(gain)}`)
  const joint = more.length === 0 ? '' : ` Together with ${more.join('; and with ')}.`
  return `Most likely: ${title(best.scenario)}. ${alone}${sure}${best.significant ? joint : ''}`
}

function distanceText({ options }: LatencyDiagnosis, value: number): string {
  const text = divergenceText(options.divergence, value)
  if (options.divergence === 'wasserstein') return `${text} a request`
  return `${options.divergence === 'kl' ? 'Kullback-Leibler divergence' : 'largest gap'} ${text}`
}

function causesTable(
  { options }: LatencyDiagnosis,
  shown: readonly DiagnosedScenario[],
  { within: us, width }: { readonly within: number | null; readonly width: number },
): string {
  const titles = shortTexts(
    shown.map(({ scenario }) => scenario.title),
    MAX_TITLE_LENGTH,
  )
  const isNested = shown.some(({ parent }) => parent !== null)
  const table = tableOf(
    shown,
    {
      cause: ({ rank }, i) => `${rank}. ${titles[i]}`,
      ...(isNested && {
        'part of': ({ parent }: DiagnosedScenario) => (parent === null ? '' : `${parent.rank}.`),
      }),
      'explains alone': ({ gain, evaluation }) =>
        gain < 0 ? 'none' : `${percent(gain)}, ${signedAmount(evaluation.impactUs, TIME)}`,
      'distance left': ({ divergence }) => divergenceText(options.divergence, divergence),
      p50: ({ p50Us }) => formatDuration(p50Us),
      p99: ({ p99Us }) => formatDuration(p99Us),
      ...withinColumn(us, ({ evaluation }: DiagnosedScenario) => evaluation.profile),
      'by chance?': ({ significant }) => (significant ? 'no' : 'maybe'),
    },
    { width },
  )
  return `${table}\n\nEach row makes one change alone: the part of the shift of the mean that it explains, the distance of the profiles that is left, p50 and p99.`
}

function withinColumn<Row>(us: number | null, profileOf: (row: Row) => LatencyProfile) {
  if (us === null) return {}
  return { [`≤ ${formatDuration(us)}`]: (row: Row) => percent(profileOf(row).shareWithin(us)) }
}

function predictionText(
  { requests, population, after, profiles }: Predictions,
  { within: us, width }: { readonly within: number | null; readonly width: number },
): string {
  const recorded = (title: string, profile: LatencyProfile) => ({ title, profile, touched: null })
  const [first] = profiles
  const rows = [
    ...(first === undefined ? [] : [recorded('before, as recorded', first.before)]),
    ...profiles,
    ...(after === null ? [] : [recorded('after, as recorded', after)]),
  ]
  type Row = (typeof rows)[number]
  const quantileOf = (q: number) => (row: Row) => formatDuration(row.profile.quantile(q))
  return [
    `Predicted for ${requestsText(requests.before, population)} before.`,
    tableOf(
      rows,
      {
        scenario: ({ title }) => shortText(title, MAX_TITLE_LENGTH),
        p50: quantileOf(0.5),
        p90: quantileOf(0.9),
        p99: quantileOf(0.99),
        ...withinColumn(us, ({ profile }: Row) => profile),
        'requests it changes': ({ touched }) => (touched === null ? '' : grouped(touched)),
      },
      { width },
    ),
  ].join('\n\n')
}
