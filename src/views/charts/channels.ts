import { shortText } from '../../core/shown-text.ts'
import type { Axis } from './axes.ts'
import { PALETTE, type SpecPart } from './chart-frame.ts'

/** A row of data; its fields are flowdelta's own words, its values may come from traces. */
export type Row = Readonly<Record<string, string | number | boolean | null>>

export interface Look {
  readonly name: string
  readonly color: string
}

/** Fields of a tooltip by their titles; `[field, format]` for a number. */
export type TooltipFields = Readonly<Record<string, string | readonly [string, string]>>

export const ROW = 24

export function on({ scale, axis }: Axis, field: string): SpecPart {
  return { field, type: 'quantitative', scale, axis }
}

export function quantity(field: string): SpecPart {
  return { field, type: 'quantitative' }
}

/** The channel of rows named by `label`, in the order of the data; `hidden` in panels beside the first. */
export function rowNames({ hidden = false, grid = false, field = 'label' } = {}): SpecPart {
  const axis = { title: null, domain: false, ticks: false, labelPadding: 6, labelLimit: 520, grid }
  return {
    field,
    type: 'nominal',
    sort: null,
    axis: hidden ? { ...axis, labels: false } : axis,
  }
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

export function tooltip(fields: TooltipFields): SpecPart[] {
  return Object.entries(fields).map(([title, field]) =>
    typeof field === 'string'
      ? { field, type: 'nominal', title }
      : { field: field[0], type: 'quantitative', title, format: field[1] },
  )
}

/** Texts on one line, each of its own: shortened ones that are the same get a number. */
export function distinctTexts<T = string>(
  items: readonly T[],
  longest: number,
  textOf: (item: T, i: number) => string = String,
): string[] {
  const seen = new Map<string, number>()
  return items.map((item, i) => {
    const short = shortText(textOf(item, i), longest)
    const times = (seen.get(short) ?? 0) + 1
    seen.set(short, times)
    return times === 1 ? short : `${short} (${times})`
  })
}

export function digits(value: number, count = 6): number {
  return Number(value.toPrecision(count))
}

export function ruleAt(value: number, mark: SpecPart = { color: '#555555' }): SpecPart {
  return {
    data: { values: [{}] },
    mark: { type: 'rule', tooltip: false, ...mark },
    encoding: { x: { datum: value, type: 'quantitative' } },
  }
}

interface TextBesideProps {
  readonly field: string
  readonly x: SpecPart
  readonly y: SpecPart
  readonly leftIf?: string
}

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
  return {
    text,
    anchor: 'start',
    fontSize: 12,
    fontWeight: 'normal',
    offset: 4,
    frame: 'group',
    color,
  }
}
