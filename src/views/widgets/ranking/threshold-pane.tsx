import { scaleLog } from 'd3-scale'
import { useMemo, useState } from 'preact/hooks'
import { counted, grouped } from '../../../core/words.ts'
import { logAxis, plainAxis } from '../../charts/axes.ts'
import { curves, ruleAt } from '../../charts/builders.ts'
import { framedChart, PALETTE } from '../../charts/chart-frame.ts'
import { actOnKey, Checkbox, Select } from '../../drawing/controls.tsx'
import { VegaChart } from '../vega-chart.tsx'
import type { ThresholdCurve, ThresholdState } from './ranking-model.ts'

/** Size of the plot, in pixels: next to it stand its numbers, and half a thumb of the slider on both sides. */
const WIDTH = 560
const LEFT = 32
const RIGHT = 12
const THUMB = 16
const HEIGHT = 110
const SLIDER = 1000
const ALPHAS = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2]

interface PaneProps {
  readonly curve: ThresholdCurve
  readonly initial: ThresholdState
  readonly state: ThresholdState
  readonly onChange: (changes: Partial<ThresholdState>) => void
}

export function ThresholdPane({ curve, initial, state, onChange }: PaneProps) {
  const { thresholds, suggested } = curve
  const { smPThreshold, alpha, correction, oneToN } = state
  const isAuto = smPThreshold === 'auto'
  const value = isAuto ? suggested : smPThreshold
  const spec = useMemo(() => curveChart(curve), [curve])
  const x = scaleLog([1, Math.max(2, thresholds.at(-1) ?? 2)], [0, SLIDER]).clamp(true)
  const go = (to: number | undefined) => to !== undefined && onChange({ smPThreshold: to })
  const up = () => go(thresholds.find((next) => next > value))
  const down = () => go(thresholds.findLast((next) => next < value))
  const keys = { ArrowRight: up, ArrowUp: up, ArrowLeft: down, ArrowDown: down }
  return (
    <div class="fd-threshold">
      <div style={`min-height:${HEIGHT + 130}px`}>
        <VegaChart spec={spec} />
      </div>
      <div>
        <input
          type="range"
          aria-label="SM_P_THRESHOLD"
          aria-valuetext={`${value} requests`}
          style={`margin-left:${LEFT - THUMB / 2}px;width:calc(100% - ${LEFT + RIGHT - THUMB}px)`}
          min={0}
          max={SLIDER}
          value={Math.round(x(Math.max(1, value)))}
          disabled={isAuto}
          onInput={({ currentTarget }) =>
            onChange({ smPThreshold: Math.round(x.invert(currentTarget.valueAsNumber)) })
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
          help="A precursor must have lost at least the number of requests that the mutation gained"
          isChecked={oneToN}
          onChange={(isOn) => onChange({ oneToN: isOn })}
        />
        <Select
          label="level α"
          value={alpha}
          values={[...new Set([...ALPHAS, initial.alpha])].sort((a, b) => a - b)}
          onChoose={(level) => onChange({ alpha: level })}
        />
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

function curveChart({ thresholds, mutations, precursors, suggested }: ThresholdCurve) {
  const steps = (counted: readonly number[]) =>
    thresholds.map((value, i) => [value, counted[i] ?? 0] as const)
  const most = Math.max(1, mutations[0] ?? 0, precursors[0] ?? 0)
  return framedChart(
    {
      title: 'Categories at each threshold',
      subtitle: `At a threshold of ${thresholds[0] ?? 1}, ${counted(mutations[0] ?? 0, 'structural mutation')} and ${counted(precursors[0] ?? 0, 'precursor')}; fewer with every larger one. Chance alone reaches ${grouped(suggested)} (dashed).`,
      width: WIDTH,
    },
    {
      ...curves({
        x: logAxis(
          [1, Math.max(2, thresholds.at(-1) ?? 2)],
          'SM_P_THRESHOLD: more requests than this must have come or gone',
        ),
        y: plainAxis([0, most], { title: null, tickMinStep: 1, tickCount: 4 }),
        curves: [
          { name: 'structural mutations', color: PALETTE.after, points: steps(mutations) },
          { name: 'precursors', color: PALETTE.before, points: steps(precursors) },
        ],
        fields: ['kind', 'threshold', 'categories'],
        over: [ruleAt(suggested, { color: PALETTE.softText, strokeDash: [3, 3] })],
      }),
      width: WIDTH,
      height: HEIGHT,
    },
  ).spec
}

interface FieldProps {
  readonly value: number
  readonly isDisabled: boolean
  readonly onChange: (value: number) => void
}

/** Takes the threshold as a number; wrong input is marked, and left it shows the number in use. */
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
