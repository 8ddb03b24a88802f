import { least } from 'd3-array'
import { bonferroni } from '../../stats/bonferroni.ts'
import { siblingPercentiles } from '../../stats/sibling-percentile.ts'
import type { Candidate, Scenario } from '../scenarios/scenario.ts'
import type { DiagnosisOptions } from './diagnosis-options.ts'
import { type Evaluation, type Evaluator, orderKey } from './evaluate-scenario.ts'
import type { ScenarioTests } from './test-changes.ts'

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
  let planned = 0
  let level: readonly Siblings[] = [{ parent: null, candidates: first }]
  for (let depth = 1; depth <= options.depth && level.length > 0; depth++) {
    planned += level.reduce((sum, { candidates }) => sum + candidates.length, 0)
    const tried: TriedScenario[][] = []
    for (const { parent, candidates } of level) {
      const siblings: TriedScenario[] = []
      tried.push(siblings)
      for (const candidate of candidates) {
        const evaluation = evaluator.evaluate(candidate)
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
  // With a thousand requests, chance moves the divergence by more than most changes do: a smaller distance counts as well.
  const isCloser = (own: Evaluation) =>
    (['divergence', 'distanceUs'] as const).some(
      (measure) => own[measure] <= unchanged[measure] * (1 - minimumGain),
    )
  const promising = tried.flatMap((siblings) => {
    const scores = scoreSiblings(siblings.map(({ evaluation }) => evaluation))
    return siblings.filter(
      ({ evaluation }, i) => (scores[i] as number) <= pruning && isCloser(evaluation),
    )
  })
  promising.sort((a, b) => b.evaluation.promise - a.evaluation.promise)
  const level: Siblings[] = []
  const taken = new Set<string>()
  for (const parent of promising) {
    if (taken.has(parent.candidate.key)) continue
    taken.add(parent.candidate.key)
    const candidates = parent.candidate.within()
    if (candidates.length > 0) level.push({ parent, candidates })
    if (level.length === beam) break
  }
  return level
}

/**
 * The order of scenarios, best first, as rows of `evaluations`: by how surely that which they change did
 * change between the periods, times the root of how far that moves response times towards the target.
 * What cannot be compared between the periods comes last, nearest to the target first.
 *
 * Divergence alone rewards whatever changes much; how sure a change is alone, changes that nobody waits
 * for.
 */
export function rankScenarios(evaluations: readonly Evaluation[]): number[] {
  const keys = evaluations.map((each) => orderKey(each))
  return evaluations
    .map((_, row) => row)
    .sort((a, b) => (keys[b] as number) - (keys[a] as number) || a - b)
}

/**
 * Scores of siblings, by row: (k − 1)/(n − 1) for the k-th best of n, 0 for the best and 1 for the
 * worst; those that are alike share the mean of their ranks.
 */
export function scoreSiblings(evaluations: readonly Evaluation[]): Float64Array {
  return siblingPercentiles(evaluations.map(({ promise }) => -promise))
}

/** Requests that make a call, which changed though all together may hide it. */
export interface ChangedCallers extends Pick<Scenario, 'service' | 'operation'> {
  /** Corrected for all calls that are made. */
  readonly p: number
}

/** Of the server times that were tried, that whose time and requests changed most surely; `null` where this may be chance. */
export function changedCallers(
  tried: readonly TriedScenario[],
  { ps, responsePs, alpha }: Omit<ScenarioTests, 'changeP'> & { readonly alpha: number },
): ChangedCallers | null {
  const callers = tried.flatMap(({ candidate: { kind, service, operation } }, row) =>
    kind === 'server'
      ? { service, operation, p: Math.max(ps[row] as number, responsePs[row] ?? Number.NaN) }
      : [],
  )
  const surest = least(callers, (one) => one.p)
  const p = bonferroni(callers.map((one) => one.p))
  return surest !== undefined && p < alpha ? { ...surest, p } : null
}
