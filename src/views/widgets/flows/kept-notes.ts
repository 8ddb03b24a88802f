import { useEffect, useRef } from 'preact/hooks'
import { fingerprint } from '../../../core/fingerprint.ts'
import type { FlowAnnotation, FlowData } from './flow-scene.ts'
import { nodeName } from './flow-words.ts'

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
    const key = keyOf(data)
    if (wasRead.current) {
      writeNotes(key, annotations)
      return
    }
    wasRead.current = true
    const kept = readNotes(key).filter((note) => isOfFlow(data, note))
    if (kept.length > 0) onKept(mergedNotes(annotations, kept))
  }, [annotations])
}

/** Notes of both; of two on the same step or edge, the second. */
export function mergedNotes(
  given: readonly FlowAnnotation[],
  kept: readonly FlowAnnotation[],
): FlowAnnotation[] {
  const isOn = (one: FlowAnnotation, other: FlowAnnotation) =>
    one.node === other.node && one.edge === other.edge
  return [...given.filter((one) => !kept.some((other) => isOn(one, other))), ...kept]
}

/** Returns a key that is the same for the same flows, whatever page shows them. */
function keyOf(data: FlowData): string {
  const names = data.nodes.map((_, node) => nodeName(data, node))
  return `flowdelta notes ${fingerprint(JSON.stringify([data.title, names]))}`
}

function isOfFlow({ nodes, edges }: FlowData, { node = 0, edge = 0 }: FlowAnnotation): boolean {
  return nodes[node] !== undefined && edges[edge] !== undefined
}

function readNotes(key: string): FlowAnnotation[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(kept)
      ? kept.filter((note) => typeof note === 'object' && note !== null)
      : []
  } catch {
    return []
  }
}

function writeNotes(key: string, notes: readonly FlowAnnotation[]): void {
  try {
    if (notes.length === 0) localStorage.removeItem(key)
    else localStorage.setItem(key, JSON.stringify(notes))
  } catch {
    // A page may have no storage, or a full one: its notes then last only while it is open.
  }
}
