import { Button, Checkbox } from '../../drawing/controls.tsx'
import type {
  FlowAnnotation,
  FlowData,
  FlowScene,
  FlowSelection,
  FlowState,
  SceneLink,
} from './flow-scene.ts'
import { edgeName, nodeName } from './flow-words.ts'

type NoteTarget = Pick<FlowAnnotation, 'node' | 'edge'>

type Note = Required<Pick<FlowAnnotation, 'mark' | 'comment'>>

function noteOn(
  annotations: readonly FlowAnnotation[],
  { node, edge }: NoteTarget,
): FlowAnnotation | undefined {
  return annotations.find((note) => note.node === node && note.edge === edge)
}

/** Returns the notes with that on `target` changed; one that says nothing is taken away. */
export function annotated(
  annotations: readonly FlowAnnotation[],
  target: NoteTarget,
  { mark, comment }: Note,
): FlowAnnotation[] {
  const known = noteOn(annotations, target)
  const next = { ...target, ...(mark && { mark }), ...(comment !== '' && { comment }) }
  const kept = mark || comment !== '' ? [next] : []
  if (known === undefined) return [...annotations, ...kept]
  return annotations.flatMap((note) => (note === known ? kept : [note]))
}

export interface StepNotes {
  readonly numbers: readonly number[]
  readonly isMarked: boolean
}

export type ShownNotes = ReturnType<typeof shownNotes>

/** Returns notes at what stands for what they are on; those on edges inside a group at the group. */
export function shownNotes(
  annotations: readonly FlowAnnotation[],
  { stepOf, links }: FlowScene,
  { edges }: FlowData,
) {
  const steps = new Map<number, StepNotes>()
  const lines = new Map<SceneLink, StepNotes>()
  const add = <K,>(to: Map<K, StepNotes>, key: K, number: number) => {
    const { mark = false, comment = '' } = annotations[number - 1] ?? {}
    const { numbers, isMarked } = to.get(key) ?? { numbers: [], isMarked: false }
    to.set(key, {
      numbers: comment === '' ? numbers : [...numbers, number],
      isMarked: isMarked || mark,
    })
  }
  annotations.forEach(({ node, edge }, i) => {
    const link = links.find((each) => each.edges.includes(edge ?? -1))
    if (link !== undefined) add(lines, link, i + 1)
    else add(steps, stepOf[node ?? edges[edge ?? 0]?.from ?? 0] as number, i + 1)
  })
  return { steps, links: lines }
}

export function noteSubject(data: FlowData, { node, edge }: FlowAnnotation): string {
  return edge === undefined ? nodeName(data, node ?? 0) : edgeName(data, edge)
}

interface NotesProps extends Pick<FlowState, 'annotations'> {
  readonly data: FlowData
  readonly onSelect: (selection: FlowSelection) => void
  readonly onChange: (changes: Partial<FlowState>) => void
}

export function FlowNotes({ data, annotations, onSelect, onChange }: NotesProps) {
  if (annotations.length === 0) return null
  return (
    <ol class="fd-flow-edges" aria-label="Notes">
      {annotations.map((note) => (
        <li key={`${note.node} ${note.edge}`}>
          {note.mark === true ? '★ ' : ''}
          <Button
            onClick={() =>
              onSelect(note.edge === undefined ? { node: note.node ?? 0 } : { edge: note.edge })
            }
          >
            <bdi>{noteSubject(data, note)}</bdi>
          </Button>{' '}
          {/* Whatever direction it is written in, it turns nothing around it. */}
          <bdi>{note.comment}</bdi>{' '}
          <Button
            aria-label={`Remove the note on ${noteSubject(data, note)}`}
            onClick={() => onChange({ annotations: annotations.filter((each) => each !== note) })}
          >
            ✕
          </Button>
        </li>
      ))}
    </ol>
  )
}

interface EditorProps extends Pick<NotesProps, 'annotations' | 'onChange'> {
  readonly target: NoteTarget
}

export function NoteEditor({ annotations, target, onChange }: EditorProps) {
  const { mark = false, comment = '' } = noteOn(annotations, target) ?? {}
  const change = (changes: Partial<Note>) =>
    onChange({ annotations: annotated(annotations, target, { mark, comment, ...changes }) })
  return (
    <>
      <Checkbox label="Mark" isChecked={mark} onChange={(isOn) => change({ mark: isOn })} />
      <label>
        Comment
        <input
          type="text"
          size={32}
          value={comment}
          onInput={({ currentTarget }) => change({ comment: currentTarget.value })}
        />
      </label>
    </>
  )
}
