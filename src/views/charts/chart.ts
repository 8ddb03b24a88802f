import { base64OfText } from '../../core/base64.ts'
import { Displayable, type MimeBundle } from '../../core/display.ts'
import { escapeHtml } from '../../core/escape.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import { pageData } from '../page/page-data.ts'
import { pagePromise, RUNTIME_MARKS } from '../page/page-promise.ts'
import { renderSvg, type VegaLiteSpec } from './svg-renderer.ts'

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

/** What {@link chartHtml} puts together. */
export interface ChartParts {
  readonly spec: VegaLiteSpec
  readonly svg: string
  readonly title: string
  readonly description: string
}

/**
 * A chart as HTML: a picture that needs no script, and a script that replaces it with the
 * interactive chart once the page runtime is there.
 */
export function chartHtml({ spec, svg, title, description }: ChartParts): string {
  const data = pageData(spec)
  const id = fingerprint(data)
  const alt = escapeHtml(`${title}. ${description}`)
  const picture = `<img src="data:image/svg+xml;base64,${base64OfText(bareSvg(svg))}" alt="${alt}" style="max-width:100%">`
  const upgrade = `${pagePromise('charts')}.then((page)=>page.showChart("${id}",${data}))`
  return `<div ${RUNTIME_MARKS.charts}="${id}" style="overflow-x:auto">${picture}</div><script type="module">${upgrade}</script>`
}

const GEOMETRY = /( (?:d|transform|x|y|x1|x2|y1|y2|width|height)=")([^"]*)/g

/**
 * An SVG as a picture that is described around it: without words for readers of each of its marks,
 * and with places to a hundredth of a pixel. About a third smaller.
 */
export function bareSvg(svg: string): string {
  return svg
    .replace(/ (?:aria-[a-z]+|role)="[^"]*"/g, '')
    .replace(
      GEOMETRY,
      (_, name: string, value: string) => name + value.replace(/(\.\d\d)\d+/g, '$1'),
    )
}
