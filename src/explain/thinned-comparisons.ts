import { range } from 'd3-array'
import type { Comparison } from '../compare/comparison.ts'
import { findStepChanges, levelOfTimes } from '../compare/steps/find-step-changes.ts'
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
  readonly #part: (of: number, part: number) => StepChanges

  constructor({ flows, steps }: Pick<Comparison, 'flows' | 'steps'>) {
    const random = randomSource(SEED)
    const [before, after] = [BEFORE, AFTER].map((period) =>
      random.shuffle([...rowsWhere(flows.size, (request) => flows.period[request] === period)]),
    ) as [number[], number[]]
    this.#most = partsOf(Math.min(before.length, after.length), MIN_REQUESTS)
    const partsOfSize = memoized((parts: number) =>
      memoized((part: number) => {
        const ofPart = (rows: readonly number[]) =>
          rows.filter((_, i) => i % parts === part).sort((a, b) => a - b)
        const thinned = selectRequests(flows, { before: ofPart(before), after: ofPart(after) })
        return parts === 1 ? steps : findStepChanges({ flows: thinned }, steps.options)
      }),
    )
    this.#part = (of, part) => partsOfSize(of)(part)
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
    return range(Math.min(parts, PARTS)).map((part) => {
      const steps = this.#part(parts, part)
      const own = steps.steps.find((one) => stepKey(one) === key)
      if (own === undefined || Number.isNaN(own.p)) return null
      const { designEffect, rankDf, logDf } = own
      const { tested } = parts === size ? steps : this.#part(size, 0)
      const leastAt = memoized(
        (level: number) => [tQuantile(level, rankDf), tQuantile(level, logDf)] as const,
      )
      const leastOf = (values: number) =>
        leastAt(levelOfTimes({ tested, options: steps.options }, step.operations.length, values))
      return { designEffect, logDf, leastOf }
    })
  }
}

/** Returns the power of 2 of parts that have at least that many requests each. */
function partsOf(requests: number, least: number): number {
  return 2 ** Math.max(0, Math.floor(Math.log2(requests / least)))
}
