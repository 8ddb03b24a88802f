import { h, type VNode } from 'preact'
import type { MimeBundle } from '../../core/display.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import { Picture } from '../charts/chart.ts'
import { renderStill } from '../drawing/render-still.tsx'
import { pageData, pagePromise, RUNTIME_MARKS } from '../page/page-data.ts'
import { type AnyProps, type AnyWidget, drawWidget } from './define-widget.ts'

/**
 * Something to explore: in a notebook or in a page it answers to the mouse and the keyboard,
 * without a kernel and without the network; where scripts do not run it is a picture, and anywhere
 * else text.
 */
export class Widget extends Picture {
  /** View of the runtime that shows it. */
  readonly view: string
  /** All that the view needs, as JSON. */
  readonly data: unknown
  /** Whether its page needs the runtime of charts too. */
  readonly hasCharts: boolean
  readonly #definition: AnyWidget

  /** @internal */
  constructor(definition: AnyWidget, props: AnyProps) {
    const { data, options } = props
    const given = definition.title
    const title = typeof given === 'string' ? given : given(data, options)
    super(() => renderStill(h(definition.view, props) as VNode, title), {
      title,
      description: definition.description(data, options),
    })
    this.#definition = definition
    this.view = definition.name
    this.data = props
    this.hasCharts = definition.hasCharts ?? false
  }

  /**
   * Draws it, alive, into an element of this page.
   *
   * @internal
   */
  drawInto(place: HTMLElement): void {
    drawWidget(this.#definition, this.data as AnyProps, place)
  }

  mimeBundle(): MimeBundle {
    const svg = this.svg()
    const packed = pageData(this.data)
    const html = this.livingHtml(this.image(svg), packed, fingerprint(this.view + packed))
    return { 'text/plain': this.displayText(), 'text/html': html, 'image/svg+xml': svg }
  }

  /** Writes a still, and a script that replaces it once the page has the runtime. */
  livingHtml(still: string, packed: string, id: string): string {
    const upgrade = `${pagePromise('widgets')}.then((page)=>page.showWidget("${id}","${this.view}",${packed}))`
    const charts = this.hasCharts ? `${RUNTIME_MARKS.charts}="" ` : ''
    return `<div ${charts}${RUNTIME_MARKS.widgets}="${id}">${still}</div><script type="module">${upgrade}</script>`
  }
}
