import { useEffect, useState } from 'preact/hooks'

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
