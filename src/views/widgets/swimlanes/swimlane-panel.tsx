import type { JSX } from 'preact'
import { tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, grouped } from '../../../core/words.ts'
import { textWidth } from '../../charts/text-width.ts'
import { timeScale } from '../../drawing/axis-scale.ts'
import { Figure } from '../../drawing/figure.tsx'
import { useInk } from '../../drawing/ink.ts'
import type { StretchUs } from '../../drawing/stretches.ts'
import { fittedText } from '../../drawing/text.ts'
import {
  type DrawnItems,
  drawnItems,
  type LanePlace,
  PANEL_HEAD,
  type Panel,
  type SwimlaneLayout,
  timeAcross,
  visitLine,
} from './swimlane-layout.ts'
import type { Message, SwimlaneSide, Visit } from './swimlane-model.ts'
import { type LaneItem, messageWords, sideWords, visitWords } from './swimlane-words.ts'

type GroupAttributes = JSX.SVGAttributes<SVGGElement>

interface VisitProps {
  readonly visit: Visit
  readonly y: number
  readonly x: (timeUs: number) => number
  readonly color: string
  readonly title: string
  /** Whether its name is written where there is room; where others are drawn over it there is none. */
  readonly hasName: boolean
  readonly attributes?: GroupAttributes
}

const NAME_SIZE = 10

/** A component at a request: thick where it works, underlined where that is critical. */
function VisitMark(props: VisitProps) {
  const { visit, y, x, color, title, hasName, attributes = {} } = props
  const ink = useInk()
  const { startUs, endUs, work, critical, name } = visit
  const bar = ([fromUs, toUs]: StretchUs) => ({
    x: round(x(fromUs)),
    width: Math.max(1, round(x(toUs) - x(fromUs))),
  })
  const room = x(endUs) - Math.max(0, x(startUs)) - 4
  const text = hasName ? fittedText(name, room, NAME_SIZE) : ''
  return (
    <g {...attributes}>
      <title>{title}</title>
      <rect {...bar([startUs, endUs])} y={y - 12} height="20" fill="transparent" />
      <rect {...bar([startUs, endUs])} y={y - 1} height="2" fill={color} opacity="0.75" />
      {work.map((stretch) => (
        <rect key={stretch[0]} {...bar(stretch)} y={y - 4} height="8" fill={color} />
      ))}
      {critical.map((stretch) => (
        <rect key={stretch[0]} {...bar(stretch)} y={y + 4} height="2.5" fill={ink.text} />
      ))}
      {text === '' ? null : (
        <text
          x={Math.max(0, x(startUs)) + 2}
          y={y - 7}
          font-size={NAME_SIZE}
          style={`fill:${ink.soft}`}
        >
          {text}
        </text>
      )}
    </g>
  )
}

interface MessageProps {
  readonly message: Message
  readonly from: readonly [x: number, y: number]
  readonly to: readonly [x: number, y: number]
  readonly title: string
  /** Whether it is drawn thin, as there are many. */
  readonly isThin?: boolean
  readonly attributes?: GroupAttributes
}

const ARROW = 5

/** A message on its way: a call is a line, a reply is dashed; dark on the critical path. */
function MessageMark(props: MessageProps) {
  const { message, from, to, title, isThin = false, attributes = {} } = props
  const ink = useInk()
  const head = isThin ? 0.6 * ARROW : ARROW
  const color = message.isCritical ? ink.text : ink.soft
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]]
  const length = Math.hypot(dx, dy) || 1
  const [ux, uy] = [dx / length, dy / length]
  const corner = (side: number) =>
    `${round(to[0] - head * ux - side * 0.5 * head * uy)},${round(to[1] - head * uy + side * 0.5 * head * ux)}`
  const line = { x1: round(from[0]), y1: round(from[1]), x2: round(to[0]), y2: round(to[1]) }
  return (
    <g {...attributes}>
      <title>{title}</title>
      <line {...line} stroke="transparent" stroke-width="7" />
      <line
        {...line}
        class="fd-lane-line"
        stroke={color}
        stroke-width={(message.isCritical ? 1.4 : 1) * (isThin ? 0.45 : 1)}
        stroke-dasharray={message.kind === 'reply' ? '3 2' : undefined}
      />
      <polygon points={`${round(to[0])},${round(to[1])} ${corner(1)} ${corner(-1)}`} fill={color} />
    </g>
  )
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

const LEGEND_ENTRIES = [
  { name: 'works', room: 84 },
  { name: 'waits', room: 80 },
  { name: 'call', room: 70 },
  { name: 'reply', room: 76 },
  { name: 'on the critical path', room: 156 },
] as const
const LEGEND = { width: 466, height: 18 }

/** Explains thick, thin, dashed and dark lines. */
export function SwimlaneLegend() {
  return (
    <Figure {...LEGEND} label="Legend" style="max-width:none">
      <LegendDrawing />
    </Figure>
  )
}

function LegendDrawing() {
  const ink = useInk()
  const color = ink.soft
  let left = 0
  const line = { x1: 0, x2: 24, y1: 9, y2: 9, stroke: ink.soft }
  return (
    <g font-size="11">
      {LEGEND_ENTRIES.map(({ name, room }) => {
        const x = left
        left += room
        return (
          <g key={name} transform={`translate(${x} 0)`}>
            {name === 'works' ? <rect width="24" y="4" height="8" fill={color} /> : null}
            {name === 'waits' ? <rect width="24" y="8" height="2" fill={color} /> : null}
            {name === 'call' ? <line {...line} /> : null}
            {name === 'reply' ? <line {...line} stroke-dasharray="3 2" /> : null}
            {name === 'on the critical path' ? (
              <rect width="24" y="8" height="2.5" fill={ink.text} />
            ) : null}
            <text x="30" y="13" style={`fill:${ink.soft}`}>
              {name}
            </text>
          </g>
        )
      })}
    </g>
  )
}

