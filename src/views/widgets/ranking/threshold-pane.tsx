import { scaleLinear } from 'd3-scale'
import { useState } from 'preact/hooks'
import { counted, grouped } from '../../../core/words.ts'
import { BottomAxis, curvePath, LeftAxis, plotPoint } from '../../drawing/axis-lines.tsx'
import { type AxisScale, logScale } from '../../drawing/axis-scale.ts'
import { actOnKey, Checkbox } from '../../drawing/controls.tsx'
import { Figure } from '../../drawing/figure.tsx'
import { LegendRows } from '../../drawing/legend.tsx'
import { type Ink, useInk } from '../../drawing/medium.tsx'
import type { ThresholdCurve, ThresholdState } from './ranking-model.ts'

const WIDTH = 640
const HEIGHT = 190
/** The plot; the slider beneath it has the same place. */
const BOX = { left: 46, top: 34, width: 578, height: 116 }
/** Positions of the slider. */
const SLIDER = 1000
/** Half of the slider's thumb, which stands within it. */
const THUMB = 8
const shareOfWidth = (pixels: number) => `${((100 * pixels) / WIDTH).toFixed(2)}%`
const SLIDER_STYLE =
  'display:block;accent-color:var(--fd-change);margin:6px 0 6px ' +
  `${shareOfWidth(BOX.left - THUMB)};width:${shareOfWidth(BOX.width + 2 * THUMB)}`
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
  const x = logScale({ low: 1, high: thresholds.at(-1) ?? 2, ticks: 12, text: grouped })
  const go = (to: number | undefined) => to !== undefined && onChange({ smPThreshold: to })
  const up = () => go(thresholds.find((next) => next > value))
  const down = () => go(thresholds.findLast((next) => next < value))
  const keys = { ArrowRight: up, ArrowUp: up, ArrowLeft: down, ArrowDown: down }
  return (
    <div class="fd-threshold">
      <div style={`max-width:${WIDTH}px`}>
        <Curve curve={curve} threshold={smPThreshold} x={x} />
        <input
          type="range"
          aria-label="SM_P_THRESHOLD"
          aria-valuetext={`${value} requests`}
          style={SLIDER_STYLE}
          min={0}
          max={SLIDER}
          value={Math.round(SLIDER * x.share(value))}
          disabled={isAuto}
          onInput={({ currentTarget }) =>
            onChange({ smPThreshold: Math.round(x.value(currentTarget.valueAsNumber / SLIDER)) })
          }
          onKeyDown={(event) => actOnKey(event, keys)}
        />
      </div>
      <div class="fd-bar">
        <ThresholdField
          value={value}
          isDisabled={isAuto}
          onChange={(next) => onChange({ smPThreshold: next })}
        />
        <Checkbox
          label="auto: significant changes"
          help="Tests each category’s share of its type instead of using one number for all"
          isChecked={isAuto}
          onChange={(isOn) => onChange({ smPThreshold: isOn ? 'auto' : suggested })}
        />
        <Checkbox
          label="1:N rule"
          help="A precursor must have lost as many requests as the mutation gained"
          isChecked={oneToN}
          onChange={(isOn) => onChange({ oneToN: isOn })}
        />
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
        <Checkbox
          label="corrected for the number of tests"
          help="Benjamini-Hochberg: of the changes found, at most a share α is due to chance"
          isChecked={correction === 'bh'}
          onChange={(isOn) => onChange({ correction: isOn ? 'bh' : 'none' })}
        />
      </div>
    </div>
  )
}

interface CurveProps {
  readonly curve: ThresholdCurve
  readonly threshold: number | 'auto'
  readonly x: AxisScale
}

/** Draws how many categories are mutations, and how many precursors, at each threshold. */
function Curve({ curve, threshold, x }: CurveProps) {
  const ink = useInk()
  const { thresholds, mutations, precursors, suggested } = curve
  const most = Math.max(1, mutations[0] ?? 0, precursors[0] ?? 0)
  const counts = scaleLinear([0, most], [0, 1])
  const y = {
    share: counts,
    value: (share: number) => counts.invert(share),
    ticks: counts.ticks(Math.min(4, most)).map((value) => ({ value, text: grouped(value) })),
  }
  const steps = (counted: readonly number[]) =>
    thresholds.map((value, i) => [value, counted[i] ?? 0] as const)
  const plot = { box: BOX, x, y }
  const upright = (value: number) => `M${plotPoint(plot, [value, 0]).x},${BOX.top}v${BOX.height}`
  const label =
    `At a threshold of ${thresholds[0] ?? 1}, ` +
    `${counted(mutations[0] ?? 0, 'structural mutation')} and ` +
    `${counted(precursors[0] ?? 0, 'precursor')}; fewer with every larger one. ` +
    `The threshold is ${threshold}.`
  const lines = [
    {
      text: 'structural mutations',
      color: 'after',
      path: curvePath(plot, steps(mutations), 'steps'),
    },
    { text: 'precursors', color: 'before', path: curvePath(plot, steps(precursors), 'steps') },
    { text: 'threshold', color: 'change', path: threshold === 'auto' ? '' : upright(threshold) },
    {
      ...{ text: `chance alone reaches ${grouped(suggested)}`, color: 'soft' },
      ...{ path: upright(suggested), dash: '3 3' },
    },
  ] as const satisfies readonly { text: string; color: keyof Ink; path: string; dash?: string }[]
  const looks = lines.map(({ text, color, ...line }) => ({
    text,
    look: { color, width: 2.5, ...('dash' in line && { dash: line.dash }) },
  }))
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
        <g transform={`translate(${BOX.left} 0)`}>
          <LegendRows entries={looks} width={BOX.width} />
        </g>
        <LeftAxis scale={y} box={BOX} />
        <BottomAxis
          scale={x}
          box={BOX}
          title="SM_P_THRESHOLD: more requests than this must have come or gone"
        />
        {lines.map(({ text, color, path, ...line }) => (
          <path
            key={text}
            d={path}
            fill="none"
            stroke={ink[color]}
            stroke-width={2}
            stroke-dasharray={'dash' in line ? line.dash : undefined}
          />
        ))}
      </g>
    </Figure>
  )
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
