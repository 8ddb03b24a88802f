import type { CategoryStructure } from '../../compare/categories/category-structure.ts'

/** A category's flow as it is drawn. */
export interface DrawnFlow {
  readonly labels: readonly string[]
  readonly from: Uint32Array
  readonly to: Uint32Array
  /** Number of each edge's class. */
  readonly classOf: Uint32Array
  /** For each node drawn the one it is, or stands for where it begins the next round. */
  readonly nodeOf: readonly number[]
  /** Nodes from this number on stand for the beginning of the next round. */
  readonly nextRound: number
}

/**
 * A category's flow as it is drawn: its nodes and edges, and in folded flows behind the last step of
 * a round a node more, for that with which the next round begins. A step from round to round
 * closes a cycle, which no drawing from top to bottom can have, but it takes time like any other.
 */
export function drawnFlow(structure: CategoryStructure): DrawnFlow {
  const { labels, from, to, classOf, classEnds, edgeClasses } = structure
  const places = new Map<number, number>()
  const loops = edgeClasses.flatMap(({ fromRoundBefore }, number) => {
    const ends = classEnds[number]
    if (!fromRoundBefore || ends === undefined) return []
    const place = places.get(ends.to) ?? labels.length + places.size
    places.set(ends.to, place)
    return [{ from: ends.from, to: place, number }]
  })
  const again = [...places.keys()]
  return {
    labels: [...labels, ...again.map((node) => `${labels[node]}, next round`)],
    from: Uint32Array.from([...from, ...loops.map((loop) => loop.from)]),
    to: Uint32Array.from([...to, ...loops.map((loop) => loop.to)]),
    classOf: Uint32Array.from([...classOf, ...loops.map(({ number }) => number)]),
    nodeOf: [...labels.keys(), ...again],
    nextRound: labels.length,
  }
}
