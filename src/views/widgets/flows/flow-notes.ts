import type { FlowAnnotation, FlowData } from './flow-data.ts'
import type { FlowScene, SceneLink } from './flow-scene.ts'
import type { StepNotes } from './flow-step.tsx'
import { edgeName, nodeName } from './flow-words.ts'

/** A step or an edge of the union. */
export type NoteTarget = Pick<FlowAnnotation, 'node' | 'edge'>

/** The note on a step or an edge, if there is one. */
export function noteOn(
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
