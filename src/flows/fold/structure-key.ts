import { addMod, hashText, mix } from './colour-sweeps.ts'
import { foldedColours, hashNotes } from './folded-colours.ts'
import type { FoldedGraph } from './folded-graph.ts'

/** What a key is to tell apart. */
export interface KeyOptions {
  /** Label of a node, by label code. */
  readonly textOf: (label: number) => string
  /** How a number of repetitions is told; `null` to leave out what was folded, and how. */
  readonly timesOf: ((times: number) => string) | null
}

/**
 * One short text for a folded flow's structure, the same whatever the order of its nodes and edges;
 * 53 bits of a hash.
 */
export function structureKey(graph: FoldedGraph, { textOf, timesOf }: KeyOptions): string {
  const { labels, from, to, inside, loops, repetitions } = graph
  const start = Float64Array.from(labels, (label, node) => {
    const stack = inside[node] as readonly number[]
    const times = timesOf && stack.map((number) => timesOf(repetitions[number]?.times ?? 1))
    return hashText(`${textOf(label)}\n${times?.join() ?? ''}`)
  })
  const said = timesOf === null ? null : hashNotes(graph)
  const colours = foldedColours(graph, start, said)
  let key = colours.reduce(addMod, labels.length)
  for (let edge = 0; edge < from.length; edge++) {
    if (said === null && loops[edge] === 1) continue
    const ends = mix(colours[from[edge] as number] as number, colours[to[edge] as number] as number)
    key = addMod(key, mix(ends, said?.[edge] ?? 0))
  }
  return key.toString(36)
}
