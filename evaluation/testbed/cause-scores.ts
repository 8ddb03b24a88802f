import type { CallPaths } from '../../src/calls/call-paths.ts'
import { siblingPercentiles } from '../../src/stats/sibling-percentile.ts'
import type { Evaluation } from '../../src/whatif/diagnosis/evaluate-scenario.ts'
import {
  type DiagnosisSubject,
  scoreSiblings,
  type TriedScenario,
} from '../../src/whatif/diagnosis/latency-diagnosis.ts'
import type { Candidate } from '../../src/whatif/scenarios/scenario.ts'
import type { CallChain } from './simulated-system.ts'

/** Where a cause, or one it lies within, stands among its siblings: 0 the best, 1 the worst. */
export interface CauseScore {
  /** As the diagnosis scores it, among everything that it tries there. */
  readonly score: number
  /** Only among the calls to services that the same caller makes. */
  readonly callScore: number
  /** The same by the divergence alone. */
  readonly divergenceScore: number
  /** Whether the tree has it. */
  readonly isInTree: boolean
  readonly evaluation: Evaluation | null
}

/** What is not among the siblings: nothing speaks for it. */
const NOT_TRIED: CauseScore = {
  score: 1,
  callScore: 1,
  divergenceScore: 1,
  isInTree: false,
  evaluation: null,
}

interface Family {
  readonly members: readonly { readonly candidate: Candidate; readonly evaluation: Evaluation }[]
  readonly isInTree: boolean
}

/**
 * The scores of a cause and of those it lies within, the outermost first: along a chain of calls,
 * without the root's. Those that the tree has not, as it was pruned, are tried for the sake of their
 * scores: a mean over what was found only would not say how much was not.
 */
export function causeScores(
  chain: CallChain,
  tried: readonly TriedScenario[],
  { evaluator, base }: Pick<DiagnosisSubject, 'evaluator' | 'base'>,
): CauseScore[] {
  const { paths } = base.models
  const scores: CauseScore[] = []
  let family: Family | null = {
    members: tried.filter(({ parent }) => parent === null),
    isInTree: true,
  }
  for (let level = 1; level < chain.length; level++) {
    const path = pathOf(paths, chain.slice(0, level + 1))
    const row: number =
      family?.members.findIndex((each) => isServerOf(each.candidate, path, paths)) ?? -1
    if (family === null || row < 0) {
      scores.push(NOT_TRIED)
      family = null
      continue
    }
    scores.push(scoreOf(family, row))
    const { candidate } = family.members[row] as Family['members'][number]
    const within = tried.filter(({ parent }) => parent?.candidate.key === candidate.key)
    const isInTree: boolean = family.isInTree && within.length > 0
    family = {
      isInTree,
      members: isInTree
        ? siblingsIn(within)
        : candidate
            .within()
            .map((one) => ({ candidate: one, evaluation: evaluator.evaluate(one) })),
    }
  }
  return scores
}

/** The same cause may stand in several places, with the same siblings in each. */
function siblingsIn(within: readonly TriedScenario[]): TriedScenario[] {
  const [first] = within
  return within.filter(({ parent }) => parent === first?.parent)
}

function scoreOf({ members, isInTree }: Family, row: number): CauseScore {
  const evaluations = members.map(({ evaluation }) => evaluation)
  const scores = scoreSiblings(evaluations)
  const calls = [...members.keys()].filter((each) => members[each]?.candidate.kind === 'server')
  const amongCalls = (of: (member: number) => number) =>
    siblingPercentiles(calls.map(of))[calls.indexOf(row)] as number
  return {
    score: scores[row] as number,
    callScore: amongCalls((member) => scores[member] as number),
    divergenceScore: amongCalls((member) => evaluations[member]?.divergence ?? Number.NaN),
    isInTree,
    evaluation: evaluations[row] as Evaluation,
  }
}

/** The number of a chain's path; −1 where no call took it. */
export function pathOf(paths: CallPaths, chain: CallChain): number {
  let found = -1
  for (const { service, operation } of chain) {
    let next = -1
    for (let path = found + 1; path < paths.size && next < 0; path++) {
      if (
        paths.parent(path) === found &&
        paths.service(path) === service &&
        paths.operation(path) === operation
      ) {
        next = path
      }
    }
    if (next < 0) return -1
    found = next
  }
  return found
}

/** Where requests have several roots, calls of the same name are looked at together at first. */
function isServerOf({ kind, ...candidate }: Candidate, path: number, paths: CallPaths): boolean {
  if (kind !== 'server' || path < 0) return false
  if (candidate.path !== null) return candidate.path === path
  return candidate.service === paths.service(path) && candidate.operation === paths.operation(path)
}