interface PanelProps {
  readonly layout: SwimlaneLayout
  readonly panel: Panel
  readonly side: SwimlaneSide
  /** Of the part that is drawn within the range; unique in the page. */
  readonly clip: string
  readonly attributesOf?: (item: LaneItem, words: string) => JSX.SVGAttributes<SVGGElement>
}

/** About how many pixels the text of a tick needs. */
const TICK = 76

/** One request on its lanes. */
export function SwimlanePanel({ layout, panel, side, clip, attributesOf }: PanelProps) {
  const ink = useInk()
  const { lanes, lanesHeight, range } = layout
  const { left, top, width, hasNames } = panel
  const x = timeAcross(range, width)
  const color = side.period === 'before' ? ink.before : ink.after
  const lineOf = (visit: number) => visitLine(layout, panel.side, visit)
  const drawn = drawnItems(side, { range, width, lineOf })
  const { title, choice, trace } = sideWords(side)
  const whole = [choice, trace].filter((part) => part !== '').join('; ')
  const detail = textWidth(whole, 11) <= width || choice === '' ? whole : choice
  return (
    <g transform={`translate(${left} ${top})`}>
      <rect x="0" y="5" width="10" height="10" fill={color} />
      <text x="15" y="14" font-weight="600" style={`fill:${ink.text}`}>
        {title}
      </text>
      <LeftOut {...{ drawn, width }} from={30 + 1.1 * textWidth(title, 12)} />
      <text x="0" y="30" font-size="11" style={`fill:${ink.soft}`}>
        <title>{tooltipText(`${choice} trace ${side.traceId}`.trim())}</title>
        {fittedText(detail, width, 11)}
      </text>
      <g transform={`translate(0 ${PANEL_HEAD})`}>
        {lanes.map((lane, i) => (
          <LaneBand key={i} {...{ lane, panel, isOdd: i % 2 === 1, hasNames }} />
        ))}
        <TimeGrid {...{ range, width }} height={lanesHeight} />
        <clipPath id={clip}>
          <rect x="-1" y="-4" width={width + 2} height={lanesHeight + 8} />
        </clipPath>
        <g clip-path={`url(#${clip})`}>
          <EndLine atUs={side.responseTimeUs} {...{ x, height: lanesHeight, color }} />
          {drawn.items.map((item) => {
            if (item.kind === 'visit') {
              const visit = side.visits[item.number] as (typeof side.visits)[number]
              const words = visitWords(visit)
              return (
                <VisitMark
                  key={`visit ${item.number}`}
                  {...{ visit, x, color, title: words }}
                  y={lineOf(item.number)}
                  hasName={!layout.folding.placeOf(panel.side, item.number).isShared}
                  attributes={attributesOf?.(item, words) ?? {}}
                />
              )
            }
            const message = side.messages[item.number] as (typeof side.messages)[number]
            const words = messageWords(message, side.visits)
            return (
              <MessageMark
                key={`message ${item.number}`}
                {...{ message, title: words, isThin: drawn.isDense }}
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
  readonly isOdd: boolean
  readonly hasNames: boolean
}

function LaneBand({ lane: { name, title, top, height }, panel, isOdd, hasNames }: BandProps) {
  const ink = useInk()
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
          <title>{tooltipText(title)}</title>
          {fittedText(name, names - 10, 12)}
        </text>
      ) : null}
    </g>
  )
}

/** How many messages are not drawn, where there are any, beside the panel's title. */
function LeftOut({
  drawn: { messages, leftOut },
  from,
  width,
}: {
  readonly drawn: DrawnItems
  readonly from: number
  readonly width: number
}) {
  const ink = useInk()
  if (leftOut === 0) return null
  const of = `${grouped(leftOut)} of ${counted(messages, 'message')}`
  const words = `${of} left out: they would lie upon those drawn`
  const shorter = [words, `${of} left out`, `${grouped(leftOut)} left out`]
  return (
    <text x={width} y="14" font-size="11" text-anchor="end" style={`fill:${ink.soft}`}>
      <title>{words}</title>
      {shorter.find((each) => textWidth(each, 11) <= width - from)}
    </text>
  )
}

interface GridProps {
  readonly range: StretchUs
  readonly width: number
  /** How far down the lines go; the times stand below. */
  readonly height: number
}

/** Lines through times, and the times. */
export function TimeGrid({ range, width, height }: GridProps) {
  const ink = useInk()
  const x = timeAcross(range, width)
  const { ticks } = timeScale(range, { ticks: Math.max(2, Math.floor(width / TICK)) })
  return (
    <g pointer-events="none">
      {ticks.map(({ value, text }) => (
        <g key={value}>
          <line x1={x(value)} x2={x(value)} y1="0" y2={height + 4} stroke={ink.line} />
          <text
            x={x(value)}
            y={height + 17}
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
  readonly height: number
  readonly color: string
}

/** Where the request was answered. */
function EndLine({ atUs, x, height, color }: EndProps) {
  return (
    <g>
      <title>{`answered after ${formatDuration(atUs)}`}</title>
      <line
        x1={x(atUs)}
        x2={x(atUs)}
        y1="-4"
        y2={height + 4}
        stroke={color}
        stroke-width="2"
        stroke-dasharray="1 3"
        stroke-linecap="round"
      />
    </g>
  )
}
