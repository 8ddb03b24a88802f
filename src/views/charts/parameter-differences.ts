import { sort, sum } from 'd3-array'
import { OptionError } from '../../core/errors.ts'
import { optionalWord } from '../../core/options.ts'
import { counted, grouped, percent, pValue, shortText, tooltipText } from '../../core/words.ts'
import { type Explanation, PERIOD_WORDS } from '../../explain/parameters/explanation.ts'
import type {
  ParameterQuestion,
  ParameterQuestionName,
} from '../../explain/parameters/parameter-question.ts'
import {
  type Parameter,
  type ParameterDifference,
  parameterDifferences,
} from '../../explain/parameters/parameter-table.ts'
import { quantile } from '../../stats/quantile.ts'
import { logAxis, movedAlong, plainAxis, shareAlong, shareAxis } from './axes.ts'
import { colorBy, distinctTexts, on, panelTitle, rowNames, tooltip } from './builders.ts'
import {
  defineChart,
  emptyView,
  framedChart,
  mostDrawn,
  onlyFirst,
  PALETTE,
  type SpecPart,
} from './chart-frame.ts'

type SharePair = readonly [number, number]

interface ValueShares {
  readonly label: string
  readonly shares: SharePair
  /** `value`; `others`: the rest, summed up; `missing`: rows without a value. */
  readonly kind: 'value' | 'others' | 'missing'
}

/** Most values of numbers that are shown value by value. */
const FEW_VALUES = 6
const BINS = 24
/** Share of a group at the ends that does not stretch the axis. */
const TAIL = 0.01
/** Bins are equal in ratio where the largest value is this many times the smallest. */
const WIDE = 100

/** Distributes one parameter in two groups of rows, labelled 0 and 1; of names the commonest. */
export function parameterShares(
  parameter: Parameter,
  labels: Uint8Array,
  { limit = 5, weights }: { limit?: number | undefined } & Pick<GroupedRows, 'weights'> = {},
) {
  const rows = { labels, weights }
  const sizes = [0, 1].map((label) =>
    sum(labels, (own, row) => (own === label ? (weights?.[row] ?? 1) : 0)),
  ) as [number, number]
  const share = ([zero, one]: SharePair): SharePair => [
    zero / Math.max(1, sizes[0]),
    one / Math.max(1, sizes[1]),
  ]
  const isNamed = parameter.kind === 'categorical'
  const { codes, levels } = isNamed ? parameter : codedNumbers(parameter.values)
  if (!isNamed && levels.length > FEW_VALUES) return binnedShares(parameter.values, rows, share)
  const { counts, missing } = countCodes(codes, rows, levels.length)
  const values = counts.map((pair, code) => ({
    label: levels[code] as string,
    shares: share(pair),
    kind: 'value' as const,
  }))
  const shown = isNamed ? commonest(values, limit) : values
  const none: ValueShares = { label: 'missing', shares: share(missing), kind: 'missing' }
  const isMissing = none.shares.some((one) => one > 0)
  return { kind: 'values' as const, values: isMissing ? [...shown, none] : shown }
}

/** Returns numbers as codes of their distinct values, in ascending order; −1 for NaN. */
function codedNumbers(values: Float64Array) {
  const distinct = sort(new Set(values)).filter((value) => !Number.isNaN(value))
  const codeOf = new Map(distinct.map((value, code) => [value, code]))
  const codes = Int32Array.from(values, (value) => codeOf.get(value) ?? -1)
  return { codes, levels: distinct.map(numberText) }
}

export function numberText(value: number): string {
  const short = Number.isInteger(value) ? value : Number(value.toPrecision(4))
  const text = Number.isInteger(short) ? grouped(Math.abs(short)) : String(Math.abs(short))
  return short < 0 ? `−${text}` : text
}

type CountPair = [number, number]

/** The group of each row, and how many each counts as; undefined where each once. */
interface GroupedRows {
  readonly labels: Uint8Array
  readonly weights?: Float64Array | undefined
}

function countCodes(codes: Int32Array, { labels, weights }: GroupedRows, size: number) {
  const counts = Array.from({ length: size }, (): CountPair => [0, 0])
  const missing: CountPair = [0, 0]
  codes.forEach((code, row) => {
    const pair = code < 0 ? missing : (counts[code] as CountPair)
    pair[labels[row] as 0 | 1] += weights?.[row] ?? 1
  })
  return { counts, missing }
}

