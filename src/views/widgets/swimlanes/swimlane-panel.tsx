import { scaleLinear } from 'd3-scale'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { counted, formatDuration, grouped, shortText, tooltipText } from '../../../core/words.ts'
import { useStops } from '../../drawing/controls.tsx'
import { Text, useInk, useIsStill } from '../../drawing/figure.tsx'
import { fittedText, textWidth } from '../../drawing/text.ts'
import {
  lengthUs,
  roundedRange,
  type StretchUs,
  TimeGrid,
  ZoomArea,
} from '../../drawing/time-range.tsx'
import {
  type DrawnItems,
  drawnItems,
  type LaneItem,
  PANEL_HEAD,
  type Panel,
  type SwimlaneLayout,
} from './swimlane-layout.ts'
import type { Message, SwimlaneSide, Visit } from './swimlane-model.ts'

interface PanelProps {
  readonly layout: SwimlaneLayout
  readonly panel: Panel
  readonly side: SwimlaneSide
  readonly onWords: (words: string) => void
  readonly onRange: (range: StretchUs | null) => void
}

export function SwimlanePanel({ layout, panel, side, onWords, onRange }: PanelProps) {
  const ink = useInk()
  const isStill = useIsStill()
  const [reached, setReached] = useState('')
  const { lanesHeight, range, placeOf } = layout
  const { left, top, width } = panel
  const { period, responseTimeUs, choice, traceId } = side
  const x = scaleLinear(range, [0, width])
  const color = period === 'before' ? ink.before : ink.after
  const drawn = drawnItems(side, layout, width)
  const { items } = drawn
  const keys = items.map(({ key }) => key)
  const { stopAt } = useStops(keys, reached, setReached)
  const attributesOf = (item: LaneItem, words: string) => {
    const stop = stopAt(item.key, {
      ArrowDown: undefined,
      ArrowUp: undefined,
      z: () => onRange(rangeAround(item)),
      Escape: () => onRange(null),
    })
    return {
      ...stop,
      class: 'fd-lane-item',
      role: 'treeitem',
      'aria-level': 1,
      'aria-selected': stop.tabindex === 0,
      'aria-label': words,
      'data-item': `${panel.side} ${item.key}`,
      onMouseEnter: () => onWords(words),
      onFocus: () => {
        onWords(words)
        setReached(item.key)
      },
    } as JSX.SVGAttributes<SVGGElement>
  }
  const title = `${period}: ${formatDuration(responseTimeUs)}`
  const trace = `trace ${shortText(traceId, 36)}`
  const details = choice === 'chosen' ? [trace] : [`${choice}; ${trace}`, choice]
  const detail = details.find((each) => textWidth(each, 11) <= width) ?? details.at(-1) ?? ''
  return (
    <g role="tree" aria-label={`Request ${period}`} transform={`translate(${left} ${top})`}>
      <rect x="0" y="5" width="10" height="10" fill={color} />
      <Text x="15" y="14" font-weight="600">
        {title}
      </Text>
      <LeftOut {...{ drawn, width }} from={30 + 1.1 * textWidth(title, 12)} />
      <Text color="soft" x="0" y="30" size={11}>
        <title>{tooltipText(`${choice} trace ${traceId}`)}</title>
        {fittedText(detail, width, 11)}
      </Text>
      <g transform={`translate(0 ${PANEL_HEAD})`}>
        <LaneBands {...{ layout, panel }} />
        {isStill ? null : <ZoomArea {...{ range, width, onRange }} height={lanesHeight + 20} />}
        <TimeGrid {...{ range, width }} lines={[0, lanesHeight + 4]} textY={lanesHeight + 17} />
        {/* biome-ignore lint/a11y/noSvgWithoutTitle: only cuts off what is beyond the lanes. */}
        <svg
          x="-1"
          y="-4"
          width={width + 2}
          height={lanesHeight + 8}
          viewBox={`-1 -4 ${width + 2} ${lanesHeight + 8}`}
          pointer-events="none"
        >
          <line
            x1={x(responseTimeUs)}
            x2={x(responseTimeUs)}
            y1="-4"
            y2={lanesHeight + 4}
            stroke={color}
            stroke-width="2"
            stroke-dasharray="1 3"
            stroke-linecap="round"
            pointer-events="auto"
          >
            <title>{`answered after ${formatDuration(responseTimeUs)}`}</title>
          </line>
          {items.map((item) => {
            const words = itemWords(item)
            return (
              <g
                key={item.key}
                pointer-events="auto"
                {...(isStill ? {} : attributesOf(item, words))}
              >
                <title>{words}</title>
                {'visit' in item ? (
                  <VisitMark {...{ visit: item.visit, x, color }} {...placeOf(item.visit)} />
                ) : (
                  <MessageMark
                    {...{ message: item.message, isThin: drawn.isDense }}
                    from={[x(item.startUs), placeOf(item.from).y]}
                    to={[x(item.endUs), placeOf(item.to).y]}
                  />
                )}
              </g>
            )
          })}
        </svg>
      </g>
    </g>
  )
}

