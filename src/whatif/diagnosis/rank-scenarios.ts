import { siblingPercentiles } from '../../stats/sibling-percentile.ts'
import type { Evaluation } from './evaluate-scenario.ts'

/** How many standard errors apart two divergences are at most to be a near tie. */
const NEAR = 2

/**
 * The order of scenarios, best first, as rows of `evaluations`: by divergence to the target. Those that
 * are no further from the best than chance (two standard errors of the difference, from resamples that
 * both were measured on) are near ties, and stand in the order of how surely that which they change did
 * change between the periods, by the KS test; then the same for the best of the others.
 *
 * Divergence alone rewards whatever changes much: scenarios that change the same requests by as much are
 * often equally close to the target.
 */
export function rankScenarios(evaluations: readonly Evaluation[]): number[] {
  const at = (row: number) => evaluations[row] as Evaluation
  const left = evaluations.map((_, row) => row)
  left.sort((a, b) => at(a).divergence - at(b).divergence || a - b)
  const order: number[] = []
  while (left.length > 0) {
    const best = at(left[0] as number)
    const end = left.findIndex((row) => !isNear(best, at(row)))
    const near = left.splice(0, end < 0 ? left.length : end)
    near.sort((a, b) => strengthOf(at(b)) - strengthOf(at(a)))
    order.push(...near)
  }
  return order
}

/**
 * Scores of siblings, by row: (k − 1)/(n − 1) for the k-th best of n, 0 for the best and 1 for the
 * worst; those that are alike share the mean of their ranks.
 */
export function scoreSiblings(evaluations: readonly Evaluation[]): Float64Array {
  const order = rankScenarios(evaluations)
  const place = new Float64Array(evaluations.length)
  order.forEach((row, i) => {
    const before = order[i - 1]
    const alike = before !== undefined && areAlike(evaluations[before], evaluations[row])
    place[row] = alike ? (place[before] as number) : i
  })
  return siblingPercentiles(place)
}

function isNear(best: Evaluation, other: Evaluation): boolean {
  const apart = other.divergence - best.divergence
  return apart <= NEAR * standardError(best.resampled, other.resampled)
}

function areAlike(a: Evaluation | undefined, b: Evaluation | undefined): boolean {
  return a?.divergence === b?.divergence && Object.is(a?.strength, b?.strength)
}

/** Of the difference of two divergences that were measured on the same resamples. */
function standardError(a: Float64Array, b: Float64Array): number {
  let mean = 0
  a.forEach((value, i) => {
    mean += ((b[i] as number) - value) / a.length
  })
  let squares = 0
  a.forEach((value, i) => {
    squares += ((b[i] as number) - value - mean) ** 2
  })
  return Math.sqrt(squares / (a.length - 1))
}

/** What cannot be compared between the periods comes last among near ties. */
function strengthOf({ strength }: Evaluation): number {
  return Number.isNaN(strength) ? -1 : strength
}
