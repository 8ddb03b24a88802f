import { extent, min, sum } from 'd3-array'
import { FlowdeltaError } from '../../core/errors.ts'
import { most, optionalText } from '../../core/options.ts'
import { counted, formatDuration, grouped, shortText, tooltipText } from '../../core/words.ts'
import type { Explanation } from '../../explain/parameters/explanation.ts'
import type { ParameterQuestion } from '../../explain/parameters/parameter-question.ts'
import type { Parameter } from '../../explain/parameters/parameter-table.ts'
import type { ClassificationNode, RegressionNode } from '../../stats/decision-tree/tree.ts'
import { durationAxis, logTicks, movedAlong, numberExtent, shareAlong } from './axes.ts'
import { apart, colorBy, distinctTexts, spread, tooltip } from './builders.ts'
import { defineChart, framedChart, PALETTE, type SpecPart } from './chart-frame.ts'
import {
  answerTo,
  differencesOf,
  GROUP_COLOURS,
  groupSizes,
  groupsOf,
  questionOption,
} from './parameter-differences.ts'
import { countCodes, numberText } from './parameter-shares.ts'

const WIDTH = 560
const LANE = 90
const TIME_HEIGHT = 280
const LEVEL = 18
const MAX_LEVELS = 60
/** Number of values below which numbers are spread over this share of the axis. */
const FEW_VALUES = 12
const APART_SHARE = 0.025
const MAX_LINES = 5
const WIDE_TIMES = 8

/**
 * Draws every request as a dot along one parameter, colored by its group, with lines where the tree divides the values;
 * for slow requests, time is the other axis.
 */
export const parameterStripChart = defineChart(
  {
    parameter: optionalText(
      'Parameter; by default the one that the tree splits on first, or the most different',
    ),
    question: questionOption('Question; by default the one whose parameters separate better'),
    limit: most(4000, 'dots', 'Maximum number of dots drawn'),
  },
  (explanation: Explanation, { limit, ...asked }) => {
    const { subject } = explanation
    const question = answerTo(explanation, asked.question ?? undefined)
    const parameter = parameterOf(explanation, question, asked.parameter ?? undefined)
    const groups = groupsOf(explanation, question)
    const { slowAboveUs, tree, table } = question
    const { timeUs } = table.rows
    const along = alongParameter(parameter, groups.labels, splitsOn(tree.root, parameter.name))
    const placed = Array.from(groups.labels, (_, row) => row).filter(
      (row) =>
        along.valueOf(row) !== undefined && !(slowAboveUs !== null && Number.isNaN(timeUs[row])),
    )
    const every = Math.max(1, placed.length / limit)
    const shown = placed.filter((_, at) => Math.floor(at / every) !== Math.floor((at - 1) / every))
    const traces = table.table().array('trace') as string[]
    const rows = shown.map((row) => ({
      own: along.valueOf(row) as string | number,
      value: along.textOf(row),
      group: groups.names[groups.labels[row] as 0 | 1],
      timeUs: timeUs[row] as number,
      time: Number.isNaN(timeUs[row]) ? '–' : formatDuration(timeUs[row] as number),
      trace: tooltipText(traces[row] ?? ''),
      up: spread(row, 0),
      across: spread(row, 1),
    }))
    const looks = groups.names.map((name, i) => ({
      name,
      color: GROUP_COLOURS[question.question][i as 0 | 1],
    }))
    const isNumeric = parameter.kind === 'numeric'
    const other =
      slowAboveUs === null ? lanes(groups.names) : times(rows, subject.time, slowAboveUs)
    const [x, y] = isNumeric ? [along.axis(), other] : [other, along.axis()]
    const isLane = (axis: SpecPart) => axis['type'] === 'nominal'
    const without = groups.labels.length - placed.length
    const thinned = placed.length - shown.length
    return framedChart(
      {
        title: `${shortText(parameter.name, 70)}, ${subject.rows} by ${subject.rows}`,
        subtitle: [
          `A dot is a ${subject.rows}: ${groupSizes(groups, subject)}.`,
          along.divided,
          slowAboveUs !== null &&
            `Times beyond the dashed line (${formatDuration(slowAboveUs)}) are slow.`,
        ],
        omissions: [
          thinned > 0 &&
            `${grouped(shown.length)} of ${counted(placed.length, subject.rows)} are drawn.`,
          without > 0 &&
            `${counted(without, subject.rows)} without a value${slowAboveUs === null ? '' : ' or a time'} ${without === 1 ? 'is' : 'are'} not drawn.`,
        ],
        width: WIDTH,
      },
      {
        width: WIDTH,
        height: isNumeric ? (slowAboveUs === null ? 2 * LANE : TIME_HEIGHT) : along.height,
        layer: [
          {
            data: {
              values: rows.map((row) =>
                Number.isNaN(row.timeUs) ? { ...row, timeUs: null } : row,
              ),
            },
            mark: { type: 'circle', size: rows.length > 600 ? 14 : 28, opacity: 0.6 },
            encoding: {
              x,
              y,
              // Dots of one lane lie apart.
              ...(isLane(x) && { xOffset: apart('across') }),
              ...(isLane(y) && { yOffset: apart('up') }),
              color: colorBy(looks, rows, {
                field: 'group',
                legend: { title: null, symbolOpacity: 1 },
              }),
              tooltip: tooltip({
                value: 'value',
                group: 'group',
                time: 'time',
                ...(traces.some((trace) => trace !== '') && { trace: 'trace' }),
              }),
            },
          },
          ...along.lines(),
          ...(slowAboveUs === null
            ? []
            : [
                line(isNumeric ? 'y' : 'x', {
                  at: { at: slowAboveUs },
                  color: PALETTE.softText,
                  strokeDash: [5, 4],
                }),
              ]),
        ],
      },
    )
  },
)

