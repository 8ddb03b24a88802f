import type { JSX } from 'preact'
import { textWidth } from '../../charts/text-width.ts'
import { tooltipText } from '../../shown-text.ts'
import { formatDuration } from '../../units.ts'
import { timeScale } from '../drawing/axis-scale.ts'
import { fittedText } from '../drawing/fitted-text.ts'
import type { Ink } from '../drawing/ink.ts'
import { MessageMark, VisitMark } from './swimlane-items.tsx'
import {
  type LanePlace,
  PANEL_HEAD,
  type Panel,
  type SwimlaneLayout,
  timeAcross,
  trackLine,
} from './swimlane-layout.ts'
import type { SwimlaneSide } from './swimlane-model.ts'
import {
  itemsInOrder,
  type LaneItem,
  messageWords,
  sideWords,
  visitWords,
} from './swimlane-words.ts'

interface Shown {
  readonly layout: SwimlaneLayout
  readonly panel: Panel
  readonly side: SwimlaneSide
  readonly ink: Ink
  /** Of the part that is drawn within the range; unique in the page. */
  readonly clip: string
  readonly attributesOf?: (item: LaneItem, words: string) => JSX.SVGAttributes<SVGGElement>
}

/** About how many pixels the text of a tick needs. */
const TICK = 76

/** One request on its lanes. */
export function SwimlanePanel({ layout, panel, side, ink, clip, attributesOf }: Shown) {
  const { lanes, lanesHeight, range } = layout
  const { left, top, width, hasNames } = panel
  const x = timeAcross(range, width)
  const colour = side.period === 'before' ? ink.before : ink.after
  const laneOf = new Map(lanes.map((lane) => [lane.name, lane]))
  const lineOf = (visit: number) =>
    trackLine(laneOf.get(side.visits[visit]?.lane ?? '') as LanePlace, side.tracks[visit] as number)
  const { title, choice, trace } = sideWords(side)
  const isSeen = (fromUs: number, toUs: number) => toUs >= range[0] && fromUs <= range[1]
  const whole = [choice, trace].filter((part) => part !== '').join('; ')
  const detail = textWidth(whole, 11) <= width || choice === '' ? whole : choice
  return (
    <g transform={`translate(${left} ${top})`}>
      <rect x="0" y="5" width="10" height="10" fill={colour} />
      <text x="15" y="14" font-weight="600" style={`fill:${ink.text}`}>
        {title}
      </text>
      <text x="0" y="30" font-size="11" style={`fill:${ink.soft}`}>
        <title>{tooltipText(`${choice} trace ${side.traceId}`.trim())}</title>
        {fittedText(detail, width, 11)}
      </text>
      <g transform={`translate(0 ${PANEL_HEAD})`}>
        {lanes.map((lane, i) => (
          <LaneBand key={lane.name} {...{ lane, panel, ink, isOdd: i % 2 === 1, hasNames }} />
        ))}
        <TimeGrid {...{ layout, width, x, ink }} />
        <clipPath id={clip}>
          <rect x="-1" y="-4" width={width + 2} height={lanesHeight + 8} />
        </clipPath>
        <g clip-path={`url(#${clip})`}>
          <EndLine atUs={side.responseTimeUs} {...{ x, width, height: lanesHeight, colour, ink }} />
          {itemsInOrder(side).map((item) => {
            if (item.kind === 'visit') {
              const visit = side.visits[item.number] as (typeof side.visits)[number]
              if (!isSeen(visit.startUs, visit.endUs)) return null
              const words = visitWords(visit)
              return (
                <VisitMark
                  key={`visit ${item.number}`}
                  {...{ visit, x, colour, ink, title: words }}
                  y={lineOf(item.number)}
                  attributes={attributesOf?.(item, words) ?? {}}
                />
              )
            }
            const message = side.messages[item.number] as (typeof side.messages)[number]
            if (!isSeen(message.sentUs, message.arrivedUs)) return null
            const words = messageWords(message, side.visits)
            return (
              <MessageMark
                key={`message ${item.number}`}
                {...{ message, ink, title: words }}
                from={[x(message.sentUs), lineOf(message.from)]}
                to={[x(message.arrivedUs), lineOf(message.to)]}
                attributes={attributesOf?.(item, words) ?? {}}
              />
            )
          })}
        </g>
      </g>
    </g>
  )
}

interface BandProps {
  readonly lane: LanePlace
  readonly panel: Panel
  readonly ink: Ink
  readonly isOdd: boolean
  readonly hasNames: boolean
}

function LaneBand({ lane: { name, top, height }, panel, ink, isOdd, hasNames }: BandProps) {
  const names = hasNames ? panel.left : 0
  return (
    <g>
      <rect
        x={-names}
        y={top}
        width={panel.width + names}
        height={height}
        fill={isOdd ? ink.raised : 'none'}
        pointer-events="none"
      />
      {hasNames ? (
        <text x={-names + 4} y={top + height / 2 + 4} style={`fill:${ink.text}`}>
          <title>{tooltipText(name)}</title>
          {fittedText(name, names - 10, 12)}
        </text>
      ) : null}
    </g>
  )
}

interface GridProps {
  readonly layout: SwimlaneLayout
  readonly width: number
  readonly x: (timeUs: number) => number
  readonly ink: Ink
}

function TimeGrid({ layout: { range, lanesHeight }, width, x, ink }: GridProps) {
  const { ticks } = timeScale(range, { ticks: Math.max(2, Math.floor(width / TICK)) })
  return (
    <g pointer-events="none">
      {ticks.map(({ value, text }) => (
        <g key={value}>
          <line x1={x(value)} x2={x(value)} y1="0" y2={lanesHeight + 4} stroke={ink.line} />
          <text
            x={x(value)}
            y={lanesHeight + 17}
            font-size="11"
            text-anchor={x(value) > width - 18 ? 'end' : x(value) < 18 ? 'start' : 'middle'}
            style={`fill:${ink.soft}`}
          >
            {text}
          </text>
        </g>
      ))}
    </g>
  )
}

interface EndProps {
  readonly atUs: number
  readonly x: (timeUs: number) => number
  readonly width: number
  readonly height: number
  readonly colour: string
  readonly ink: Ink
}

/** Where the request was answered. */
function EndLine({ atUs, x, height, colour }: EndProps) {
  return (
    <g>
      <title>{`answered after ${formatDuration(atUs)}`}</title>
      <line
        x1={x(atUs)}
        x2={x(atUs)}
        y1="-4"
        y2={height + 4}
        stroke={colour}
        stroke-width="2"
        stroke-dasharray="1 3"
        stroke-linecap="round"
      />
    </g>
  )
}
