import { scaleLinear, scaleLog } from 'd3-scale'
import { useState } from 'preact/hooks'
import { counted, grouped } from '../../../core/words.ts'
import { Figure } from '../../drawing/figure.tsx'
import { type Ink, useInk } from '../../drawing/ink.ts'
import type { ThresholdCurve, ThresholdState } from './ranking-model.ts'

const WIDTH = 640
const HEIGHT = 190
/** Margins of the plot; the slider beneath it has the same place. */
const MARGIN = { left: 46, right: 16, top: 34, bottom: 40 }
/** Positions of the slider. */
const SLIDER = 1000
/** Half of the slider's thumb, which stands within it. */
const THUMB = 8
const shareOfWidth = (pixels: number) => `${((100 * pixels) / WIDTH).toFixed(2)}%`
const SLIDER_STYLE =
  'display:block;accent-color:var(--fd-change);margin:6px 0 6px ' +
  `${shareOfWidth(MARGIN.left - THUMB)};` +
  `width:${shareOfWidth(WIDTH - MARGIN.left - MARGIN.right + 2 * THUMB)}`
const ALPHAS = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2]

interface PaneProps {
  readonly curve: ThresholdCurve
  readonly initial: ThresholdState
  readonly state: ThresholdState
  readonly onChange: (changes: Partial<ThresholdState>) => void
}

/** Sets the threshold, the level, the correction and the 1:N rule. */
export function ThresholdPane({ curve, initial, state, onChange }: PaneProps) {
  const { thresholds, suggested } = curve
  const { smPThreshold, alpha, correction, oneToN } = state
  const isAuto = smPThreshold === 'auto'
  const value = isAuto ? suggested : smPThreshold
  const slider = scaleLog()
    .domain([1, Math.max(2, thresholds.at(-1) ?? 2)])
    .range([0, SLIDER])
  const step = (key: string) => {
    if (key === 'ArrowRight' || key === 'ArrowUp') return thresholds.find((next) => next > value)
    if (key === 'ArrowLeft' || key === 'ArrowDown')
      return thresholds.findLast((next) => next < value)
    return undefined
  }
  const checkbox = (
    label: string,
    help: string,
    [isChecked, change]: readonly [boolean, (isChecked: boolean) => Partial<ThresholdState>],
  ) => (
    <label title={help}>
      <input
        type="checkbox"
        checked={isChecked}
        onInput={({ currentTarget }) => onChange(change(currentTarget.checked))}
      />
      {label}
    </label>
  )
  return (
    <div class="fd-threshold">
      <div style={`max-width:${WIDTH}px`}>
        <Curve curve={curve} threshold={smPThreshold} />
        <input
          type="range"
          aria-label="SM_P_THRESHOLD"
          aria-valuetext={`${value} requests`}
          style={SLIDER_STYLE}
          min={0}
          max={SLIDER}
          value={Math.round(slider(Math.max(1, value)))}
          disabled={isAuto}
          onInput={({ currentTarget }) =>
            onChange({ smPThreshold: Math.round(slider.invert(Number(currentTarget.value))) })
          }
          onKeyDown={(event) => {
            const next = step(event.key)
            if (!event.key.startsWith('Arrow')) return
            event.preventDefault()
            if (next !== undefined) onChange({ smPThreshold: next })
          }}
        />
      </div>
      <div class="fd-bar">
        <ThresholdField
          value={value}
          isDisabled={isAuto}
          onChange={(next) => onChange({ smPThreshold: next })}
        />
        {checkbox(
          'auto: significant changes',
          'Tests each category’s share of its type instead of using one number for all',
          [isAuto, (isOn) => ({ smPThreshold: isOn ? 'auto' : suggested })],
        )}
        {checkbox(
          '1:N rule',
          'A precursor must have lost as many requests as the mutation gained',
          [oneToN, (isOn) => ({ oneToN: isOn })],
        )}
        <label>
          level α
          <select
            value={String(alpha)}
            onInput={({ currentTarget }) => onChange({ alpha: Number(currentTarget.value) })}
          >
            {[...new Set([...ALPHAS, initial.alpha])]
              .sort((a, b) => a - b)
              .map((level) => (
                <option key={level} value={String(level)}>
                  {level}
                </option>
              ))}
          </select>
        </label>
        {checkbox(
          'corrected for the number of tests',
          'Benjamini-Hochberg: of the changes found, at most a share α is due to chance',
          [correction === 'bh', (isOn) => ({ correction: isOn ? 'bh' : 'none' })],
        )}
      </div>
    </div>
  )
}

interface CurveProps {
  readonly curve: ThresholdCurve
  readonly threshold: number | 'auto'
}

