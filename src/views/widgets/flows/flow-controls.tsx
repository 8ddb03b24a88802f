import { useEffect, useState } from 'preact/hooks'
import { counted, grouped } from '../../../core/words.ts'
import {
  FLOW_MODES,
  type FlowData,
  type FlowLevel,
  type FlowMode,
  type FlowState,
} from './flow-scene.ts'

/** How long the whole animation takes. */
const WHOLE_MS = 4500

/** Before or after, without anything in between; or from one to the other, and any moment of it. */
export function FlowPlayer({
  at,
  onChange,
}: {
  readonly at: number
  readonly onChange: (at: number) => void
}) {
  const [isPlaying, setPlaying] = useState(false)
  useEffect(() => {
    if (!isPlaying) return
    const first = at >= 1 ? 0 : at
    const start = performance.now()
    let frame = requestAnimationFrame(function step(now) {
      const next = Math.min(1, first + Math.max(0, now - start) / WHOLE_MS)
      onChange(Math.round(next * 1000) / 1000)
      if (next < 1) frame = requestAnimationFrame(step)
      else setPlaying(false)
    })
    return () => cancelAnimationFrame(frame)
    // It goes on from where it was begun.
  }, [isPlaying])
  const show = (next: number) => {
    setPlaying(false)
    onChange(next)
  }
  return (
    <div class="fd-bar">
      <fieldset class="fd-flow-set" aria-label="State">
        <button type="button" aria-pressed={at === 0} onClick={() => show(0)}>
          Before
        </button>
        <button type="button" aria-pressed={at === 1} onClick={() => show(1)}>
          After
        </button>
      </fieldset>
      <button type="button" onClick={() => setPlaying(!isPlaying)}>
        {isPlaying ? 'Stop' : 'Play'}
      </button>
      <label class="fd-flow-slider">
        before
        <input
          type="range"
          min={0}
          max={1}
          step={0.01}
          value={at}
          aria-label="From before to after"
          onInput={({ currentTarget }) => show(Number(currentTarget.value))}
        />
        after
      </label>
    </div>
  )
}

const MODE_NAMES: Readonly<Record<FlowMode, string>> = {
  'side-by-side': 'Side by side',
  diff: 'Difference',
  animation: 'Animation',
}

/** What levels are called, and what there is for them to draw as one. */
const LEVELS: readonly (readonly [FlowLevel, string, (data: FlowData) => boolean])[] = [
  ['steps', 'every step', () => true],
  ['regions', 'what is the same as one', ({ regions }) => regions.length > 0],
  [
    'groups',
    'what is the same, added or removed as one',
    ({ differences }) => differences.some(({ nodes }) => nodes.length > 1),
  ],
  ['components', 'components', ({ components }) => components.length > 0],
]

interface FlowControlsProps {
  readonly data: FlowData
  readonly state: FlowState
  readonly onChange: (changes: Partial<FlowState>) => void
  readonly zoomBy: (factor: number) => void
  readonly onFit: () => void
  /** Which of how many differences is looked at, counted from 0; -1 for none. */
  readonly difference: number
  readonly differenceCount: number
  readonly onDifference: (way: 1 | -1) => void
}

/** Modes, levels, the way from difference to difference, and zoom. */
export function FlowControls({
  data,
  state,
  onChange,
  zoomBy,
  onFit,
  difference,
  differenceCount,
  onDifference,
}: FlowControlsProps) {
  const levels = LEVELS.filter(([level, , isThere]) => level === state.level || isThere(data))
  return (
    <div class="fd-bar">
      <fieldset class="fd-flow-set" aria-label="How to compare">
        {FLOW_MODES.map((mode) => (
          <button
            key={mode}
            type="button"
            aria-pressed={mode === state.mode}
            onClick={() => onChange({ mode })}
          >
            {MODE_NAMES[mode]}
          </button>
        ))}
      </fieldset>
      <label>
        Show
        <select
          value={state.level}
          onChange={({ currentTarget }) =>
            onChange({ level: currentTarget.value as FlowLevel, opened: [] })
          }
        >
          {levels.map(([level, name]) => (
            <option key={level} value={level}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {state.opened.length > 0 ? (
        <button type="button" onClick={() => onChange({ opened: [] })}>
          Fold all
        </button>
      ) : null}
      {state.pin !== null && state.mode === 'side-by-side' ? (
        <button type="button" onClick={() => onChange({ pin: null })}>
          Unpin
        </button>
      ) : null}
      {differenceCount > 0 ? (
        <fieldset class="fd-flow-set" aria-label="Differences">
          <button type="button" aria-label="Previous difference" onClick={() => onDifference(-1)}>
            ‹
          </button>
          <span
            aria-live="polite"
            class="fd-flow-count"
            // As wide as it becomes: what stands beside it, and the drawing, stay where they are.
            data-widest={nthDifference(differenceCount, differenceCount)}
          >
            <span>
              {difference < 0
                ? counted(differenceCount, 'difference')
                : nthDifference(difference + 1, differenceCount)}
            </span>
          </span>
          <button type="button" aria-label="Next difference" onClick={() => onDifference(1)}>
            ›
          </button>
        </fieldset>
      ) : null}
      <fieldset class="fd-flow-set" aria-label="Zoom">
        <button type="button" aria-label="Smaller" onClick={() => zoomBy(1 / 1.4)}>
          −
        </button>
        <button type="button" aria-label="Larger" onClick={() => zoomBy(1.4)}>
          +
        </button>
        <button type="button" onClick={onFit}>
          Whole
        </button>
      </fieldset>
    </div>
  )
}

function nthDifference(number: number, count: number): string {
  return `Difference ${grouped(number)} of ${grouped(count)}`
}
