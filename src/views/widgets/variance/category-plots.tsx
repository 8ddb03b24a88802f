import { group } from 'd3-array'
import type { ComponentChildren } from 'preact'
import type { StructuralLabel } from '../../../compare/mutations/find-structural-mutations.ts'
import { shortText } from '../../../core/shown-text.ts'
import { counted, grouped, percent } from '../../../core/words.ts'
import { BottomAxis, curvePath, LeftAxis, plotPoint } from '../../drawing/axis-lines.tsx'
import { type LegendEntry, LegendRows } from '../../drawing/legend.tsx'
import { Text, useInk } from '../../drawing/medium.tsx'
import {
  type Axes,
  type CategoryPlot,
  type CategoryPoints,
  type CurvesPlot,
  FRAME_ROOM,
  isSameKind,
  MEASURES,
  type Region,
} from './category-points.ts'

interface FrameProps {
  readonly plot: CategoryPlot
  readonly title: string
  /** What stands above the plot, at the right. */
  readonly note: string
  /** What marks mean. */
  readonly legend: readonly LegendEntry[]
  /** What the numbers below are. */
  readonly across: string
  readonly children: ComponentChildren
}

/** Draws what all plots have: title, meaning of marks, axes. */
function PlotFrame({ plot, title, note, legend, across, children }: FrameProps) {
  const { box, x, y, width } = plot
  return (
    <g>
      <Text x="4" y="13" font-weight="600">
        {title}
      </Text>
      <Text color="soft" x={width - 14} y="13" anchor="end">
        {note}
      </Text>
      <g transform="translate(4 20)">
        <LegendRows entries={legend} width={width} />
      </g>
      <BottomAxis scale={x} box={box} title={across} />
      <LeftAxis scale={y} box={box} />
      {children}
    </g>
  )
}

/** Draws the distribution of C² over the large categories of both periods. */
export function Curves({ plot, large }: { readonly plot: CurvesPlot; readonly large: number }) {
  const ink = useInk()
  const { box, x, width } = plot
  const { x: one, y: bottom } = plotPoint(plot, [1, 0])
  const periods = ['before', 'after'] as const
  const legend = periods.map((period) => {
    const curve = plot.curves[period]
    const below = percent(curve.filter(({ c2 }) => c2 < 1).length / curve.length)
    const said =
      curve.length === 0 ? 'none as large' : `${below} of ${grouped(curve.length)} below 1`
    return { text: `${period}: ${said}`, look: { color: period, width: 2.5 }, width: 17 }
  })
  const path = (curve: CurvesPlot['curves']['after']) => {
    if (curve.length === 0) return ''
    const points = curve.map(({ c2, share }) => [c2, share] as const)
    return curvePath(plot, [[x.value(0), 0], ...points, [x.value(1), 1]], 'steps')
  }
  return (
    <PlotFrame
      plot={plot}
      title="Share of categories that vary no more"
      note={`${width > 400 ? 'each of ' : ''}more than ${counted(large, 'request')}`}
      legend={legend}
      across="C² of response times (variance ÷ mean²)"
    >
      <path d={`M${one} ${box.top}V${bottom}`} stroke={ink.soft} stroke-dasharray="4 3" />
      {one - box.left < 80 ? null : (
        <Text color="soft" x={one - 6} y={bottom - 6} anchor="end">
          predictable
        </Text>
      )}
      {box.left + box.width - one < 90 ? null : (
        <Text color="soft" x={one + 6} y={bottom - 6}>
          unpredictable
        </Text>
      )}
      {periods.map((period) => (
        <path
          key={period}
          d={path(plot.curves[period])}
          fill="none"
          stroke={ink[period]}
          stroke-width="2"
        />
      ))}
    </PlotFrame>
  )
}

const RADIUS = 4
/** Dots drawn at one place at most: more look no darker. */
const MAX_ALIKE = 4

interface ScatterProps {
  readonly data: CategoryPoints
  readonly plot: CategoryPlot
  readonly axes: Axes
}

