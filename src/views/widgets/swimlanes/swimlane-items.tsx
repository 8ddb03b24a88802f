import type { JSX } from 'preact'
import { fittedText } from '../../drawing/fitted-text.ts'
import type { Ink } from '../../drawing/ink.ts'
import type { StretchUs } from '../../drawing/stretches.ts'
import type { Message, Visit } from './swimlane-model.ts'

type GroupAttributes = JSX.SVGAttributes<SVGGElement>

interface VisitProps {
  readonly visit: Visit
  readonly y: number
  readonly x: (timeUs: number) => number
  readonly colour: string
  readonly ink: Ink
  readonly title: string
  /** Whether its name is written where there is room; where others are drawn over it there is none. */
  readonly hasName: boolean
  readonly attributes?: GroupAttributes
}

const NAME_SIZE = 10

/** A component at a request: thick where it works, underlined where that is critical. */
export function VisitMark(props: VisitProps) {
  const { visit, y, x, colour, ink, title, hasName, attributes = {} } = props
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
      <rect {...bar([startUs, endUs])} y={y - 1} height="2" fill={colour} opacity="0.75" />
      {work.map((stretch) => (
        <rect key={stretch[0]} {...bar(stretch)} y={y - 4} height="8" fill={colour} />
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
  readonly ink: Ink
  readonly title: string
  /** Whether it is drawn thin, as there are many. */
  readonly isThin?: boolean
  readonly attributes?: GroupAttributes
}

const ARROW = 5

/** A message on its way: a call is a line, a reply is dashed; dark on the critical path. */
export function MessageMark(props: MessageProps) {
  const { message, from, to, ink, title, isThin = false, attributes = {} } = props
  const head = isThin ? 0.6 * ARROW : ARROW
  const colour = message.isCritical ? ink.text : ink.soft
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
        stroke={colour}
        stroke-width={(message.isCritical ? 1.4 : 1) * (isThin ? 0.45 : 1)}
        stroke-dasharray={message.kind === 'reply' ? '3 2' : undefined}
      />
      <polygon
        points={`${round(to[0])},${round(to[1])} ${corner(1)} ${corner(-1)}`}
        fill={colour}
      />
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
export const SWIMLANE_LEGEND = { width: 466, height: 18 } as const

/** What thick, thin, dashed and dark mean. */
export function SwimlaneLegend({ ink, colour }: { readonly ink: Ink; readonly colour: string }) {
  let left = 0
  const line = { x1: 0, x2: 24, y1: 9, y2: 9, stroke: ink.soft }
  return (
    <g font-size="11">
      {LEGEND_ENTRIES.map(({ name, room }) => {
        const x = left
        left += room
        return (
          <g key={name} transform={`translate(${x} 0)`}>
            {name === 'works' ? <rect width="24" y="4" height="8" fill={colour} /> : null}
            {name === 'waits' ? <rect width="24" y="8" height="2" fill={colour} /> : null}
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