function rangeAround({ startUs, endUs }: LaneItem): StretchUs {
  const aroundUs = Math.max(0.05 * (endUs - startUs), 0.5)
  return roundedRange([Math.max(0, startUs - aroundUs), endUs + aroundUs])
}

export function itemWords(item: LaneItem): string {
  if ('visit' in item) {
    const { lane, name, startUs, endUs, work } = item.visit
    const workedUs = lengthUs(work)
    return (
      `${tooltipText(lane)}, ${tooltipText(name)}: ${formatDuration(endUs - startUs)} from ` +
      `${formatDuration(startUs)} on, of which it worked ${formatDuration(workedUs)} and waited ` +
      formatDuration(Math.max(0, endUs - startUs - workedUs))
    )
  }
  const { kind, name, sentUs, arrivedUs, isCritical } = item.message
  const wayUs = arrivedUs - sentUs
  return (
    `${kind === 'call' ? 'Call' : 'Reply'} ${tooltipText(name)} from ` +
    `${tooltipText(item.from.lane)} to ${tooltipText(item.to.lane)}: ` +
    `sent at ${formatDuration(sentUs)}, ` +
    (wayUs > 0 ? `${formatDuration(wayUs)} on the way` : 'no time on the way recorded') +
    (isCritical ? '; on the critical path' : '')
  )
}

interface VisitProps {
  readonly visit: Visit
  readonly y: number
  readonly x: (timeUs: number) => number
  readonly color: string
  readonly isShared: boolean
}

const NAME_SIZE = 10

function VisitMark({ visit, y, x, color, isShared }: VisitProps) {
  const ink = useInk()
  const { startUs, endUs, work, critical, name } = visit
  const bar = ([fromUs, toUs]: StretchUs) => ({
    x: round(x(fromUs)),
    width: Math.max(1, round(x(toUs) - x(fromUs))),
  })
  const whole = bar([startUs, endUs])
  const left = Math.max(0, x(startUs))
  const text = isShared ? '' : fittedText(name, x(endUs) - left - 4, NAME_SIZE)
  return (
    <>
      <rect {...whole} y={y - 12} height="20" fill="transparent" />
      <rect {...whole} y={y - 1} height="2" fill={color} opacity="0.75" />
      {work.map((stretch) => (
        <rect key={stretch[0]} {...bar(stretch)} y={y - 4} height="8" fill={color} />
      ))}
      {critical.map((stretch) => (
        <rect key={stretch[0]} {...bar(stretch)} y={y + 4} height="2.5" fill={ink.text} />
      ))}
      {text === '' ? null : (
        <Text color="soft" x={left + 2} y={y - 7} size={NAME_SIZE}>
          {text}
        </Text>
      )}
    </>
  )
}

interface MessageProps {
  readonly message: Message
  readonly from: readonly [x: number, y: number]
  readonly to: readonly [x: number, y: number]
  readonly isThin: boolean
}

/** Draws a message on its way: a call is a line, a reply is dashed; dark on the critical path. */
function MessageMark({ message: { kind, isCritical }, from, to, isThin }: MessageProps) {
  const ink = useInk()
  const head = isThin ? 3 : 5
  const color = isCritical ? ink.text : ink.soft
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]]
  const angle = (Math.atan2(dy, dx) * 180) / Math.PI
  const line = { x1: round(from[0]), y1: round(from[1]), x2: round(to[0]), y2: round(to[1]) }
  return (
    <>
      <line {...line} stroke="transparent" stroke-width="7" />
      <line
        {...line}
        class="fd-lane-line"
        stroke={color}
        stroke-width={(isCritical ? 1.4 : 1) * (isThin ? 0.45 : 1)}
        stroke-dasharray={kind === 'reply' ? '3 2' : undefined}
      />
      <path
        d={`M0 0l${-head} ${head / 2}v${-head}z`}
        transform={`translate(${line.x2} ${line.y2}) rotate(${round(angle)})`}
        fill={color}
      />
    </>
  )
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

function LaneBands({
  layout: { lanes },
  panel: { width, names },
}: Pick<PanelProps, 'layout' | 'panel'>) {
  const ink = useInk()
  return (
    <>
      {lanes.map(({ name, title, top, height }, i) => (
        <g key={i}>
          <rect
            x={-names}
            y={top}
            width={width + names}
            height={height}
            fill={i % 2 === 1 ? ink.raised : 'none'}
            pointer-events="none"
          />
          {names === 0 ? null : (
            <Text x={4 - names} y={top + height / 2 + 4}>
              <title>{tooltipText(title)}</title>
              {fittedText(name, names - 10, 12)}
            </Text>
          )}
        </g>
      ))}
    </>
  )
}

function LeftOut({ drawn, from, width }: { drawn: DrawnItems; from: number; width: number }) {
  const { messages, leftOut } = drawn
  if (leftOut === 0) return null
  const of = `${grouped(leftOut)} of ${counted(messages, 'message')}`
  const words = `${of} left out: they would overlap those drawn`
  const shorter = [words, `${of} left out`, `${grouped(leftOut)} left out`]
  return (
    <Text color="soft" x={width} y="14" size={11} anchor="end">
      <title>{words}</title>
      {shorter.find((each) => textWidth(each, 11) <= width - from)}
    </Text>
  )
}
