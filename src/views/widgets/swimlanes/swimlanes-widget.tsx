import { group, max, sort, sum } from 'd3-array'
import { scaleLinear } from 'd3-scale'
import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Comparison } from '../../../comparison/comparison.ts'
import { counted, formatDuration, grouped, shortText, tooltipText } from '../../../core/words.ts'
import { fittedText, textWidth } from '../../charts/text-width.ts'
import { Button, Choice, StateCode, useTreeMarks, useWidth } from '../../drawing/controls.tsx'
import { Caption, Figure, Text, useInk, useIsStill } from '../../drawing/figure.tsx'
import { Legend, marked } from '../../drawing/legend.tsx'
import {
  lengthUs,
  roundedRange,
  type StretchUs,
  TimeGrid,
  WorkBar,
  workLegend,
  ZOOM_STYLE,
  ZoomArea,
} from '../../drawing/time-range.tsx'
import { defineWidget, useWidgetOptions, type ViewProps } from '../define-widget.ts'
import {
  type Message,
  type PlacedVisit,
  SWIMLANE_OPTIONS,
  type SwimlaneData,
  type SwimlaneOptions,
  type SwimlaneSide,
  shownRequests,
  swimlaneData,
  type Visit,
} from './swimlane-model.ts'

/** Most lines of one request in sight together. */
export const MAX_TRACKS = 16
/** Most simultaneous visits of one component with a line of their own, if there are too many. */
const MAX_AT_ONCE = 5

/** Returns the lanes that stay: the first one, and those with most work on critical paths. */
function keptLanes({ sides, lanes }: Pick<SwimlaneData, 'sides' | 'lanes'>): SwimlaneData['lanes'] {
  // Work that nobody waits for only ranks lanes that nobody waits for at all.
  const weight = ({ critical, work }: Visit) => lengthUs(critical) + 1e-6 * lengthUs(work)
  const weightIn =
    (name: string) =>
    ({ visits }: Pick<SwimlaneSide, 'visits'>) =>
      sum(visits, (visit) => (visit.lane === name ? weight(visit) : 0))
  const [first, ...others] = lanes
  const byWeight = sort(others, ({ name }) => -(max(sides, weightIn(name)) ?? 0))
  const kept = new Set<unknown>()
  let left = MAX_TRACKS
  for (const lane of first === undefined ? [] : [first, ...byWeight]) {
    const isLast = kept.size === lanes.length - 1
    const size = Math.min(lane.tracks, MAX_AT_ONCE)
    if (size > left - (isLast ? 0 : 1)) continue
    kept.add(lane)
    left -= size
  }
  return lanes.filter((lane) => kept.has(lane))
}

type SwimlaneLayout = ReturnType<typeof swimlaneLayout>

const TRACK = 24
const PANEL_HEAD = 40
const PANEL_FOOT = 24
const GAP = 14
const LANE_PADDING = 6
const RIGHT = 14

/** Places the panels; folded, lanes that matter least are one, and crowded visits share a line. */
export function swimlaneLayout(
  { sides, lanes, lengthUs: end }: SwimlaneData,
  { arrangement, range, folded }: Pick<SwimlaneOptions, 'arrangement' | 'range' | 'folded'>,
  width: number,
) {
  const isLong = sum(lanes, ({ tracks }) => tracks) > MAX_TRACKS
  const limit = isLong && folded ? MAX_AT_ONCE : Number.POSITIVE_INFINITY
  const own = isLong && folded ? keptLanes({ sides, lanes }) : lanes
  const named = own.map(({ name, tracks }) => {
    const beyond = tracks - limit
    if (beyond <= 0) return { name, title: name, tracks }
    const title = `${name}: ${grouped(beyond + 1)} of its ${counted(tracks, 'line')} are drawn as one`
    return { name: `${name} (+${grouped(beyond)})`, title, tracks: limit }
  })
  const more = `… and ${counted(lanes.length - own.length, 'more lane')}`
  if (own.length < lanes.length)
    named.push({ name: more, title: `${more}, drawn as one`, tracks: 1 })
  let lanesHeight = 0
  const drawn = named.map((lane) => {
    const height = lane.tracks * TRACK + LANE_PADDING
    lanesHeight += height
    return { ...lane, top: lanesHeight - height, height }
  })
  const laneOf = new Map(own.map(({ name }, i) => [name, drawn[i]]))
  const names = Math.min(150, Math.round(width * 0.22))
  const panelHeight = PANEL_HEAD + lanesHeight + PANEL_FOOT
  const isBeside = arrangement === 'beside'
  const [columns, rows] = isBeside ? [Math.max(1, sides.length), 1] : [1, sides.length]
  const plot = (width - names - RIGHT - (columns - 1) * GAP) / columns
  return {
    width,
    lanes: drawn,
    lanesHeight,
    /** Whether there are so many lines that some have to be folded, or could be. */
    isLong,
    range: range ?? ([0, end] as const),
    height: rows * panelHeight + (rows - 1) * GAP,
    panels: sides.map((_, side) => ({
      side,
      left: names + (isBeside ? side * (plot + GAP) : 0),
      top: isBeside ? 0 : side * (panelHeight + GAP),
      width: plot,
      names: isBeside && side > 0 ? 0 : names,
    })),
    placeOf: ({ lane: name, track }: PlacedVisit) => {
      const lane = laneOf.get(name)
      const at = lane === undefined ? 0 : Math.min(track, limit - 1)
      const top = (lane ?? drawn.at(-1))?.top ?? 0
      return {
        y: top + LANE_PADDING / 2 + at * TRACK + 17,
        isShared: lane === undefined || track >= limit - 1,
      }
    },
  }
}

