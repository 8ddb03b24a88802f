import { shortTexts } from '../../core/words.ts'
import { type Axis, shareAlong } from './axes.ts'
import { emptyView, PALETTE, PERIOD_NAMES, type SpecPart } from './chart-frame.ts'

/** A row of data; its fields are flowdelta's own words, its values may come from traces. */
export type Row = Readonly<Record<string, string | number | boolean | null>>

export interface Look {
  readonly name: string
  readonly color: string
}

type TooltipFields = Readonly<Record<string, string | readonly [string, string]>>

export const ROW = 24

export function on({ scale, axis }: Axis, field: string): SpecPart {
  return { field, type: 'quantitative', scale, axis }
}

export function quantity(field: string): SpecPart {
  return { field, type: 'quantitative' }
}

/** Returns the channel of rows named by `label`, in the order of the data; `hidden` in panels beside the first. */
export function rowNames({ hidden = false, grid = false } = {}): SpecPart {
  const axis = { title: null, domain: false, ticks: false, labelPadding: 6, labelLimit: 520, grid }
  const shown = hidden ? { ...axis, labels: false } : axis
  return { field: 'label', type: 'nominal', sort: null, axis: shown }
}

/** Colors rows by `kind`, in the order of `looks`; those that no row has stay out of the legend. */
export function colorBy(
  looks: readonly Look[],
  rows: readonly Row[],
  { field = 'kind', legend = { title: null } }: { field?: string; legend?: SpecPart | null } = {},
): SpecPart {
  const shown = looks.filter(({ name }) => rows.some((row) => row[field] === name))
  return {
    field,
    type: 'nominal',
    scale: { domain: shown.map(({ name }) => name), range: shown.map(({ color }) => color) },
    legend: shown.length === 0 ? null : legend,
  }
}

/** Colors by period, before and after, whichever of the two there are. */
export function periodColor(field: string, legend: SpecPart | null): SpecPart {
  const range = [PALETTE.before, PALETTE.after]
  return { field, type: 'nominal', scale: { domain: [...PERIOD_NAMES], range }, legend }
}

export function tooltip(fields: TooltipFields): SpecPart[] {
  return Object.entries(fields).map(([title, field]) =>
    typeof field === 'string'
      ? { field, type: 'nominal', title }
      : { field: field[0], type: 'quantitative', title, format: field[1] },
  )
}

/** Texts on one line, each of its own: those that are the same get a number. */
export function distinctTexts<T = string>(
  items: readonly T[],
  longest: number,
  textOf: (item: T, i: number) => string = String,
): string[] {
  const seen = new Map<string, number>()
  return shortTexts(items.map(textOf), longest).map((short) => {
    const times = (seen.get(short) ?? 0) + 1
    seen.set(short, times)
    return times === 1 ? short : `${short} (${times})`
  })
}

export function digits(value: number, count = 6): number {
  return Number(value.toPrecision(count))
}

export function ruleAt(value: number, mark: SpecPart = { color: PALETTE.rule }): SpecPart {
  return {
    data: { values: [{}] },
    mark: { type: 'rule', tooltip: false, ...mark },
    encoding: { x: { datum: value, type: 'quantitative' } },
  }
}

/** Multiples of these fill a square evenly, however many there are (Roberts' sequence). */
const SPREAD = [0.7548776662466927, 0.5698402909980532] as const

/** Returns the offset of a dot from the middle of its lane, where dots of one value would hide each other. */
export function spread(row: number, axis: 0 | 1 = 0): number {
  // JSON has no -0, which adding 0 makes 0.
  return Math.round((((row * SPREAD[axis]) % 1) - 0.5) * 1000) / 1000 + 0
}

/** Returns the channel for the output of {@link spread}. */
export function apart(field: string): SpecPart {
  return { field, type: 'quantitative', scale: { domain: [-0.7, 0.7] } }
}

type TextBesideProps = Record<'x' | 'y', SpecPart> & { field: string; leftIf?: string }

/** Texts beside the ends of marks: to the left where the expression `leftIf` holds. */
export function textBeside({ field, x, y, leftIf = 'false' }: TextBesideProps): SpecPart {
  return {
    mark: {
      type: 'text',
      align: { expr: `${leftIf} ? 'right' : 'left'` },
      dx: { expr: `${leftIf} ? -6 : 6` },
      baseline: 'middle',
      color: PALETTE.text,
      tooltip: false,
    },
    encoding: { x, y, text: { field, type: 'nominal' } },
  }
}

export function panelTitle(text: string, color: string = PALETTE.text): SpecPart {
  const letters = { fontSize: 12, fontWeight: 'normal', color }
  return { text, anchor: 'start', offset: 4, frame: 'group', ...letters }
}

const BAR = { band: 0.66 }

