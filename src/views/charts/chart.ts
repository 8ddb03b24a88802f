import { Displayable, type MimeBundle } from '../../core/display.ts'
import { chartHtml } from './chart-html.ts'
import { renderSvg } from './svg-renderer.ts'
import type { VegaLiteSpec } from './vega-lite-spec.ts'

/** The words of a chart, for readers who cannot see it and for text outputs. */
export interface ChartText {
  readonly title: string
  /** What the chart shows, in one sentence. */
  readonly description: string
}

/**
 * A Vega-Lite specification that shows itself: in a notebook as an interactive chart over a static
 * SVG, anywhere else as text.
 *
 * @example
 * new Chart(
 *   { data: { values: [{ a: 1 }] }, mark: 'bar', encoding: { x: { field: 'a', type: 'quantitative' } } },
 *   { title: 'One bar', description: 'A bar of length 1.' },
 * ).title // 'One bar'
 */
export class Chart extends Displayable {
  readonly title: string
  readonly description: string
  /** The plain Vega-Lite specification, to be copied or changed. */
  readonly spec: VegaLiteSpec
  #svg: string | undefined

  constructor(spec: VegaLiteSpec, { title, description }: ChartText) {
    super()
    this.spec = spec
    this.title = title
    this.description = description
  }

  /** The chart as an SVG document. Needs a renderer, which the Node entry point registers. */
  svg(): string {
    this.#svg ??= renderSvg({ description: this.description, ...this.spec })
    return this.#svg
  }

  displayText(): string {
    return `${this.title}\n${this.description}`
  }

  mimeBundle(): MimeBundle {
    const { title, description } = this
    const spec = { description, ...this.spec }
    const svg = this.svg()
    return {
      'text/plain': this.displayText(),
      'text/html': chartHtml({ spec, svg, title, description }),
      'image/svg+xml': svg,
      'application/vnd.vegalite.v5+json': spec,
    }
  }
}
