import { extent, min } from 'd3-array'
import {
  defineOptions,
  most,
  type OptionsOf,
  optionalText,
  optionalWord,
  readOptions,
} from '../../core/options.ts'
import { shortText, tooltipText } from '../../core/shown-text.ts'
import { formatDuration } from '../../core/units.ts'
import { counted, grouped } from '../../core/words.ts'
import type { Explanation } from '../../explain/parameters/explanation.ts'
import {
  durationAxis,
  logTicks,
  movedAlong,
  type NumberExtent,
  numberExtent,
  shareAlong,
} from './axes.ts'
import { tooltip } from './channels.ts'
import { framedChart, PALETTE, type SpecPart } from './chart-frame.ts'
import { type ParameterDots, parameterDots, parameterOf } from './parameter-dots.ts'
import {
  answerTo,
  GROUP_COLOURS,
  groupSizes,
  groupsOf,
  type ParameterGroups,
} from './parameter-groups.ts'
import { numberText } from './parameter-shares.ts'

export const PARAMETER_STRIP_CHART_OPTIONS = defineOptions({
  parameter: optionalText(
    'Parameter; by default the one that the tree splits on first, or the most different',
  ),
  question: optionalWord(
    ['what-differs', 'what-is-slow'],
    'Question; by default the one whose parameters separate better',
  ),
  limit: most(4000, 'dots', 'Most dots drawn'),
})

const WIDTH = 560
const LANE = 90
const TIME_HEIGHT = 280
const LEVEL = 18
/** How much of a lane dots fill, and how much of the axis dots of one value. */
const SPREAD = { across: 0.72, along: 0.025 }

/**
 * Draws every request (or call) as a dot along one parameter, colored by its group. In what differs,
 * each group has a lane; in what is slow, time is the other axis, with a dashed line from which on a
 * request is slow. A line stands where the tree divides the values.
 *
 * @throws OptionError for a question that was not asked, FlowdeltaError for a parameter that the
 *   question does not use
 */
export function parameterStripChart(
  explanation: Explanation,
  given?: Partial<OptionsOf<typeof PARAMETER_STRIP_CHART_OPTIONS>>,
) {
  const { limit, ...asked } = readOptions(PARAMETER_STRIP_CHART_OPTIONS, given)
  const question = answerTo(explanation, asked.question ?? undefined)
  const parameter = parameterOf(explanation, question, asked.parameter ?? undefined)
  const strip: ParameterStrip = {
    ...{ explanation, groups: groupsOf(explanation, question) },
    dots: parameterDots(explanation, question, { parameter, limit }),
    slowAboveUs: question.slowAboveUs,
    traces: question.table.table().array('trace') as string[],
  }
  const { subject } = explanation
  return framedChart(
    {
      title: `${shortText(parameter.name, 70)}, ${subject.rows} by ${subject.rows}`,
      subtitle: [
        `A dot is a ${subject.rows}: ${groupSizes(strip.groups, subject)}.`,
        divided(strip),
        question.slowAboveUs !== null &&
          `Times beyond the dashed line (${formatDuration(question.slowAboveUs)}) are slow.`,
      ],
      omissions: omissions(strip),
      width: WIDTH,
    },
    {
      width: WIDTH,
      height: heightOf(strip),
      layer: [dotLayer(strip, GROUP_COLOURS[question.question]), ...lines(strip)],
    },
  )
}

function divided({ dots: { thresholds, firstSide, levels } }: ParameterStrip): string | false {
  const [first, ...more] = thresholds
  if (first === undefined) {
    const isDivided = firstSide > 0 && firstSide < levels.length
    return isDivided && 'The tree divides the values at the line between them.'
  }
  const some = more.slice(0, 4).map(numberText).join(', ')
  const others = `; thinner: further splits at ${some}${more.length > 4 ? ', …' : ''}`
  return `The line is where the tree divides: at most ${numberText(first)}, or above${more.length === 0 ? '' : others}.`
}

