import { OptionError } from '../../core/errors.ts'
import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { quantile } from '../../stats/quantile.ts'
import type { ExecutionModels } from '../models/execution-models.ts'
import type { LatencyProfile } from '../recompute/latency-profile.ts'
import {
  type ProfileQuantiles,
  profileQuantiles,
  ScenarioProfile,
} from '../scenarios/apply-scenario.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import type { DiagnosisOptions } from './diagnosis-options.ts'
import { type Evaluation, profileOf } from './evaluate-scenario.ts'
import { rankScenarios, scoreSiblings, type TriedScenario } from './grow-diagnosis.ts'

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

/** One node of the diagnosis tree. */
export interface DiagnosedScenario extends ProfileQuantiles {
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
  /** From its profile to the target's. */
  readonly divergence: number
  /** By how much its requests would still have to move on average to be the target's, µs. */
  readonly distanceUs: number
  /** By which share of the base's divergence it is closer to the target; negative where it is further. */
  readonly gain: number
  /** What of the gain is beyond chance: the 5 % quantile over resampled requests. */
  readonly gainAtLeast: number
  /** KS statistic of what it changes, before against after; NaN where nothing can be compared. */
  readonly statistic: number
  /** p of what it changes being the same before and after; NaN where that cannot be tested. */
  readonly p: number
  /** p corrected over all scenarios (Benjamini and Hochberg). */
  readonly q: number
  /**
   * Whether it explains a change, beyond chance: base and target differ, so does what it changes (where
   * that can be compared, q below `alpha`), it gains in nineteen of twenty resamples, and it moves
   * requests towards the target on average too: a profile that covers only part of the target's range
   * can be close to it by its divergence.
   */
  readonly significant: boolean
  /** Requests whose response time or weight it changes. */
  readonly touched: number
  readonly evaluation: Evaluation
}

type Growing = { -readonly [Key in keyof DiagnosedScenario]: DiagnosedScenario[Key] } & {
  children: DiagnosedScenario[]
}

/** What was tried, as a tree and in order. */
interface DiagnosisNodes {
  /** Every scenario once, where it stands nearest to the root; best first. */
  readonly ranked: readonly DiagnosedScenario[]
  /** Those that were tried first, best first. */
  readonly tree: readonly DiagnosedScenario[]
}

/** Orders what was tried, tells chance apart, and ties the tree together. */
function diagnosedScenarios(
  tried: readonly TriedScenario[],
  subject: DiagnosisSubject,
): DiagnosisNodes {
  const firsts = firstOfEach(tried)
  const scores = scoresOf(tried)
  const q = benjaminiHochberg(firsts.map(({ evaluation }) => evaluation.p))
  const changed = firsts.length > 0 && subject.changeP() < subject.options.alpha
  const order = rankScenarios(firsts.map(({ evaluation }) => evaluation))
  const placeOf = new Map(
    order.map((row, i) => [
      (firsts[row] as TriedScenario).candidate.key,
      { rank: i + 1, q: q[row] as number },
    ]),
  )
  const made = new Map<TriedScenario, Growing>()
  for (const node of tried) {
    const place = placeOf.get(node.candidate.key) as { rank: number; q: number }
    const facts = { ...place, score: scores.get(node) ?? 0 }
    const scenario = describe(node, facts, { subject, changed })
    // Callers come before what lies within them.
    scenario.parent = (node.parent && made.get(node.parent)) ?? null
    made.set(node, scenario)
  }
  const byRank = (a: DiagnosedScenario, b: DiagnosedScenario) => a.rank - b.rank
  for (const scenario of made.values()) (scenario.parent as Growing | null)?.children.push(scenario)
  for (const { children } of made.values()) children.sort(byRank)
  return {
    ranked: firsts.map((node) => made.get(node) as Growing).sort(byRank),
    tree: [...made.values()].filter(({ parent }) => parent === null).sort(byRank),
  }
}

/** The first node of each scenario: the one nearest to the root. */
function firstOfEach(tried: readonly TriedScenario[]): TriedScenario[] {
  const seen = new Set<string>()
  return tried.filter(({ candidate }) => !seen.has(candidate.key) && seen.add(candidate.key))
}

/** Scores among all siblings, those included that were tried elsewhere before. */
function scoresOf(tried: readonly TriedScenario[]): Map<TriedScenario, number> {
  const families = new Map<TriedScenario | null, TriedScenario[]>()
  for (const node of tried) {
    const family = families.get(node.parent)
    if (family === undefined) families.set(node.parent, [node])
    else family.push(node)
  }
  const scores = new Map<TriedScenario, number>()
  for (const family of families.values()) {
    const own = scoreSiblings(family.map(({ evaluation }) => evaluation))
    family.forEach((node, i) => {
      scores.set(node, own[i] as number)
    })
  }
  return scores
}

function describe(
  { candidate, evaluation, depth }: TriedScenario,
  { rank, score, q }: { readonly rank: number; readonly score: number; readonly q: number },
  { subject, changed }: { readonly subject: DiagnosisSubject; readonly changed: boolean },
): Growing {
  const { unchanged, isOfTraces, options } = subject
  const { divergence, distanceUs, statistic, p, touched } = evaluation
  const share = (gain: number) => (unchanged.divergence > 0 ? gain / unchanged.divergence : 0)
  const gainAtLeast = share(gainOf(unchanged, evaluation))
  return {
    ...{
      rank,
      scenario: candidate,
      depth,
      parent: null,
      children: [],
      score,
      divergence,
      distanceUs,
    },
    ...{ gain: share(unchanged.divergence - divergence), gainAtLeast, statistic, p, q },
    significant:
      changed &&
      gainAtLeast > 0 &&
      distanceUs < unchanged.distanceUs &&
      (!isOfTraces || q < options.alpha),
    ...{ touched, evaluation },
    ...profileQuantiles(profileOf(evaluation)),
  }
}

/** What is gained in nineteen of twenty resamples, at least. */
function gainOf(unchanged: Evaluation, { resampled }: Evaluation): number {
  const gains = resampled.map((own, round) => (unchanged.resampled[round] as number) - own)
  return quantile(gains.sort(), 0.05)
}
