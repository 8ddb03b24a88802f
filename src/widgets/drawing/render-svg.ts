import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'

/** An `<svg>` of the views as a document of its own. */
export function renderSvg(svg: VNode): string {
  const text = renderToString(svg)
  return text.includes('xmlns=')
    ? text
    : text.replace('<svg', '<svg xmlns="http://www.w3.org/2000/svg"')
}
