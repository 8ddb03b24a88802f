import { deviation } from 'd3-array'
import { siblingPercentiles } from '../../stats/sibling-percentile.ts'
import type { Candidate } from '../scenarios/scenario.ts'
import type { DiagnosisOptions } from './diagnosis-options.ts'
import type { Evaluation, Evaluator } from './evaluate-scenario.ts'

/** A node of the tree while it grows. */
export interface TriedScenario {
  readonly candidate: Candidate
  readonly evaluation: Evaluation
  /** 1 for those that are tried first. */
  readonly depth: number
  /** What it lies within; null for those that are tried first. */
  readonly parent: TriedScenario | null
  /** How many scenarios are known to be tried so far, this and earlier ones included. */
  readonly planned: number
}

type GrowthOptions = Pick<DiagnosisOptions, 'beam' | 'pruning' | 'minimumGain'> & {
  readonly depth: number
}

interface Siblings {
  readonly parent: TriedScenario | null
  readonly candidates: readonly Candidate[]
}

/**
 * Tries scenarios, level by level, and hands each over once it was tried. Of a level, the best that
 * have anything within, a low score among their siblings, and gain enough are taken further.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §4; pruning and beam are choices of ours.
 */
export function* growDiagnosis(
  first: readonly Candidate[],
  evaluator: Evaluator,
  options: GrowthOptions,
): Generator<TriedScenario, void> {
  const known = new Map<string, Evaluation>()
  let planned = 0
  let level: readonly Siblings[] = [{ parent: null, candidates: first }]
  for (let depth = 1; depth <= options.depth && level.length > 0; depth++) {
    planned += level.reduce((sum, { candidates }) => sum + candidates.length, 0)
    const tried: TriedScenario[][] = []
    for (const { parent, candidates } of level) {
      const siblings: TriedScenario[] = []
      tried.push(siblings)
      for (const candidate of candidates) {
        // The same calls may be reached in several ways.
        const evaluation = known.get(candidate.key) ?? evaluator.evaluate(candidate)
        known.set(candidate.key, evaluation)
        const node = { candidate, evaluation, depth, parent, planned }
        siblings.push(node)
        yield node
      }
    }
    level = depth < options.depth ? furtherOf(tried, evaluator.unchanged, options) : []
  }
}

/** What lies within the most promising scenarios of a level. */
function furtherOf(
  tried: readonly (readonly TriedScenario[])[],
  unchanged: Evaluation,
  { beam, pruning, minimumGain }: GrowthOptions,
): Siblings[] {
  const enough = unchanged.divergence * (1 - minimumGain)
  const promising = tried.flatMap((siblings) => {
    const scores = scoreSiblings(siblings.map(({ evaluation }) => evaluation))
    return siblings.filter(
      ({ evaluation }, i) => (scores[i] as number) <= pruning && evaluation.divergence <= enough,
    )
  })
  const order = rankScenarios(promising.map(({ evaluation }) => evaluation))
  const level: Siblings[] = []
  const taken = new Set<string>()
  for (const row of order) {
    const parent = promising[row] as TriedScenario
    if (taken.has(parent.candidate.key)) continue
    taken.add(parent.candidate.key)
    const candidates = parent.candidate.within()
    if (candidates.length > 0) level.push({ parent, candidates })
    if (level.length === beam) break
  }
  return level
}

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
    const [one, other] = [evaluations[before ?? row], evaluations[row]]
    const alike = one?.divergence === other?.divergence && Object.is(one?.strength, other?.strength)
    place[row] = before !== undefined && alike ? (place[before] as number) : i
  })
  return siblingPercentiles(place)
}

function isNear(best: Evaluation, other: Evaluation): boolean {
  const apart = other.divergence - best.divergence
  return apart <= NEAR * standardError(best.resampled, other.resampled)
}

/** Of the difference of two divergences that were measured on the same resamples. */
function standardError(a: Float64Array, b: Float64Array): number {
  return deviation(a.map((value, i) => (b[i] as number) - value)) ?? Number.NaN
}

/** What cannot be compared between the periods comes last among near ties. */
function strengthOf({ strength }: Evaluation): number {
  return Number.isNaN(strength) ? -1 : strength
}