interface Panel {
  readonly rows: readonly Row[]
  readonly axis: Axis
  readonly to: string
  readonly tooltip: TooltipFields
  /** Whether rows are the data of the whole chart, which other panels draw too. */
  readonly isShared?: boolean
  readonly under?: readonly SpecPart[]
  readonly over?: readonly SpecPart[]
  readonly width?: number
}

interface Bars extends Panel {
  readonly color: SpecPart
  readonly from?: string
  readonly text?: string
  readonly y?: SpecPart
}

/** Draws ranked bars; a waterfall if each begins at a field of its own; nothing for no rows. */
export function bars({ rows, axis, to, from, text, ...look }: Bars): SpecPart {
  const { color, tooltip: fields, y = rowNames(), width = 380, isShared, over = [] } = look
  if (rows.length === 0) return emptyView(width)
  const x = on(gridFor(axis, text), from ?? to)
  const leads = `datum['${to}'] < ${from === undefined ? '0' : `datum['${from}']`}`
  return {
    width,
    height: Math.max(1, rows.length) * ROW,
    ...(!isShared && { data: { values: rows } }),
    layer: [
      {
        mark: { type: 'bar', height: BAR },
        encoding: {
          x,
          ...(from !== undefined && { x2: { field: to } }),
          y,
          color,
          tooltip: tooltip(fields),
        },
      },
      ...(text === undefined
        ? []
        : [textBeside({ field: text, x: on(axis, to), y, leftIf: leads })]),
      ...over,
    ],
  }
}

/** Amounts beside marks need no lines through them. */
function gridFor({ axis, ...rest }: Axis, text: string | undefined): Axis {
  return { ...rest, axis: { grid: text === undefined, ...axis } }
}

interface Moves extends Panel {
  readonly from: string
  readonly fromText?: string
  readonly toText?: string
  readonly hidden?: boolean
}

export function moves({ rows, axis: given, from, to, fromText, toText, ...look }: Moves): SpecPart {
  const { tooltip: fields, width = 380, hidden = false, isShared, under = [] } = look
  const text = fromText ?? toText
  const axis = gridFor(given, text)
  const y = rowNames({ hidden, grid: text === undefined })
  const dot = (field: string, color: SpecPart) => ({
    mark: { type: 'point', filled: true, size: 70, opacity: 1 },
    encoding: { x: on(axis, field), y, color, tooltip: tooltip(fields) },
  })
  const hasStayed = { test: `datum['${from}'] === datum['${to}']`, value: PALETTE.rest }
  const beside = (field: string | undefined, at: string, other: string) => {
    const leftIf = `datum['${at}'] < datum['${other}']`
    return field === undefined ? [] : [textBeside({ field, x: on(axis, at), y, leftIf })]
  }
  return {
    width,
    height: Math.max(1, rows.length) * ROW,
    ...(!isShared && { data: { values: rows } }),
    layer: [
      ...under,
      {
        mark: { type: 'rule', color: PALETTE.after, strokeWidth: 2, tooltip: false },
        encoding: { x: on(axis, from), x2: { field: to }, y },
      },
      dot(from, { value: PALETTE.rest }),
      dot(to, { condition: hasStayed, value: PALETTE.after }),
      ...beside(fromText, from, to),
      ...beside(toText, to, from),
    ],
  }
}

export interface Curve extends Look {
  readonly points: readonly (readonly [x: number, y: number])[]
  readonly dash?: readonly number[]
  /** What it is called where its name is too long; default: its name. */
  readonly short?: string
}

interface Curves {
  readonly curves: readonly Curve[]
  readonly x: Axis
  readonly y: Axis
  readonly over?: readonly SpecPart[]
  readonly under?: readonly SpecPart[]
  readonly interpolate?: 'step-after' | 'linear'
  readonly legend?: SpecPart
  readonly fields: readonly [name: string, x: string, y: string]
  /** Draw points in the order given, not by x: for steps straight up and down at the ends. */
  readonly inOrder?: boolean
}

const CURVES = { width: 560, height: 280 } as const
const SOLID = [1, 0]
/** Dash of a curve on another, which shows between. */
const ON_ANOTHER = [7, 7]
const LINE = 0.004

