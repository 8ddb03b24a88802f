import type { Quantity } from '../../../core/quantity.ts'
import { counted, grouped, percent, tooltipText } from '../../../core/words.ts'
import type { EdgeLatencies, UnionEdge } from '../../../explain/flow-pair/flow-comparison.ts'
import { Button, Checkbox } from '../../drawing/controls.tsx'
import { type DataColumn, DataTable, numberColumn, textColumn } from '../../drawing/data-table.tsx'
import { annotated, type Note, type NoteTarget, noteOn, noteSubject } from './flow-notes.ts'
import { type SceneLink, type SceneStep, SIDES } from './flow-scene.ts'
import type { Flow } from './flow-state.ts'
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

type FlowProps = { readonly flow: Flow }

export function FlowNotes({ flow }: FlowProps) {
  const { data, goTo, change } = flow
  const { annotations } = flow.state
  if (annotations.length === 0) return null
  return (
    <ol class="fd-flow-edges" aria-label="Notes">
      {annotations.map((note, i) => (
        <li key={i}>
          {note.mark === true ? '★ Note on ' : 'Note on '}
          <Button
            onClick={() =>
              goTo(note.edge === undefined ? { node: note.node ?? 0 } : { edge: note.edge })
            }
          >
            <bdi>{noteSubject(data, note)}</bdi>
          </Button>{' '}
          {/* Whatever direction it is written in, it turns nothing around it. */}
          <bdi>{note.comment}</bdi>{' '}
          <Button
            aria-label={`Remove the note on ${noteSubject(data, note)}`}
            onClick={() => change({ annotations: annotations.filter((each) => each !== note) })}
          >
            ✕
          </Button>
        </li>
      ))}
    </ol>
  )
}

function NoteEditor({ flow, target }: FlowProps & { readonly target: NoteTarget }) {
  const { annotations } = flow.state
  const { mark = false, comment = '' } = noteOn(annotations, target) ?? {}
  const change = (changes: Partial<Note>) =>
    flow.change({ annotations: annotated(annotations, target, { mark, comment, ...changes }) })
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

const MAX_LISTED = 12

export function FlowDetails({ flow }: FlowProps) {
  const { step, link } = flow.thing
  return (
    <div class="fd-flow-details" aria-live="polite">
      {step !== null ? (
        <StepDetails {...{ flow, step }} />
      ) : link !== null ? (
        <LinkDetails {...{ flow, link }} />
      ) : (
        <p class="fd-soft">
          Choose a step or an edge for details. Enter or a click opens grouped steps; arrow keys
          follow the flow; drag to move, wheel to zoom, Shift and wheel to scroll.
        </p>
      )}
    </div>
  )
}

function StepDetails({ flow, step }: FlowProps & { readonly step: SceneStep }) {
  const { data, scene, pinned, isBeside } = flow
  const { group, nodes, openedGroup } = step
  const node = nodes[0] as number
  const isPinned = pinned.includes(step.id)
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
        {group === null ? null : <Button onClick={() => flow.toggle(group.id)}>Open</Button>}
        {openedGroup === null ? null : (
          <Button onClick={() => flow.toggle(openedGroup)}>Fold back</Button>
        )}
        {isBeside && step.inBefore && step.inAfter ? (
          <Button aria-pressed={isPinned} onClick={() => flow.pin(node)}>
            {isPinned ? 'Unpin' : 'Pin: align both flows here'}
          </Button>
        ) : null}
        <NoteEditor flow={flow} target={{ node }} />
      </div>
      <ul class="fd-flow-edges">
        {near.slice(0, MAX_LISTED).map((link) => (
          <li key={`${link.from} ${link.to}`}>
            <Button onClick={() => flow.goTo({ edge: link.lead.id })}>
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

function LinkDetails({ flow, link }: FlowProps & { readonly link: SceneLink }) {
  const { data, goTo } = flow
  const { lead, edges } = link
  return (
    <>
      <p>
        <Button onClick={() => goTo({ node: lead.from })}>{nodeName(data, lead.from)}</Button> →{' '}
        <Button onClick={() => goTo({ node: lead.to })}>{nodeName(data, lead.to)}</Button>
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
        <NoteEditor flow={flow} target={{ edge: lead.id }} />
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
