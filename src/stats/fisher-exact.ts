import { OptionError, requireList } from '../core/errors.ts'

export interface FisherExactResult {
  /** Two-sided: the probability of all tables that are at most as probable as the one given. */
  readonly p: number
  /** One-sided: the probability of as many successes of the second group as given, or more. */
  readonly pMore: number
  /** One-sided: the probability of as many successes of the second group as given, or fewer. */
  readonly pFewer: number
}

/** Ratio up to which probabilities count as equal; the value of R. */
const SAME = 1 + 1e-7

/**
 * Tests whether two groups succeed equally often (Fisher's exact test).
 *
 * Null hypothesis: both groups have one probability of success. Alternative: they differ (p),
 * the second's is larger (pMore), or smaller (pFewer). Half of p is no one-sided p: where successes
 * are rare or the groups unequal, the two tails differ, and the farther one may be empty. Given the
 * sizes and the number of all successes, the successes of the second group are then hypergeometric.
 *
 * When all of both groups succeed, or none, all p are 1. When a group is empty, every p is NaN.
 *
 * Limits: p rejects less often than its level. Probabilities come from ratios of neighboring tables, without factorials: O(√n) for groups of n,
 * 100,000 and more; a p below 1e-300 is 0. Trials must be independent.
 *
 * Source: Fisher 1935, "The logic of inductive inference", J. Royal Statistical Society 98(1):39-82.
 *
 * @throws OptionError for a size that is not an integer of 0 or more, or successes that are not an
 *   integer from 0 to the group's size.
 *
 * @example
 * fisherExact(1, 10, 8, 10).p.toFixed(6) // '0.005477'
 */
export function fisherExact(
  successes1: number,
  n1: number,
  successes2: number,
  n2: number,
): FisherExactResult {
  requireGroup(1, successes1, n1)
  requireGroup(2, successes2, n2)
  if (n1 === 0 || n2 === 0) return NOTHING
  return probabilities(probableTables({ n1, n2, successes: successes1 + successes2 }), successes2)
}

/**
 * Returns Fisher's two-sided p over several tables: the probability of all numbers of successes in the second groups
 * together that are at most as probable as the one given, within tables with these margins. Tables with an empty group
 * say nothing; p is NaN if all are such.
 *
 * Same numbers as `mantelhaen.test(exact = TRUE)` of R. The work grows with the square of the
 * successes that are possible.
 *
 * Source: Gart 1970, "Point and interval estimation of the common odds ratio in the combination of
 * 2 × 2 tables with fixed marginals", Biometrika 57(3):471-475.
 */
export function stratifiedFisherP(
  tables: readonly (readonly [successes1: number, n1: number, successes2: number, n2: number])[],
): number {
  requireList('tables', tables, 'length')
  const used = tables.filter(([, n1, , n2]) => n1 > 0 && n2 > 0)
  if (used.length === 0) return Number.NaN
  let [all, observed] = [new Map([[0, 1]]), 0]
  for (const [successes1, n1, successes2, n2] of used) {
    const sums = new Map<number, number>()
    for (const [table, weight] of probableTables({ n1, n2, successes: successes1 + successes2 })) {
      for (const [sum, own] of all)
        sums.set(sum + table, (sums.get(sum + table) ?? 0) + own * weight)
    }
    all = sums
    observed += successes2
  }
  return probabilities(all, observed).p
}

/** Returns p-values of the second group's successes, given all tables by their relative probability. */
function probabilities(tables: ReadonlyMap<number, number>, successes2: number) {
  const observed = tables.get(successes2) ?? 0
  let [total, rare, more, fewer] = [0, 0, 0, 0]
  for (const [table, weight] of tables) {
    total += weight
    if (table >= successes2) more += weight
    if (table <= successes2) fewer += weight
    if (weight <= observed * SAME) rare += weight
  }
  return {
    p: Math.min(1, rare / total),
    pMore: Math.min(1, more / total),
    pFewer: Math.min(1, fewer / total),
  }
}

const NOTHING: FisherExactResult = { p: Number.NaN, pMore: Number.NaN, pFewer: Number.NaN }

/** Returns every number of successes with its probability relative to the most probable one. */
function probableTables({ n1, n2, successes }: { n1: number; n2: number; successes: number }) {
  const tables = new Map<number, number>()
  const least = Math.max(0, successes - n1)
  const most = Math.min(n2, successes)
  const mode = Math.floor(((successes + 1) * (n2 + 1)) / (n1 + n2 + 2))
  const start = Math.min(most, Math.max(least, mode))
  const ratio = (k: number) => ((n2 - k) * (successes - k)) / ((k + 1) * (n1 - successes + k + 1))
  let weight = 1
  tables.set(start, weight)
  for (let k = start; k < most && weight > 0; k++) {
    weight *= ratio(k)
    tables.set(k + 1, weight)
  }
  weight = 1
  for (let k = start; k > least && weight > 0; k--) {
    weight /= ratio(k - 1)
    tables.set(k - 1, weight)
  }
  return tables
}

function requireGroup(group: 1 | 2, successes: number, size: number): void {
  if (!(Number.isSafeInteger(size) && size >= 0)) {
    throw new OptionError(`n${group}`, size, 'an integer number of trials, 0 or more')
  }
  if (!(Number.isSafeInteger(successes) && successes >= 0 && successes <= size)) {
    const allowed = `an integer from 0 to n${group} (${size})`
    throw new OptionError(`successes${group}`, successes, allowed)
  }
}