/** Draws how many categories are mutations, and how many precursors, at each threshold. */
function Curve({ curve, threshold }: CurveProps) {
  const ink = useInk()
  const { left, right, top, bottom } = MARGIN
  const { thresholds, mutations, precursors, suggested } = curve
  const most = Math.max(1, mutations[0] ?? 0, precursors[0] ?? 0)
  const x = scaleLog()
    .domain([1, Math.max(2, thresholds.at(-1) ?? 2)])
    .range([left, WIDTH - right])
    .clamp(true)
  const y = scaleLinear()
    .domain([0, most])
    .range([HEIGHT - bottom, top])
  const steps = (counts: readonly number[]) =>
    thresholds
      .map((value, i) => `${i === 0 ? `M${left},` : `H${x(value)}V`}${y(counts[i] ?? 0)}`)
      .join('')
  const isLabeled = x.tickFormat(12)
  const label =
    `At a threshold of ${thresholds[0] ?? 1}, ` +
    `${counted(mutations[0] ?? 0, 'structural mutation')} and ` +
    `${counted(precursors[0] ?? 0, 'precursor')}; fewer with every larger one. ` +
    `The threshold is ${threshold}.`
  return (
    <Figure
      width={WIDTH}
      height={HEIGHT}
      label={label}
      role="img"
      aria-label={label}
      style="height:auto"
    >
      <g font-size="11">
        <CurveLegend ink={ink} suggested={suggested} />
        {y.ticks(Math.min(4, most)).map((count) => (
          <g key={count} transform={`translate(0 ${y(count)})`}>
            <line x1={left} x2={WIDTH - right} stroke={ink.line} />
            <text x={left - 6} y="4" text-anchor="end" style={`fill:${ink.soft}`}>
              {grouped(count)}
            </text>
          </g>
        ))}
        {x.ticks(12).map((value) =>
          isLabeled(value) === '' ? null : (
            <text
              key={value}
              x={x(value)}
              y={HEIGHT - bottom + 16}
              text-anchor="middle"
              style={`fill:${ink.soft}`}
            >
              {grouped(value)}
            </text>
          ),
        )}
        <text
          x={(left + WIDTH - right) / 2}
          y={HEIGHT - 6}
          text-anchor="middle"
          style={`fill:${ink.text}`}
        >
          SM_P_THRESHOLD: more requests than this must have come or gone
        </text>
        <path
          d={`M${x(suggested)},${top}V${HEIGHT - bottom}`}
          stroke={ink.soft}
          stroke-dasharray="3 3"
        />
        <path d={steps(precursors)} fill="none" stroke={ink.before} stroke-width="2" />
        <path d={steps(mutations)} fill="none" stroke={ink.after} stroke-width="2" />
        {threshold === 'auto' ? null : (
          <path
            d={`M${x(Math.max(1, threshold))},${top - 6}V${HEIGHT - bottom + 4}`}
            stroke={ink.change}
            stroke-width="2"
          />
        )}
      </g>
    </Figure>
  )
}

function CurveLegend({ ink, suggested }: { readonly ink: Ink; readonly suggested: number }) {
  return [
    { name: 'structural mutations', color: ink.after, at: 0 },
    { name: 'precursors', color: ink.before, at: 150 },
    { name: 'threshold', color: ink.change, at: 245 },
    { name: `chance alone reaches ${grouped(suggested)}`, color: ink.soft, at: 335, dashes: '3 3' },
  ].map(({ name, color, at, dashes }) => (
    <g key={name} transform={`translate(${MARGIN.left + at} 12)`}>
      <line x2="18" stroke={color} stroke-width="2.5" stroke-dasharray={dashes} />
      <text x="24" y="4" style={`fill:${ink.text}`}>
        {name}
      </text>
    </g>
  ))
}

interface FieldProps {
  /** Threshold in use. */
  readonly value: number
  readonly isDisabled: boolean
  readonly onChange: (value: number) => void
}

/**
 * Takes the threshold as a number. While something else is typed it is marked, and the number in
 * use stands beside it; when the field is left it shows that number again.
 */
function ThresholdField({ value, isDisabled, onChange }: FieldProps) {
  const [refused, setRefused] = useState<string | null>(null)
  const isRefused = refused !== null && !isDisabled
  return (
    <span class="fd-threshold-field">
      <label>
        threshold
        <input
          type="number"
          min={0}
          step={1}
          style="width:6.5em"
          value={isRefused ? refused : value}
          disabled={isDisabled}
          aria-invalid={isRefused}
          onInput={({ currentTarget }) => {
            const typed = currentTarget.valueAsNumber
            setRefused(typed >= 0 ? null : currentTarget.value)
            if (typed >= 0) onChange(typed)
          }}
          onBlur={({ currentTarget }) => {
            setRefused(null)
            // A rendering would not see that the field holds something else.
            currentTarget.value = String(value)
          }}
        />
      </label>
      <span aria-live="polite" style="color:var(--fd-change-text)">
        {isRefused ? `not a number of requests; ${grouped(value)} is used` : ''}
      </span>
    </span>
  )
}
