import { counted } from '../../../core/words.ts'
import { textWidth } from '../../charts/text-width.ts'
import type { Ink } from '../../drawing/ink.ts'
import type { ThresholdCurve } from './threshold-model.ts'

/** Where the plot lies within the drawing, in pixels; a slider beneath it takes the same place. */
export const CURVE_PLOT = { left: 46, right: 16, top: 34, bottom: 40, height: 190 } as const

interface Shown {
  readonly curve: ThresholdCurve
  /** The threshold that is set; `'auto'` for none. */
  readonly threshold: number | 'auto'
  readonly width: number
  readonly ink: Ink
}

/** How many categories are mutations, and how many precursors, at each threshold. */
export function ThresholdCurveDrawing({ curve, threshold, width, ink }: Shown) {
  const { left, right, top, bottom, height } = CURVE_PLOT
  const { thresholds, mutations, precursors, suggested } = curve
  const most = Math.max(1, mutations[0] ?? 0, precursors[0] ?? 0)
  const largest = thresholds.at(-1) ?? 1
  const x = (value: number) => left + position(value, largest) * (width - left - right)
  const y = (count: number) => height - bottom - (count / most) * (height - top - bottom)
  const chance = `chance alone reaches ${suggested.toLocaleString('en-US')}`
  const isLeft = standsLeft(x(suggested), {
    length: textWidth(chance, 11) + 5,
    ends: [left, width - right],
    line: threshold === 'auto' ? null : x(Math.max(1, threshold)),
  })
  const steps = (counts: readonly number[]) =>
    thresholds
      .map((value, i) =>
        i === 0
          ? `M${x(value)},${y(counts[0] as number)}`
          : `H${x(value)}V${y(counts[i] as number)}`,
      )
      .join('')
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      style="height:auto"
      role="img"
      aria-label={description(curve, threshold)}
      font-family="system-ui, sans-serif"
      font-size="11"
    >
      <Legend ink={ink} left={left} />
      {countTicks(most).map((count) => (
        <g key={count}>
          <line x1={left} x2={width - right} y1={y(count)} y2={y(count)} stroke={ink.line} />
          <text x={left - 6} y={y(count) + 4} text-anchor="end" style={`fill:${ink.soft}`}>
            {count.toLocaleString('en-US')}
          </text>
        </g>
      ))}
      {thresholdTicks(largest).map((value) => (
        <text
          key={value}
          x={x(value)}
          y={height - bottom + 16}
          text-anchor="middle"
          style={`fill:${ink.soft}`}
        >
          {value.toLocaleString('en-US')}
        </text>
      ))}
      <text
        x={(left + width - right) / 2}
        y={height - 6}
        text-anchor="middle"
        style={`fill:${ink.text}`}
      >
        SM_P_THRESHOLD: more requests than this must have come or gone
      </text>
      <line
        x1={x(suggested)}
        x2={x(suggested)}
        y1={top}
        y2={height - bottom}
        stroke={ink.soft}
        stroke-dasharray="3 3"
      />
      <path d={steps(precursors)} fill="none" stroke={ink.before} stroke-width="2" />
      <path d={steps(mutations)} fill="none" stroke={ink.after} stroke-width="2" />
      {threshold === 'auto' ? null : (
        <line
          x1={x(Math.max(1, threshold))}
          x2={x(Math.max(1, threshold))}
          y1={top - 6}
          y2={height - bottom + 4}
          stroke={ink.change}
          stroke-width="2"
        />
      )}
      <text
        x={x(suggested) + (isLeft ? -5 : 5)}
        y={top + 10}
        text-anchor={isLeft ? 'end' : 'start'}
        {...{ 'paint-order': 'stroke', stroke: ink.back, 'stroke-width': '4' }}
        stroke-linejoin="round"
        style={`fill:${ink.soft}`}
      >
        {chance}
      </text>
    </svg>
  )
}

/** Whether text beside a place stands to its left: where it has room, and no line is in its way. */
export function standsLeft(
  at: number,
  {
    length,
    ends: [from, to],
    line,
  }: {
    readonly length: number
    readonly ends: readonly [from: number, to: number]
    readonly line: number | null
  },
): boolean {
  const [fitsLeft, fitsRight] = [at - length >= from, at + length <= to]
  if (!fitsLeft || !fitsRight) return fitsLeft
  return line !== null && line > at && line <= at + length
}

function Legend({ ink, left }: { readonly ink: Ink; readonly left: number }) {
  const entries = [
    { name: 'structural mutations', colour: ink.after, at: left },
    { name: 'precursors', colour: ink.before, at: left + 150 },
    { name: 'threshold', colour: ink.change, at: left + 250 },
  ]
  return (
    <g>
      {entries.map(({ name, colour, at }) => (
        <g key={name}>
          <line x1={at} x2={at + 18} y1={12} y2={12} stroke={colour} stroke-width="2.5" />
          <text x={at + 24} y={16} style={`fill:${ink.text}`}>
            {name}
          </text>
        </g>
      ))}
    </g>
  )
}

/** Where a threshold stands on the log scale from 1 to `largest`, 0 to 1. */
export function position(threshold: number, largest: number): number {
  return largest <= 1 ? 0 : Math.min(1, Math.log(Math.max(1, threshold)) / Math.log(largest))
}

function thresholdTicks(largest: number): number[] {
  const ticks: number[] = []
  for (let decade = 1; decade <= largest; decade *= 10) {
    ticks.push(...[1, 2, 5].map((step) => step * decade).filter((tick) => tick <= largest))
  }
  return ticks.length > 12 ? ticks.filter((tick) => String(tick).startsWith('1')) : ticks
}

function countTicks(most: number): number[] {
  const rough = most / 4
  const decade = 10 ** Math.floor(Math.log10(Math.max(1, rough)))
  const step = [1, 2, 5, 10].map((times) => times * decade).find((size) => size >= rough) as number
  const ticks: number[] = []
  for (let tick = 0; tick <= most; tick += step) ticks.push(tick)
  return ticks
}

function description({ mutations, precursors, thresholds }: ThresholdCurve, now: number | 'auto') {
  const first = thresholds[0] ?? 1
  return (
    `At a threshold of ${first}, ${counted(mutations[0] ?? 0, 'structural mutation')} and ` +
    `${counted(precursors[0] ?? 0, 'precursor')}; fewer with every larger one. ` +
    `The threshold is ${now}.`
  )
}
