import { least } from 'd3-array'
import { shortText } from '../core/shown-text.ts'
import { formatDuration } from '../core/units.ts'
import { counted, grouped, percent, pValue } from '../core/words.ts'
import type { LatencyDiagnosis } from '../whatif/diagnosis/latency-diagnosis.ts'
import type { WishTarget } from '../whatif/diagnosis/latency-target.ts'
import { divergenceText } from '../whatif/diagnosis/target-divergence.ts'
import type { LatencyProfile } from '../whatif/recompute/latency-profile.ts'
import { type ProfileQuantiles, profileQuantiles } from '../whatif/recompute/latency-profile.ts'
import { textTable } from './printing.ts'
import type { Predictions } from './whatif-document.ts'

const MAX_TITLE_LENGTH = 90
const MAX_TARGET_LENGTH = 120

/** A diagnosis as text: do the profiles differ, which cause explains it best, and the next ones. */
export function whatifText(diagnosis: LatencyDiagnosis, limit: number, wish?: WishTarget): string {
  const { ranked, state } = diagnosis
  const left = ranked.length - limit
  return [
    profilesText(diagnosis),
    [verdictText(diagnosis), wish === undefined ? '' : wishText(diagnosis, wish)].join(' ').trim(),
    ranked.length === 0 ? '' : causesTable(diagnosis, limit),
    left > 0 ? `… and ${grouped(left)} more; raise --limit to see them.` : '',
    state === 'complete' ? '' : 'Stopped before everything was tried.',
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function profilesText(diagnosis: LatencyDiagnosis): string {
  const { base, target, models, changeP, options, divergence, targetTitle } = diagnosis
  const [forest, after] = models.forests
  const requests = counted(forest?.requestTrace.length ?? 0, 'request')
  const size =
    after === undefined
      ? `${requests} before; target: ${shortText(targetTitle, MAX_TARGET_LENGTH)}`
      : `${requests} before, ${grouped(after.requestTrace.length)} after`
  const differ = changeP < options.alpha ? 'differ' : 'may be alike'
  return (
    `${size}: ${stepsText(profileQuantiles(base), profileQuantiles(target))}. ` +
    (areSame(base, target)
      ? 'The profiles are the same.'
      : `The profiles ${differ} (${pValue(changeP)}); ${distanceText(diagnosis, divergence)} apart.`)
  )
}

/** Small samples are apart from themselves by a divergence that expects what did not occur. */
function areSame(one: LatencyProfile, other: LatencyProfile): boolean {
  return (
    one.latencyUs.length === other.latencyUs.length &&
    one.latencyUs.every((us, i) => us === other.latencyUs[i] && one.weight[i] === other.weight[i])
  )
}

/** Whether any scenario that was tried meets a wish, and else how near it comes. */
function wishText(diagnosis: LatencyDiagnosis, { quantile, belowUs }: WishTarget): string {
  const reached = diagnosis.ranked.map(({ rank, scenario }) => ({
    title: shortText(scenario.title, 2 * MAX_TITLE_LENGTH),
    us: diagnosis.profile(rank).profile.quantile(quantile),
  }))
  const nearest = least(reached, ({ us }) => us)
  if (nearest === undefined || nearest.us <= belowUs) return ''
  return `None that was tried meets the wish: ${nearest.title}, comes nearest with ${formatDuration(nearest.us)}.`
}

function verdictText({ best, ranked, divergence, options, models }: LatencyDiagnosis): string {
  if (best === null) return 'Nothing could be tried.'
  if (!ranked.some(({ significant }) => significant)) {
    return 'No single change explains a difference beyond chance.'
  }
  const share = divergence > 0 ? percent(Math.max(0, best.gain)) : 'none'
  const explained = models.forests.length > 1 ? `explains ${share} of it` : `is ${share} of the way`
  const sure = best.significant
    ? Number.isNaN(best.q)
      ? ''
      : ` What it changes did change (${pValue(best.q, 'q')}).`
    : ` That may be chance at the ${percent(options.alpha)} level.`
  return `Best: ${shortText(best.scenario.title, 2 * MAX_TITLE_LENGTH)}, which ${explained}.${sure}`
}

function distanceText({ options }: LatencyDiagnosis, value: number): string {
  const text = divergenceText(options.divergence, value)
  if (options.divergence === 'wasserstein') return `${text} a request`
  return `${options.divergence === 'kl' ? 'Kullback-Leibler divergence' : 'largest gap'} ${text}`
}

function causesTable({ ranked, options }: LatencyDiagnosis, limit: number): string {
  return textTable(
    ['cause', 'within', 'explains', 'divergence', 'p50', 'p99', 'chance?'],
    ranked
      .slice(0, limit)
      .map(({ rank, scenario, parent, gain, divergence, p50Us, p99Us, significant }) => [
        `${rank}. ${shortText(scenario.title, MAX_TITLE_LENGTH)}`,
        parent === null ? '' : String(parent.rank),
        gain < 0 ? 'none' : percent(gain),
        divergenceText(options.divergence, divergence),
        formatDuration(p50Us),
        formatDuration(p99Us),
        significant ? 'no' : 'maybe',
      ]),
  )
}

/** Predictions as text: what each scenario makes of p50, p90 and p99. */
export function predictionText({ requests, after, profiles }: Predictions): string {
  const row = (name: string, { p50Us, p90Us, p99Us }: ProfileQuantiles, touched: string) => [
    shortText(name, MAX_TITLE_LENGTH),
    ...[formatDuration(p50Us), formatDuration(p90Us), formatDuration(p99Us), touched],
  ]
  const [first] = profiles
  return [
    `Predicted for ${counted(requests.before, 'request')} before.`,
    textTable(
      ['scenario', 'p50', 'p90', 'p99', 'requests it changes'],
      [
        ...(first === undefined ? [] : [row('before, as recorded', first.beforeQuantiles, '')]),
        ...profiles.map(({ title, quantiles, touched }) => row(title, quantiles, grouped(touched))),
        ...(after === null ? [] : [row('after, as recorded', after, '')]),
      ],
    ),
  ].join('\n\n')
}

function stepsText(before: ProfileQuantiles, after: ProfileQuantiles): string {
  const step = (name: 'p50' | 'p90' | 'p99') =>
    `${name} ${formatDuration(before[`${name}Us`])} → ${formatDuration(after[`${name}Us`])}`
  return [step('p50'), step('p90'), step('p99')].join(', ')
}
