import type { StructuralLabel } from '../../../compare/mutations/find-structural-mutations.ts'
import { BottomAxis, LeftAxis } from '../../drawing/axis-lines.tsx'
import type { Ink } from '../../drawing/ink.ts'
import type { VariationPlot } from './variation-layout.ts'
import { isSameKind, MEASURE_NAMES } from './variation-measures.ts'
import type { Axes, VariationData } from './variation-model.ts'
import type { Spot } from './variation-picking.ts'

interface Shown {
  readonly data: VariationData
  readonly plot: VariationPlot
  readonly axes: Axes
  readonly ink: Ink
}

const RADIUS = 4
/** Drawn one after the other: what changed lies on top. */
const KINDS: readonly StructuralLabel[] = ['unchanged', 'precursor', 'structural-mutation']

/** Every category as a dot: what across, what up, and how it changed. */
export function VariationScatter({ data, plot, axes, ink }: Shown) {
  const { box, x, y } = plot
  const [across, up] = axes
  const changed = new Set(data.responseTime)
  const colours = colourOf(ink)
  return (
    <g>
      <text x="4" y="13" font-weight="600" style={`fill:${ink.text}`}>
        {MEASURE_NAMES[up]}
      </text>
      <ScatterLegend ink={ink} width={plot.width} />
      <BottomAxis {...{ scale: x, box, ink }} title={MEASURE_NAMES[across]} />
      <LeftAxis {...{ scale: y, box, ink }} />
      {isSameKind(across, up) && across !== up ? (
        <g stroke={ink.soft} stroke-dasharray="4 3">
          <line
            {...{ x1: box.left, y1: box.top + box.height, x2: box.left + box.width, y2: box.top }}
          />
          <line {...{ x1: plot.width - 116, x2: plot.width - 94, y1: 9, y2: 9 }} />
          <text
            {...{ x: plot.width - 14, y: 13, 'text-anchor': 'end', stroke: 'none' }}
            style={`fill:${ink.soft}`}
          >
            same in both
          </text>
        </g>
      ) : null}
      {KINDS.map((kind) => {
        const spots = plot.spots.filter(({ category }) => data.structural[category] === kind)
        return (
          <g key={kind} {...colours[kind]}>
            {visible(spots.filter(({ category }) => !changed.has(category))).map((spot) => (
              <circle key={spot.category} {...{ cx: spot.x, cy: spot.y, r: RADIUS }} />
            ))}
            <g {...{ stroke: ink.change, 'stroke-width': 2 }}>
              {visible(spots.filter(({ category }) => changed.has(category))).map((spot) => (
                <circle key={spot.category} {...{ cx: spot.x, cy: spot.y, r: RADIUS }} />
              ))}
            </g>
          </g>
        )
      })}
    </g>
  )
}

function colourOf(ink: Ink): Readonly<Record<StructuralLabel, Record<string, string | number>>> {
  return {
    unchanged: { fill: ink.soft, 'fill-opacity': 0.45 },
    precursor: { fill: ink.before, 'fill-opacity': 0.9 },
    'structural-mutation': { fill: ink.after, 'fill-opacity': 0.9 },
  }
}

function ScatterLegend({ ink, width }: { readonly ink: Ink; readonly width: number }) {
  const colours = colourOf(ink)
  const entries = [
    { text: 'unchanged', mark: colours.unchanged, at: 8 },
    { text: 'lost requests', mark: colours.precursor, at: 94 },
    { text: 'gained', mark: colours['structural-mutation'], at: 190 },
    {
      ...{ text: width < 380 ? 'other times' : 'other response times', at: 258 },
      mark: { fill: 'none', stroke: ink.change, 'stroke-width': 2 },
    },
  ]
  return (
    <g>
      {entries.map(({ text, mark, at }) => (
        <g key={text} transform={`translate(${at} 30)`}>
          <circle r={RADIUS} {...mark} />
          <text x="9" y="4" style={`fill:${ink.soft}`}>
            {text}
          </text>
        </g>
      ))}
    </g>
  )
}

/** The most dots drawn at one place: more look no darker. */
const MOST_ALIKE = 4

/** Spots without those that lie beneath others just like them. */
function visible(spots: readonly Spot[]): readonly Spot[] {
  const counts = new Map<string, number>()
  return spots.filter(({ x, y }) => {
    const place = `${x} ${y}`
    const count = (counts.get(place) ?? 0) + 1
    counts.set(place, count)
    return count <= MOST_ALIKE
  })
}