function omissions({ dots: { withoutPlace, thinned, dots }, ...strip }: ParameterStrip) {
  const { rows } = strip.explanation.subject
  return [
    thinned > 0 && `${grouped(dots.length)} of ${counted(dots.length + thinned, rows)} are drawn.`,
    withoutPlace > 0 &&
      `${counted(withoutPlace, rows)} without a value${strip.slowAboveUs === null ? '' : ' or a time'} ${withoutPlace === 1 ? 'is' : 'are'} not drawn.`,
  ]
}

function heightOf({ dots: { parameter, levels }, slowAboveUs }: ParameterStrip): number {
  if (parameter.kind === 'categorical') return Math.max(60, levels.length * LEVEL)
  return slowAboveUs === null ? 2 * LANE : TIME_HEIGHT
}

function dotLayer(strip: ParameterStrip, colors: readonly [string, string]): SpecPart {
  const { groups, slowAboveUs, traces } = strip
  const { dots, parameter, levels } = strip.dots
  const isNumeric = parameter.kind === 'numeric'
  const span = stripExtent(strip)
  const values = dots.map(({ row, group, value, timeUs, across, along }) => {
    const lane = rounded(group + across * SPREAD.across)
    const time = Number.isNaN(timeUs) ? '–' : formatDuration(timeUs)
    const other = slowAboveUs === null ? lane : timeUs
    return {
      ...(isNumeric
        ? { x: movedAlong(span, value, along * SPREAD.along), y: other }
        : { x: other, y: rounded(value + along * SPREAD.across) }),
      ...{ group: groups.names[group], time },
      trace: tooltipText(traces[row] ?? ''),
      value: isNumeric ? numberText(value) : tooltipText(levels[value]?.label ?? ''),
    }
  })
  const dense = dots.length > 600
  return {
    data: { values },
    mark: { type: 'circle', size: dense ? 14 : 28, opacity: dense ? 0.5 : 0.65 },
    encoding: {
      ...stripAxes(strip),
      color: {
        ...{ field: 'group', type: 'nominal' },
        legend: { title: null, symbolOpacity: 1 },
        scale: { domain: [...groups.names], range: [...colors] },
      },
      tooltip: tooltip({
        ...{ value: 'value', group: 'group', time: 'time' },
        ...(traces.some((trace) => trace !== '') && { trace: 'trace' }),
      }),
    },
  }
}

/** Where the tree divides, from which time on is slow, and names beside their lanes. */
function lines(strip: ParameterStrip): SpecPart[] {
  const { dots, slowAboveUs } = strip
  const { parameter, thresholds, levels, firstSide } = dots
  const isNumeric = parameter.kind === 'numeric'
  const [own, other] = isNumeric ? (['x', 'y'] as const) : (['y', 'x'] as const)
  const line = (axis: 'x' | 'y', at: number, mark: SpecPart) => ({
    data: { values: [{ at }] },
    mark: { type: 'rule', tooltip: false, ...mark },
    encoding: { [axis]: { field: 'at', type: 'quantitative' } },
  })
  const solid = { color: PALETTE.text }
  const span = stripExtent(strip)
  const values = dots.dots.map(({ value }) => value)
  return [
    ...thresholds
      .slice(0, 5)
      .map((at, i) =>
        line(own, betweenNumbers(span, at, values), { ...solid, strokeWidth: i === 0 ? 2 : 1 }),
      ),
    ...(firstSide > 0 && firstSide < levels.length
      ? [line(own, firstSide - 0.5, { ...solid, strokeWidth: 2 })]
      : []),
    ...(slowAboveUs === null
      ? []
      : [line(other, slowAboveUs, { color: PALETTE.softText, strokeDash: [5, 4] })]),
    ...(isNumeric ? [] : [names(levels)]),
  ]
}

/** A little more than dots of one value are spread. */
const BESIDE = 0.028

/**
 * Finds where to draw the line between numbers up to `threshold` and those above: just beyond the
 * dots of the threshold itself, and not beyond those of the next number.
 */
