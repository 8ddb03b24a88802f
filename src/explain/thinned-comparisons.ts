import { range } from 'd3-array'
import type { Comparison } from '../compare/comparison.ts'
import { findStepChanges, levelOfTimes, sizesOfTests } from '../compare/steps/find-step-changes.ts'
import type { StepChange, StepChanges } from '../compare/steps/step-changes.ts'
import { stepKey } from '../compare/steps/step-times.ts'
import { MIN_TAIL_VALUES } from '../compare/steps/tail-counts.ts'
import { memoized } from '../core/remembered.ts'
import { AFTER, BEFORE } from '../flows/flow-set.ts'
import { selectRequests } from '../flows/select-requests.ts'
import { tQuantile } from '../stats/distributions.ts'
import { randomSource } from '../stats/random.ts'
import { rowsWhere } from '../traces/group-rows.ts'

/** Parts of each size that are compared, to see how comparisons differ by chance. */
const PARTS = 64
/** Fewest requests of a period that are compared. */
const MIN_REQUESTS = 3
const SEED = 1

/** Test of a step in a comparison of few requests. */
export interface ThinnedTest {
  readonly designEffect: number
  readonly logDf: number
  /** Returns the standard errors, of ranks and of logs, from which that many values of an operation show a change. */
  readonly leastOf: (values: number) => readonly [rank: number, log: number]
}

/**
 * Compares random parts of both periods, to learn how fewer requests are tested: how many tests share the level, and
 * how much chance looks like drift.
 */
export class ThinnedComparisons {
  readonly #most: number
  readonly #options: StepChanges['options']
  /** Tests of steps in one of that many parts; how many tests there are in the first of them. */
  readonly #tests: (of: number, part: number) => ReturnType<typeof sizesOfTests>
  readonly #tested: (of: number) => number

  constructor({ flows, steps }: Pick<Comparison, 'flows' | 'steps'>) {
    const random = randomSource(SEED)
    const [before, after] = [BEFORE, AFTER].map((period) =>
      random.shuffle([...rowsWhere(flows.size, (request) => flows.period[request] === period)]),
    ) as [number[], number[]]
    this.#most = partsOf(Math.min(before.length, after.length), MIN_REQUESTS)
    const flowsOf = (parts: number, part: number) => {
      const ofPart = (rows: readonly number[]) =>
        rows.filter((_, i) => i % parts === part).sort((a, b) => a - b)
      return parts === 1
        ? flows
        : selectRequests(flows, { before: ofPart(before), after: ofPart(after) })
    }
    const testsOf = memoized((parts: number) =>
      memoized((part: number) => sizesOfTests(flowsOf(parts, part))),
    )
    this.#options = steps.options
    this.#tests = (of, part) => testsOf(of)(part)
    this.#tested = memoized((parts: number) =>
      parts === 1
        ? steps.tested
        : findStepChanges({ flows: flowsOf(parts, 0) }, steps.options).tested,
    )
  }

  /**
   * Returns the tests of a step in comparisons of single parts, for a given number of parts; `null` where it is not
   * tested.
   *
   * The error of the measured drift depends on the number of stretches, not of requests, so with few parts it is
   * learned from smaller ones.
   *
   * @param wanted a power of 2
   */
  testsOf(step: StepChange, wanted: number): (ThinnedTest | null)[] {
    const key = stepKey(step)
    const size = Math.min(wanted, this.#most)
    const enough = partsOf(Math.min(step.beforeRequests, step.afterRequests), MIN_TAIL_VALUES)
    const parts = Math.max(size, Math.min(enough, PARTS))
    const tested = this.#tested(size)
    return range(Math.min(parts, PARTS)).map((part) => {
      const own = this.#tests(parts, part).get(key)
      if (!own) return null
      const { designEffect, rankDf, logDf } = own
      const leastAt = memoized(
        (level: number) => [tQuantile(level, rankDf), tQuantile(level, logDf)] as const,
      )
      const leastOf = (values: number) =>
        leastAt(levelOfTimes({ tested, options: this.#options }, step.operations.length, values))
      return { designEffect, logDf, leastOf }
    })
  }
}

/** Returns the power of 2 of parts that have at least that many requests each. */
function partsOf(requests: number, least: number): number {
  return 2 ** Math.max(0, Math.floor(Math.log2(requests / least)))
}
