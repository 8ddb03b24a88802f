import type { Ink } from '../../drawing/ink.ts'
import { BINS, type SpreadRow } from './variance-data.ts'

interface Shown {
  readonly row: SpreadRow
  readonly ink: Ink
  readonly width: number
  readonly height: number
}

/**
 * Response times of a category over their mean, from none to three times as long, and all beyond in
 * the last bar: the wider, the less predictable, on one scale for all categories.
 */
export function VarianceBins({ row: { bins, period }, ink, width, height }: Shown) {
  const most = bins.reduce((high, count) => Math.max(high, count), 1)
  const step = width / bins.length
  const mean = BINS.perMean * step
  return (
    <g>
      <line x1="0" x2={width} y1={height} y2={height} stroke={ink.line} />
      {bins.map((count, place) =>
        count === 0 ? null : (
          <rect
            key={place}
            {...{ x: (place * step).toFixed(1), width: Math.max(1, step - 0.5).toFixed(1) }}
            y={(height - Math.max(1.5, (count / most) * (height - 2))).toFixed(1)}
            height={Math.max(1.5, (count / most) * (height - 2)).toFixed(1)}
            style={`fill:${period === 'before' ? ink.before : ink.after}`}
          />
        ),
      )}
      <line x1={mean} x2={mean} y1="0" y2={height} stroke={ink.soft} stroke-dasharray="2 2" />
    </g>
  )
}
