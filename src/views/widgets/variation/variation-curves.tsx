import { counted, grouped, percent } from '../../../core/words.ts'
import { BottomAxis, LeftAxis } from '../../drawing/axis-lines.tsx'
import type { Ink } from '../../drawing/ink.ts'
import type { CurvesPlot } from './variation-layout.ts'

interface Shown {
  readonly plot: CurvesPlot
  /** Categories of more requests than this are in it. */
  readonly large: number
  readonly ink: Ink
}

/** The distribution of C² over the large categories of both periods. */
export function VariationCurves({ plot, large, ink }: Shown) {
  const { box, x, y, curves } = plot
  const one = box.left + x.share(1) * box.width
  const bottom = box.top + box.height
  return (
    <g>
      <text x="4" y="13" font-weight="600" style={`fill:${ink.text}`}>
        Share of categories that vary no more
      </text>
      <text x={plot.width - 14} y="13" text-anchor="end" style={`fill:${ink.soft}`}>
        {plot.width > 400 ? 'each of ' : ''}more than {counted(large, 'request')}
      </text>
      {curves.map((curve, period) => {
        const below = curve.filter(({ c2 }) => c2 < 1).length
        const at = 4 + period * Math.min(230, plot.width / 2)
        const name = period === 0 ? 'before' : 'after'
        return (
          <g key={name} transform={`translate(${at} 0)`}>
            <line x2="18" y1="30" y2="30" stroke={ink[name]} stroke-width="2.5" />
            <text x="24" y="34" style={`fill:${ink.text}`}>
              {curve.length === 0
                ? `${name}: none as large`
                : `${name}: ${percent(below / curve.length)} of ${grouped(curve.length)} below 1`}
            </text>
          </g>
        )
      })}
      <BottomAxis {...{ scale: x, box, ink }} title="C² of response times (variance ÷ mean²)" />
      <LeftAxis {...{ scale: y, box, ink }} />
      <line
        {...{ x1: one, x2: one, y1: box.top, y2: bottom, stroke: ink.soft }}
        stroke-dasharray="4 3"
      />
      {one - box.left < 80 ? null : (
        <text x={one - 6} y={bottom - 6} text-anchor="end" style={`fill:${ink.soft}`}>
          predictable
        </text>
      )}
      {box.left + box.width - one < 90 ? null : (
        <text x={one + 6} y={bottom - 6} style={`fill:${ink.soft}`}>
          unpredictable
        </text>
      )}
      {curves.map((curve, period) => (
        <path
          key={period === 0 ? 'before' : 'after'}
          d={stepsOf(plot, curve)}
          {...{ fill: 'none', stroke: period === 0 ? ink.before : ink.after }}
          stroke-width="2"
        />
      ))}
    </g>
  )
}

function stepsOf({ box, x, y }: CurvesPlot, curve: CurvesPlot['curves'][0]): string {
  if (curve.length === 0) return ''
  const right = box.left + box.width
  const steps = curve.map(({ c2, share }) => {
    const at = (box.left + x.share(c2) * box.width).toFixed(1)
    return `H${at}V${(box.top + (1 - y.share(share)) * box.height).toFixed(1)}`
  })
  return `M${box.left} ${box.top + box.height}${steps.join('')}H${right}`
}