type LaneItem = ReturnType<typeof laneItems>[number]

type MessageItem = Extract<LaneItem, { readonly message: Message }>

/** Returns the items of a request in the order of time; messages before what begins with them. */
export function laneItems({ visits, messages }: Pick<SwimlaneSide, 'visits' | 'messages'>) {
  const at = (visit: number) => visits[visit] as PlacedVisit
  const items = [
    ...messages.map((message, i) => {
      const { sentUs, arrivedUs, from, to } = message
      const ends = { startUs: sentUs, endUs: arrivedUs, from: at(from), to: at(to) }
      return { key: `message-${i}`, ...ends, message }
    }),
    ...visits.map((visit, i) => {
      const { startUs, endUs } = visit
      return { key: `visit-${i}`, startUs, endUs, visit }
    }),
  ]
  return sort(items, ({ startUs }) => startUs)
}

/** Messages between the same two lines are this far apart at least, in pixels. */
const APART = 8
/** Messages per pixel of the width above which lines are thin. */
const DENSE = 0.2

/** Returns the items in a range; messages that would overlap are drawn as one. */
export function drawnItems(
  side: Pick<SwimlaneSide, 'visits' | 'messages'>,
  { range, placeOf }: Pick<SwimlaneLayout, 'range' | 'placeOf'>,
  width: number,
) {
  const seen = laneItems(side).filter(
    ({ startUs, endUs }) => endUs >= range[0] && startUs <= range[1],
  )
  const messages = seen.filter((item): item is MessageItem => 'message' in item)
  const x = scaleLinear(range, [0, width / APART])
  const crowds = group(messages, ({ from, to, startUs, endUs }) =>
    [placeOf(from).y, placeOf(to).y, Math.floor(x(startUs)), Math.floor(x(endUs))].join(' '),
  )
  const drawn = new Set<LaneItem | undefined>()
  for (const crowd of crowds.values()) {
    drawn.add(crowd.find(({ message }) => message.isCritical) ?? crowd[0])
  }
  return {
    items: seen.filter((item) => 'visit' in item || drawn.has(item)),
    /** Messages in the range, and how many of them are left out as they crowd. */
    messages: messages.length,
    leftOut: messages.length - drawn.size,
    isDense: drawn.size > DENSE * width,
  }
}

interface PanelProps {
  readonly layout: SwimlaneLayout
  readonly panel: SwimlaneLayout['panels'][number]
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
  const { items, leftOut, messages, isDense } = drawnItems(side, layout, width)
  const { markAt } = useTreeMarks(
    items.map(({ key }) => key),
    reached,
    (key) => {
      const item = items.find((each) => each.key === key)
      if (item !== undefined) onWords(itemWords(item))
      setReached(key)
    },
  )
  const attributesOf = (item: LaneItem) => {
    const { key, startUs, endUs } = item
    const aroundUs = Math.max(0.05 * (endUs - startUs), 0.5)
    const around = () => roundedRange([Math.max(0, startUs - aroundUs), endUs + aroundUs])
    const zooms = { z: () => onRange(around()), Escape: () => onRange(null) }
    const acts = { ArrowDown: undefined, ArrowUp: undefined, ...zooms }
    return {
      class: 'fd-lane-item',
      'data-item': `${panel.side} ${key}`,
      'pointer-events': 'auto',
      ...markAt(key, { words: itemWords(item), acts }),
    } as JSX.SVGAttributes<SVGGElement>
  }
  const title = `${period}: ${formatDuration(responseTimeUs)}`
  const trace = `trace ${shortText(traceId, 36)}`
  const details = choice === 'chosen' ? [trace] : [`${choice}; ${trace}`, choice]
  const detail = details.find((each) => textWidth(each, 11) <= width) ?? details.at(-1) ?? ''
  const of = `${grouped(leftOut)} of ${counted(messages, 'message')} left out`
  const leftOutWords = [`${of}: they would overlap those drawn`, of, `${grouped(leftOut)} left out`]
  const room = width - 30 - 1.1 * textWidth(title, 12)
  return (
    <g role="tree" aria-label={`Request ${period}`} transform={`translate(${left} ${top})`}>
      <rect x="0" y="5" width="10" height="10" fill={color} />
      <Text x="15" y="14" font-weight="600">
        {title}
      </Text>
      {leftOut === 0 ? null : (
        <Text color="soft" x={width} y="14" size={11} anchor="end">
          <title>{leftOutWords[0]}</title>
          {leftOutWords.find((each) => textWidth(each, 11) <= room)}
        </Text>
      )}
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
            {...{ x1: x(responseTimeUs), x2: x(responseTimeUs), y1: -4, y2: lanesHeight + 4 }}
            stroke={color}
            stroke-width="2"
            stroke-dasharray="1 3"
            stroke-linecap="round"
            pointer-events="auto"
          >
            <title>{`answered after ${formatDuration(responseTimeUs)}`}</title>
          </line>
          {items.map((item) => (
            <g key={item.key} {...(!isStill && attributesOf(item))}>
              <title>{itemWords(item)}</title>
              {'visit' in item ? (
                <VisitMark
                  {...{ range, x, color, timed: item.visit, name: item.visit.name }}
                  {...placeOf(item.visit)}
                />
              ) : (
                <MessageMark item={item} isThin={isDense} {...{ x, placeOf }} />
              )}
            </g>
          ))}
        </svg>
      </g>
    </g>
  )
}

