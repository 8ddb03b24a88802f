import type { StructuralLabel } from '../../../compare/mutations/find-structural-mutations.ts'
import { shortText } from '../../../core/shown-text.ts'
import { counted, grouped, percent } from '../../../core/words.ts'
import { BottomAxis, LeftAxis } from '../../drawing/axis-lines.tsx'
import { useInk } from '../../drawing/ink.ts'
import {
  type Axes,
  type CategoryPlot,
  type CategoryPoints,
  type CurvesPlot,
  isSameKind,
  MEASURES,
  nameOf,
  type Region,
  type Spot,
} from './category-points.ts'

/** Draws the distribution of C² over the large categories of both periods. */
export function Curves({ plot, large }: { readonly plot: CurvesPlot; readonly large: number }) {
  const ink = useInk()
  const { box, x, y, width } = plot
  const one = box.left + x.share(1) * box.width
  const bottom = box.top + box.height
  const path = (curve: CurvesPlot['curves'][0]) => {
    const steps = curve.map(({ c2, share }) => {
      const at = (box.left + x.share(c2) * box.width).toFixed(1)
      return `H${at}V${(box.top + (1 - y.share(share)) * box.height).toFixed(1)}`
    })
    return curve.length === 0
      ? ''
      : `M${box.left} ${bottom}${steps.join('')}h0H${box.left + box.width}`
  }
  const soft = { style: `fill:${ink.soft}` }
  return (
    <g>
      <text x="4" y="13" font-weight="600" style={`fill:${ink.text}`}>
        Share of categories that vary no more
      </text>
      <text x={width - 14} y="13" text-anchor="end" {...soft}>
        {width > 400 ? 'each of ' : ''}more than {counted(large, 'request')}
      </text>
      {plot.curves.map((curve, period) => {
        const name = period === 0 ? 'before' : 'after'
        const below = curve.filter(({ c2 }) => c2 < 1).length / curve.length
        return (
          <g key={name} transform={`translate(${4 + period * Math.min(230, width / 2)} 0)`}>
            <line x2="18" y1="30" y2="30" stroke={ink[name]} stroke-width="2.5" />
            <text x="24" y="34" style={`fill:${ink.text}`}>
              {curve.length === 0
                ? `${name}: none as large`
                : `${name}: ${percent(below)} of ${grouped(curve.length)} below 1`}
            </text>
          </g>
        )
      })}
      <BottomAxis scale={x} box={box} ink={ink} title="C² of response times (variance ÷ mean²)" />
      <LeftAxis scale={y} box={box} ink={ink} />
      <path d={`M${one} ${box.top}V${bottom}`} stroke={ink.soft} stroke-dasharray="4 3" />
      {one - box.left < 80 ? null : (
        <text x={one - 6} y={bottom - 6} text-anchor="end" {...soft}>
          predictable
        </text>
      )}
      {box.left + box.width - one < 90 ? null : (
        <text x={one + 6} y={bottom - 6} {...soft}>
          unpredictable
        </text>
      )}
      <path d={path(plot.curves[0])} fill="none" stroke={ink.before} stroke-width="2" />
      <path d={path(plot.curves[1])} fill="none" stroke={ink.after} stroke-width="2" />
    </g>
  )
}

const RADIUS = 4
/** Drawn one after the other: changes lie on top. */
const KINDS: readonly StructuralLabel[] = ['unchanged', 'precursor', 'structural-mutation']
/** Dots drawn at one place at most: more look no darker. */
const MAX_ALIKE = 4

interface ScatterProps {
  readonly data: CategoryPoints
  readonly plot: CategoryPlot
  readonly axes: Axes
}

/** Draws every category as a dot: by two measures, and how it changed. */
export function Scatter({ data, plot, axes: [across, up] }: ScatterProps) {
  const ink = useInk()
  const { box, x, y, width } = plot
  const { structural, responseTime } = data.tests ?? { structural: [], responseTime: [] }
  const looks: Readonly<Record<StructuralLabel, { fill: string; 'fill-opacity': number }>> = {
    unchanged: { fill: ink.soft, 'fill-opacity': 0.45 },
    precursor: { fill: ink.before, 'fill-opacity': 0.9 },
    'structural-mutation': { fill: ink.after, 'fill-opacity': 0.9 },
  }
  const ring = { stroke: ink.change, 'stroke-width': 2 }
  const legend = [
    { text: 'unchanged', look: looks.unchanged, at: 8 },
    { text: 'lost requests', look: looks.precursor, at: 94 },
    { text: 'gained', look: looks['structural-mutation'], at: 190 },
    {
      text: width < 380 ? 'other times' : 'other response times',
      look: { fill: 'none', ...ring },
      at: 258,
    },
  ]
  const changed = new Set(responseTime)
  const counts = new Map<string, number>()
  const dots = plot.spots
    .map((spot) => ({
      ...spot,
      kind: structural[spot.category] ?? 'unchanged',
      isChanged: changed.has(spot.category),
    }))
    .filter((dot) => {
      const place = `${dot.x} ${dot.y} ${dot.kind} ${dot.isChanged}`
      counts.set(place, (counts.get(place) ?? 0) + 1)
      return (counts.get(place) ?? 0) <= MAX_ALIKE
    })
    .sort(
      (a, b) =>
        KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || Number(a.isChanged) - Number(b.isChanged),
    )
  return (
    <g>
      <text x="4" y="13" font-weight="600" style={`fill:${ink.text}`}>
        {MEASURES[up].name}
      </text>
      {data.tests === null
        ? null
        : legend.map(({ text, look, at }) => (
            <g key={text} transform={`translate(${at} 30)`}>
              <circle r={RADIUS} {...look} />
              <text x="9" y="4" style={`fill:${ink.soft}`}>
                {text}
              </text>
            </g>
          ))}
      <BottomAxis scale={x} box={box} ink={ink} title={MEASURES[across].name} />
      <LeftAxis scale={y} box={box} ink={ink} />
      {isSameKind(across, up) && across !== up ? (
        <g stroke={ink.soft} stroke-dasharray="4 3">
          <path d={`M${box.left} ${box.top + box.height}l${box.width} ${-box.height}`} />
          <path d={`M${width - 116} 9h22`} />
          <text x={width - 14} y="13" text-anchor="end" stroke="none" style={`fill:${ink.soft}`}>
            same in both
          </text>
        </g>
      ) : null}
      {dots.map(({ category, kind, isChanged, x: cx, y: cy }) => (
        <circle
          key={category}
          cx={cx}
          cy={cy}
          r={RADIUS}
          {...looks[kind]}
          {...(isChanged ? ring : {})}
        />
      ))}
    </g>
  )
}

