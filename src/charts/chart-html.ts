import { base64OfText } from '../base64.ts'
import { escapeHtml, scriptJson } from '../escape.ts'
import { fingerprint } from '../fingerprint.ts'
import type { VegaLiteSpec } from './vega-lite-spec.ts'

/** What {@link chartHtml} puts together. */
export interface ChartParts {
  readonly spec: VegaLiteSpec
  readonly svg: string
  readonly title: string
  readonly description: string
}

/** Present in HTML that wants the page runtime: whoever shows it sends the runtime along once. */
export const PAGE_RUNTIME_MARK = 'data-flowdelta-chart'

/**
 * A promise in the page that the page runtime fulfils, whichever of the two comes first. Charts
 * that never get a runtime (scripts stripped, saved without) keep their picture.
 */
export const PAGE_PROMISE =
  'globalThis.flowdeltaPage??=(()=>{let ready;const page=new Promise((done)=>{ready=done});page.ready=ready;return page})()'

/**
 * A chart as HTML: a picture that needs no script, and a script that replaces it with the
 * interactive chart once the page runtime is there.
 */
export function chartHtml({ spec, svg, title, description }: ChartParts): string {
  const json = scriptJson(spec)
  const id = fingerprint(json)
  const alt = escapeHtml(`${title}. ${description}`)
  const picture = `<img src="data:image/svg+xml;base64,${base64OfText(svg)}" alt="${alt}" style="max-width:100%">`
  const upgrade = `${PAGE_PROMISE};globalThis.flowdeltaPage.then((page)=>page.showChart("${id}",${json}))`
  return `<div ${PAGE_RUNTIME_MARK}="${id}" style="overflow-x:auto">${picture}</div><script type="module">${upgrade}</script>`
}
