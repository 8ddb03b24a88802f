import { OptionError } from '../../core/errors.ts'
import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import type { ExecutionModels } from '../models/execution-models.ts'
import type { LatencyProfile } from '../recompute/latency-profile.ts'
import { ScenarioProfile } from '../scenarios/scenario-profile.ts'
import {
  type DiagnosedScenario,
  type DiagnosisNodes,
  diagnosedScenarios,
} from './diagnosed-scenarios.ts'
import type { DiagnosisOptions } from './diagnosis-options.ts'
import { type Evaluation, profileOf } from './evaluate-scenario.ts'
import type { TriedScenario } from './grow-diagnosis.ts'

/** What a diagnosis is of. */
export interface DiagnosisSubject {
  /** Of the periods as sampled: the base, and the target where it is traces. */
  readonly models: ExecutionModels
  /** The base as it is. */
  readonly unchanged: Evaluation
  readonly target: LatencyProfile
  /** What the target is, in words. */
  readonly targetTitle: string
  /** Whether the target is traces, which what a scenario changes can be compared with. */
  readonly isOfTraces: boolean
  /** p of base and target being the same profile; computed when it is first asked for. */
  readonly changeP: () => number
  readonly options: DiagnosisOptions
}

/** Which scenarios bring the base's latency profile how close to the target's. */
export class LatencyDiagnosis extends Stage {
  readonly options: DiagnosisOptions
  /** The execution models of the traces that were looked at. */
  readonly models: ExecutionModels
  /** The profile as recorded. */
  readonly base: LatencyProfile
  readonly target: LatencyProfile
  readonly targetTitle: string
  /** From the base as it is to the target. */
  readonly divergence: number
  /** Whether all was tried: `'running'` while it goes on, `'interrupted'` where it was stopped. */
  readonly state: 'running' | 'interrupted' | 'complete'
  readonly #subject: DiagnosisSubject
  readonly #tried: readonly TriedScenario[]
  #nodes: DiagnosisNodes | undefined

  constructor(
    subject: DiagnosisSubject,
    tried: readonly TriedScenario[],
    state: LatencyDiagnosis['state'],
  ) {
    super()
    this.#subject = subject
    this.#tried = tried
    this.options = subject.options
    this.models = subject.models
    this.base = profileOf(subject.unchanged)
    this.target = subject.target
    this.targetTitle = subject.targetTitle
    this.divergence = subject.unchanged.divergence
    this.state = state
  }

  /** How many scenarios were tried, the same in different places of the tree counted once. */
  get size(): number {
    return this.ranked.length
  }

  /**
   * p of the hypothesis that base and target have one latency profile; by permutations of the
   * requests, or by samples drawn from a target that is no traces. 0.002 at least.
   */
  get changeP(): number {
    return this.#subject.changeP()
  }

  /**
   * Every scenario that was tried, best first, once: where it stands nearest to the root. `rank` is its
   * place, from 1.
   */
  get ranked(): readonly DiagnosedScenario[] {
    return this.#computed().ranked
  }

  /**
   * The scenarios that were tried first, best first; each has those within it as `children`. What lies
   * within several stands in each of them.
   */
  get tree(): readonly DiagnosedScenario[] {
    return this.#computed().tree
  }

  /** The scenario that explains the change best, which may still be chance: see `significant`. */
  get best(): DiagnosedScenario | null {
    return this.ranked[0] ?? null
  }

  /**
   * The profile under the scenario of a rank, from 1, between base and target.
   *
   * @throws OptionError for a rank that no scenario has.
   */
  profile(rank: number): ScenarioProfile {
    const found = this.ranked[rank - 1]
    if (found === undefined) {
      throw new OptionError('rank', rank, `a rank from 1 to ${this.size}`)
    }
    const { base, target } = this
    return new ScenarioProfile(
      found.scenario.title,
      { before: base, profile: profileOf(found.evaluation), target },
      found.touched,
    )
  }

  /** One row a scenario, best first; `parent` is the rank of what it lies within, 0 of those tried first. */
  table(): StageTable {
    const { ranked } = this
    return stageTable({
      rank: ranked.map(({ rank }) => rank),
      depth: ranked.map(({ depth }) => depth),
      parent: ranked.map(({ parent }) => parent?.rank ?? 0),
      scenario: ranked.map(({ scenario }) => scenario.title),
      service: ranked.map(({ scenario }) => scenario.service),
      operation: ranked.map(({ scenario }) => scenario.operation),
      score: ranked.map(({ score }) => score),
      divergence: ranked.map(({ divergence }) => divergence),
      gain: ranked.map(({ gain }) => gain),
      distanceUs: ranked.map(({ distanceUs }) => distanceUs),
      p50Us: ranked.map(({ p50Us }) => p50Us),
      p90Us: ranked.map(({ p90Us }) => p90Us),
      p99Us: ranked.map(({ p99Us }) => p99Us),
      requests: ranked.map(({ touched }) => touched),
      statistic: ranked.map(({ statistic }) => statistic),
      q: ranked.map(({ q }) => q),
      significant: ranked.map(({ significant }) => significant),
    })
  }

  #computed(): DiagnosisNodes {
    this.#nodes ??= diagnosedScenarios(this.#tried, this.#subject)
    return this.#nodes
  }
}
