import type { Quantity } from '../../../core/quantity.ts'
import { counted, grouped, percent, tooltipText } from '../../../core/words.ts'
import type { EdgeLatencies, UnionEdge } from '../../../explain/flow-pair/flow-comparison.ts'
import { Button, Checkbox } from '../../drawing/controls.tsx'
import { type DataColumn, DataTable, numberColumn, textColumn } from '../../drawing/data-table.tsx'
import {
  type FlowAnnotation,
  type FlowData,
  type FlowScene,
  type FlowSelection,
  type FlowState,
  type SceneLink,
  type SceneStep,
  type SelectedThing,
  SIDES,
} from './flow-scene.ts'
import {
  diffLabel,
  edgeName,
  failureSentences,
  groupWords,
  latency,
  nodeName,
  orderSentences,
  presenceWords,
  verdictWords,
} from './flow-words.ts'

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
  readonly comments: readonly string[]
  readonly isMarked: boolean
}

const NO_NOTES: StepNotes = { numbers: [], comments: [], isMarked: false }

export type ShownNotes = ReturnType<typeof shownNotes>

/** Returns notes at the drawn element of their subject; notes on edges inside a group stand at the group. */
export function shownNotes(
  annotations: readonly FlowAnnotation[],
  { stepOf, links }: FlowScene,
  data: FlowData,
) {
  const all = [...data.notes, ...annotations]
  const steps = new Map<number, StepNotes>()
  const lines = new Map<SceneLink, StepNotes>()
  const add = <K,>(to: Map<K, StepNotes>, key: K, number: number) => {
    const note = all[number - 1] ?? {}
    const { mark = false, comment = '' } = note
    const told = `${number} ${noteSubject(data, note)}: ${tooltipText(comment)}`
    const { numbers, comments, isMarked } = to.get(key) ?? NO_NOTES
    to.set(key, {
      numbers: comment === '' ? numbers : [...numbers, number],
      comments: comment === '' ? comments : [...comments, told],
      isMarked: isMarked || mark,
    })
  }
  all.forEach(({ node, edge }, i) => {
    const link = links.find((each) => each.edges.includes(edge ?? -1))
    if (link !== undefined) add(lines, link, i + 1)
    else add(steps, stepOf[node ?? data.edges[edge ?? 0]?.from ?? 0] as number, i + 1)
  })
  return { steps, links: lines }
}

export function noteSubject(data: FlowData, { node, edge }: FlowAnnotation): string {
  return edge === undefined ? nodeName(data, node ?? 0) : edgeName(data, edge)
}

type NotesProps = Pick<FlowState, 'annotations'> &
  Pick<FlowDetailsProps, 'data' | 'onSelect' | 'onChange'>

export function FlowNotes({ data, annotations, onSelect, onChange }: NotesProps) {
  const all = [...data.notes, ...annotations]
  if (all.length === 0) return null
  return (
    <ol class="fd-flow-edges" aria-label="Notes">
      {all.map((note, i) => (
        <li key={i}>
          {note.mark === true ? '★ Note on ' : 'Note on '}
          <Button
            onClick={() =>
              onSelect(note.edge === undefined ? { node: note.node ?? 0 } : { edge: note.edge })
            }
          >
            <bdi>{noteSubject(data, note)}</bdi>
          </Button>{' '}
          {/* Whatever direction it is written in, it turns nothing around it. */}
          <bdi>{note.comment}</bdi>{' '}
          {data.notes.includes(note) ? null : (
            <Button
              aria-label={`Remove the note on ${noteSubject(data, note)}`}
              onClick={() => onChange({ annotations: annotations.filter((each) => each !== note) })}
            >
              ✕
            </Button>
          )}
        </li>
      ))}
    </ol>
  )
}

interface EditorProps extends Pick<NotesProps, 'annotations' | 'onChange'> {
  readonly target: NoteTarget
}

