import { max, min } from 'd3-array'
import type { StructuralLabel } from '../../../compare/mutations/find-structural-mutations.ts'
import { shortText } from '../../../core/words.ts'
import { type Axis, countAxis, logAxis, logDurationAxis } from '../../charts/axes.ts'
import { colorBy, on, type Row, tooltip } from '../../charts/builders.ts'
import { framedChart, PALETTE } from '../../charts/chart-frame.ts'
import type { Frame } from '../../page/page-promise.ts'
import { numberAt, type TableColumn } from '../table/table-columns.ts'
import { FRAMED } from '../vega-chart.tsx'

/** Columns of `categories.table()` that categories can be laid out by. */
export const MEASURES = {
  before: { name: 'requests before', kind: 'count' },
  after: { name: 'requests after', kind: 'count' },
  beforeMeanUs: { name: 'mean response time before', kind: 'time' },
  afterMeanUs: { name: 'mean response time after', kind: 'time' },
  beforeC2: { name: 'C² before', kind: 'variation' },
  afterC2: { name: 'C² after', kind: 'variation' },
} as const satisfies Record<string, { name: string; kind: 'count' | 'time' | 'variation' }>

export type Measure = keyof typeof MEASURES

export const MEASURE_NAMES = Object.keys(MEASURES) as Measure[]

const SIDE = { width: 370, height: 280 }
/** Share of a logarithmic axis that is set aside for categories with 0, or with no value. */
const NONE = 0.1

const LOOKS: readonly (readonly [StructuralLabel, { name: string; color: string }])[] = [
  ['structural-mutation', { name: 'gained requests', color: PALETTE.after }],
  ['precursor', { name: 'lost requests', color: PALETTE.before }],
  ['unchanged', { name: 'as many as before', color: PALETTE.faint }],
]

/** Draws every category as a dot by two measures, to be framed; changes are colored and ringed. */
export function categoryScatter(
  columns: readonly TableColumn[],
  [across, up]: readonly [across: Measure, up: Measure],
) {
  const column = (name: string) => columns.find((each) => each.name === name)
  const text = (name: string, row: number) => {
    const known = column(name)
    return known?.format.text(known.values[row] ?? null) ?? ''
  }
  const x = measureAxis(columns, across)
  const y = measureAxis(columns, up)
  const label = column('label')?.values
  const mutation = column('mutation')?.values
  const rows = (column('category')?.values ?? []).map((category, row): Row => {
    const place = (measure: Measure, { domain: [low] }: Axis) => {
      const value = numberAt(column(measure) as TableColumn, row)
      return value > 0 || MEASURES[measure].kind === 'count' ? value : low
    }
    const both = (before: Measure, after: Measure) => `${text(before, row)} → ${text(after, row)}`
    return {
      [across]: place(across, x),
      [up]: place(up, y),
      root: `${shortText(text('root', row), 60)} (${category})`,
      kind: LOOKS.find(([each]) => each === (label?.[row] ?? 'unchanged'))?.[1].name ?? '',
      times: mutation?.[row] === true ? 'other response times' : '',
      requests: both('before', 'after'),
      means: both('beforeMeanUs', 'afterMeanUs'),
      c2: both('beforeC2', 'afterC2'),
    }
  })
  const isSame = across !== up && MEASURES[across].kind === MEASURES[up].kind
  const looks = LOOKS.map(([, look]) => look)
  const { legend, ...fill } = colorBy(looks, rows)
  const hasRings = rows.some(({ times }) => times !== '')
  return framedChart(
    {
      title: 'All categories by two measures',
      subtitle: isSame && 'On the dashed line, both are the same.',
      width: SIDE.width,
    },
    {
      ...SIDE,
      layer: [
        ...(isSame
          ? [
              {
                data: { values: [0, 1].map((end) => ({ x: x.domain[end], y: y.domain[end] })) },
                mark: { type: 'line', color: PALETTE.faint, strokeDash: [4, 3], tooltip: false },
                encoding: { x: on(x, 'x'), y: on(y, 'y') },
              },
            ]
          : []),
        {
          name: FRAMED,
          data: { values: rows },
          mark: { type: 'point', size: 60, strokeWidth: 2, opacity: 0.8 },
          encoding: {
            x: on(x, across),
            y: on(y, up),
            fill: { ...fill, legend: label === undefined ? null : legend },
            stroke: {
              field: 'times',
              type: 'nominal',
              scale: {
                domain: ['other response times', ''],
                range: [PALETTE.change, 'transparent'],
              },
              legend: hasRings ? { title: null, values: ['other response times'] } : null,
            },
            tooltip: tooltip({
              'kind of request (category)': 'root',
              requests: 'requests',
              mean: 'means',
              'C²': 'c2',
              ...(label !== undefined && { change: 'kind', times: 'times' }),
            }),
          },
        },
      ],
    },
  )
}

export function measureAxis(columns: readonly TableColumn[], measure: Measure): Axis {
  const { name: title, kind } = MEASURES[measure]
  const values = valuesAlike(columns, measure)
  const most = max(values) || 10
  if (kind === 'count') return countAxis(most, title)
  const least = leastOf(values)
  const [low, high] = [least / 1.1, Math.max(least * 1.1, most) * 1.1]
  const { scale, axis } =
    kind === 'time'
      ? logDurationAxis({ lowUs: low, highUs: high, title })
      : logAxis([low, high], title)
  if (values.every((value) => value > 0)) return { domain: [low, high], scale, axis }
  const none = low * (low / high) ** NONE
  const { values: ticks, labelExpr = "format(datum.value, ',~r')", format: _, ...rest } = axis
  return {
    domain: [none, high],
    scale: { ...scale, domain: [none, high] },
    axis: {
      ...rest,
      values: [none, ...(ticks as number[])],
      labelExpr: `datum.value < ${low} ? 'none' : ${labelExpr}`,
    },
  }
}

function valuesAlike(columns: readonly TableColumn[], measure: Measure): number[] {
  const { kind } = MEASURES[measure]
  return columns
    .filter(({ name }) => MEASURES[name as Measure]?.kind === kind)
    .flatMap((column) => column.values.map((_, row) => numberAt(column, row) || 0))
}

function leastOf(values: readonly number[]): number {
  return min(values.filter((value) => value > 0)) ?? 1
}

/** Writes a frame as filters of the table; empty for measures that it does not bound. */
export function frameFilters(
  columns: readonly TableColumn[],
  frame: Frame,
): Readonly<Record<Measure, string>> {
  const filterOf = (measure: Measure) => {
    const range = frame[measure]
    if (range === undefined) return ''
    const [from, to] = [Math.min(...range), Math.max(...range)]
    if (MEASURES[measure].kind === 'count') {
      return `${Math.max(0, Math.ceil(from))}..${Math.max(0, Math.floor(to))}`
    }
    const [low, high] = [from, to].map((value) => Number(value.toPrecision(3)))
    // From before the smallest on: those with 0 are inside.
    return from < leastOf(valuesAlike(columns, measure)) ? `<= ${high}` : `${low}..${high}`
  }
  return Object.fromEntries(
    MEASURE_NAMES.map((measure) => [measure, filterOf(measure)]),
  ) as Readonly<Record<Measure, string>>
}
