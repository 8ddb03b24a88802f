import { Choice } from '../../drawing/choice.tsx'
import type { CallingContextState } from './calling-context-model.ts'

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
