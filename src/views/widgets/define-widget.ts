import { type FunctionComponent, h, render } from 'preact'
import { useState } from 'preact/hooks'
import {
  type OptionsOf,
  type OptionTable,
  optionalText,
  optionsCode,
  readOptions,
} from '../../core/options.ts'
import type { Palette } from '../drawing/figure.tsx'
import { schemeOfWidget, watchScheme } from '../page/color-scheme.ts'
import type { Scheme } from '../page/palette.ts'

export interface WidgetCall {
  /** Name of the stage, such as `comparison`. */
  readonly name: string
  /** The kind given to `explore`; `null` where the stage shows it anyway. */
  readonly kind: string | null
}

export interface ViewProps<Data, Options> {
  readonly data: Data
  /** The options that it begins with. */
  readonly options: Options
  readonly call: WidgetCall
}

/** All there is to know about a widget; see `src/views/widgets/README.md`. */
export interface WidgetDefinition<Stage, Table extends OptionTable, Data> {
  /** Entry in the page runtime; the style is scoped to `.fd-NAME`. */
  readonly name: string
  readonly title: string | ((data: Data, options: OptionsOf<Table>) => string)
  /** Says in one sentence what there is to see and to do. */
  readonly description: (data: Data, options: OptionsOf<Table>) => string
  /** Options, and with them the state that is written back as code. */
  readonly options: Table
  /** Returns the data for the view: plain data that survives JSON. */
  readonly data: (stage: Stage, options: OptionsOf<Table>) => Data
  /** Options as the page starts with them, where those given name things of the stage. */
  readonly initial?: (stage: Stage, options: OptionsOf<Table>) => OptionsOf<Table>
  /** Draws the data: in the page, and in Node for the still. */
  readonly view: FunctionComponent<ViewProps<Data, OptionsOf<Table>>>
  /** CSS rules, each scoped to the widget. */
  readonly style?: string
  /** Further colors of the widget, besides `INK`. */
  readonly palettes?: readonly Palette[]
  /** Whether it draws Vega-Lite charts, so that its page carries their runtime. */
  readonly hasCharts?: boolean
}

/** A definition whatever its stage. */
// biome-ignore lint/suspicious/noExplicitAny: only a definition itself knows its types.
export type AnyWidget = WidgetDefinition<any, any, any>
// biome-ignore lint/suspicious/noExplicitAny: as above.
export type AnyProps = ViewProps<any, any>

/** Defines a widget in one place; see `src/views/widgets/README.md`. */
export function defineWidget<Stage, Table extends OptionTable, Data>(
  definition: WidgetDefinition<Stage, Table, Data>,
): WidgetDefinition<Stage, Table, Data> {
  return definition
}

/** The class of the element that stands in the page for a widget, with the widget as its shadow. */
const WIDGET_HOST = 'flowdelta-host'

let widgetStyle: CSSStyleSheet | undefined

/** Makes `next` the style of the widgets that are drawn from now on. */
export function setWidgetStyle(next: CSSStyleSheet): void {
  widgetStyle = next
}

/**
 * Draws a widget in place of an element's content in this page. It is drawn into a shadow root, which no style of the
 * page reaches: front ends of notebooks style every table and summary.
 */
export function drawWidget({ name, view }: AnyWidget, props: AnyProps, place: HTMLElement): void {
  const host = document.createElement('div')
  host.className = WIDGET_HOST
  const shadow = host.attachShadow({ mode: 'open' })
  if (widgetStyle !== undefined) shadow.adoptedStyleSheets = [widgetStyle]
  const live = document.createElement('div')
  live.className = `flowdelta fd-${name}`
  shadow.append(live)
  const paint = (scheme: Scheme) => {
    host.dataset['scheme'] = scheme
  }
  paint(schemeOfWidget(place))
  watchScheme(place, paint, schemeOfWidget)
  render(h(view, props), live)
  place.replaceChildren(host)
}

export const STAGE_NAME = optionalText('Name of the stage in the line of code')

export const TRACE_URL = optionalText(
  'Where traces are shown: jaeger=http://localhost:16686, or an address with {traceId}',
)

/** Keeps a widget's state: its options, how to change them, and the code that shows it again. */
export function useWidgetOptions<Table extends OptionTable>(
  table: Table,
  { options: initial, call }: Pick<ViewProps<unknown, OptionsOf<Table>>, 'options' | 'call'>,
) {
  const [options, setOptions] = useState(initial)
  return {
    options,
    change: (changes: Partial<OptionsOf<Table>>) => setOptions((now) => ({ ...now, ...changes })),
    code: exploreCode(table, options, call),
  }
}

/** Returns the call of `explore` that shows a state; `more` are options given as code. */
export function exploreCode<Table extends OptionTable>(
  { name: _, ...table }: Table,
  options: Partial<OptionsOf<Table>>,
  { name, kind }: WidgetCall,
  more: readonly string[] = [],
): string {
  const given = [optionsCode(table, options).slice(2, -2), ...more].filter((part) => part !== '')
  const parts = [
    name,
    ...(kind === null ? [] : [`'${kind}'`]),
    ...(given.length === 0 ? [] : [`{ ${given.join(', ')} }`]),
  ]
  return `explore(${parts.join(', ')})`
}

export function widgetProps<Stage, Table extends OptionTable, Data>(
  definition: WidgetDefinition<Stage, Table, Data>,
  stage: Stage,
  given: Partial<OptionsOf<Table>>,
  call: WidgetCall,
): ViewProps<Data, OptionsOf<Table>> {
  const read = readOptions(definition.options, given)
  return {
    data: definition.data(stage, read),
    options: definition.initial?.(stage, read) ?? read,
    call: { ...call, name: String(read['name'] ?? call.name) },
  }
}
