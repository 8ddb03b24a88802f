import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { counted, grouped } from '../../core/words.ts'
import type { Explanation } from '../../explain/parameters/explanation.ts'
import type { ParameterQuestionName } from '../../explain/parameters/parameter-question.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { PALETTE } from './palette.ts'
import { differencesOf } from './parameter-comparison.ts'
import { type DifferenceDrawing, differenceDrawing } from './parameter-difference-drawing.ts'
import {
  answerTo,
  GROUP_COLOURS,
  groupSizes,
  groupsOf,
  type ParameterGroups,
} from './parameter-groups.ts'
import { pixelScales, tenth, textLayer } from './pixel-layers.ts'

/** What {@link plotParameterDifferences} can be told. */
export interface ParameterDifferencesOptions {
  /** How many parameters to draw, the most different first; the chart says what is left out. Default 10. */
  readonly limit?: number
  /**
   * Which groups: precursors and mutations, or usual and slow requests. Default `'what-differs'`
   * where it was asked.
   */
  readonly question?: ParameterQuestionName
}

/**
 * Draws each low-level parameter by itself, in both groups side by side, the most different first:
 * bars of the commonest values, or a histogram, one group above the line and the other below. Bars
 * are shares of their group, so that groups of different sizes compare. Beside each stand the effect
 * (0: distributed alike, 1: nothing in common) and q, the p-value corrected for the number of
 * parameters.
 *
 * @param explanation from `explainMutation` or `explainEdge`
 * @param options see {@link ParameterDifferencesOptions}
 * @throws OptionError for a limit below 1 or a question that was not asked, FlowdeltaError for an
 *   unknown option
 *
 * @example
 * plotParameterDifferences(explainMutation(comparison, 0), { limit: 5 })
 */
export function plotParameterDifferences(
  explanation: Explanation,
  options: ParameterDifferencesOptions = {},
): Chart {
  rejectUnknownOptions(options, ['limit', 'question'])
  const { limit = 10, question: name = defaultQuestion(explanation) } = options
  if (!(limit >= 1)) throw new OptionError('limit', limit, 'a number of parameters, 1 or more')
  const question = answerTo(explanation, name)
  const groups = groupsOf(explanation, question)
  const differences = differencesOf(explanation, question)
  const drawing = differenceDrawing(question, { differences: differences.slice(0, limit), groups })
  const left = explanation.leftOut.length
  return framedChart(
    {
      title: `Each parameter by itself: ${groups.names[0]} and ${groups.names[1]}`,
      subtitle:
        differences.length === 0
          ? ['There is no parameter to compare.']
          : [
              `Bars are shares of each group (${groupSizes(groups, explanation.subject)}); the most different parameter comes first.`,
              'Effect: from 0, distributed alike, to 1, nothing in common. q: the p-value, corrected for the number of parameters.',
            ],
      omissions: [
        differences.length > limit
          ? `The first ${grouped(limit)} of ${counted(differences.length, 'parameter')}.`
          : '',
        left > 0
          ? `${counted(left, 'parameter was', 'parameters were')} left out: see explanation.leftOutTable().`
          : '',
      ].filter((sentence) => sentence !== ''),
      width: drawing.width,
    },
    {
      ...{ width: drawing.width, height: drawing.height },
      layer: layers(drawing, groups, GROUP_COLOURS[question.question]),
    },
  )
}

function defaultQuestion(explanation: Explanation): ParameterQuestionName | undefined {
  return explanation.question('what-differs') === undefined ? undefined : 'what-differs'
}

function layers(
  drawing: DifferenceDrawing,
  { names }: ParameterGroups,
  colours: readonly [string, string],
): SpecPart[] {
  const { x, y } = pixelScales(drawing)
  const values = drawing.bars.map((bar) => ({
    ...bar,
    ...{ x: tenth(bar.x), x2: tenth(bar.x2), y: tenth(bar.y), y2: tenth(bar.y2) },
    group: names[bar.group],
  }))
  const soft = { color: PALETTE.softText, fontSize: 10 }
  return [
    {
      data: { values },
      mark: { type: 'rect' },
      encoding: {
        ...{ x, y, x2: { field: 'x2' }, y2: { field: 'y2' } },
        color: {
          ...{ field: 'group', type: 'nominal', legend: { title: null } },
          scale: { domain: [...names], range: [...colours] },
        },
        tooltip: [
          { field: 'parameter', type: 'nominal', title: 'parameter' },
          { field: 'value', type: 'nominal', title: 'value' },
          { field: 'group', type: 'nominal', title: 'group' },
          { field: 'share', type: 'nominal', title: 'share of the group' },
        ],
      },
    },
    {
      data: { values: drawing.lines.map((line) => ({ ...line, y: tenth(line.y) })) },
      mark: { type: 'rule', color: PALETTE.faint, tooltip: false },
      encoding: { x, y, x2: { field: 'x2' } },
    },
    textLayer(drawing.names, drawing, { fontSize: 12, color: '#111111' }),
    textLayer(drawing.labels, drawing, { ...soft, align: 'right' }),
    textLayer(drawing.notes, drawing, soft),
    textLayer(drawing.effects, drawing, { color: PALETTE.text }),
  ]
}
