import { tooltipText } from '../../../core/words.ts'
import type { FlowAnnotation, FlowData, FlowScene, SceneLink } from './flow-scene.ts'
import { edgeName, nodeName } from './flow-words.ts'

export type NoteTarget = Pick<FlowAnnotation, 'node' | 'edge'>

export function noteOn(
  annotations: readonly FlowAnnotation[],
  { node, edge }: NoteTarget,
): FlowAnnotation | undefined {
  return annotations.find((note) => note.node === node && note.edge === edge)
}

/** Returns the notes with that on `target` changed; one that says nothing is taken away. */
export function annotated(
  annotations: readonly FlowAnnotation[],
  target: NoteTarget,
  comment: string,
): FlowAnnotation[] {
  const known = noteOn(annotations, target)
  const kept = comment === '' ? [] : [{ ...target, comment }]
  if (known === undefined) return [...annotations, ...kept]
  return annotations.flatMap((note) => (note === known ? kept : [note]))
}

/** Numbers and words of the notes on a drawn thing. */
export interface StepNotes {
  readonly numbers: readonly number[]
  readonly comments: readonly string[]
}

export type ShownNotes = ReturnType<typeof shownNotes>

/** Returns notes at the drawn element of their subject; notes on edges inside a group stand at the group. */
export function shownNotes(
  annotations: readonly FlowAnnotation[],
  { stepOf, links }: FlowScene,
  data: FlowData,
) {
  const steps = new Map<number, StepNotes>()
  const lines = new Map<SceneLink, StepNotes>()
  const add = <K>(to: Map<K, StepNotes>, key: K, number: number) => {
    const note = annotations[number - 1] ?? { comment: '' }
    const told = `${number} ${noteSubject(data, note)}: ${tooltipText(note.comment)}`
    const { numbers, comments } = to.get(key) ?? { numbers: [], comments: [] }
    to.set(key, { numbers: [...numbers, number], comments: [...comments, told] })
  }
  annotations.forEach(({ node, edge }, i) => {
    const link = links.find((each) => each.edges.includes(edge ?? -1))
    if (link !== undefined) add(lines, link, i + 1)
    else add(steps, stepOf[node ?? data.edges[edge ?? 0]?.from ?? 0] as number, i + 1)
  })
  return { steps, links: lines }
}

export function noteSubject(data: FlowData, { node, edge }: NoteTarget): string {
  return edge === undefined ? nodeName(data, node ?? 0) : edgeName(data, edge)
}