const NAME_SIZE = 10

type VisitProps = Omit<Parameters<typeof WorkBar>[0], 'middle'> &
  ReturnType<SwimlaneLayout['placeOf']> & { readonly name: string }

function VisitMark({ name, y, isShared, ...bar }: VisitProps) {
  const [from, to] = [bar.x(bar.timed.startUs), bar.x(bar.timed.endUs)]
  const left = Math.max(0, from)
  const text = isShared ? '' : fittedText(name, to - left - 4, NAME_SIZE)
  return (
    <>
      <rect x={from} y={y - 12} width={Math.max(1, to - from)} height="20" fill="transparent" />
      <WorkBar {...bar} middle={y} />
      {text === '' ? null : (
        <Text color="soft" x={left + 2} y={y - 7} size={NAME_SIZE}>
          {text}
        </Text>
      )}
    </>
  )
}

type MessageProps = Pick<SwimlaneLayout, 'placeOf'> &
  Pick<VisitProps, 'x'> & { item: MessageItem; isThin: boolean }

function MessageMark({ item, x, placeOf, isThin }: MessageProps) {
  const ink = useInk()
  const { kind, isCritical } = item.message
  const head = isThin ? 3 : 5
  const color = isCritical ? ink.text : ink.soft
  const [x1, x2] = [hundredth(x(item.startUs)), hundredth(x(item.endUs))]
  const [y1, y2] = [placeOf(item.from).y, placeOf(item.to).y]
  const angle = hundredth((Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI)
  return (
    <>
      <line {...{ x1, y1, x2, y2 }} stroke="transparent" stroke-width="7" />
      <line
        {...{ x1, y1, x2, y2 }}
        class="fd-lane-line"
        stroke={color}
        stroke-width={(isCritical ? 1.4 : 1) * (isThin ? 0.45 : 1)}
        stroke-dasharray={kind === 'reply' ? '3 2' : undefined}
      />
      <path
        d={`M0 0l${-head} ${head / 2}v${-head}z`}
        transform={`translate(${x2} ${y2}) rotate(${angle})`}
        fill={color}
      />
    </>
  )
}

function hundredth(value: number): number {
  return Math.round(value * 100) / 100
}

function LaneBands({ layout, panel }: Pick<PanelProps, 'layout' | 'panel'>) {
  const ink = useInk()
  const { width, names } = panel
  return layout.lanes.map(({ name, title, top, height }, i) => (
    <g key={i}>
      <rect
        {...{ x: -names, y: top, width: width + names, height }}
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
  ))
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

const WINDOW = 640

const SWIMLANE_STYLE = `${ZOOM_STYLE}
.fd-lane-window { max-height: ${WINDOW}px; overflow-y: auto; overflow-x: hidden; position: relative; }
.fd-lane-axis { position: sticky; bottom: 0; margin-top: -24px; background: var(--fd-back); border-top: 1px solid var(--fd-line); pointer-events: none; }
.fd-lane-item { cursor: default; }
.fd-lane-item:hover .fd-lane-line, .fd-lane-item:focus .fd-lane-line { stroke-width: 3; }
.fd-lane-item:focus-visible .fd-lane-line { stroke: var(--fd-focus); stroke-width: 4; }
.fd-lane-item:hover > rect:first-of-type { fill: var(--fd-selected); }
.fd-lane-item:focus > rect:first-of-type { fill: var(--fd-selected); stroke: var(--fd-text); stroke-width: 1; }
.fd-lane-item:focus-visible > rect:first-of-type { stroke: var(--fd-focus); stroke-width: 2; }
.fd-lane-words { min-height: 3em; }
`

function SwimlaneView(props: ViewProps<SwimlaneData, SwimlaneOptions>) {
  const { data } = props
  const isStill = useIsStill()
  const ink = useInk()
  const { options: state, change, code } = useWidgetOptions(SWIMLANE_OPTIONS, props)
  const { arrangement, range, folded } = state
  const [words, setWords] = useState('')
  const [place, width] = useWidth<HTMLDivElement>()
  const zoom = (next: StretchUs | null) => change({ range: next })
  const layout = useMemo(
    () => swimlaneLayout(data, { arrangement, range, folded: isStill || folded }, width),
    [data, arrangement, range, folded, width],
  )
  const lines = sum(data.lanes, ({ tracks }) => tracks)
  const { length } = data.lanes
  const allLanes = length > MAX_TRACKS ? counted(length, 'lane') : counted(lines, 'line')
  const line = { x2: 24, y1: 9, y2: 9, stroke: ink.soft }
  const { works, waits, critical } = workLegend(ink.soft, ink)
  return (
    <section aria-label="Swimlanes">
      <Caption text={tooltipText(data.title)} isHeading />
      <div class="fd-bar">
        {data.sides.length > 1 && (
          <Choice
            name="after"
            help="One below the other, over one axis; or next to each other, on the same scale"
            value={arrangement}
            values={{ below: 'below before', beside: 'beside before' }}
            onChoose={(next) => change({ arrangement: next })}
          />
        )}
        <Button disabled={range === null} onClick={() => zoom(null)}>
          whole time
        </Button>
        {layout.isLong && (
          <Button onClick={() => change({ folded: !folded })}>
            {folded ? `show all ${allLanes}` : 'fold lanes'}
          </Button>
        )}
        <span class="fd-soft">
          Drag across the lanes, or press z on a line, to go into the time of both.
        </span>
      </div>
      <Legend
        width={width}
        entries={[
          works,
          waits,
          marked('call', <line {...line} />),
          marked('reply', <line {...line} stroke-dasharray="3 2" />),
          critical,
        ]}
      />
      <div ref={place} class="fd-lane-window">
        <Figure width={layout.width} height={layout.height} label={data.title}>
          {layout.panels.map((panel) => (
            <SwimlanePanel
              key={panel.side}
              {...{ layout, panel, side: data.sides[panel.side] as SwimlaneSide }}
              onWords={setWords}
              onRange={zoom}
            />
          ))}
        </Figure>
        {layout.height > WINDOW ? <StickyAxis layout={layout} /> : null}
      </div>
      <p class="fd-lane-words" aria-live="polite">
        {words || (
          <span class="fd-soft">
            Point at a line, or use Tab and the arrow keys, for details. Dotted line: the reply to
            the request.
          </span>
        )}
      </p>
      <StateCode code={code} />
    </section>
  )
}

/** Draws the times, over those that end the drawing, in sight wherever it is scrolled to. */
function StickyAxis({ layout: { width, panels, range } }: { readonly layout: SwimlaneLayout }) {
  return (
    <svg
      class="fd-lane-axis"
      {...{ width, height: PANEL_FOOT }}
      aria-hidden="true"
      font-family="system-ui, sans-serif"
    >
      {panels.map(({ side, top, left, width: plot }) =>
        top > 0 ? null : (
          <g key={side} transform={`translate(${left} 0)`}>
            <TimeGrid range={range} width={plot} lines={[0, 4]} textY={17} />
          </g>
        ),
      )}
    </svg>
  )
}

/**
 * Messages between components over time, before and after on one scale, like trains of a railway;
 * of a category, the real request with the median response time, or that of its likeliest
 * precursor. Source: Sambasivan 2013, §7.5.
 */
export const swimlanesWidget = defineWidget({
  name: 'swimlanes',
  title: 'Swimlanes',
  description: ({ sides, title }: SwimlaneData) => {
    const said = sides.map(
      ({ period, responseTimeUs, messages, choice }) =>
        `${period} ${formatDuration(responseTimeUs)} with ${grouped(messages.length)} messages (${choice})`,
    )
    return `${title}: ${said.join('; ')}.`
  },
  options: SWIMLANE_OPTIONS,
  data: swimlaneData,
  initial: (comparison: Comparison, options: SwimlaneOptions) => ({
    ...options,
    ...shownRequests(comparison, options),
  }),
  view: SwimlaneView,
  style: SWIMLANE_STYLE,
})
