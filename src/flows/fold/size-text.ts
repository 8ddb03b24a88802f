// Runs once a span, node or edge: the loops index with `!`.
import { graphDepths } from '../../core/graph-depths.ts'
import type { AttributeValue } from '../../traces/attributes.ts'
import type { FoldedGraph } from './folded-graph.ts'

/** Sizes that are told apart: every number, or only powers of two. */
export interface SizeRule {
  readonly log2: boolean
}

/** A number of repetitions as a label shows it: `×5`, or with `log2` `×4–7`. */
export function timesText(times: number, { log2 }: SizeRule): string {
  if (!log2) return `×${times}`
  const least = 2 ** Math.floor(Math.log2(times))
  return least === 1 ? '×1' : `×${least}–${2 * least - 1}`
}

/**
 * A size in a label: `320KB`, or with `log2` `256KB–512KB`. Bytes are never rounded, so that
 * different sizes look different; a `unit` of `null` is any other number.
 */
export function sizeText(
  value: AttributeValue,
  { unit, log2 }: SizeRule & { unit: 'bytes' | null },
): string {
  if (typeof value !== 'number') return String(value)
  const plain = (size: number) => (unit === 'bytes' ? bytesText(size) : String(size))
  if (!log2 || !(value > 0)) return plain(value)
  const least = 2 ** Math.floor(Math.log2(value))
  return `${plain(least)}–${plain(2 * least)}`
}

function bytesText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  let [size, unit] = [bytes, 0]
  while (size !== 0 && size % 1024 === 0 && unit + 1 < units.length) {
    size /= 1024
    unit++
  }
  return `${size}${units[unit]}`
}

const MAX_NAMED = 6

/** The repetitions of a folded flow as its root shows them, outer before inner: `×3 ×1024`. */
export function repetitionsText(
  graph: FoldedGraph,
  { labelRank, log2 }: SizeRule & { labelRank: Uint32Array },
): string {
  const acyclic = (ends: Uint32Array) => ends.filter((_, edge) => graph.loops[edge] === 0)
  const depth = graphDepths(graph.labels.length, acyclic(graph.from), acyclic(graph.to))
  const first = new Map<number, { depth: number; rank: number; nodes: number }>()
  graph.inside.forEach((stack, node) => {
    const at = depth[node]!
    const rank = labelRank[graph.labels[node]!]!
    for (const repetition of stack) {
      const known = first.get(repetition) ?? { depth: at, rank, nodes: 0 }
      const earlier = at < known.depth || (at === known.depth && rank < known.rank)
      first.set(repetition, { ...(earlier ? { depth: at, rank } : known), nodes: known.nodes + 1 })
    }
  })
  const texts = [...first]
    .map(([number, place]) => ({ ...place, times: graph.repetitions[number]?.times ?? 1 }))
    .sort((a, b) => a.depth - b.depth || b.nodes - a.nodes || a.rank - b.rank || b.times - a.times)
    .map(({ times }) => timesText(times, { log2 }))
  if (texts.length <= MAX_NAMED) return texts.join(' ')
  return `${texts.slice(0, MAX_NAMED).join(' ')} and ${texts.length - MAX_NAMED} more`
}
