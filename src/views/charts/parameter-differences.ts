import { sum } from 'd3-array'
import { OptionError } from '../../core/errors.ts'
import { most, optionalWord } from '../../core/options.ts'
import { counted, grouped, percent, pValue, shortText, tooltipText } from '../../core/words.ts'
import { type Explanation, PERIOD_WORDS } from '../../explain/parameters/explanation.ts'
import type {
  ParameterQuestion,
  ParameterQuestionName,
} from '../../explain/parameters/parameter-question.ts'
import {
  type ParameterDifference,
  parameterDifferences,
} from '../../explain/parameters/parameter-table.ts'
import { logAxis, plainAxis, shareAxis } from './axes.ts'
import { colorBy, distinctTexts, emptyView, on, panelTitle, rowNames, tooltip } from './builders.ts'
import { defineChart, framedChart, PALETTE, type SpecPart } from './chart-frame.ts'
import {
  numberText,
  type ParameterShares,
  parameterShares,
  type ValueShares,
} from './parameter-shares.ts'

const WIDTH = 360
const VALUE_HEIGHT = 22
const HISTOGRAM_HEIGHT = 64
const MAX_VALUE_LENGTH = 30

export function questionOption(sentence: string) {
  return optionalWord(['what-differs', 'what-is-slow'], sentence)
}

/** Draws how each parameter is distributed in two groups of requests, most different first. */
export const parameterDifferencesChart = defineChart(
  {
    limit: most(10, 'parameters', 'Maximum number of parameters drawn, most different first'),
    question: questionOption('Groups: precursors and mutations, or usual and slow requests'),
  },
  (explanation: Explanation, { limit, question: asked }) => {
    const wanted = asked ?? explanation.question('what-differs')?.question
    const question = answerTo(explanation, wanted)
    const groups = groupsOf(explanation, question)
    const differences = differencesOf(explanation, question)
    const left = explanation.leftOut.length
    return framedChart(
      {
        title: `Each parameter by itself: ${groups.names[0]} and ${groups.names[1]}`,
        subtitle:
          differences.length === 0
            ? 'There is no parameter to compare.'
            : [
                `Bars are shares of each group (${groupSizes(groups, explanation.subject)}).`,
                'Effect: 0 is the same distribution, 1 no overlap. q: p-value corrected for the number of parameters.',
              ],
        omissions: [
          differences.length > limit &&
            `Shows the first ${grouped(limit)} of ${counted(differences.length, 'parameter')}.`,
          left > 0 && `Leaves out ${counted(left, 'parameter')}: see explanation.leftOutTable().`,
        ],
        width: WIDTH + 200,
      },
      {
        spacing: 16,
        vconcat: differences
          .slice(0, limit)
          .flatMap((difference) => panel(question, groups, difference))
          .map(({ title, ...view }) => ({ title: panelTitle(title), ...view })),
      },
    )
  },
)

export function parameterChart(
  question: ParameterQuestion,
  groups: ParameterGroups,
  difference: ParameterDifference,
  limit: number,
) {
  const [{ title, ...view } = { title: '', ...emptyView(WIDTH) }] = panel(
    question,
    groups,
    difference,
    limit,
  )
  return framedChart({ title, subtitle: 'Shares of each group.', width: WIDTH }, view)
}

function panel(
  { table, question }: ParameterQuestion,
  groups: ParameterGroups,
  difference: ParameterDifference,
  limit?: number,
): (SpecPart & { readonly title: string })[] {
  const parameter = table.parameters.find(({ name }) => name === difference.column)
  if (parameter === undefined) return []
  const { effect, q } = effectTexts(difference)
  const shares = parameterShares(parameter, groups.labels, { limit, weights: groups.weights })
  const looks = groups.names.map((name, group) => ({
    name,
    color: GROUP_COLOURS[question][group as 0 | 1],
  }))
  const missing =
    shares.kind === 'histogram' && shares.missing.some((share) => share > 0)
      ? `; missing ${shares.missing.map(percent).join(' | ')}`
      : ''
  const equals = /^[<>]/.test(q) ? ' ' : ' = '
  const { encoding, rows, ...view } =
    shares.kind === 'values'
      ? valueBars(shares.values, groups.names, parameter.name)
      : histogram(shares, groups.names, parameter.name)
  const fields = { parameter: 'parameter', value: 'value', group: 'group' }
  return [
    {
      ...view,
      title: `${shortText(parameter.name, 60)}: effect ${effect}, q${equals}${q}${missing}`,
      encoding: {
        ...encoding,
        color: colorBy(looks, rows, { field: 'group' }),
        tooltip: tooltip({ ...fields, 'share of the group': 'share' }),
      },
    },
  ]
}

