import { useEffect, useRef } from 'preact/hooks'
import { fingerprint } from '../../../core/fingerprint.ts'
import { tooltipText } from '../../../core/words.ts'
import type { FlowAnnotation, FlowData, FlowScene, SceneLink } from './flow-scene.ts'
import { edgeName, nodeName } from './flow-words.ts'

/**
 * Keeps notes in the storage of the page, so that a reload does not lose them: those kept are added to
 * those given, and stand in place of one on the same step or edge. Pages without storage keep none.
 */
export function useKeptNotes(
  data: FlowData,
  annotations: readonly FlowAnnotation[],
  onKept: (merged: readonly FlowAnnotation[]) => void,
): void {
  const wasRead = useRef(false)
  useEffect(() => {
    const names = data.nodes.map((_, node) => nodeName(data, node))
    // The same for the same flows, whatever page shows them.
    const key = `flowdelta notes ${fingerprint(JSON.stringify([data.title, names]))}`
    try {
      if (wasRead.current) return localStorage.setItem(key, JSON.stringify(annotations))
      wasRead.current = true
      const kept = notesOfFlow(data, JSON.parse(localStorage.getItem(key) ?? '[]'))
      const given = annotations.filter((note) => noteOn(kept, note) === undefined)
      if (kept.length > 0) onKept([...given, ...kept])
    } catch {
      // A page may have no storage, or a full one: its notes then last only while it is open.
    }
  }, [annotations])
}

/** Returns the notes on steps and edges that the flow has. */
function notesOfFlow({ nodes, edges }: FlowData, kept: unknown): FlowAnnotation[] {
  return (Array.isArray(kept) ? kept : []).filter(
    (note) => nodes[note?.node ?? 0] !== undefined && edges[note?.edge ?? 0] !== undefined,
  )
}

export type NoteTarget = Pick<FlowAnnotation, 'node' | 'edge'>

export type Note = Required<Pick<FlowAnnotation, 'mark' | 'comment'>>

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
  const steps = new Map<number, StepNotes>()
  const lines = new Map<SceneLink, StepNotes>()
  const add = <K>(to: Map<K, StepNotes>, key: K, number: number) => {
    const note = annotations[number - 1] ?? {}
    const { mark = false, comment = '' } = note
    const told = `${number} ${noteSubject(data, note)}: ${tooltipText(comment)}`
    const { numbers, comments, isMarked } = to.get(key) ?? NO_NOTES
    to.set(key, {
      numbers: comment === '' ? numbers : [...numbers, number],
      comments: comment === '' ? comments : [...comments, told],
      isMarked: isMarked || mark,
    })
  }
  annotations.forEach(({ node, edge }, i) => {
    const link = links.find((each) => each.edges.includes(edge ?? -1))
    if (link !== undefined) add(lines, link, i + 1)
    else add(steps, stepOf[node ?? data.edges[edge ?? 0]?.from ?? 0] as number, i + 1)
  })
  return { steps, links: lines }
}

export function noteSubject(data: FlowData, { node, edge }: FlowAnnotation): string {
  return edge === undefined ? nodeName(data, node ?? 0) : edgeName(data, edge)
}
