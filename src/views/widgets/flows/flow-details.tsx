import { tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, grouped, percent } from '../../../core/words.ts'
import type { EdgeLatencies, UnionEdge } from '../../../explain/flow-pair/flow-comparison.ts'
import { diffLabel } from './flow-layouts.ts'
import type {
  FlowAnnotation,
  FlowData,
  FlowScene,
  FlowSelection,
  FlowState,
  SceneLink,
  SceneStep,
  SelectedThing,
} from './flow-scene.ts'
import type { StepNotes } from './flow-step.tsx'
import { edgeName, groupWords, nodeName, presenceWords, verdictWords } from './flow-words.ts'

/** A step or an edge of the union. */
type NoteTarget = Pick<FlowAnnotation, 'node' | 'edge'>

/** The note on a step or an edge, if there is one. */
function noteOn(
  annotations: readonly FlowAnnotation[],
  { node, edge }: NoteTarget,
): FlowAnnotation | undefined {
  return annotations.find((note) => note.node === node && note.edge === edge)
}

/** The notes with that on `target` changed; one that says nothing is taken away. */
export function annotated(
  annotations: readonly FlowAnnotation[],
  target: NoteTarget,
  { mark, comment }: { mark: boolean; comment: string },
): FlowAnnotation[] {
  const next = { ...target, ...(mark ? { mark } : {}), ...(comment === '' ? {} : { comment }) }
  const isKept = mark || comment !== ''
  const known = noteOn(annotations, target)
  if (known === undefined) return isKept ? [...annotations, next] : [...annotations]
  return annotations.flatMap((note) => (note !== known ? [note] : isKept ? [next] : []))
}

/** What is shown of the notes at boxes and lines, by their ids and places in the scene. */
export interface ShownNotes {
  readonly steps: ReadonlyMap<number, StepNotes>
  readonly links: ReadonlyMap<SceneLink, StepNotes>
}

/** Notes at what stands for what they are on; those on edges inside a group at the group. */
export function shownNotes(
  annotations: readonly FlowAnnotation[],
  { stepOf, links }: FlowScene,
  { edges }: FlowData,
): ShownNotes {
  const steps = new Map<number, StepNotes>()
  const lines = new Map<SceneLink, StepNotes>()
  annotations.forEach((note, i) => {
    const { node, edge } = note
    const link = links.find((each) => edge !== undefined && each.edges.includes(edge))
    if (link !== undefined) lines.set(link, withNote(lines.get(link), note, i + 1))
    else {
      const step = stepOf[node ?? edges[edge ?? 0]?.from ?? 0] as number
      steps.set(step, withNote(steps.get(step), note, i + 1))
    }
  })
  return { steps, links: lines }
}

function withNote(
  notes: StepNotes = { numbers: [], isMarked: false },
  { mark = false, comment = '' }: FlowAnnotation,
  number: number,
): StepNotes {
  return {
    numbers: comment === '' ? notes.numbers : [...notes.numbers, number],
    isMarked: notes.isMarked || mark,
  }
}

/** What a note is on, in words. */
export function noteSubject(data: FlowData, { node, edge }: FlowAnnotation): string {
  return edge === undefined ? nodeName(data, node ?? 0) : edgeName(data, edge)
}

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

/** All that is known of the step or the edge that is looked at, and what can be done with it. */
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
          Choose a step or an edge to read all about it. Enter or a click opens what is drawn as
          one; arrow keys go along the flow; drag to move, wheel to zoom, Shift and wheel to scroll.
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
  const isPinned = state.pin !== null && nodes.includes(state.pin)
  const near = scene.links.filter(({ from, to }) => from === step.id || to === step.id)
  return (
    <>
      <p>
        <strong>{group === null ? nodeName(data, node) : tooltipText(group.name)}</strong>{' '}
        <span class="fd-soft">
          {group === null ? presenceWords(step, data, node) : groupWords(data, group)}
        </span>
      </p>
      <div class="fd-bar">
        {group === null ? null : (
          <button type="button" onClick={() => onToggle(group.id)}>
            Open
          </button>
        )}
        {openedGroup === null ? null : (
          <button type="button" onClick={() => onToggle(openedGroup)}>
            Fold back
          </button>
        )}
        {canPin ? (
          <button
            type="button"
            aria-pressed={isPinned}
            onClick={() => onChange({ pin: isPinned ? null : node })}
          >
            {isPinned ? 'Unpin' : 'Pin: align both flows here'}
          </button>
        ) : null}
        <NoteEditor {...props} target={{ node }} />
      </div>
      <ul class="fd-flow-edges">
        {near.slice(0, MAX_LISTED).map((link) => {
          const other = scene.steps[link.from === step.id ? link.to : link.from]
          return (
            <li key={`${link.from} ${link.to}`}>
              <button type="button" onClick={() => onSelect({ edge: link.lead.id })}>
                {link.from === step.id ? 'to' : 'from'} {other === undefined ? '' : stepName(other)}
              </button>{' '}
              {diffLabel(link)} <span class="fd-soft">{verdictWords(link.lead)}</span>
            </li>
          )
        })}
      </ul>
      {near.length > MAX_LISTED ? (
        <p class="fd-soft">… and {counted(near.length - MAX_LISTED, 'more edge')}.</p>
      ) : null}
    </>
  )
}

