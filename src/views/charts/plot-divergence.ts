import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { shortText, tooltipText } from '../../core/shown-text.ts'
import { counted, grouped, percent, pValue } from '../../core/words.ts'
import {
  type Divergence,
  type FeatureTest,
  strongestDifference,
  type VariableDivergence,
} from '../../logs/divergence/divergence.ts'
import { featureText, type VariableKind } from '../../logs/features/features.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { tText, valueText } from './log-values.ts'
import { PALETTE } from './palette.ts'

/** What {@link plotDivergence} can be told. */
export interface DivergenceChartOptions {
  /** Only events, or only state variables; both by default. */
  readonly kind?: VariableKind
  /** How many variables to draw, the most divergent first. Default 20. */
  readonly limit?: number
}

const WIDTH = 340
const ROW = 22
const LONGEST = 46
/** A bar that stands for an infinite score is as much longer than the others. */
const BEYOND = 1.1
const DIRECTIONS = ['later, more or larger after', 'earlier, fewer or smaller after'] as const

/**
 * Draws which variables of logs differ most between before and after: the sum of |t| over
 * the features that differ significantly. Beside each bar the feature that differs most.
 *
 * @param divergence a stage of `findDivergence`
 * @param options see {@link DivergenceChartOptions}
 * @throws OptionError for a limit below 1 or an unknown kind; FlowdeltaError for an unknown option
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §3.2; the drawing is flowdelta's own.
 *
 * @example
 * plotDivergence(logComparison.divergence, { limit: 10 })
 */
export function plotDivergence(
  divergence: Divergence,
  options: DivergenceChartOptions = {},
): Chart {
  rejectUnknownOptions(options, ['kind', 'limit'])
  const { kind, limit = 20 } = options
  if (!(limit >= 1)) throw new OptionError('limit', limit, 'a number of variables, 1 or more')
  if (!(kind === undefined || kind === 'event' || kind === 'state')) {
    throw new OptionError('kind', kind, "'event' or 'state'")
  }
  const ofKind = divergence.variables.filter((each) => kind === undefined || each.kind === kind)
  const differing = ofKind.filter(({ score }) => score > 0)
  const drawn = differing.slice(0, Math.floor(limit))
  const { before, after } = divergence.logs.counts
  return framedChart(
    {
      title: `What differs between ${counted(before, 'instance')} before and ${grouped(after)} after`,
      subtitle: [
        drawn.length === 0
          ? `None of ${counted(ofKind.length, 'variable')} differs significantly (${corrected(divergence)}).`
          : `${counted(differing.length, 'variable')} of ${grouped(ofKind.length)} differ${differing.length === 1 ? 's' : ''} significantly (${corrected(divergence)}). Bars: |t| added up over what differs; beside them, what differs most, before → after.`,
      ],
      omissions:
        drawn.length < differing.length
          ? [`The ${grouped(drawn.length)} most divergent are drawn.`]
          : [],
      width: WIDTH + 420,
    },
    { width: WIDTH, height: Math.max(1, drawn.length) * ROW, layer: layers(drawn) },
  )
}

function corrected({ options }: Divergence): string {
  const level = percent(options.alpha)
  const names = { bonferroni: 'Bonferroni', bh: 'Benjamini-Hochberg', none: 'uncorrected' }
  return `Welch's t, ${level} level, ${names[options.correction]}`
}

function layers(drawn: readonly VariableDivergence[]): SpecPart[] {
  const longest = drawn.reduce(
    (most, { score }) => (Number.isFinite(score) ? Math.max(most, score) : most),
    0,
  )
  const end = (longest === 0 ? 1 : longest) * BEYOND
  const labels = drawn.map(({ name }) => shortText(name, LONGEST))
  const values = drawn.map((variable, at) => {
    const test = strongestDifference(variable) as FeatureTest
    const { feature, t, p, beforeMean, afterMean } = test
    return {
      // Shortened names can be the same, as can those of an event and a state.
      name: labels.indexOf(labels[at] as string) === at ? labels[at] : `${labels[at]} (${at + 1})`,
      score: Math.min(variable.score, end),
      direction: DIRECTIONS[t > 0 ? 0 : 1],
      text: `${Number.isFinite(variable.score) ? '' : '∞; '}${featureText(feature)} ${valueText(feature, beforeMean)} → ${valueText(feature, afterMean)}`,
      full: tooltipText(variable.name),
      ...{ kind: variable.kind, sum: tText(variable.score) },
      test: `t = ${tText(t)}, ${pValue(p)}`,
      features: variable.features
        .filter(({ significant }) => significant)
        .map((each) => featureText(each.feature))
        .join('; '),
    }
  })
  const y = {
    ...{ field: 'name', type: 'nominal', sort: null, title: null },
    axis: { domain: false, ticks: false, labelPadding: 6, labelLimit: 500 },
  }
  const x = { field: 'score', type: 'quantitative', scale: { domain: [0, end], nice: false } }
  return [
    {
      data: { values },
      mark: { type: 'bar', height: { band: 0.72 } },
      encoding: {
        x: {
          ...x,
          axis: { title: 'sum of |t| over features that differ', tickCount: 5, grid: false },
        },
        y,
        color: {
          ...{ field: 'direction', type: 'nominal', title: null },
          scale: { domain: [...DIRECTIONS], range: [PALETTE.after, PALETTE.before] },
        },
        tooltip: [
          { field: 'full', type: 'nominal', title: 'variable' },
          { field: 'kind', type: 'nominal', title: 'kind' },
          { field: 'sum', type: 'nominal', title: 'sum of |t|' },
          { field: 'test', type: 'nominal', title: 'what differs most' },
          { field: 'features', type: 'nominal', title: 'what differs' },
        ],
      },
    },
    {
      data: { values },
      mark: {
        ...{ type: 'text', align: 'left', baseline: 'middle', dx: 6, fontSize: 11 },
        ...{ color: PALETTE.softText, tooltip: false },
      },
      encoding: { x, y, text: { field: 'text', type: 'nominal' } },
    },
  ]
}
