import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { shortText, tooltipText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { counted, grouped, percent, pValue, shortNumber } from '../../core/words.ts'
import type { LatencyDiagnosis } from '../../whatif/diagnosis/latency-diagnosis.ts'
import type { DivergenceName } from '../../whatif/diagnosis/target-divergence.ts'
import { profileQuantiles } from '../../whatif/scenarios/apply-scenario.ts'
import { linearDurationAxis } from './axes.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { type DiagnosisRow, diagnosisRows } from './diagnosis-rows.ts'
import { fittedLabel } from './fitted-label.ts'
import { PALETTE } from './palette.ts'
import { textWidth } from './text-width.ts'

/** What {@link plotDiagnosis} can be told. */
export interface DiagnosisChartOptions {
  /** How many scenarios to draw, the best, with what they lie within. Default 15. */
  readonly limit?: number
}

const ROW = 24
const BAR = 14
const WIDTH = { names: 520, divergence: 110, quantile: 130 } as const
const INDENT = 16
const FONT_SIZE = 11.5
/** How much wider bold letters are. */
const BOLD = 1.1
const SPACING = 14
const DIVERGENCE_TITLES: Readonly<Record<DivergenceName, string>> = {
  kl: 'divergence from the target',
  wasserstein: 'distance from the target',
  ks: 'largest gap to the target',
}
/** Narrower than this share of its times, an axis would show differences that nobody can tell. */
const LEAST_SPAN = 0.02

/**
 * Draws a diagnosis: which scenarios were tried, each indented below what it lies within, how far it
 * leaves the profile from the target, and what it makes of p50 and p99. Bars begin at what was recorded
 * before (orange line); the target is the blue one. The best stands in bold letters.
 *
 * @param diagnosis of `diagnoseLatency`
 * @param options see {@link DiagnosisChartOptions}
 * @throws OptionError for a limit below 1; FlowdeltaError for an unknown option
 *
 * Source: Ostrowski, Mann and Sandler 2011, §4; the drawing is flowdelta's own.
 *
 * @example
 * plotDiagnosis(diagnoseLatency(before, after, { depth: 2 }), { limit: 10 })
 */
export function plotDiagnosis(
  diagnosis: LatencyDiagnosis,
  options: DiagnosisChartOptions = {},
): Chart {
  rejectUnknownOptions(options, ['limit'])
  const { limit = 15 } = options
  if (!(limit >= 1)) throw new OptionError('limit', limit, 'a number of scenarios, 1 or more')
  const rows = diagnosisRows(diagnosis, Math.floor(limit))
  const height = Math.max(1, rows.length) * ROW
  return framedChart(
    {
      title: 'Which single change brings the response times closest to the target?',
      subtitle: subtitle(diagnosis),
      omissions: omissions(diagnosis, rows.length),
      width: WIDTH.names + WIDTH.divergence + 2 * WIDTH.quantile,
    },
    {
      spacing: SPACING,
      hconcat: [
        names(diagnosis, rows, height),
        divergences(diagnosis, rows, height),
        quantiles(diagnosis, rows, { measure: 'p50Us', height }),
        quantiles(diagnosis, rows, { measure: 'p99Us', height }),
      ],
    },
  )
}

function subtitle(diagnosis: LatencyDiagnosis): string[] {
  const { best, targetTitle, changeP, options, state } = diagnosis
  const target = `Target: ${shortText(targetTitle, 80)}.`
  const differ =
    changeP < options.alpha
      ? `Before and target differ (${pValue(changeP)})`
      : `Before and target may be alike (${pValue(changeP)})`
  return [
    isOfTraces(diagnosis) ? `${target} ${differ}.` : target,
    best === null
      ? 'No scenario was tried.'
      : `Closest: ${shortText(best.scenario.title, 160)}. That is ${percent(Math.max(0, best.gain))} of the way.`,
    isOfTraces(diagnosis)
      ? 'Each row is one change: what it names is as it was after, and all else as before.'
      : 'Each row is one change; all else is as before.',
    'Orange lines: as recorded before; blue lines: the target.',
    ...(state === 'complete' ? [] : ['Not everything was tried: the diagnosis was stopped early.']),
  ]
}

function isOfTraces({ models }: LatencyDiagnosis): boolean {
  return models.forests.length > 1
}

function omissions({ size }: LatencyDiagnosis, drawn: number): string[] {
  return drawn === size
    ? []
    : [
        `${grouped(drawn)} of ${counted(size, 'scenario')} are drawn: the best, and what they lie within.`,
      ]
}

const CHANCE = 'may be chance'

function sureKind(diagnosis: LatencyDiagnosis): string {
  return isOfTraces(diagnosis) ? 'explains a change' : 'comes closer'
}

function kindOf(diagnosis: LatencyDiagnosis, { cause }: DiagnosisRow): string {
  return cause.significant ? sureKind(diagnosis) : CHANCE
}

function kindColour(diagnosis: LatencyDiagnosis): SpecPart {
  return {
    ...{ field: 'kind', type: 'nominal', legend: { title: null } },
    scale: { domain: [sureKind(diagnosis), CHANCE], range: [PALETTE.change, PALETTE.faint] },
  }
}

/** Rows are numbered: the same place in each panel. */
const Y = { field: 'at', type: 'ordinal', sort: null, axis: null } as const

function names(
  diagnosis: LatencyDiagnosis,
  rows: readonly DiagnosisRow[],
  height: number,
): SpecPart {
  const drawn = rows.map(({ cause, level }, at) => {
    const x = INDENT * Math.min(level, 8)
    const isBest = cause.rank === diagnosis.best?.rank
    const size = FONT_SIZE * (isBest ? BOLD : 1)
    const text = `${level === 0 ? '' : '└ '}${cause.rank}. ${rowTitle(diagnosis, cause)}`
    const name = fittedLabel(text, WIDTH.names - x, size)
    return { isBest, end: x + textWidth(name, size), row: { at, x, name, full: titleOf(cause) } }
  })
  const width = Math.ceil(
    Math.min(
      WIDTH.names,
      drawn.reduce((most, { end }) => Math.max(most, end), 0),
    ),
  )
  const x = { field: 'x', type: 'quantitative', axis: null }
  const layer = (isBest: boolean) => ({
    data: { values: drawn.filter((each) => each.isBest === isBest).map(({ row }) => row) },
    mark: {
      ...{ type: 'text', align: 'left', baseline: 'middle', fontSize: FONT_SIZE },
      ...{ color: PALETTE.text, fontWeight: isBest ? 'bold' : 'normal' },
    },
    encoding: {
      x: { ...x, scale: { domain: [0, width], nice: false } },
      // In the order of all rows: a layer has only some of them.
      y: { ...Y, scale: { domain: drawn.map(({ row }) => row.at) } },
      text: { field: 'name', type: 'nominal' },
      tooltip: { field: 'full', type: 'nominal', title: 'scenario' },
    },
  })
  return { width, height, layer: [layer(false), layer(true)] }
}

/** Without what the subtitle says of every row. */
function rowTitle(diagnosis: LatencyDiagnosis, { scenario }: DiagnosisRow['cause']): string {
  return isOfTraces(diagnosis) ? scenario.title.replace(/,? as after$/, '') : scenario.title
}

function titleOf({ scenario }: DiagnosisRow['cause']): string {
  return tooltipText(scenario.title)
}

function divergences(
  diagnosis: LatencyDiagnosis,
  rows: readonly DiagnosisRow[],
  height: number,
): SpecPart {
  const { divergence: unchanged, options } = diagnosis
  const values = rows
    .map((row, at) => [row, row.cause, at] as const)
    .map(([row, cause, at]) => ({
      ...{ at, divergence: Number(cause.divergence.toPrecision(6)), full: titleOf(cause) },
      kind: kindOf(diagnosis, row),
      text: divergenceText(options.divergence, cause.divergence),
      gain: `${percent(Math.max(0, cause.gain))} closer than before`,
      sure: Number.isNaN(cause.q) ? 'not tested' : pValue(cause.q, 'q'),
      requests: grouped(cause.touched),
    }))
  const most = values.reduce((high, { divergence }) => Math.max(high, divergence), unchanged)
  // Room for the numbers beside the bars.
  const high = (most > 0 ? most : 1) * 1.45
  const isTime = options.divergence === 'wasserstein'
  const time = linearDurationAxis({ lowUs: 0, highUs: high, ticks: 2, title: '' })
  const x = {
    ...{ field: 'divergence', type: 'quantitative' },
    scale: { domain: [0, high], nice: false },
    axis: {
      ...(isTime ? time.axis : { tickCount: 2, format: '~r' }),
      title: DIVERGENCE_TITLES[options.divergence],
    },
  }
  return {
    ...{ width: WIDTH.divergence, height },
    layer: [
      {
        data: { values },
        mark: { type: 'bar', height: BAR },
        encoding: {
          ...{ x, y: Y },
          color: kindColour(diagnosis),
          tooltip: [
            { field: 'full', type: 'nominal', title: 'scenario' },
            { field: 'text', type: 'nominal', title: 'divergence' },
            { field: 'gain', type: 'nominal', title: 'that is' },
            { field: 'sure', type: 'nominal', title: 'what it changes, before and after' },
            { field: 'requests', type: 'nominal', title: 'requests it changes' },
          ],
        },
      },
      rule(unchanged, PALETTE.before),
      {
        data: { values },
        mark: {
          ...{ type: 'text', align: 'left', baseline: 'middle', dx: 4, fontSize: 10.5 },
          ...{ color: PALETTE.softText, tooltip: false },
        },
        encoding: { x, y: Y, text: { field: 'text', type: 'nominal' } },
      },
    ],
  }
}

function divergenceText(name: DivergenceName, divergence: number): string {
  return name === 'wasserstein' ? formatDuration(divergence) : shortNumber(divergence)
}

function quantiles(
  diagnosis: LatencyDiagnosis,
  rows: readonly DiagnosisRow[],
  { measure, height }: { readonly measure: 'p50Us' | 'p99Us'; readonly height: number },
): SpecPart {
  const fromUs = profileQuantiles(diagnosis.base)[measure]
  const targetUs = profileQuantiles(diagnosis.target)[measure]
  const values = rows
    .map((row, at) => [row, row.cause, at] as const)
    .map(([row, cause, at]) => ({
      ...{ at, fromUs, toUs: cause[measure], full: titleOf(cause) },
      kind: kindOf(diagnosis, row),
      change: `${formatDuration(fromUs)} → ${formatDuration(cause[measure])}`,
      target: formatDuration(targetUs),
    }))
  const ends = [...values.map(({ toUs }) => toUs), fromUs, targetUs]
  const title = measure === 'p50Us' ? 'p50' : 'p99'
  const [lowUs, highUs] = [Math.min(...ends), Math.max(...ends)]
  const margin = highUs - lowUs < LEAST_SPAN * highUs ? 5 * LEAST_SPAN * highUs : 0
  const { scale, axis } = linearDurationAxis({
    ...{ lowUs: lowUs - margin, highUs: highUs + margin, ticks: 2, title },
  })
  return {
    ...{ width: WIDTH.quantile, height },
    layer: [
      {
        data: { values },
        mark: { type: 'bar', height: BAR },
        encoding: {
          x: { field: 'fromUs', type: 'quantitative', scale, axis },
          ...{ x2: { field: 'toUs' }, y: Y },
          color: kindColour(diagnosis),
          tooltip: [
            { field: 'full', type: 'nominal', title: 'scenario' },
            { field: 'change', type: 'nominal', title },
            { field: 'target', type: 'nominal', title: 'target' },
          ],
        },
      },
      rule(targetUs, PALETTE.after),
      rule(fromUs, PALETTE.before),
    ],
  }
}

function rule(value: number, color: string): SpecPart {
  return {
    data: { values: [{ value }] },
    mark: { type: 'rule', color, strokeWidth: 2.5, tooltip: false },
    encoding: { x: { field: 'value', type: 'quantitative' } },
  }
}