/** Returns the parameter a strip shows if none is named: the root of the tree, or the most different. */
function parameterOf(explanation: Explanation, question: ParameterQuestion, name?: string) {
  const { table, tree } = question
  const rootColumn = tree.root.kind === 'split' ? tree.root.column : undefined
  const wanted = name ?? rootColumn ?? differencesOf(explanation, question)[0]?.column
  const found = table.parameters.find((parameter) => parameter.name === wanted)
  if (found !== undefined) return found
  const some = table.parameters.slice(0, 8).map((parameter) => `'${parameter.name}'`)
  const next = some.length === 0 ? 'There is none to show.' : `Give one such as ${some.join(', ')}.`
  throw new FlowdeltaError(
    name === undefined
      ? `'${question.question}' has no parameter to show: all were left out, see explanation.leftOut.`
      : `'${question.question}' does not use a parameter ${JSON.stringify(name)}. ${next}`,
  )
}

type Node = ClassificationNode | RegressionNode
type Split = Extract<Node, { kind: 'split' }>
type Rows = readonly { readonly timeUs: number }[]

function splitsOn(root: Node, column: string): Split[] {
  const found: Split[] = []
  // The loop also visits nodes added on the way.
  const nodes = [root]
  for (const node of nodes) {
    if (node.kind === 'leaf') continue
    if (node.column === column) found.push(node)
    nodes.push(...node.children)
  }
  return found
}

function alongParameter(parameter: Parameter, labels: Uint8Array, splits: readonly Split[]) {
  return parameter.kind === 'numeric'
    ? alongNumbers(parameter, splits)
    : alongNames(parameter, labels, splits[0])
}

function alongNumbers(
  { name, values }: Extract<Parameter, { kind: 'numeric' }>,
  splits: readonly Split[],
) {
  const thresholds = [
    ...new Set(splits.flatMap(({ test }) => (test.kind === 'threshold' ? [test.value] : []))),
  ]
  const [first, ...more] = thresholds
  const some = more.slice(0, 4).map(numberText).join(', ')
  const others = `; thinner: further splits at ${some}${more.length > 4 ? ', …' : ''}`
  const known = values.filter((value) => !Number.isNaN(value))
  const span = numberExtent([...known])
  // Dots of one value would hide each other.
  const apart = new Set(known).size <= FEW_VALUES ? APART_SHARE : 0
  return {
    height: 0,
    valueOf: (row: number) => {
      const value = values[row] as number
      return Number.isNaN(value) ? undefined : movedAlong(span, value, apart * spread(row, 1))
    },
    textOf: (row: number) => numberText(values[row] as number),
    divided:
      first !== undefined &&
      `The line divides them as the tree does: at most ${numberText(first)}, or above${more.length === 0 ? '' : others}.`,
    axis: (): SpecPart => {
      const { low, high, isLog, isWhole } = span
      const labelExpr = "format(datum.value, abs(datum.value) < 10 ? '~g' : ',~f')"
      const ticks = isLog
        ? { values: logTicks(low, high) }
        : { tickCount: 6, ...(isWhole && { tickMinStep: 1 }) }
      return {
        field: 'own',
        type: 'quantitative',
        axis: { title: shortText(name, 70), labelExpr, ...ticks },
        scale: { domain: [low, high], nice: false, ...(isLog ? { type: 'log' } : { zero: false }) },
      }
    },
    lines: () =>
      thresholds.slice(0, MAX_LINES).map((threshold, i) => {
        // Between the threshold itself and the next number.
        const next = min(known.filter((value) => value > threshold))
        const gap = next === undefined ? 0 : shareAlong(span, next) - shareAlong(span, threshold)
        const at = { at: movedAlong(span, threshold, gap / 2) }
        return line('x', { at, color: PALETTE.text, strokeWidth: i === 0 ? 2 : 1 })
      }),
  }
}

