import type { FlowAnnotation, FlowData, FlowState } from './flow-data.ts'
import { noteSubject } from './flow-notes.ts'
import type { FlowSelection } from './flow-selection.ts'

/** The reader's notes, by the numbers that stand in the drawing. */
export function FlowNotes({
  data,
  annotations,
  onSelect,
  onChange,
}: {
  readonly data: FlowData
  readonly annotations: readonly FlowAnnotation[]
  readonly onSelect: (selection: FlowSelection) => void
  readonly onChange: (changes: Partial<FlowState>) => void
}) {
  if (annotations.length === 0) return null
  return (
    <ol class="fd-flow-edges" aria-label="Notes">
      {annotations.map((note) => (
        <li key={`${note.node} ${note.edge}`}>
          {note.mark === true ? '★ ' : ''}
          <button
            type="button"
            onClick={() =>
              onSelect(note.edge === undefined ? { node: note.node ?? 0 } : { edge: note.edge })
            }
          >
            <bdi>{noteSubject(data, note)}</bdi>
          </button>{' '}
          {/* Whatever direction it is written in, it turns nothing around it. */}
          <bdi>{note.comment}</bdi>{' '}
          <button
            type="button"
            aria-label={`Remove the note on ${noteSubject(data, note)}`}
            onClick={() => onChange({ annotations: annotations.filter((each) => each !== note) })}
          >
            ✕
          </button>
        </li>
      ))}
    </ol>
  )
}
