import { sum } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import type { FlowGraph } from './folded-graph.ts'

/** A recorded edge that folding makes one with others. */
interface RepeatedStep {
  readonly edge: number
  /** Labels at its ends, whatever the shape. */
  readonly key: string
  /** Counts the edges that become one with it, in recorded order. */
  readonly round: number
}

/** Edges that become one with others, but for those into joins, whose times hold waiting. */
export function repeatedSteps(
  { labels, from, to }: FlowGraph,
  logicalOf: Uint32Array,
): RepeatedStep[] {
  const entries = new Uint32Array(labels.length)
  for (const node of to) entries[node] = (entries[node] as number) + 1
  const rounds = new Map<number, number>()
  const steps = Array.from(logicalOf, (logical, edge) => {
    const round = rounds.get(logical) ?? 0
    rounds.set(logical, round + 1)
    const [source, target] = [from[edge] as number, to[edge] as number]
    return { edge, logical, target, round, key: `${labels[source]} ${labels[target]}` }
  })
  return steps.filter(
    ({ logical, target }) => (rounds.get(logical) as number) > 1 && entries[target] === 1,
  )
}

interface Sums {
  count: number
  total: number
  squares: number
}

/**
 * Times of steps by the round in which they were taken, on a logarithmic scale, over all shapes, so
 * that one rule holds for flows of every size.
 */
export class RoundTimes {
  readonly #sums = new Map<string, Map<number, Sums>>()

  add(steps: readonly RepeatedStep[], latencyUs: Float64Array): void {
    for (const { edge, key, round } of steps) {
      const rounds = getOrInsert(this.#sums, key, () => new Map<number, Sums>())
      const sums = getOrInsert(rounds, round, () => ({ count: 0, total: 0, squares: 0 }))
      const value = Math.log1p(latencyUs[edge] as number)
      sums.count++
      sums.total += value
      sums.squares += value ** 2
    }
  }

  /** Steps of which the round explains more than this share of the variance of times (ε²). */
  differing(limit: number): ReadonlySet<string> {
    return new Set(
      [...this.#sums].flatMap(([key, rounds]) => (explained(rounds) > limit ? key : [])),
    )
  }
}

/** Returns Kelley's ε²: η² less its value by chance. Source: Kelley 1935, PNAS 21(9):554-559. */
function explained(rounds: ReadonlyMap<number, Sums>): number {
  const all = [...rounds.values()]
  const count = sum(all, (one) => one.count)
  const squares = sum(all, (one) => one.squares)
  const total = squares - sum(all, (one) => one.total) ** 2 / count
  const within = squares - sum(all, (one) => one.total ** 2 / one.count)
  const freedom = count - all.length
  if (freedom === 0 || !(total > 1e-9 * squares)) return 0
  return (total - within - ((all.length - 1) * within) / freedom) / total
}
