import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { shortText, tooltipText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { counted, percent } from '../../core/words.ts'
import type { Explanation } from '../../explain/parameters/explanation.ts'
import { pathSentence } from '../../explain/parameters/explanation-words.ts'
import type { ParameterQuestionName } from '../../explain/parameters/parameter-question.ts'
import type { Chart } from './chart.ts'
import { framedChart, type SpecPart } from './chart-frame.ts'
import { fittedLabel } from './fitted-label.ts'
import { PALETTE } from './palette.ts'
import {
  answerTo,
  GROUP_COLOURS,
  groupSizes,
  groupsOf,
  type ParameterGroups,
  QUESTION_WORDS,
} from './parameter-groups.ts'
import {
  countText,
  leafText,
  type TreeRow,
  treeHidden,
  treeLines,
  treeRows,
} from './parameter-tree-rows.ts'
import { type PixelSize, type PixelText, pixelScales, tenth, textLayer } from './pixel-layers.ts'

/** What {@link plotParameterTree} can be told. */
export interface ParameterTreeOptions {
  /** Which tree. Default the one of the question whose parameters separate better. */
  readonly question?: ParameterQuestionName
  /** About how many nodes to draw; the chart says what is left out. Default 30. */
  readonly limit?: number
}

const ROW = 46
const INDENT = 26
const BAR = 9
const COLUMN = { bars: 400, counts: 552, time: 660, end: 740 }
const BARS_WIDTH = 145
/** Names of places and attributes may be long, and a sentence has several. */
const LONGEST_SENTENCE = 700

/**
 * Draws the tree that tells the two groups of a question apart: the root on top, what a split leads
 * to below it, indented, with the condition in words. Beside each node stand bars: the share of
 * either group that is there, and how many that are. The way to the leaf that separates best is
 * bold. Of a tree of times the mean time of each node is given as well.
 *
 * @param explanation from `explainMutation` or `explainEdge`
 * @param options see {@link ParameterTreeOptions}
 * @throws OptionError for a limit below 1 or a question that was not asked, FlowdeltaError for an
 *   unknown option
 *
 * @example
 * plotParameterTree(explainMutation(comparison, 0), { question: 'what-differs' })
 */
export function plotParameterTree(
  explanation: Explanation,
  options: ParameterTreeOptions = {},
): Chart {
  rejectUnknownOptions(options, ['question', 'limit'])
  const { question: name, limit = 30 } = options
  if (!(limit >= 1)) throw new OptionError('limit', limit, 'a number of nodes, 1 or more')
  const question = answerTo(explanation, name)
  const groups = groupsOf(explanation, question)
  const rows = treeRows(question, { limit })
  const { subject } = explanation
  const [best] = question.paths
  const hidden = treeHidden(rows)
  const size = { width: COLUMN.end, height: rows.length * ROW + 4 }
  return framedChart(
    {
      title: `${QUESTION_WORDS[question.question]} ${tooltipText(subject.title)}`,
      subtitle:
        best === undefined
          ? [`No parameter tells ${groups.names[0]} and ${groups.names[1]} apart.`]
          : [
              shortText(pathSentence(best, subject), LONGEST_SENTENCE),
              `Bars are shares of each group (${groupSizes(groups, subject)}). The way to the leaf that separates best is bold.`,
            ],
      omissions: hidden === 0 ? [] : [`${counted(hidden, 'node')} further down are not drawn.`],
      width: size.width,
    },
    { ...size, layer: layers({ rows, groups, size, subject }, GROUP_COLOURS[question.question]) },
  )
}

interface Drawn {
  readonly rows: readonly TreeRow[]
  readonly groups: ParameterGroups
  readonly size: PixelSize
  readonly subject: Explanation['subject']
}

function layers(drawn: Drawn, colours: readonly [string, string]): SpecPart[] {
  const { rows, size } = drawn
  const texts = rows.map((row, i) => ({ ...nodeTexts(drawn, row, i * ROW), isBest: row.isBest }))
  const conditions = (isBest: boolean) =>
    texts.filter((text) => text.isBest === isBest).map(({ condition }) => condition)
  const times = rows.flatMap(({ meanUs }, i) =>
    meanUs === null || !Number.isFinite(meanUs)
      ? []
      : [{ x: COLUMN.time, y: i * ROW + 16, text: `mean ${formatDuration(meanUs)}` }],
  )
  return [
    bars(drawn, colours),
    ...connectors(rows, size),
    textLayer(conditions(true), size, { fontSize: 12, fontWeight: 'bold', color: '#111111' }),
    textLayer(conditions(false), size, { fontSize: 12, color: '#111111' }),
    textLayer(
      texts.flatMap(({ below }) => below),
      size,
      { color: PALETTE.softText },
    ),
    textLayer(
      texts.flatMap(({ counts }) => counts),
      size,
      { fontSize: 10, color: PALETTE.softText },
    ),
    textLayer(times, size, { color: PALETTE.text }),
  ]
}

/** What stands at a node: how one gets there, what it says or splits by, and how many are there. */
function nodeTexts({ groups, subject }: Drawn, row: TreeRow, top: number) {
  const { depth, condition, wholeCondition, column, counts } = row
  const x = depth * INDENT + 6
  const room = COLUMN.bars - x - 14
  const text = (whole: string, y: number): PixelText => ({
    ...{ x, y: top + y, text: fittedLabel(whole, room, 12), whole: tooltipText(whole) },
  })
  const below = column === null ? leafText(row, subject) : `split by ${column}`
  const all = `all ${groupSizes(groups, subject)}`
  return {
    condition:
      depth === 0 ? text(all, 14) : { ...text(condition, 14), whole: tooltipText(wholeCondition) },
    below: below === '' ? [] : [text(below, 31)],
    counts: counts.map((count, group) => ({
      ...{ x: COLUMN.counts, y: top + 10 + group * (BAR + 3) },
      text: `${countText(count)} of ${countText(groups.sizes[group] as number)}`,
    })),
  }
}

function bars({ rows, groups, size }: Drawn, colours: readonly [string, string]): SpecPart {
  const { names, sizes } = groups
  const values = rows.flatMap(({ counts }, i) =>
    counts.map((count, group) => {
      const share = count / Math.max(1, sizes[group] as number)
      const y = i * ROW + 5 + group * (BAR + 3)
      return {
        ...{ x: COLUMN.bars, x2: tenth(COLUMN.bars + share * BARS_WIDTH), y, y2: y + BAR },
        ...{ group: names[group] as string, rows: countText(count), share: percent(share) },
      }
    }),
  )
  const { x, y } = pixelScales(size)
  return {
    data: { values },
    mark: { type: 'rect' },
    encoding: {
      ...{ x, y, x2: { field: 'x2' }, y2: { field: 'y2' } },
      color: {
        ...{ field: 'group', type: 'nominal', legend: { title: null } },
        scale: { domain: [...names], range: [...colours] },
      },
      tooltip: [
        { field: 'group', type: 'nominal', title: 'group' },
        { field: 'rows', type: 'nominal', title: 'here' },
        { field: 'share', type: 'nominal', title: 'share of the group' },
      ],
    },
  }
}

/** Lines from each node to its parent; the best way on top of the others and thicker. */
function connectors(rows: readonly TreeRow[], size: PixelSize): SpecPart[] {
  const { x, y } = pixelScales(size)
  return [false, true].map((isBest) => ({
    data: {
      values: treeLines(rows, { row: ROW, indent: INDENT, middle: 14 })
        .filter((line) => line.isBest === isBest)
        .map(({ x1, x2, y1, y2 }) => ({ x: x1, x2, y: y1, y2 })),
    },
    mark: {
      ...{ type: 'rule', tooltip: false, strokeWidth: isBest ? 2.5 : 1 },
      color: isBest ? PALETTE.text : PALETTE.rest,
    },
    encoding: { x, y, x2: { field: 'x2' }, y2: { field: 'y2' } },
  }))
}