interface Marked {
  /** Category that is pinned. */
  readonly pinned: number | null
  /** Category under the pointer. */
  readonly seen: number | null
}

function marked({ pinned, seen }: Marked): number[] {
  return [...new Set([pinned, seen])].filter((category) => category !== null)
}

/** Marks categories in the distribution by a dot on the curve of each period. */
export function CurveMarks({ plot, pinned, seen }: Marked & { readonly plot: CurvesPlot }) {
  const ink = useInk()
  const { box, x, y } = plot
  return (
    <g pointer-events="none">
      {marked({ pinned, seen }).map((category) => {
        const dots = plot.curves.flatMap((curve, period) =>
          curve
            .filter((point) => point.category === category)
            .map(({ c2, share }) => ({
              color: period === 0 ? ink.before : ink.after,
              cx: box.left + x.share(c2) * box.width,
              cy: box.top + (1 - y.share(share)) * box.height,
            })),
        )
        const [before, after] = dots
        return (
          <g key={category} class="fd-curve-mark" data-category={category} stroke={ink.text}>
            {before === undefined || after === undefined ? null : (
              <path
                d={`M${before.cx} ${before.cy}L${after.cx} ${after.cy}`}
                stroke-dasharray="2 3"
              />
            )}
            {dots.map(({ color, cx, cy }) => (
              <circle
                key={color}
                cx={cx}
                cy={cy}
                r="5.5"
                fill={color}
                stroke-width={category === pinned ? 2.5 : 1.5}
              />
            ))}
          </g>
        )
      })}
    </g>
  )
}

/** Marks categories in the scatter by a ring and their name. */
export function ScatterMarks({ data, plot, pinned, seen }: Marked & Omit<ScatterProps, 'axes'>) {
  const ink = useInk()
  const { box } = plot
  return (
    <g pointer-events="none">
      {marked({ pinned, seen }).map((category) => {
        const { x, y } = plot.spots[category] as Spot
        const isRight = x > box.left + box.width / 2
        return (
          <g key={category} class="fd-scatter-mark" data-category={category}>
            <circle
              cx={x}
              cy={y}
              r="7.5"
              fill="none"
              stroke={ink.text}
              stroke-width={category === pinned ? 2.5 : 1.5}
            />
            {category === (seen ?? pinned) ? (
              <text
                x={x + (isRight ? -12 : 12)}
                y={y + (y < box.top + 30 ? 20 : -9)}
                text-anchor={isRight ? 'end' : 'start'}
                stroke={ink.back}
                stroke-width="4"
                paint-order="stroke"
              >
                {shortText(nameOf(data, category), 34)} ({category})
              </text>
            ) : null}
          </g>
        )
      })}
    </g>
  )
}

/** Draws the frame around a region of the scatter, wide enough for dots on its very edge. */
export function RegionFrame({
  region: [across, up],
  plot: { box, x, y },
}: {
  readonly region: Region
  readonly plot: CategoryPlot
}) {
  const low = (value: number | null, share: (value: number) => number) =>
    value === null ? 0 : share(value)
  const left = box.left + low(across.low, x.share) * box.width
  const right = box.left + x.share(across.high) * box.width
  const top = box.top + (1 - y.share(up.high)) * box.height
  const bottom = box.top + (1 - low(up.low, y.share)) * box.height
  const room = 6
  return (
    <rect
      class="fd-region"
      x={left - room}
      y={top - room}
      rx="3"
      width={right - left + 2 * room}
      height={bottom - top + 2 * room}
      fill="var(--fd-focus)"
      fill-opacity="0.08"
      stroke="var(--fd-focus)"
      pointer-events="none"
    />
  )
}