/** As in the box; of a group without its times, which stand beside. */
function stepName({ group, lines }: SceneStep): string {
  return group === null ? lines.join(', ') : (lines[0] ?? '')
}

function LinkDetails(props: FlowDetailsProps & { readonly link: SceneLink }) {
  const { data, link, onSelect } = props
  const { lead, edges } = link
  return (
    <>
      <p>
        <button type="button" onClick={() => onSelect({ node: lead.from })}>
          {nodeName(data, lead.from)}
        </button>{' '}
        →{' '}
        <button type="button" onClick={() => onSelect({ node: lead.to })}>
          {nodeName(data, lead.to)}
        </button>
      </p>
      <p>
        <strong class={lead.verdict === 'changed' ? 'fd-flow-changed' : ''}>
          {verdictWords(lead)}
        </strong>{' '}
        {edges.length > 1 ? `Stands for ${counted(edges.length, 'edge')}.` : ''}
      </p>
      <LatencyTable edge={lead} />
      {edges.length > 1 ? (
        <ul class="fd-flow-edges">
          {edges.slice(0, MAX_LISTED).map((id) => {
            const edge = data.edges[id] as UnionEdge
            return (
              <li key={id}>
                {edgeName(data, id)} <span class="fd-soft">{verdictWords(edge)}</span>
              </li>
            )
          })}
        </ul>
      ) : null}
      <div class="fd-bar">
        <NoteEditor {...props} target={{ edge: lead.id }} />
      </div>
    </>
  )
}

function LatencyTable({ edge }: { readonly edge: UnionEdge }) {
  const time = (us: number | null) => (us === null ? '–' : formatDuration(us))
  const rows = (['before', 'after'] as const).flatMap((side): [string, EdgeLatencies][] => {
    const latencies = edge[side]
    return latencies === null ? [] : [[side, latencies]]
  })
  return (
    <table>
      <thead>
        <tr>
          {['', 'mean', 'median', 'deviation', 'requests', 'on the critical path', 'waits'].map(
            (name) => (
              <th key={name} class={name === '' ? '' : 'fd-amount'}>
                {name}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map(([side, { meanUs, medianUs, sdUs, requests, criticalShare, waitUs }]) => (
          <tr key={side}>
            <td>{side}</td>
            <td class="fd-amount">{time(meanUs)}</td>
            <td class="fd-amount">{time(medianUs)}</td>
            <td class="fd-amount">{time(sdUs)}</td>
            <td class="fd-amount">{grouped(requests)}</td>
            <td class="fd-amount">{percent(criticalShare)}</td>
            <td class="fd-amount">{time(waitUs)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Marks and comments what is looked at. */
function NoteEditor({
  state,
  target,
  onChange,
}: Pick<FlowDetailsProps, 'state' | 'onChange'> & { readonly target: NoteTarget }) {
  const { mark = false, comment = '' } = noteOn(state.annotations, target) ?? {}
  const change = (changes: { mark?: boolean; comment?: string }) =>
    onChange({ annotations: annotated(state.annotations, target, { mark, comment, ...changes }) })
  return (
    <>
      <label>
        <input
          type="checkbox"
          checked={mark}
          onChange={({ currentTarget }) => change({ mark: currentTarget.checked })}
        />
        Mark
      </label>
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
