import { useState } from 'preact/hooks'

interface Shown {
  /** What is used. */
  readonly value: number
  readonly isDisabled: boolean
  readonly onChange: (value: number) => void
}

/**
 * The threshold as a number to type. What cannot be one stands there while it is typed, marked, and
 * beside it what is used all the same; when the field is left it shows that again.
 */
export function ThresholdField({ value, isDisabled, onChange }: Shown) {
  const [refused, setRefused] = useState<string | null>(null)
  const isRefused = refused !== null && !isDisabled
  return (
    <span style="display:inline-flex;gap:6px;align-items:center">
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
            const isNumber = typed >= 0
            setRefused(isNumber ? null : currentTarget.value)
            if (isNumber) onChange(typed)
          }}
          onBlur={({ currentTarget }) => {
            setRefused(null)
            // What is no number at all does not differ from nothing to whoever draws it again.
            currentTarget.value = String(value)
          }}
        />
      </label>
      <span aria-live="polite" style="color:var(--fd-change-ink)">
        {isRefused ? `not a number of requests; ${value.toLocaleString('en-US')} is used` : ''}
      </span>
    </span>
  )
}