function commonest(values: readonly ValueShares[], limit: number): ValueShares[] {
  const found = values.filter(({ shares }) => Math.max(...shares) > 0)
  const known = sort(found, ({ shares }) => -Math.max(...shares))
  // A row of its own for one is no longer than a row that sums it up.
  const shown = known.length === limit + 1 ? known : known.slice(0, limit)
  const others = known.slice(shown.length)
  if (others.length === 0) return shown
  const of = (group: 0 | 1) => sum(others, ({ shares }) => shares[group])
  const label = `${grouped(others.length)} others`
  return [...shown, { label, shares: [of(0), of(1)], kind: 'others' }]
}

function binnedShares(
  values: Float64Array,
  rows: GroupedRows,
  share: (pair: SharePair) => SharePair,
) {
  const groups = [0, 1].map((label) =>
    values.filter((value, row) => rows.labels[row] === label && !Number.isNaN(value)).sort(),
  )
  const some = groups.filter(({ length }) => length > 0)
  const endsAt = (tail: number) =>
    [
      Math.min(...some.map((group) => quantile(group, tail))),
      Math.max(...some.map((group) => quantile(group, 1 - tail))),
    ] as const
  const [least, most] = endsAt(0)
  const inner = endsAt(TAIL)
  // Where nearly all values are one, the tails are all there is to see.
  const [low, high] = inner[0] < inner[1] ? inner : [least, most]
  const isLog = low > 0 && high / low > WIDE
  const span = { low, high, isLog }
  const edge = (at: number) => (at === BINS ? high : movedAlong(span, low, at / BINS))
  const codes = Int32Array.from(values, (value) => {
    if (Number.isNaN(value)) return -1
    return value <= low ? 0 : Math.min(BINS - 1, Math.floor(shareAlong(span, value) * BINS))
  })
  const { counts, missing } = countCodes(codes, rows, BINS)
  return {
    kind: 'histogram' as const,
    isLog,
    /** Whether the first and the last bin also have all that lies beyond them. */
    isClipped: [least < low, most > high],
    bins: counts.map((pair, at) => ({ from: edge(at), to: edge(at + 1), shares: share(pair) })),
    missing: share(missing),
  }
}

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
    limit: mostDrawn(10, 'parameters', 'most different first'),
    question: questionOption('Groups: precursors and mutations, or usual and slow requests'),
  },
  (explanation: Explanation, { limit, question: asked }) => {
    const wanted = asked ?? explanation.question('what-differs')?.question
    const question = answerTo(explanation, wanted)
    const groups = groupsOf(explanation, question)
    const differences = differencesOf(explanation, question)
    const left = explanation.leftOut.length
    const { names, sizes } = groups
    const { rows } = explanation.subject
    const said =
      names[0] === 'before'
        ? `${counted(sizes[0], rows)} before and ${counted(sizes[1], rows)} after`
        : names.map((name, group) => counted(sizes[group] as number, name, name)).join(' and ')
    return framedChart(
      {
        title: `Each parameter by itself: ${groups.names[0]} and ${groups.names[1]}`,
        none: differences.length === 0 && 'There is no parameter to compare.',
        subtitle: [
          `Bars are shares of each group (${said}).`,
          'Effect: 0 is the same distribution, 1 no overlap. q: p-value corrected for the number of parameters.',
        ],
        omissions: [
          onlyFirst(limit, differences.length, 'parameter'),
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
  { bins, isLog, isClipped }: ReturnType<typeof binnedShares>,
  names: readonly string[],
  parameter: string,
) {
  const all = bins.flatMap(({ from, to, shares }) =>
    shares.map((share, group) => ({
      from,
      to,
      parameter: tooltipText(parameter),
      value: `${numberText(from)} to ${numberText(to)}`,
      group: names[group] as string,
      amount: group === 0 ? share : -share,
      share: percent(share),
    })),
  )
  const rows = all.filter(({ amount }) => amount !== 0)
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

const GROUP_COLOURS: Readonly<Record<ParameterQuestionName, readonly [string, string]>> = {
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

/** Returns the difference of each parameter; of slow requests, `before` is the usual rows and `after` the slow ones. */
export function differencesOf(
  explanation: Explanation,
  question: ParameterQuestion,
): readonly ParameterDifference[] {
  if (question.question === 'what-differs') return explanation.differences
  const { parameters, rows } = question.table
  return parameterDifferences(parameters, groupsOf(explanation, question).labels, rows.weights)
}

/** Returns the difference of a parameter as text; dashes if one of the groups is empty. */
export function effectTexts({ effect, q }: ParameterDifference): { effect: string; q: string } {
  if (Number.isNaN(q)) return { effect: '–', q: '–' }
  return { effect: effect.toFixed(2), q: pValue(q, 'q').replace(/^q (= )?/, '') }
}
