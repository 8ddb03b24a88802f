import { shortText } from '../../../core/shown-text.ts'
import { counted, grouped, signedDuration } from '../../../core/words.ts'
import type { Ink } from '../../drawing/ink.ts'
import { CURVE_PLOT, ThresholdCurveDrawing } from './threshold-curve.tsx'
import type { ThresholdCurve, ThresholdResult } from './threshold-model.ts'

interface Shown {
  readonly curve: ThresholdCurve
  readonly result: ThresholdResult
  readonly threshold: number | 'auto'
  readonly ink: Ink
}

const WIDTH = 640
const ROW = 20
const BAR = 110
const HEAD = 46

/** The explorer in its first state, without anything to drag. */
export function ThresholdPicture({ curve, result, threshold, ink }: Shown) {
  const { rows, structural, responseTime, precursors } = result
  const height = CURVE_PLOT.height + HEAD + ROW * rows.length + 6
  const largest = Math.max(...rows.map(({ contributionUs }) => Math.abs(contributionUs)), 1)
  const soft = `fill:${ink.soft}`
  return (
    <svg
      width={WIDTH}
      height={height}
      viewBox={`0 0 ${WIDTH} ${height}`}
      font-size="12"
      font-family="system-ui, sans-serif"
    >
      <title>Threshold explorer</title>
      <rect width={WIDTH} height={height} fill={ink.back} />
      <ThresholdCurveDrawing curve={curve} threshold={threshold} width={WIDTH} ink={ink} />
      <g transform={`translate(0 ${CURVE_PLOT.height})`}>
        <text x="8" y="18" font-weight="600" style={`fill:${ink.text}`}>
          {counted(structural + responseTime, 'mutation')}: {grouped(structural)} structural,{' '}
          {grouped(responseTime)} response-time · {counted(precursors, 'precursor')} · threshold{' '}
          {threshold}
        </text>
        <text x="30" y="38" style={soft}>
          kind of request (category)
        </text>
        <text x="345" y="38" style={soft}>
          change
        </text>
        <text x="515" y="38" text-anchor="end" style={soft}>
          adds in all
        </text>
        {rows.map(({ rank, name, category, kind, contributionUs }, i) => (
          <g key={rank} transform={`translate(0 ${HEAD + ROW * i})`}>
            <text x="22" y="13" text-anchor="end" style={soft}>
              {rank}
            </text>
            <text x="30" y="13" style={`fill:${ink.text}`}>
              {shortText(name, 40)} ({category})
            </text>
            <text x="345" y="13" style={`fill:${ink.text}`}>
              {kind === 'structural' ? 'other work' : 'other time'}
            </text>
            <text x="515" y="13" text-anchor="end" style={`fill:${ink.text}`}>
              {signedDuration(contributionUs)}
            </text>
            <rect
              x="522"
              y="3"
              width={(BAR * Math.abs(contributionUs)) / largest}
              height="12"
              fill={contributionUs < 0 ? ink.before : ink.after}
            />
          </g>
        ))}
      </g>
    </svg>
  )
}
