import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { timeScale } from '../../drawing/axis-scale.ts'
import { fittedText } from '../../drawing/fitted-text.ts'
import { PICTURE_INK } from '../../drawing/ink.ts'
import { GANTT_ROW, GanttBar, GanttLegend, timePlace } from './gantt-list.tsx'
import type { GanttData } from './gantt-model.ts'
import { callMatches, callName, ganttRows } from './gantt-rows.ts'

const WIDTH = 760
const MARGIN = 10
const NAMES = 240
const TIMES = 64
const HEAD = 62
const INDENT = 10
const DEEPEST = 12
/** A picture is no place to look for the two hundredth call. */
const MOST_ROWS = 100

/** The Gantt chart in a state, without anything to unfold. */
export function GanttPicture({ data }: { readonly data: GanttData }) {
  const ink = PICTURE_INK
  const colour = data.period === 'before' ? ink.before : ink.after
  const all = ganttRows(data.calls, data.initial.collapsed)
  const rows = all.slice(0, MOST_ROWS)
  const range = data.initial.range ?? ([0, data.lengthUs] as const)
  const plot = { left: NAMES, width: WIDTH - NAMES - TIMES - 2 * MARGIN }
  const place = timePlace(range, { width: plot.width, unit: '', left: 0 })
  const bottom = HEAD + rows.length * GANTT_ROW
  const height = bottom + (all.length > rows.length ? 22 : 0) + MARGIN
  return (
    <svg
      width={WIDTH}
      height={height}
      viewBox={`0 0 ${WIDTH} ${height}`}
      font-size="12"
      font-family="system-ui, sans-serif"
    >
      <title>Trace in time</title>
      <rect width={WIDTH} height={height} fill={ink.back} />
      <text x={MARGIN} y="19" style={`fill:${ink.text}`}>
        {ganttHeading(data)}
      </text>
      <g transform={`translate(${MARGIN} 28)`}>
        <GanttLegend colour={colour} ink={ink} width={WIDTH} />
      </g>
      <g transform={`translate(${MARGIN + plot.left} 0)`}>
        {timeScale(range, { ticks: 6 }).ticks.map(({ value, text }) => (
          <g key={value}>
            <line
              x1={place.at(value)}
              x2={place.at(value)}
              y1={HEAD - 2}
              y2={bottom}
              stroke={ink.line}
            />
            <text x={place.at(value)} y={HEAD - 6} text-anchor="middle" style={`fill:${ink.soft}`}>
              {text}
            </text>
          </g>
        ))}
      </g>
      {rows.map(({ number, call, inner, isFolded, critical }, i) => {
        const indent = INDENT * Math.min(DEEPEST, call.depth)
        const isDim = data.initial.search !== '' && !callMatches(call, data.initial.search)
        const more = isFolded ? ` +${inner}` : ''
        return (
          <g
            key={number}
            transform={`translate(${MARGIN} ${HEAD + i * GANTT_ROW})`}
            opacity={isDim ? 0.4 : 1}
          >
            <title>{`${tooltipText(callName(call))}: ${formatDuration(call.endUs - call.startUs)}`}</title>
            <text x={indent} y="14" style={`fill:${ink.text}`}>
              {call.isError ? '✕ ' : ''}
              {fittedText(callName(call) + more, NAMES - indent - 22, 12)}
            </text>
            <g transform={`translate(${plot.left} 0)`}>
              <GanttBar {...{ call, critical, isFolded, range, place, colour, ink }} />
            </g>
            <text x={WIDTH - 2 * MARGIN} y="14" text-anchor="end" style={`fill:${ink.soft}`}>
              {formatDuration(call.endUs - call.startUs)}
            </text>
          </g>
        )
      })}
      {all.length > rows.length ? (
        <text x={MARGIN} y={bottom + 16} style={`fill:${ink.soft}`}>
          … and {all.length - rows.length} more rows.
        </text>
      ) : null}
    </svg>
  )
}

/** Which trace this is, in one line. */
export function ganttHeading({ traceId, period, calls, responseTimeUs }: GanttData): string {
  const where = period === null ? '' : ` (${period})`
  const calledTimes = `${calls.length} ${calls.length === 1 ? 'call' : 'calls'}`
  return `Trace ${shortText(traceId, 40)}${where}: ${formatDuration(responseTimeUs)}, ${calledTimes}`
}
