import { most, type OptionsOf, type OptionTable, readOptions } from '../../core/options.ts'
import { counted, grouped } from '../../core/words.ts'
import { PALETTE } from '../page/palette.ts'
import { Chart, type VegaLiteSpec } from './chart.ts'
import { brokenInto } from './text-width.ts'

export { PALETTE } from '../page/palette.ts'

export const PERIOD_NAMES = ['before', 'after'] as const

export type SpecPart = Readonly<Record<string, unknown>>

export interface DefinedChart<Stage, Table extends OptionTable, Drawn> {
  (stage: Stage, given?: Partial<OptionsOf<Table>>): Drawn
  readonly options: Table
}

/** Defines a picture of a stage: its options, which are checked, and how it is drawn with them. */
export function defineChart<Stage, Table extends OptionTable, Drawn>(
  options: Table,
  draw: (stage: Stage, options: OptionsOf<Table>) => Drawn,
): DefinedChart<Stage, Table, Drawn> {
  return Object.assign(
    (stage: Stage, given?: Partial<OptionsOf<Table>>) => draw(stage, readOptions(options, given)),
    { options },
  )
}

/** Returns the option for the maximum number of things that a chart draws, in an order. */
export function mostDrawn(count: number, things: string, order: string) {
  return most(count, things, `Maximum number of ${things} drawn, ${order}`)
}

/** Says that a chart draws only the first of all. */
export function onlyFirst(limit: number, all: number, thing: string): string | false {
  return all > limit && `Shows the first ${grouped(limit)} of ${counted(all, thing)}.`
}

type Sentences = string | false | readonly (string | false)[]

export interface Heading {
  readonly title: string
  /** Why there is nothing to draw, instead of the subtitle and the view. */
  readonly none?: string | false
  readonly subtitle: Sentences
  /** Parts left out or thinned to keep the chart small; empty if it holds everything. */
  readonly omissions?: Sentences
  readonly width: number
}

/** JupyterLab and flowdelta's own Vega-Lite 6 both accept version 5. */
export const SCHEMA = 'https://vega.github.io/schema/vega-lite/v5.json'

const TITLE_SIZE = 15
const SUBTITLE_SIZE = 12
const BOLD = 1.1
const NARROWEST_CHART = 440
const EMPTY_WIDTH = 380
const PADDING = 12
const MIN_PLOT_WIDTH = 160

interface Title {
  readonly text: string | readonly string[]
  readonly subtitle?: readonly string[]
  readonly fontSize: number
}

const CONFIG = {
  font: 'sans-serif',
  view: { stroke: null },
  axis: {
    gridColor: PALETTE.grid,
    domainColor: PALETTE.axis,
    tickColor: PALETTE.axis,
    labelColor: PALETTE.text,
    titleColor: PALETTE.text,
    titleFontWeight: 'normal',
    labelFontSize: 11,
    titleFontSize: 12,
    titlePadding: 8,
    labelFlush: false,
  },
  legend: {
    orient: 'top',
    direction: 'horizontal',
    labelFontSize: 12,
    labelLimit: 1000,
    titleFontWeight: 'normal',
    titleFontSize: 12,
    labelColor: PALETTE.text,
    offset: 10,
    columnPadding: 20,
  },
} as const

/** Returns an empty view for below the sentences that say why there is nothing. */
export function emptyView(width: number): SpecPart {
  return { width, height: 1, data: { values: [] }, mark: 'point' }
}

/** Returns a chart that looks like all the others; omissions stand below the subtitle. */
export function framedChart(
  { title, none = false, subtitle, omissions = [], width }: Heading,
  view: SpecPart,
): Chart {
  const widest = Math.max(width, NARROWEST_CHART)
  const sentences = [none || subtitle, omissions].flat().filter((sentence) => sentence !== false)
  const lines = sentences.flatMap((sentence) => brokenInto(sentence, widest / SUBTITLE_SIZE))
  const spec: VegaLiteSpec = {
    $schema: SCHEMA,
    background: 'white',
    padding: PADDING,
    title: {
      text: brokenInto(title, widest / (TITLE_SIZE * BOLD)),
      subtitle: lines,
      anchor: 'start',
      offset: 14,
      fontSize: TITLE_SIZE,
      color: PALETTE.title,
      subtitlePadding: 5,
      subtitleFontSize: SUBTITLE_SIZE,
      subtitleColor: PALETTE.softText,
      subtitleLineHeight: 16,
    },
    config: CONFIG,
    ...(none === false ? view : emptyView(Math.min(width, EMPTY_WIDTH))),
  }
  return new Chart(spec, { title, description: sentences.join(' ') })
}

/** Returns a framed chart whose plots have another width; its titles are broken into lines for `whole`. */
export function sizedSpec(spec: VegaLiteSpec, width: number, whole: number): VegaLiteSpec {
  const broken = (lines: string | readonly string[], size: number) =>
    brokenInto([lines].flat().join(' '), (whole - 4 * PADDING) / size)
  const sized = (view: SpecPart & { readonly title?: Title }): SpecPart => {
    const { title } = view
    return {
      ...view,
      ...(typeof view['width'] === 'number' && { width: Math.max(MIN_PLOT_WIDTH, width) }),
      ...(Array.isArray(view['vconcat']) && { vconcat: view['vconcat'].map(sized) }),
      ...(title && {
        title: {
          ...title,
          text: broken(title.text, title.fontSize * BOLD),
          ...(title.subtitle && { subtitle: broken(title.subtitle, SUBTITLE_SIZE) }),
        },
      }),
    }
  }
  return sized(spec as SpecPart) as VegaLiteSpec
}