export function curves({ curves: given, x, y, fields, ...look }: Curves): SpecPart {
  const { over = [], under = [], interpolate = 'step-after', legend = {}, inOrder = false } = look
  const below = given.map((curve, i) =>
    given.slice(0, i).find((other) => coincide(curve, other, { x, y })),
  )
  const all = given.map((curve, i) =>
    below[i] === undefined ? curve : { dash: ON_ANOTHER, ...curve },
  )
  const notes = given.flatMap((curve, i) => {
    const names = [below[i], curve].flatMap((one) => one?.short ?? one?.name ?? [])
    return names.length > 1 ? [`${names.join(' and ')} are one line`] : []
  })
  // Below where curves end high, above where they end low.
  const ends = given.flatMap(({ points }) => points.at(-1)?.[1] ?? [])
  const isBelow = ends.every((value) => alongAxis(y, value) > 0.5)
  const [nameField, xField, yField] = fields
  const values = all.flatMap(({ name, points }) =>
    points.map(([atX, atY], order) => {
      return { [nameField]: name, [xField]: atX, [yField]: atY, ...(inOrder && { order }) }
    }),
  )
  const shown = all.filter(({ points }) => points.length > 0)
  const domain = shown.map(({ name }) => name)
  const dashes = shown.map(({ dash }) => [...(dash ?? SOLID)])
  const isDashed = shown.some(({ dash }) => dash !== undefined)
  const symbols = { title: null, symbolType: 'stroke', symbolSize: 300, ...legend }
  const named = { field: nameField, type: 'nominal', legend: shown.length === 0 ? null : symbols }
  return {
    ...CURVES,
    layer: [
      ...under,
      {
        data: { values },
        mark: { type: 'line', interpolate, strokeWidth: 2, tooltip: false },
        encoding: {
          x: on(x, xField),
          y: on(y, yField),
          ...(inOrder && { order: quantity('order') }),
          color: { ...named, scale: { domain, range: shown.map(({ color }) => color) } },
          ...(isDashed && { strokeDash: { ...named, scale: { domain, range: dashes } } }),
        },
      },
      ...over,
      ...notes.map((note, i) => ({
        data: { values: [{ note }] },
        mark: {
          type: 'text',
          align: 'right',
          dx: -8,
          dy: isBelow ? -10 - 15 * i : 10 + 15 * i,
          color: PALETTE.softText,
          tooltip: false,
        },
        encoding: {
          x: { value: 'width' },
          y: { value: isBelow ? 'height' : 0 },
          text: { field: 'note', type: 'nominal' },
        },
      })),
    ],
  }
}

/** Whether two curves are nowhere further apart than a line is wide, to the side or up and down. */
function coincide(one: Curve, other: Curve, { x, y }: Pick<Curves, 'x' | 'y'>): boolean {
  if (one.points.length === 0 || other.points.length === 0) return false
  const placesOf = ({ points }: Curve) =>
    points.map(([atX, atY]) => [alongAxis(x, atX), alongAxis(y, atY)] as const)
  const [first, second] = [placesOf(one), placesOf(other)]
  const isOn = (places: typeof first, under: typeof first) =>
    places.every(([at, value]) => {
      const before = under.findLast(([place]) => place <= at - LINE) ?? under[0]
      const near = under.filter(([place]) => Math.abs(place - at) <= LINE)
      const values = [before, ...near].map((point) => point?.[1] ?? 0)
      return value >= Math.min(...values) - LINE && value <= Math.max(...values) + LINE
    })
  return isOn(first, second) && isOn(second, first)
}

export function alongAxis({ domain: [low, high], scale }: Axis, value: number): number {
  return shareAlong({ low, high, isLog: scale.type === 'log' }, value)
}

/** Content of {@link matrix}: a cell per row, at `column` of the row `label`. */
interface Matrix {
  readonly rows: readonly Row[]
  readonly labels: readonly string[]
  readonly columns: readonly string[]
  readonly cell: number
  readonly color: SpecPart
  readonly tooltip: TooltipFields
  readonly channels?: SpecPart
  readonly named?: boolean
  /** Angle of the names of columns, in degrees. */
  readonly columnAngle?: number
  /** Layers over the cells, which take the channels `x` and `y` of them. */
  readonly over?: (x: SpecPart, y: SpecPart) => readonly SpecPart[]
}

export function matrix({ rows, labels, columns, cell, ...look }: Matrix): SpecPart {
  const { color, tooltip: fields, channels = {}, named = true, over = () => [] } = look
  const { columnAngle = 0 } = look
  const place = (field: string, domain: readonly string[], axis: SpecPart | false) => {
    const plain = { title: null, domain: false, ticks: false }
    const shown = axis === false ? null : { ...plain, ...axis }
    return { field, type: 'nominal', sort: null, scale: { domain }, axis: shown }
  }
  const turned = { orient: 'top', labelAngle: columnAngle, labelPadding: 6, labelLimit: 420 }
  const x = place('column', columns, named && turned)
  const y = place('label', labels, named && { labelPadding: 6, labelLimit: 420 })
  return {
    width: Math.max(1, columns.length) * cell,
    height: Math.max(1, labels.length) * cell,
    data: { values: rows },
    layer: [
      {
        mark: { type: 'rect', stroke: 'white', strokeWidth: cell < 12 ? 0.5 : 1 },
        encoding: { x, y, color, tooltip: tooltip(fields), ...channels },
      },
      ...over(x, y),
    ],
  }
}
