import type { CallingContextState } from '../calling-context-model.ts'

interface Shown {
  readonly state: CallingContextState
  readonly isCompared: boolean
  readonly onChange: (changes: Partial<CallingContextState>) => void
}

/** Chooses what is wide, what is coloured, and what is looked for. */
export function CallingContextControls({ state, isCompared, onChange }: Shown) {
  return (
    <div class="fd-bar">
      {isCompared ? (
        <Choice
          name="widths"
          help="What came shows in the widths of after, what went in those of before"
          value={state.widths}
          values={{ after: 'after', before: 'before' }}
          onChoose={(widths) => onChange({ widths })}
        />
      ) : null}
      <Choice
        name="measure"
        help="By time, slow requests count for more; by requests, each counts the same"
        value={state.measure}
        values={{ time: 'time', requests: 'requests' }}
        onChoose={(measure) => onChange({ measure })}
      />
      {isCompared ? (
        <Choice
          name="colours"
          help="What changed: the work done there, or that and all that is called from there"
          value={state.colour}
          values={{ self: 'own work', total: 'with all it calls' }}
          onChoose={(colour) => onChange({ colour })}
        />
      ) : null}
      <label>
        search
        <input
          type="search"
          value={state.search}
          placeholder="service or name"
          style="width:14em"
          onInput={({ currentTarget: { value } }) => onChange({ search: value })}
        />
      </label>
    </div>
  )
}

/** Buttons of which one is pressed. */
export function Choice<V extends string>({
  name,
  help,
  value,
  values,
  onChoose,
}: {
  readonly name: string
  readonly help: string
  readonly value: V
  readonly values: Readonly<Record<V, string>>
  readonly onChoose: (value: V) => void
}) {
  return (
    <fieldset class="fd-choice" aria-label={name} title={help}>
      <span style="align-self:center;margin-right:2px">{name}</span>
      {(Object.keys(values) as V[]).map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === value}
          onClick={() => onChoose(each)}
        >
          {values[each]}
        </button>
      ))}
    </fieldset>
  )
}
