import { useMemo, useState } from 'preact/hooks'
import { restoreComparison } from '../../../compare/snapshot.ts'
import { PAGE_INK } from '../../drawing/ink.ts'
import { StateCode } from '../../drawing/state-code.tsx'
import { CURVE_PLOT, position, ThresholdCurveDrawing } from './threshold-curve.tsx'
import { ThresholdField } from './threshold-field.tsx'
import {
  type ThresholdData,
  type ThresholdState,
  thresholdCode,
  thresholdCurve,
  thresholdResult,
  thresholdState,
} from './threshold-model.ts'
import { ThresholdRanking } from './threshold-ranking.tsx'

const WIDTH = 640
/** Positions of the slider. */
const SLIDER = 1000
/** Half of the slider's thumb, which stands within it. */
const THUMB = 8
const shareOfWidth = (pixels: number) => `${((100 * pixels) / WIDTH).toFixed(2)}%`
const SLIDER_STYLE =
  'display:block;accent-color:var(--fd-change);margin:6px 0 6px ' +
  `${shareOfWidth(CURVE_PLOT.left - THUMB)};` +
  `width:${shareOfWidth(WIDTH - CURVE_PLOT.left - CURVE_PLOT.right + 2 * THUMB)}`
const STEPS: Readonly<Record<string, 1 | -1>> = {
  ArrowRight: 1,
  ArrowUp: 1,
  ArrowLeft: -1,
  ArrowDown: -1,
}
const ALPHAS = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2]

/** Drags the threshold and the level, and follows with the ranking: `comparison.with(…)`. */
export function ThresholdView({ data }: { readonly data: ThresholdData }) {
  const comparison = useMemo(() => restoreComparison(data.snapshot), [data])
  const initial = useMemo(() => thresholdState(comparison), [comparison])
  const curve = useMemo(() => thresholdCurve(comparison), [comparison])
  const [state, setState] = useState<ThresholdState>(initial)
  const [selected, setSelected] = useState<number | null>(null)
  const result = useMemo(
    () => thresholdResult(comparison.with(state), data.limit),
    [comparison, state, data.limit],
  )
  const change = (changes: Partial<ThresholdState>) => setState({ ...state, ...changes })
  const { smPThreshold, alpha, correction, oneToN } = state
  const largest = curve.thresholds.at(-1) ?? 1
  const lastNumber = smPThreshold === 'auto' ? curve.suggested : smPThreshold
  return (
    <section aria-label="Threshold explorer">
      <div style={`max-width:${WIDTH}px`}>
        <ThresholdCurveDrawing
          curve={curve}
          threshold={smPThreshold}
          width={WIDTH}
          ink={PAGE_INK}
        />
        <input
          type="range"
          aria-label="SM_P_THRESHOLD"
          aria-valuetext={`${lastNumber} requests`}
          style={SLIDER_STYLE}
          min={0}
          max={SLIDER}
          value={Math.round(SLIDER * position(lastNumber, largest))}
          disabled={smPThreshold === 'auto'}
          onInput={({ currentTarget }) =>
            change({ smPThreshold: Math.round(largest ** (Number(currentTarget.value) / SLIDER)) })
          }
          onKeyDown={(event) => {
            const step = STEPS[event.key]
            if (step === undefined) return
            event.preventDefault()
            change({ smPThreshold: stepped(curve.thresholds, lastNumber, step) })
          }}
        />
      </div>
      <div class="fd-bar">
        <ThresholdField
          value={lastNumber}
          isDisabled={smPThreshold === 'auto'}
          onChange={(next) => change({ smPThreshold: next })}
        />
        <label title="Tests each category’s share of its type instead of one number for all">
          <input
            type="checkbox"
            checked={smPThreshold === 'auto'}
            onInput={({ currentTarget }) =>
              change({ smPThreshold: currentTarget.checked ? 'auto' : curve.suggested })
            }
          />
          auto: what is significant
        </label>
        <label title="A precursor must have lost as many requests as the mutation gained">
          <input
            type="checkbox"
            checked={oneToN}
            onInput={({ currentTarget }) => change({ oneToN: currentTarget.checked })}
          />
          1:N rule
        </label>
        <label>
          level α
          <select
            value={String(alpha)}
            onInput={({ currentTarget }) => change({ alpha: Number(currentTarget.value) })}
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
        <label title="Benjamini-Hochberg: of what is called changed, at most a share α is by chance">
          <input
            type="checkbox"
            checked={correction === 'bh'}
            onInput={({ currentTarget }) =>
              change({ correction: currentTarget.checked ? 'bh' : 'none' })
            }
          />
          corrected for the number of tests
        </label>
      </div>
      <ThresholdRanking result={result} selected={selected} onSelect={setSelected} />
      <StateCode code={thresholdCode(data.name, initial, state)} />
    </section>
  )
}

/** The next listed threshold above or below a value. */
function stepped(thresholds: readonly number[], value: number, step: 1 | -1): number {
  const next =
    step > 0
      ? thresholds.find((threshold) => threshold > value)
      : thresholds.findLast((threshold) => threshold < value)
  return next ?? value
}