/** Draws every category as a dot: by two measures, and how it changed. */
export function Scatter({ data: { tests }, plot, axes: [across, up] }: ScatterProps) {
  const ink = useInk()
  const { box, width } = plot
  /** Changes lie on top. */
  const looks: Readonly<Record<StructuralLabel, object>> = {
    unchanged: { fill: ink.soft, 'fill-opacity': 0.45 },
    precursor: { fill: ink.before, 'fill-opacity': 0.9 },
    'structural-mutation': { fill: ink.after, 'fill-opacity': 0.9 },
  }
  const ring = { stroke: ink.change, 'stroke-width': 2 }
  const kinds = Object.keys(looks)
  const changed = new Set(tests?.responseTime)
  const dots = plot.spots.map(({ category, x, y }) => {
    const kind = tests?.structural[category] ?? 'unchanged'
    const isChanged = changed.has(category)
    const layer = 2 * kinds.indexOf(kind) + Number(isChanged)
    return { category, x, y, layer, look: { ...looks[kind], ...(isChanged && ring) } }
  })
  const isDiagonal = isSameKind(across, up) && across !== up
  const entry = (text: string, look: object) => ({
    ...{ text, width: 12 },
    sign: () => <circle cx="6" r={RADIUS} {...look} />,
  })
  const legend = [
    entry('unchanged', looks.unchanged),
    entry('lost requests', looks.precursor),
    entry('gained', looks['structural-mutation']),
    entry(width < 380 ? 'other times' : 'other response times', { fill: 'none', ...ring }),
  ]
  return (
    <PlotFrame
      plot={plot}
      title={MEASURES[up].name}
      note={isDiagonal ? 'same in both' : ''}
      legend={tests === null ? [] : legend}
      across={MEASURES[across].name}
    >
      {isDiagonal ? (
        <g stroke={ink.soft} stroke-dasharray="4 3">
          <path d={`M${box.left} ${box.top + box.height}l${box.width} ${-box.height}`} />
          <path d={`M${width - 116} 9h22`} />
        </g>
      ) : null}
      {[...group(dots, ({ x, y, layer }) => `${x} ${y} ${layer}`).values()]
        .flatMap((alike) => alike.slice(0, MAX_ALIKE))
        .sort((a, b) => a.layer - b.layer)
        .map(({ category, x, y, look }) => (
          <circle key={category} cx={x} cy={y} r={RADIUS} {...look} />
        ))}
    </PlotFrame>
  )
}

interface MarksProps {
  readonly name: string
  readonly data: CategoryPoints
  readonly plot: CategoryPlot
  readonly pinned: number | null
  readonly seen: number | null
}

/** Marks the categories pinned and seen wherever they stand; one has its name beside it. */
export function Marks({ name, data, plot, pinned, seen }: MarksProps) {
  const ink = useInk()
  const { box } = plot
  const categories = new Set([pinned, seen].filter((category) => category !== null))
  return (
    <g pointer-events="none">
      {[...categories].map((category) => {
        const spots = plot.spots.filter((spot) => spot.category === category)
        const [first, second] = spots
        if (first === undefined) return null
        const { x, y } = first
        const isRight = x > box.left + box.width / 2
        return (
          <g key={category} class={name} data-category={category} stroke={ink.text}>
            {second === undefined ? null : (
              <path d={`M${x} ${y}L${second.x} ${second.y}`} stroke-dasharray="2 3" />
            )}
            {spots.map((spot) => (
              <circle
                key={spot.period}
                cx={spot.x}
                cy={spot.y}
                r="6.5"
                fill={spot.period === undefined ? 'none' : ink[spot.period]}
                stroke-width={category === pinned ? 2.5 : 1.5}
              />
            ))}
            {category === (seen ?? pinned) ? (
              <text
                x={x + (isRight ? -12 : 12)}
                y={y + (y < box.top + 30 ? 20 : -9)}
                text-anchor={isRight ? 'end' : 'start'}
                stroke={ink.back}
                stroke-width="4"
                paint-order="stroke"
              >
                {shortText(data.names[category] ?? '', 34)} ({category})
              </text>
            ) : null}
          </g>
        )
      })}
    </g>
  )
}

/** Draws the frame around a region of the scatter, wide enough for dots on its very edge. */
export function RegionFrame({ region, plot }: { region: Region; plot: CategoryPlot }) {
  const [across, up] = region
  const { box } = plot
  const end = plotPoint(plot, [across.high, up.high])
  const start = plotPoint(plot, [across.low ?? 0, up.low ?? 0])
  const left = (across.low === null ? box.left : start.x) - FRAME_ROOM
  const bottom = (up.low === null ? box.top + box.height : start.y) + FRAME_ROOM
  return (
    <rect
      class="fd-region"
      x={left}
      y={end.y - FRAME_ROOM}
      rx="3"
      width={end.x + FRAME_ROOM - left}
      height={bottom - end.y + FRAME_ROOM}
      fill="var(--fd-focus)"
      fill-opacity="0.08"
      stroke="var(--fd-focus)"
      pointer-events="none"
    />
  )
}
