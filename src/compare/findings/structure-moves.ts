import type { Precursors } from '../precursors/precursors.ts'
import { structureDistances } from '../precursors/structure-distances.ts'
import type { StructureMove } from './finding.ts'

/**
 * What became of whom, each request counted once: structural mutations take as many requests from
 * their candidates, the likeliest first, as those have lost; precursors from which none took any
 * pass theirs on to the most similar categories of their type that gained some, however few.
 *
 * What a mutation gained beyond that is laid to its likeliest candidate, or else to the most similar
 * precursor: in short periods it may well have lost fewer requests than chance brought to the
 * mutation. A type of request that only came more often moves from itself; one that came less often
 * moves nowhere, it is for the check of the request mix.
 */
export function structureMoves(precursors: Precursors): StructureMove[] {
  const { structural } = precursors
  const { changes, mutations } = structural
  const gained = Float64Array.from(changes, (change) => Math.max(0, change))
  const lost = Float64Array.from(changes, (change) => Math.max(0, -change))
  const moved = new Map<string, StructureMove>()
  const move = (from: number, to: number, requests: number) => {
    if (requests <= 0) return
    const key = `${from} ${to}`
    moved.set(key, { from, to, requests: requests + (moved.get(key)?.requests ?? 0) })
    lost[from]! -= requests
    gained[to]! -= requests
  }
  const available = (from: number, to: number) =>
    Math.min(lost[from] as number, gained[to] as number)

  for (const to of mutations) {
    for (const { category: from } of precursors.of(to)) move(from, to, available(from, to))
  }
  const matched = new Set([...moved.values()].map(({ from }) => from))
  const gaining = [...changes.keys()].filter((category) => (changes[category] as number) > 0)
  for (const from of structural.precursors) {
    if (matched.has(from)) continue
    for (const to of byDistance(precursors, from, gaining)) move(from, to, available(from, to))
  }
  for (const to of mutations) {
    const candidate = precursors.of(to)[0]?.category
    const from = candidate ?? byDistance(precursors, to, structural.precursors)[0] ?? to
    move(from, to, gained[to] as number)
  }
  return [...moved.values()]
}

/** Those of `others` that begin like `category`, the most similar structure first. */
function byDistance(
  { structural: { categories }, options }: Precursors,
  category: number,
  others: readonly number[],
): number[] {
  const root = categories.root(category)
  const alike = others.filter((other) => categories.root(other) === root)
  const { nsed } = structureDistances(categories, options.editTokens).from(category, alike)
  const order = [...alike.keys()].sort((a, b) => (nsed[a] as number) - (nsed[b] as number))
  return order.map((at) => alike[at] as number)
}