function NoteEditor({ annotations, target, onChange }: EditorProps) {
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

interface FlowDetailsProps {
  readonly data: FlowData
  readonly scene: FlowScene
  readonly state: FlowState
  readonly thing: SelectedThing
  readonly onChange: (changes: Partial<FlowState>) => void
  readonly onSelect: (selection: FlowSelection) => void
  readonly onToggle: (group: number) => void
}

const MAX_LISTED = 12

export function FlowDetails(props: FlowDetailsProps) {
  const { step, link } = props.thing
  return (
    <div class="fd-flow-details" aria-live="polite">
      {step !== null ? (
        <StepDetails {...props} step={step} />
      ) : link !== null ? (
        <LinkDetails {...props} link={link} />
      ) : (
        <p class="fd-soft">
          Choose a step or an edge for details. Enter or a click opens grouped steps; arrow keys
          follow the flow; drag to move, wheel to zoom, Shift and wheel to scroll.
        </p>
      )}
    </div>
  )
}

function StepDetails(props: FlowDetailsProps & { readonly step: SceneStep }) {
  const { data, scene, state, step, onChange, onSelect, onToggle } = props
  const { group, nodes, openedGroup } = step
  const node = nodes[0] as number
  const canPin = state.mode === 'side-by-side' && step.inBefore && step.inAfter
  const others = state.pins.filter((pin) => !nodes.includes(pin))
  const isPinned = others.length < state.pins.length
  const near = scene.links.filter(({ from, to }) => from === step.id || to === step.id)
  return (
    <>
      <p>
        <strong>{group === null ? nodeName(data, node) : tooltipText(group.name)}</strong>{' '}
        <span class="fd-soft">
          {group === null ? presenceWords(step, data, node) : groupWords(data, group)}
        </span>
      </p>
      {[...failureSentences(data, nodes), ...orderSentences(data, nodes)].map((sentence) => (
        <p key={sentence}>
          <strong>{sentence}</strong>
        </p>
      ))}
      <div class="fd-bar">
        {group === null ? null : <Button onClick={() => onToggle(group.id)}>Open</Button>}
        {openedGroup === null ? null : (
          <Button onClick={() => onToggle(openedGroup)}>Fold back</Button>
        )}
        {canPin ? (
          <Button
            aria-pressed={isPinned}
            onClick={() => onChange({ pins: isPinned ? others : [...others, node] })}
          >
            {isPinned ? 'Unpin' : 'Pin: align both flows here'}
          </Button>
        ) : null}
        <NoteEditor annotations={state.annotations} target={{ node }} onChange={onChange} />
      </div>
      <ul class="fd-flow-edges">
        {near.slice(0, MAX_LISTED).map((link) => (
          <li key={`${link.from} ${link.to}`}>
            <Button onClick={() => onSelect({ edge: link.lead.id })}>
              {link.from === step.id
                ? `to ${stepName(scene.steps[link.to])}`
                : `from ${stepName(scene.steps[link.from])}`}
            </Button>{' '}
            {diffLabel(link)} <span class="fd-soft">{verdictWords(link.lead, data.quantity)}</span>
          </li>
        ))}
      </ul>
      {near.length > MAX_LISTED ? (
        <p class="fd-soft">… and {counted(near.length - MAX_LISTED, 'more edge')}.</p>
      ) : null}
    </>
  )
}

/** Returns the name of a step as in the box; for a group without its times, which stand elsewhere. */
function stepName(step: SceneStep | undefined): string {
  const [name = '', where = ''] = step?.lines ?? []
  return step?.group || where === '' ? name : `${name}, ${where}`
}

function LinkDetails(props: FlowDetailsProps & { readonly link: SceneLink }) {
  const { data, state, link, onChange, onSelect } = props
  const { lead, edges } = link
  return (
    <>
      <p>
        <Button onClick={() => onSelect({ node: lead.from })}>{nodeName(data, lead.from)}</Button> →{' '}
        <Button onClick={() => onSelect({ node: lead.to })}>{nodeName(data, lead.to)}</Button>
      </p>
      <p>
        <strong class={lead.verdict === 'changed' ? 'fd-flow-changed' : ''}>
          {verdictWords(lead, data.quantity)}
        </strong>{' '}
        {edges.length > 1 ? `Stands for ${counted(edges.length, 'edge')}.` : ''}
      </p>
      <DataTable columns={latencyColumns(lead, data.quantity)} rows={LATENCIES} />
      {edges.length > 1 ? (
        <ul class="fd-flow-edges">
          {edges.slice(0, MAX_LISTED).map((id) => (
            <li key={id}>
              {edgeName(data, id)}{' '}
              <span class="fd-soft">
                {verdictWords(data.edges[id] as UnionEdge, data.quantity)}
              </span>
            </li>
          ))}
        </ul>
      ) : null}
      <div class="fd-bar">
        <NoteEditor
          annotations={state.annotations}
          target={{ edge: lead.id }}
          onChange={onChange}
        />
      </div>
    </>
  )
}

type Latency = readonly [name: string, textOf: (edge: EdgeLatencies, of: Quantity) => string]

const LATENCIES: readonly Latency[] = [
  ['mean', ({ meanUs }, of) => latency(meanUs, of)],
  ['median', ({ medianUs }, of) => latency(medianUs, of)],
  ['standard deviation', ({ sdUs }, of) => latency(sdUs, of)],
  ['requests', ({ requests }) => grouped(requests)],
  ['on the critical path', ({ criticalShare }) => percent(criticalShare)],
  ['waits for another branch', ({ waitUs }, of) => latency(waitUs, of)],
]

/** Returns a column for each period that has the edge. */
function latencyColumns(edge: UnionEdge, of: Quantity): DataColumn<Latency>[] {
  return [
    textColumn('', ([name]) => name),
    ...SIDES.flatMap((side) => {
      const latencies = edge[side]
      return latencies === null
        ? []
        : [numberColumn(side, ([, textOf]: Latency) => textOf(latencies, of))]
    }),
  ]
}