function betweenNumbers(span: NumberExtent, threshold: number, values: readonly number[]): number {
  const next = min(values, (value) => (value > threshold ? value : undefined))
  const gap = next === undefined ? BESIDE : shareAlong(span, next) - shareAlong(span, threshold)
  return movedAlong(span, threshold, Math.min(BESIDE, gap / 2))
}

function names(levels: ParameterDots['levels']): SpecPart {
  return {
    data: {
      values: levels.map(({ label }, y) => ({
        ...{ y, text: shortText(label, 24), whole: tooltipText(label) },
      })),
    },
    mark: {
      type: 'text',
      align: 'right',
      baseline: 'middle',
      fontSize: 11,
      color: PALETTE.text,
      x: -6,
    },
    encoding: {
      y: { field: 'y', type: 'quantitative' },
      text: { field: 'text', type: 'nominal' },
      tooltip: { field: 'whole', type: 'nominal' },
    },
  }
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}

export interface ParameterStrip {
  readonly explanation: Explanation
  readonly dots: ParameterDots
  readonly groups: ParameterGroups
  /** Null in what differs: there is no axis of times. */
  readonly slowAboveUs: number | null
  /** Trace of each row; `''` where it is not known. */
  readonly traces: readonly string[]
}

/** Room for names, in pixels. */
const LABELS = 150
const WIDE_TIMES = 8

/** One axis is the parameter, the other times or the groups; names are on the one to the left. */
export function stripAxes(strip: ParameterStrip): { readonly x: SpecPart; readonly y: SpecPart } {
  const { dots, slowAboveUs } = strip
  const isNumeric = dots.parameter.kind === 'numeric'
  const other = slowAboveUs === null ? laneAxis(strip) : timeAxis(strip, slowAboveUs)
  const own = isNumeric ? numberAxis(strip) : levelAxis(strip)
  const [x, y] = isNumeric ? [own, other] : [other, own]
  return {
    x: { field: 'x', type: 'quantitative', ...x },
    y: { field: 'y', type: 'quantitative', ...y },
  }
}

export function stripExtent({ dots: { dots } }: ParameterStrip): NumberExtent {
  return numberExtent(dots.map(({ value }) => value))
}

function numberAxis(strip: ParameterStrip): SpecPart {
  const { low, high, isLog, isWhole } = stripExtent(strip)
  const title = shortText(strip.dots.parameter.name, 70)
  const labelExpr = "format(datum.value, abs(datum.value) < 10 ? '~g' : ',~f')"
  return isLog
    ? {
        axis: { title, values: logTicks(low, high), labelExpr },
        scale: { type: 'log', domain: [low, high], nice: false },
      }
    : {
        axis: { title, tickCount: 6, ...(isWhole ? { tickMinStep: 1 } : {}), labelExpr },
        scale: { domain: [low, high], nice: false, zero: false },
      }
}

function timeAxis({ dots: { dots }, explanation }: ParameterStrip, slowAboveUs: number): SpecPart {
  const times = [...dots.map(({ timeUs }) => timeUs), slowAboveUs]
  const [lowUs = 0, highUs = 0] = extent(times)
  const title = shortText(explanation.subject.time, 60)
  const { axis, scale } = durationAxis({ lowUs, highUs, title }, WIDE_TIMES)
  return { axis, scale }
}

/** A lane for each group. Their names are flowdelta's own words: never a name from a trace. */
function laneAxis({ groups: { names } }: ParameterStrip): SpecPart {
  const [zero, one] = names.map((name) => JSON.stringify(name))
  return {
    axis: {
      ...{ title: null, values: [0, 1], grid: false, ticks: false, domain: false },
      labelExpr: `datum.value === 0 ? ${zero} : ${one}`,
    },
    scale: { domain: [-0.5, 1.5], nice: false, zero: false },
  }
}

/** A lane for each name; the names themselves are texts beside the axis. */
function levelAxis({ dots: { levels } }: ParameterStrip): SpecPart {
  const bare = { labels: false, ticks: false, domain: false, grid: false }
  return {
    axis: { title: null, ...bare, minExtent: LABELS },
    scale: { domain: [-0.5, levels.length - 0.5], reverse: true, nice: false, zero: false },
  }
}
