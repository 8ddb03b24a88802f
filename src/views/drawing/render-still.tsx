import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { fittedText } from '../charts/text-width.ts'
import { FONT, INK, type Medium, MediumContext, STILL_WIDTH, type StillPart } from './figure.tsx'

const MARGIN = 10
const GAP = 10
const TITLE = 24

/** Draws the marked parts of a view ({@link Figure} and its neighbors) as one SVG document. */
export function renderStill(view: VNode, title: string): string {
  const parts: StillPart[] = []
  const medium: Medium = { isStill: true, parts, width: STILL_WIDTH }
  renderToString(<MediumContext.Provider value={medium}>{view}</MediumContext.Provider>)
  const { width, height, content } = stacked(parts)
  const whole = {
    width: Math.max(STILL_WIDTH, width) + 2 * MARGIN,
    height: height + TITLE + 2 * MARGIN,
  }
  return renderSvg(
    <MediumContext.Provider value={{ ...medium, parts: null }}>
      <svg
        width={whole.width}
        height={whole.height}
        viewBox={`0 0 ${whole.width} ${whole.height}`}
        font-family={FONT}
        font-size="12"
      >
        <title>{title}</title>
        <rect width={whole.width} height={whole.height} fill={INK.light.back} />
        <text
          x={MARGIN}
          y={MARGIN + 14}
          font-size="15"
          font-weight="600"
          style={`fill:${INK.light.text}`}
        >
          {fittedText(title, whole.width - 2 * MARGIN, 16)}
        </text>
        <g transform={`translate(${MARGIN} ${MARGIN + TITLE})`}>{content}</g>
      </svg>
    </MediumContext.Provider>,
  )
}

function stacked(parts: readonly StillPart[], direction: 'row' | 'column' = 'column') {
  const isRow = direction === 'row'
  let [at, across] = [0, 0]
  const content = parts.map((part, i) => {
    const placed = 'parts' in part ? stacked(part.parts, part.direction) : part
    const start = at
    at += Math.ceil(isRow ? placed.width : placed.height) + GAP
    across = Math.max(across, Math.ceil(isRow ? placed.height : placed.width))
    return (
      <g key={i} transform={isRow ? `translate(${start} 0)` : `translate(0 ${start})`}>
        {'content' in placed ? placed.content : placed.children}
      </g>
    )
  })
  const along = Math.max(0, at - GAP)
  return { width: isRow ? along : across, height: isRow ? across : along, content }
}

const TAG = /<[a-zA-Z][^\s>/]*(?:\s+[^\s=>/]+(?:="[^"]*")?)*\s*\/?>/g
const ATTRIBUTE = /(\s+[^\s=>/]+)(="[^"]*")?/g

function renderSvg(svg: VNode): string {
  const text = wellFormed(renderToString(svg))
  return /^<svg[^>]* xmlns=/.test(text)
    ? text
    : text.replace('<svg', '<svg xmlns="http://www.w3.org/2000/svg"')
}

/** Makes HTML well-formed XML: HTML writes an empty attribute as its name alone, and leaves `]]>` in texts. */
function wellFormed(html: string): string {
  return html
    .replaceAll(']]>', ']]&gt;')
    .replace(TAG, (tag) =>
      tag.replace(
        ATTRIBUTE,
        (_, name: string, value: string | undefined) => name + (value ?? '=""'),
      ),
    )
}
