import type { AttentionGraph } from '../../../logs/attention/attention.ts'
import { featureText, VARIABLE_KINDS } from '../../../logs/features/features.ts'
import { textWidth } from '../../charts/text-width.ts'
import { PICTURE_INK } from '../../drawing/ink.ts'
import { GraphDrawing, graphLayout } from './graph-drawing.tsx'
import { nameText, scoreText } from './logs-words.ts'

const WIDTH = 640
const PADDING = 10
const HEAD = 26
const FONT_SIZE = 13

/** The best graph of events and the best of states, without anything to set. */
export function LogsPicture({ graphs }: { readonly graphs: readonly AttentionGraph[] }) {
  const ink = PICTURE_INK
  const best = VARIABLE_KINDS.flatMap((kind) => graphs.find((graph) => graph.kind === kind) ?? [])
  let y = PADDING
  const parts = best.map((graph) => {
    const layout = graphLayout(graph)
    const part = { graph, layout, y, title: titleOf(graph) }
    y += HEAD + layout.height + PADDING
    return part
  })
  const width = parts.reduce(
    (widest, { layout, title }) =>
      Math.max(widest, layout.width, textWidth(title, FONT_SIZE) * BOLD),
    WIDTH,
  )
  const size = { width: Math.ceil(width + 2 * PADDING), height: Math.ceil(y) }
  return (
    <svg
      {...{ ...size, viewBox: `0 0 ${size.width} ${size.height}` }}
      {...{ 'font-size': '12', 'font-family': 'system-ui, sans-serif' }}
    >
      <title>Logs</title>
      <rect {...{ ...size, fill: ink.back }} />
      {parts.map(({ graph, layout, y: top, title }) => (
        <g key={graph.kind} transform={`translate(${PADDING} ${top})`}>
          <text y="14" font-size={FONT_SIZE} font-weight="600" style={`fill:${ink.text}`}>
            {title}
          </text>
          <g transform={`translate(0 ${HEAD})`}>
            <GraphDrawing {...{ graph, layout, ink }} />
          </g>
        </g>
      ))}
    </svg>
  )
}

/** How much wider bold letters are. */
const BOLD = 1.1

function titleOf({ metric, kind, featureType, score }: AttentionGraph): string {
  return `What ${nameText(metric)} depends on: ${kind}s by ${featureText(featureType)} (score ${scoreText(score)})`
}
