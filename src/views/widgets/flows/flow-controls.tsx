import { useEffect, useState } from 'preact/hooks'
import { counted, grouped } from '../../../core/words.ts'
import { Button } from '../../drawing/controls.tsx'
import { type FlowData, type FlowLevel, type FlowState, LEVELS, MODES } from './flow-scene.ts'

const WHOLE_MS = 4500

export function FlowPlayer({ at, onChange }: { at: number; onChange: (at: number) => void }) {
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
      <ButtonSet
        label="State"
        names={{ before: 'Before', after: 'After' }}
        pressed={at === 0 ? 'before' : at === 1 ? 'after' : null}
        onPress={(side) => show(side === 'before' ? 0 : 1)}
      />
      <Button onClick={() => setPlaying(!isPlaying)}>{isPlaying ? 'Stop' : 'Play'}</Button>
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

interface ButtonSetProps<K extends string> {
  readonly label: string
  readonly names: Readonly<Record<K, string>>
  readonly pressed: K | null
  readonly onPress: (key: K) => void
}

function ButtonSet<K extends string>({ label, names, pressed, onPress }: ButtonSetProps<K>) {
  return (
    <fieldset class="fd-flow-set" aria-label={label}>
      {(Object.keys(names) as K[]).map((key) => (
        <Button key={key} aria-pressed={key === pressed} onClick={() => onPress(key)}>
          {names[key]}
        </Button>
      ))}
    </fieldset>
  )
}

interface FlowControlsProps {
  readonly data: FlowData
  readonly state: FlowState
  readonly onChange: (changes: Partial<FlowState>) => void
  readonly zoomBy: (factor: number) => void
  readonly onFit: () => void
  readonly difference: number
  readonly differenceCount: number
  readonly onDifference: (way: 1 | -1) => void
}

export function FlowControls({ data, state, onChange, ...props }: FlowControlsProps) {
  const { regions, differences, components } = data
  const { zoomBy, onFit, difference, differenceCount, onDifference } = props
  const hasGroups: Readonly<Record<FlowLevel, boolean>> = {
    steps: true,
    regions: regions.length > 0,
    groups: differences.some(({ nodes }) => nodes.length > 1),
    components: components.length > 0,
  }
  const levels = (Object.keys(LEVELS) as FlowLevel[]).filter(
    (level) => level === state.level || hasGroups[level],
  )
  return (
    <div class="fd-bar">
      <ButtonSet
        label="How to compare"
        names={MODES}
        pressed={state.mode}
        onPress={(mode) => onChange({ mode })}
      />
      <label>
        Show
        <select
          value={state.level}
          onChange={({ currentTarget }) =>
            onChange({ level: currentTarget.value as FlowLevel, opened: [] })
          }
        >
          {levels.map((level) => (
            <option key={level} value={level}>
              {LEVELS[level]}
            </option>
          ))}
        </select>
      </label>
      {state.opened.length > 0 ? (
        <Button onClick={() => onChange({ opened: [] })}>Fold all</Button>
      ) : null}
      {state.pin !== null && state.mode === 'side-by-side' ? (
        <Button onClick={() => onChange({ pin: null })}>Unpin</Button>
      ) : null}
      {differenceCount > 0 ? (
        <fieldset class="fd-flow-set" aria-label="Differences">
          <Button aria-label="Previous difference" onClick={() => onDifference(-1)}>
            ‹
          </Button>
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
          <Button aria-label="Next difference" onClick={() => onDifference(1)}>
            ›
          </Button>
        </fieldset>
      ) : null}
      <fieldset class="fd-flow-set" aria-label="Zoom">
        <Button aria-label="Smaller" onClick={() => zoomBy(1 / 1.4)}>
          −
        </Button>
        <Button aria-label="Larger" onClick={() => zoomBy(1.4)}>
          +
        </Button>
        <Button onClick={onFit}>Whole</Button>
      </fieldset>
    </div>
  )
}

function nthDifference(number: number, count: number): string {
  return `Difference ${grouped(number)} of ${grouped(count)}`
}