/** Orders names by the tree's first split, then by share of the second group. */
function alongNames(
  { codes, levels }: Extract<Parameter, { kind: 'categorical' }>,
  labels: Uint8Array,
  split: Split | undefined,
) {
  const { counts, missing } = countCodes(codes, { labels }, levels.length)
  const sizeOf = (code: number) => sum(counts[code] ?? [])
  const shareOf = (code: number) => (counts[code]?.[1] ?? 0) / Math.max(1, sizeOf(code))
  const sides = split?.test.kind === 'set' ? split.test.codes : [[], []]
  const meanShare = (side: readonly number[] = []) =>
    sum(side, (code) => shareOf(code) * sizeOf(code)) / Math.max(1, sum(side, sizeOf))
  const first = meanShare(sides[0]) >= meanShare(sides[1]) ? sides[0] : sides[1]
  const isFirst = (code: number) => Number(first?.includes(code))
  const present = levels.map((_, code) => code).filter((code) => sizeOf(code) > 0)
  const order = present
    .toSorted((a, b) => sizeOf(b) - sizeOf(a))
    .slice(0, MAX_LEVELS)
    .sort((a, b) => isFirst(b) - isFirst(a) || shareOf(b) - shareOf(a) || sizeOf(b) - sizeOf(a))
  const others = present.length - order.length
  const names = distinctTexts(
    [
      ...order.map((code) => levels[code] as string),
      ...(others > 0 ? [`${grouped(others)} others`] : []),
      ...(sum(missing) > 0 ? ['missing'] : []),
    ],
    24,
  )
  const placeOf = new Map(order.map((code, place) => [code, place]))
  const nameOf = (row: number) => {
    const code = codes[row] as number
    return names[code < 0 ? names.length - 1 : (placeOf.get(code) ?? order.length)]
  }
  const last = order.filter((code) => isFirst(code) === 1).length
  const isDivided = last > 0 && last < names.length
  return {
    height: Math.max(60, names.length * LEVEL),
    valueOf: nameOf,
    textOf: (row: number) => tooltipText(levels[codes[row] as number] ?? 'missing'),
    divided: isDivided && 'The tree divides the values at the line between them.',
    axis: (): SpecPart => ({
      field: 'own',
      type: 'nominal',
      sort: null,
      scale: { domain: names },
      axis: {
        title: null,
        ticks: false,
        domain: false,
        grid: false,
        labelLimit: 150,
        labelPadding: 6,
      },
    }),
    lines: () =>
      isDivided
        ? [
            line('y', {
              at: { own: names[last - 1] },
              color: PALETTE.text,
              strokeWidth: 2,
              channel: { field: 'own', type: 'nominal', bandPosition: 1 },
            }),
          ]
        : [],
  }
}

function lanes(names: readonly string[]): SpecPart {
  return {
    field: 'group',
    type: 'nominal',
    sort: null,
    scale: { domain: names },
    axis: { title: null, labelAngle: 0, labelPadding: 6, grid: false, ticks: false, domain: false },
  }
}

function times(rows: Rows, title: string, slowAboveUs: number): SpecPart {
  const [lowUs = 0, highUs = 0] = extent([...rows.map(({ timeUs }) => timeUs), slowAboveUs])
  const { axis, scale } = durationAxis({ lowUs, highUs, title: shortText(title, 60) }, WIDE_TIMES)
  return { field: 'timeUs', type: 'quantitative', axis, scale }
}

function line(
  axis: 'x' | 'y',
  {
    at,
    channel = { field: 'at', type: 'quantitative' },
    ...mark
  }: SpecPart & { readonly at: SpecPart; readonly channel?: SpecPart },
): SpecPart {
  return {
    data: { values: [at] },
    mark: { type: 'rule', tooltip: false, ...mark },
    encoding: { [axis]: channel },
  }
}
