import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'

/** A tag with its attributes; values are in double quotes and have none inside. */
const TAG = /<[a-zA-Z][^\s>/]*(?:\s+[^\s=>/]+(?:="[^"]*")?)*\s*\/?>/g
const ATTRIBUTE = /(\s+[^\s=>/]+)(="[^"]*")?/g

/** An `<svg>` of the views as a document of its own. */
export function renderSvg(svg: VNode): string {
  const text = wellFormed(renderToString(svg))
  return text.includes('xmlns=')
    ? text
    : text.replace('<svg', '<svg xmlns="http://www.w3.org/2000/svg"')
}

/** HTML writes an empty attribute as its name alone, which XML does not know. */
function wellFormed(html: string): string {
  return html.replace(TAG, (tag) =>
    tag.replace(ATTRIBUTE, (_, name: string, value: string | undefined) => name + (value ?? '=""')),
  )
}
