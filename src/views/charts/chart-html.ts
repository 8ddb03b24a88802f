import { base64OfText } from '../../core/base64.ts'
import { escapeHtml } from '../../core/escape.ts'
import { fingerprint } from '../../core/fingerprint.ts'
import { pageData } from '../page/page-data.ts'
import { pagePromise, RUNTIME_MARKS } from '../page/page-promise.ts'
import { bareSvg } from './bare-svg.ts'
import type { VegaLiteSpec } from './vega-lite-spec.ts'

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
