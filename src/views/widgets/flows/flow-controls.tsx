import { useEffect, useState } from 'preact/hooks'
import { counted, grouped } from '../../../core/words.ts'
import { Button, Choice, Select } from '../../drawing/controls.tsx'
import { type FlowData, type FlowLevel, type FlowState, LEVELS, MODES } from './flow-scene.ts'

const STAGE_MS = 1800
/** The end of the last difference, which is still told: 1 is the flow after. */
const LAST = 0.9995
const SPEEDS = [0.25, 0.5, 1, 2, 4]

interface FlowPlayerProps {
  readonly at: number
  /** Number of differences that are animated one after the other. */
  readonly stages: number
  /** Number of finished ones, including the part of the current one. */
  readonly over: number
  readonly onChange: (at: number) => void
}

export function FlowPlayer({ at, stages, over, onChange }: FlowPlayerProps) {
  const [until, setUntil] = useState<number | null>(null)
  const [speed, setSpeed] = useState(1)
  const isPlaying = until !== null
  useEffect(() => {
    if (until === null) return
    const first = at >= until ? 0 : at
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      // Jumps to the end of each difference and stops there for as long as it would take.
      const count = Math.max(1, stages)
      let timer: ReturnType<typeof setTimeout> | undefined
      const stop = (done: number) => {
        const next = done > count ? 1 : Math.min(until < 1 ? until : LAST, done / count)
        onChange(next)
        if (next >= until) setUntil(null)
        else timer = setTimeout(() => stop(done + 1), STAGE_MS / speed)
      }
      stop(Math.floor(first * count + 1 - LAST) + 1)
      return () => clearTimeout(timer)
    }
    const start = performance.now()
    let frame = requestAnimationFrame(function step(now) {
      const passed = (Math.max(0, now - start) * speed) / (STAGE_MS * Math.max(1, stages))
      const next = Math.min(until, first + passed)
      onChange(Math.round(next * 1000) / 1000)
      if (next < until) frame = requestAnimationFrame(step)
      else setUntil(null)
    })
    return () => cancelAnimationFrame(frame)
    // It goes on from where it was begun.
  }, [until, speed])
  const show = (next: number) => {
    setUntil(null)
    onChange(next)
  }
  return (
    <div class="fd-bar">
      <Choice
        name="State"
        class="fd-flow-set"
        value={at === 0 ? 'before' : at === 1 ? 'after' : null}
        values={{ before: 'Before', after: 'After' }}
        onChoose={(side) => show(side === 'before' ? 0 : 1)}
      />
      <fieldset class="fd-flow-set" aria-label="Play">
        <Button
          aria-label="Back by one difference"
          onClick={() => show(Math.max(0, Math.ceil(over) - 1) / Math.max(1, stages))}
        >
          ‹
        </Button>
        <Button onClick={() => setUntil(isPlaying ? null : 1)}>
          {isPlaying ? 'Stop' : 'Play'}
        </Button>
        <Button
          aria-label="On by one difference"
          onClick={() => setUntil(Math.min(stages, Math.floor(over) + 1) / Math.max(1, stages))}
        >
          ›
        </Button>
      </fieldset>
      <Select
        label="Speed"
        value={speed}
        values={SPEEDS}
        textOf={(each) => `${each} ×`}
        onChoose={setSpeed}
      />
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
  const { regions, differences, components, ranked } = data
  const { zoomBy, onFit, difference, differenceCount, onDifference } = props
  const hasGroups: Readonly<Record<FlowLevel, boolean>> = {
    steps: true,
    regions: regions.length > 0,
    groups: differences.some(({ nodes }) => nodes.length > 1),
    components: components.length > 0,
    focus: ranked.differences.length > 0,
  }
  const levels = (Object.keys(LEVELS) as FlowLevel[]).filter(
    (level) => level === state.level || hasGroups[level],
  )
  return (
    <div class="fd-bar">
      <Choice
        name="How to compare"
        class="fd-flow-set"
        value={state.mode}
        values={MODES}
        onChoose={(mode) => onChange({ mode })}
      />
      <Select
        label="Show"
        value={state.level}
        values={levels}
        textOf={(level) => LEVELS[level]}
        onChoose={(level) => onChange({ level, opened: [] })}
      />
      {state.opened.length > 0 ? (
        <Button onClick={() => onChange({ opened: [] })}>Fold all</Button>
      ) : null}
      {state.pins.length > 0 && state.mode === 'side-by-side' ? (
        <Button onClick={() => onChange({ pins: [] })}>Unpin all</Button>
      ) : null}
      {differenceCount > 0 && state.mode !== 'animation' ? (
        <fieldset class="fd-flow-set" aria-label="Differences">
          <Button aria-label="Previous difference" onClick={() => onDifference(-1)}>
            ‹
          </Button>
          <span
            aria-live="polite"
            class="fd-flow-count"
            // Reserves the largest width, so that its neighbors and the drawing stay in place.
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