function valueBars(values: readonly ValueShares[], names: readonly string[], parameter: string) {
  const labels = distinctTexts(values, MAX_VALUE_LENGTH, ({ label }) => label)
  const rows = values.flatMap(({ label, shares }, i) =>
    shares.map((share, group) => ({
      label: labels[i] as string,
      parameter: tooltipText(parameter),
      value: tooltipText(label),
      group: names[group] as string,
      amount: share,
      share: percent(share),
    })),
  )
  return {
    rows,
    width: WIDTH,
    height: values.length * VALUE_HEIGHT,
    data: { values: rows },
    mark: { type: 'bar' },
    encoding: {
      x: on(shareAxis(null), 'amount'),
      y: rowNames(),
      yOffset: { field: 'group', type: 'nominal', scale: { domain: names } },
    },
  }
}

function histogram(
  { bins, isLog, isClipped }: Extract<ParameterShares, { kind: 'histogram' }>,
  names: readonly string[],
  parameter: string,
) {
  const rows = bins.flatMap(({ from, to, shares }) =>
    shares.flatMap((share, group) =>
      share === 0
        ? []
        : [
            {
              from,
              to,
              parameter: tooltipText(parameter),
              value: `${numberText(from)} to ${numberText(to)}`,
              group: names[group] as string,
              amount: group === 0 ? share : -share,
              share: percent(share),
            },
          ],
    ),
  )
  const [low, high] = [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 1]
  const clipped = isClipped.some((is) => is) ? 'the outer bins hold all beyond them' : null
  const axis = isLog
    ? logAxis([low, high], null)
    : plainAxis([low, high], { tickCount: 5, format: ',~r' })
  return {
    rows,
    width: WIDTH,
    height: HISTOGRAM_HEIGHT,
    data: { values: rows },
    mark: { type: 'rect', stroke: 'white', strokeWidth: 0.5 },
    encoding: {
      x: on({ ...axis, axis: { ...axis.axis, title: clipped, grid: false } }, 'from'),
      x2: { field: 'to' },
      y: {
        field: 'amount',
        type: 'quantitative',
        axis: {
          title: null,
          tickCount: 3,
          labelExpr: "format(abs(datum.value) * 100, 'd') + ' %'",
        },
      },
      y2: { datum: 0 },
    },
  }
}

export type ParameterGroups = ReturnType<typeof groupsOf>

export const GROUP_COLOURS: Readonly<Record<ParameterQuestionName, readonly [string, string]>> = {
  'what-differs': [PALETTE.before, PALETTE.after],
  'what-is-slow': [PALETTE.rest, PALETTE.change],
}

export const QUESTION_WORDS: Readonly<Record<ParameterQuestionName, string>> = {
  'what-differs': 'What differs?',
  'what-is-slow': 'What is slow?',
}

/** Returns the answer to a question, by default to the one whose parameters separate better. */
export function answerTo(
  explanation: Explanation,
  name?: ParameterQuestionName,
): ParameterQuestion {
  const { questions } = explanation
  const found = name === undefined ? questions[0] : explanation.question(name)
  if (found !== undefined) return found
  const asked = questions.map(({ question }) => `'${question}'`)
  throw new OptionError('question', name, `a question that was asked: ${asked.join(' or ')}`)
}

export function groupsOf(
  { subject }: Pick<Explanation, 'subject'>,
  { question, table, slowAboveUs }: ParameterQuestion,
) {
  const { labels, timeUs, weights } = table.rows
  const isSlow = (time: number) => Number(time > (slowAboveUs ?? Number.POSITIVE_INFINITY))
  const own = question === 'what-differs' ? labels : Uint8Array.from(timeUs, isSlow)
  const sizes = [0, 1].map((label) =>
    Math.round(sum(own, (one, row) => (one === label ? (weights?.[row] ?? 1) : 0))),
  ) as [number, number]
  const names: readonly [string, string] =
    question === 'what-is-slow'
      ? [`usual ${subject.rows}s`, `slow ${subject.rows}s`]
      : subject.words.mutation === PERIOD_WORDS.mutation
        ? ['before', 'after']
        : [subject.words.precursor, subject.words.mutation]
  return { labels: own, weights, names, sizes: sizes as readonly [number, number] }
}

export function groupSizes(
  { names, sizes }: ParameterGroups,
  { rows }: Explanation['subject'],
): string {
  const [zero, one] = sizes
  if (names[0] === 'before') return `${counted(zero, rows)} before and ${counted(one, rows)} after`
  return names.map((name, group) => counted(sizes[group] as number, name, name)).join(' and ')
}

/**
 * Returns the differences of each parameter of a question; for slow requests, `before` is the usual rows and `after`
 * the slow ones.
 */
export function differencesOf(
  explanation: Explanation,
  question: ParameterQuestion,
): readonly ParameterDifference[] {
  return question.question === 'what-differs'
    ? explanation.differences
    : parameterDifferences(
        question.table.parameters,
        groupsOf(explanation, question).labels,
        question.table.rows.weights,
      )
}

/** Returns the difference of a parameter as text; dashes if one of the groups is empty. */
export function effectTexts({ effect, q }: ParameterDifference): { effect: string; q: string } {
  if (Number.isNaN(q)) return { effect: '–', q: '–' }
  return { effect: effect.toFixed(2), q: pValue(q, 'q').replace(/^q (= )?/, '') }
}
