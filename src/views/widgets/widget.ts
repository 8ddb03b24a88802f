import { h, type VNode } from 'preact'
import { base64OfText } from '../../core/base64.ts'
import { Displayable, type MimeBundle } from '../../core/display.ts'
import { escapeHtml } from '../../core/escape.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import type { OptionsOf, OptionTable } from '../../core/options.ts'
import { renderStill } from '../drawing/render-still.tsx'
import { pageData } from '../page/page-data.ts'
import { pagePromise, RUNTIME_MARKS } from '../page/page-promise.ts'
import {
  type ViewProps,
  type WidgetCall,
  type WidgetDefinition,
  widgetProps,
} from './define-widget.ts'

/** What a widget is made of. */
export interface WidgetParts {
  /** Which of the runtime's views shows it. */
  readonly view: string
  readonly title: string
  /** Says in one sentence what there is to see and to do. */
  readonly description: string
  /** All that the view needs, as JSON. */
  readonly data: unknown
  /** Draws the widget for where no script runs: an SVG document. */
  readonly picture: () => string
  /** Whether its page needs the runtime of charts too. */
  readonly hasCharts?: boolean
}

/**
 * Something to explore: in a notebook or in a page it answers to the mouse and the keyboard,
 * without a kernel and without the network; where scripts do not run it is a picture, and anywhere
 * else text.
 */
export class Widget extends Displayable {
  readonly view: string
  readonly title: string
  readonly description: string
  readonly data: unknown
  readonly hasCharts: boolean
  readonly #picture: () => string
  #svg: string | undefined

  constructor({ view, title, description, data, picture, hasCharts = false }: WidgetParts) {
    super()
    this.view = view
    this.title = title
    this.description = description
    this.data = data
    this.hasCharts = hasCharts
    this.#picture = picture
  }

  /** The widget in its first state as an SVG document. */
  svg(): string {
    this.#svg ??= this.#picture()
    return this.#svg
  }

  displayText(): string {
    return `${this.title}\n${this.description}`
  }

  mimeBundle(): MimeBundle {
    const svg = this.svg()
    return {
      'text/plain': this.displayText(),
      'text/html': widgetHtml(this, svg),
      'image/svg+xml': svg,
    }
  }
}

/**
 * Makes a widget from its definition and a stage.
 *
 * @param call how `explore` was called, for the line of code
 * @throws OptionError for a value that an option cannot have, FlowdeltaError for an unknown option
 */
export function makeWidget<Stage, Table extends OptionTable, Data>(
  definition: WidgetDefinition<Stage, Table, Data>,
  stage: Stage,
  given: Partial<OptionsOf<Table>> = {},
  call: WidgetCall = { name: 'stage', kind: null },
): Widget {
  const props = widgetProps(definition, stage, given, call)
  const { data, options } = props
  const title =
    typeof definition.title === 'string' ? definition.title : definition.title(data, options)
  return new Widget({
    view: definition.name,
    title,
    description: definition.description(data, options),
    data: props,
    picture: () =>
      renderStill(h<ViewProps<Data, OptionsOf<Table>>>(definition.view, props) as VNode, title),
    hasCharts: definition.hasCharts ?? false,
  })
}

/** A picture that needs no script, and a script that replaces it once the runtime is there. */
function widgetHtml({ view, title, description, data, hasCharts }: Widget, svg: string): string {
  const packed = pageData(data)
  const id = fingerprint(view + packed)
  const alt = escapeHtml(`${title}. ${description}`)
  const picture = `<img src="data:image/svg+xml;base64,${base64OfText(svg)}" alt="${alt}" style="max-width:100%">`
  const upgrade = `${pagePromise('widgets')}.then((page)=>page.showWidget("${id}","${view}",${packed}))`
  const marks = hasCharts
    ? `${RUNTIME_MARKS.charts}="" ${RUNTIME_MARKS.widgets}`
    : RUNTIME_MARKS.widgets
  return `<div ${marks}="${id}">${picture}</div><script type="module">${upgrade}</script>`
}
