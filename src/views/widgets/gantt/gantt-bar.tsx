import { scaleLinear } from 'd3-scale'
import { tooltipText } from '../../../core/words.ts'
import { useInk } from '../../drawing/figure.tsx'
import { type StretchUs, TimeGrid } from '../../drawing/time-range.tsx'
import type { GanttRow } from './gantt-model.ts'

export const ROW = 22

/** Hollow: nothing is known to work. */
export const ON_THE_WAY = { 'fill-opacity': 0, 'stroke-width': 1.5, 'stroke-dasharray': '3 2' }

interface BarProps {
  readonly row: GanttRow
  readonly range: StretchUs
  readonly width: number
  readonly color: string
}

/**
 * Draws a call in time: thick at work, hollow on the way to its callee, thin waiting, underlined on the critical path,
 * pale if folded.
 */
export function Bar({ row: { call, isFolded, critical }, range, width, color }: BarProps) {
  const ink = useInk()
  const x = scaleLinear(range, [0, width]).clamp(true)
  const across = (key: string, stretches: readonly StretchUs[], look: object) =>
    stretches
      .filter(([startUs, endUs]) => endUs >= range[0] && startUs <= range[1])
      .map(([startUs, endUs]) => (
        <rect
          key={`${key} ${startUs}`}
          x={x(startUs).toFixed(2)}
          width={(x(endUs) - x(startUs)).toFixed(2)}
          stroke-width="0.7"
          {...look}
        />
      ))
  const bar = { fill: color, stroke: color }
  const whole = isFolded ? { y: 4, height: 10, opacity: 0.4 } : { y: 8, height: 2, opacity: 0.75 }
  return (
    <g>
      <TimeGrid range={range} width={width} lines={[0, ROW]} />
      {across('whole', [[call.startUs, call.endUs]], { ...bar, ...whole })}
      {across('work', call.work, { ...bar, y: 4, height: 10, ...(call.isOnTheWay && ON_THE_WAY) })}
      {across('path', critical, { fill: ink.text, stroke: ink.text, y: 16, height: 3 })}
      {call.logs.flatMap(({ afterUs, isGrave, said }, i) => {
        const atUs = call.startUs + afterUs
        return atUs < range[0] || atUs > range[1]
          ? []
          : [<LogMark key={i} x={x(atUs)} isGrave={isGrave} title={said} />]
      })}
    </g>
  )
}

interface MarkProps {
  readonly x: number
  readonly isGrave: boolean
  readonly title?: string
}

export function LogMark({ x, isGrave, title = '' }: MarkProps) {
  const { change, text, back } = useInk()
  return (
    <circle cx={x.toFixed(2)} cy="4" r="3" fill={isGrave ? change : text} stroke={back}>
      {title === '' ? null : <title>{tooltipText(title)}</title>}
    </circle>
  )
}
