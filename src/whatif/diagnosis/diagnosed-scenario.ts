import type { ProfileQuantiles } from '../recompute/latency-profile.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import type { Evaluation } from './evaluate-scenario.ts'

/** A cause that explains more of the change beside others. */
export interface ExplainedTogether extends ProfileQuantiles {
  readonly cause: DiagnosedScenario
  /** With it and those before it at once, from the target. */
  readonly divergence: number
  /** Share of the base's divergence that they explain together. */
  readonly gain: number
}

/** One node of the diagnosis tree. */
export interface DiagnosedScenario
  extends ProfileQuantiles,
    Pick<Evaluation, 'divergence' | 'distanceUs' | 'statistic' | 'touched'> {
  /** Of what it changes being as before; see `testScenarios`. */
  readonly p: number
  /** Place among all scenarios, from 1, the best; the same wherever it stands in the tree. */
  readonly rank: number
  readonly scenario: Scenario
  /** 1 for those that are tried first. */
  readonly depth: number
  /** What it lies within; null for those that are tried first. */
  readonly parent: DiagnosedScenario | null
  /** What lies within it and was tried, best first. */
  readonly children: readonly DiagnosedScenario[]
  /** Place among its siblings: 0 the best, 1 the worst; 0 where there are none. */
  readonly score: number
  /** By which share of the base's divergence it is closer to the target; negative where it is further. */
  readonly gain: number
  /** `p` corrected over all scenarios (Benjamini and Hochberg). */
  readonly q: number
  /**
   * Whether it explains a change, beyond chance: base and target differ; so does what it changes
   * (q below `alpha`), and the response times of requests that have it (their p); it moves the mean response time towards the
   * target's (not away, where that may be alike), and the profile closer by its divergence or by how far
   * requests have to move. A target that is no traces has nothing to compare what changes with: there
   * it must come closer by both.
   */
  readonly significant: boolean
  readonly evaluation: Evaluation
}
