import { max } from 'd3-array'
import { optionalWord } from '../../core/options.ts'
import { counted, grouped, percent, pValue, spoken, tooltipText } from '../../core/words.ts'
import { tText, valueText } from '../../explain/logs/log-words.ts'
import {
  type Divergence,
  type FeatureTest,
  strongestDifference,
  type VariableDivergence,
} from '../../logs/divergence/find-divergence.ts'
import { featureText } from '../../logs/features/log-set.ts'
import { plainAxis } from './axes.ts'
import { bars, colorBy, distinctTexts } from './builders.ts'
import { defineChart, framedChart, mostDrawn, PALETTE } from './chart-frame.ts'

/** Length of a bar for an infinite score, relative to the longest other one. */
const BEYOND = 1.1
const LOOKS = [
  { name: 'later, more or larger after', color: PALETTE.change },
  { name: 'earlier, fewer or smaller after', color: PALETTE.less },
] as const
const CORRECTIONS = { bonferroni: 'Bonferroni', bh: 'Benjamini-Hochberg', none: 'uncorrected' }

/** Draws which variables of logs differ most, by the sum of |t|. Source: Nagaraj et al., NSDI 2012, §3.2. */
export const divergenceChart = defineChart(
  {
    kind: optionalWord(['event', 'state'], 'Kind of variables; by default both'),
    limit: mostDrawn(20, 'variables', 'most divergent first'),
  },
  (divergence: Divergence, { kind, limit }) => {
    const { alpha, correction } = divergence.options
    const ofKind = divergence.variables.filter((each) => kind === null || each.kind === kind)
    const differing = ofKind.filter(({ score }) => score > 0)
    const drawn = differing.slice(0, limit)
    const { before, after } = divergence.logs.counts
    const test = `Welch's t, ${percent(alpha)} level, ${CORRECTIONS[correction]}`
    const largest = max(drawn, ({ score }) => (Number.isFinite(score) ? score : 0)) || 1
    const end = largest * BEYOND
    const rows = rowsOf(divergence, drawn, end)
    return framedChart(
      {
        title: `What differs between ${counted(before, 'instance')} before and ${grouped(after)} after`,
        none:
          drawn.length === 0 &&
          `None of ${counted(ofKind.length, 'variable')} differs significantly (${test}).`,
        subtitle: [
          `${counted(differing.length, 'variable')} of ${grouped(ofKind.length)} differ${differing.length === 1 ? 's' : ''} significantly (${test}).`,
          'Beside each bar: the feature that differs most, before → after.',
        ],
        omissions:
          drawn.length < differing.length && `Shows the ${grouped(drawn.length)} most divergent.`,
        width: 760,
      },
      bars({
        rows,
        axis: plainAxis([0, end], { title: 'sum of |t| over features that differ', tickCount: 5 }),
        to: 'score',
        text: 'text',
        color: colorBy(LOOKS, rows, { field: 'direction' }),
        tooltip: {
          variable: 'full',
          kind: 'kind',
          'sum of |t|': 'sum',
          'what differs most': 'test',
          'what differs': 'features',
        },
        width: 340,
      }),
    )
  },
)

function rowsOf({ logs }: Divergence, drawn: readonly VariableDivergence[], end: number) {
  const labels = distinctTexts(drawn, 46, ({ name }) => name)
  return drawn.map((variable, i) => {
    const { feature, t, p, beforeMean, afterMean } = strongestDifference(variable) as FeatureTest
    const isInfinite = !Number.isFinite(variable.score)
    const unit = variable.kind === 'state' ? logs.unitOf(variable.name) : undefined
    const means = `${valueText(feature, beforeMean, unit)} → ${valueText(feature, afterMean, unit)}`
    return {
      label: labels[i] as string,
      score: Math.min(variable.score, end),
      direction: LOOKS[t > 0 ? 0 : 1].name,
      text: `${isInfinite ? '∞; ' : ''}${featureText(feature)} ${means}`,
      full: tooltipText(variable.name),
      kind: variable.kind,
      sum: tText(variable.score),
      test: `t = ${tText(t)}, ${pValue(p)}`,
      features: spoken(
        variable.features.map((each) => each.significant && featureText(each.feature)),
      ).join('; '),
    }
  })
}
