import { OptionError, rejectUnknownOptions } from '../errors.ts'
import { shortText, tooltipText } from '../shown-text.ts'
import { formatDuration } from '../units.ts'
import type { LatencyDiagnosis } from '../whatif/latency-diagnosis.ts'
import { profileQuantiles } from '../whatif/scenario-profile.ts'
import type { DivergenceName } from '../whatif/target-divergence.ts'
import { counted, grouped, percent, pValue, shortNumber } from '../wording.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { type DiagnosisRow, diagnosisRows } from './diagnosis-rows.ts'
import { linearDurationAxis } from './duration-axis.ts'
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
const WIDTH = { names: 440, divergence: 150, quantile: 170 } as const
const INDENT = 16
const FONT_SIZE = 11.5
const SPACING = 14
const DIVERGENCE_TITLES: Readonly<Record<DivergenceName, string>> = {
  kl: 'divergence from the target',
  wasserstein: 'distance from the target',
  ks: 'largest gap to the target',
}
const KINDS = ['explains a change', 'may be chance'] as const

/**
 * Draws a diagnosis: which scenarios were tried, each indented below what it lies within, how far it
 * leaves the profile from the target, and what it makes of p50 and p99. Bars begin at what was recorded
 * before (orange line); the target is the blue one.
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
      title: 'Which single change brings the response times to the target?',
      subtitle: subtitle(diagnosis),
      omissions: omissions(diagnosis, rows.length),
      width: WIDTH.names + WIDTH.divergence + 2 * WIDTH.quantile,
    },
    {
      spacing: SPACING,
      hconcat: [
        names(rows, height),
        divergences(diagnosis, rows, height),
        quantiles(diagnosis, rows, { measure: 'p50Us', height }),
        quantiles(diagnosis, rows, { measure: 'p99Us', height }),
      ],
    },
  )
}

function subtitle({ best, targetTitle, divergence, changeP, options, state }: LatencyDiagnosis) {
  const target = shortText(targetTitle, 80)
  const sure =
    changeP < options.alpha
      ? `Before and target differ (${pValue(changeP)})`
      : `Before and target may be alike (${pValue(changeP)})`
  return [
    `Target: ${target}. ${sure}.`,
    best === null
      ? 'No scenario was tried.'
      : `Closest: ${shortText(best.scenario.title, 160)}; it leaves ${percent(divergence > 0 ? best.divergence / divergence : 0)} of the divergence.`,
    'Orange lines: as recorded before; blue lines: the target.',
    ...(state === 'complete' ? [] : ['Not everything was tried: the diagnosis was stopped early.']),
  ]
}

function omissions({ size }: LatencyDiagnosis, drawn: number): string[] {
  return drawn === size
    ? []
    : [
        `${grouped(drawn)} of ${counted(size, 'scenario')} are drawn: the best, and what they lie within.`,
      ]
}

const KIND_COLOUR = {
  ...{ field: 'kind', type: 'nominal', legend: { title: null } },
  scale: { domain: [...KINDS], range: [PALETTE.change, PALETTE.faint] },
}

/** Rows are numbered: the same place in each panel. */
const Y = { field: 'at', type: 'ordinal', sort: null, axis: null } as const

function names(rows: readonly DiagnosisRow[], height: number): SpecPart {
  const drawn = rows.map(({ cause, level }, at) => {
    const x = INDENT * Math.min(level, 8)
    const text = `${level === 0 ? '' : '└ '}${cause.rank}. ${cause.scenario.title}`
    return { at, x, name: fittedLabel(text, WIDTH.names - x, FONT_SIZE), full: titleOf(cause) }
  })
  const width = drawn.reduce(
    (most, { x, name }) => Math.max(most, x + textWidth(name, FONT_SIZE)),
    0,
  )
  return {
    ...{ width: Math.ceil(Math.min(WIDTH.names, width)), height },
    data: { values: drawn },
    mark: {
      type: 'text',
      align: 'left',
      baseline: 'middle',
      fontSize: FONT_SIZE,
      color: PALETTE.text,
    },
    encoding: {
      x: {
        ...{ field: 'x', type: 'quantitative', axis: null },
        scale: { domain: [0, Math.ceil(Math.min(WIDTH.names, width))], nice: false },
      },
      y: Y,
      text: { field: 'name', type: 'nominal' },
      tooltip: { field: 'full', type: 'nominal', title: 'scenario' },
    },
  }
}

function titleOf({ scenario }: DiagnosisRow['cause']): string {
  return tooltipText(scenario.title)
}

function divergences(
  { divergence: unchanged, options }: LatencyDiagnosis,
  rows: readonly DiagnosisRow[],
  height: number,
): SpecPart {
  const values = rows.map(({ cause }, at) => ({
    ...{ at, divergence: Number(cause.divergence.toPrecision(6)), full: titleOf(cause) },
    kind: KINDS[cause.significant ? 0 : 1],
    text: divergenceText(options.divergence, cause.divergence),
    gain: `${percent(Math.max(0, cause.gain))} closer than before`,
    sure: Number.isNaN(cause.q) ? 'not tested' : pValue(cause.q, 'q'),
    requests: grouped(cause.touched),
  }))
  const most = values.reduce((high, { divergence }) => Math.max(high, divergence), unchanged)
  // Room for the numbers beside the bars.
  const high = (most > 0 ? most : 1) * 1.32
  const isTime = options.divergence === 'wasserstein'
  const time = linearDurationAxis({ lowUs: 0, highUs: high, ticks: 3, title: '' })
  const x = {
    ...{ field: 'divergence', type: 'quantitative' },
    scale: { domain: [0, high], nice: false },
    axis: {
      ...(isTime ? time.axis : { tickCount: 3 }),
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
          color: KIND_COLOUR,
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
  { base, target }: LatencyDiagnosis,
  rows: readonly DiagnosisRow[],
  { measure, height }: { readonly measure: 'p50Us' | 'p99Us'; readonly height: number },
): SpecPart {
  const fromUs = profileQuantiles(base)[measure]
  const targetUs = profileQuantiles(target)[measure]
  const values = rows.map(({ cause }, at) => ({
    ...{ at, fromUs, toUs: cause[measure], full: titleOf(cause) },
    kind: KINDS[cause.significant ? 0 : 1],
    change: `${formatDuration(fromUs)} → ${formatDuration(cause[measure])}`,
    target: formatDuration(targetUs),
  }))
  const ends = [...values.map(({ toUs }) => toUs), fromUs, targetUs]
  const title = measure === 'p50Us' ? 'p50' : 'p99'
  const { scale, axis } = linearDurationAxis({
    ...{ lowUs: Math.min(...ends), highUs: Math.max(...ends), ticks: 3, title },
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
          color: KIND_COLOUR,
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
