import { group } from 'd3-array'
import type { Findings } from '../../compare/findings/findings.ts'
import { OptionError, requireArgument } from '../../core/errors.ts'
import { own, rowTable, Stage, type StageTable } from '../../core/stage.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import type { ExecutionModels } from '../models/execution-models.ts'
import { type LatencyProfile, profileQuantiles } from '../recompute/latency-profile.ts'
import { ScenarioProfile } from '../scenarios/apply-scenario.ts'
import type { DiagnosedScenario, ExplainedTogether } from './diagnosed-scenario.ts'
import type { DiagnosisOptions } from './diagnosis-options.ts'
import { type Evaluation, type Evaluator, orderKey } from './evaluate-scenario.ts'
import {
  type ChangedCallers,
  changedCallers,
  rankScenarios,
  scoreSiblings,
  type TriedScenario,
} from './grow-diagnosis.ts'
import { type ExplainedFinding, matchFindings } from './match-findings.ts'
import type { ScenarioTests } from './test-changes.ts'

export interface DiagnosisSubject {
  /** Of the periods as sampled: the base, and the target where it is traces. */
  readonly models: ExecutionModels
  readonly evaluator: Pick<Evaluator, 'unchanged' | 'evaluateTogether'>
  readonly target: LatencyProfile
  readonly targetTitle: string
  /** Whether the target is traces, which what a scenario changes can be compared with. */
  readonly isOfTraces: boolean
  readonly test: (tried: readonly Evaluation[]) => ScenarioTests
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
  #together: readonly ExplainedTogether[] | undefined

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
    this.base = subject.evaluator.unchanged.profile
    this.target = subject.target
    this.targetTitle = subject.targetTitle
    this.divergence = subject.evaluator.unchanged.divergence
    this.state = state
  }

  /** How many scenarios were tried, the same in different places of the tree counted once. */
  get size(): number {
    return this.ranked.length
  }

  /**
   * p of the hypothesis that base and target have one latency profile, but for what wanders within
   * them: see `testScenarios`; by samples drawn from a target that is no traces, 0.002 at least. How
   * far levels wander is learned from all that was tried, so p differs with `finding`, which tries less.
   */
  get changeP(): number {
    return this.#all.changeP
  }

  /** The call of which the requests that make it changed most surely, with the p of all such; `null` where that may be chance. */
  get changedCallers(): ChangedCallers | null {
    return this.#all.changedCallers
  }

  /**
   * Every scenario that was tried, best first, once: where it stands nearest to the root. `rank` is its
   * place, from 1.
   */
  get ranked(): readonly DiagnosedScenario[] {
    return this.#all.ranked
  }

  /**
   * The scenarios that were tried first, best first; each has those within it as `children`. What lies
   * within several stands in each of them.
   */
  get tree(): readonly DiagnosedScenario[] {
    return this.#all.tree
  }

  /** The scenario that explains the change best, which may still be chance: see `significant`. */
  get best(): DiagnosedScenario | null {
    return this.ranked[0] ?? null
  }

  /**
   * The first significant scenario, then those that explain clearly more with it, the most likely first,
   * each with the share of the divergence that it and those before it explain when all are made at once.
   * Empty where nothing is significant.
   */
  get together(): readonly ExplainedTogether[] {
    this.#together ??= putTogether(
      this.ranked.filter(({ significant }) => significant),
      {
        unchanged: this.#subject.evaluator.unchanged,
        evaluate: (causes) =>
          this.#subject.evaluator.evaluateTogether(causes.map(({ scenario }) => scenario)),
        areRelated: (one, other) => this.#isWithin(one, other) || this.#isWithin(other, one),
      },
    ).map(({ cause, together: { divergence, profile } }) => ({
      cause,
      divergence,
      ...profileQuantiles(profile),
      gain: this.divergence > 0 ? 1 - divergence / this.divergence : 0,
    }))
    return this.#together
  }

  /**
   * For each finding of a comparison of the same periods, the best significant cause that is about the
   * same thing: the work of the same service, the way between the same two, the calls that the same
   * operation makes. Findings of trace points, and causes that tell something else, stand alone.
   *
   * @example
   * const [first] = diagnoseLatency(before, after).explains(comparison.findings)
   * first.finding.rank // 1
   */
  explains({ findings }: Findings): readonly ExplainedFinding[] {
    requireArgument(
      'explains(comparison.findings)',
      findings,
      Array.isArray(findings),
      'the findings of a comparison',
    )
    return matchFindings(findings, this.ranked, this.models.paths)
  }

  /** Whether a scenario lies within another one, anywhere in the tree or by what calls it. */
  #isWithin(
    { rank, scenario: { path } }: DiagnosedScenario,
    { rank: outer, scenario: around }: DiagnosedScenario,
  ): boolean {
    const isWhole = around.kind === 'server' || around.kind === 'partition'
    if (
      isWhole &&
      path !== null &&
      this.models.paths.above(path).some((each) => each === around.path)
    ) {
      return true
    }
    const isBelow = (nodes: readonly DiagnosedScenario[], isInside: boolean): boolean =>
      nodes.some(
        (node) =>
          (isInside && node.rank === rank) ||
          isBelow(node.children, isInside || node.rank === outer),
      )
    return isBelow(this.tree, false)
  }

  /**
   * The profile under the scenario of a rank, from 1, between base and target.
   *
   * @throws OptionError for a rank that no scenario has.
   */
  profile(rank: number): ScenarioProfile {
    const found = this.ranked[rank - 1]
    if (found === undefined) throw new OptionError('rank', rank, `a rank from 1 to ${this.size}`)
    const { scenario, evaluation, touched } = found
    const { base: before, target } = this
    const { profile } = evaluation
    return new ScenarioProfile({
      title: scenario.title,
      before,
      profile,
      target,
      touched,
      limits: null,
    })
  }

  /** One row a scenario, best first; `parent` is the rank of what it lies within, 0 of those tried first. */
  table(): StageTable {
    return rowTable(this.ranked, {
      ...own('rank depth'),
      parent: ({ parent }) => parent?.rank ?? 0,
      scenario: ({ scenario }) => scenario.title,
      service: ({ scenario }) => scenario.service,
      operation: ({ scenario }) => scenario.operation,
      ...own('score divergence gain distanceUs p50Us p90Us p99Us'),
      requests: 'touched',
      ...own('statistic q significant'),
    })
  }

  get #all(): DiagnosisNodes {
    this.#nodes ??= diagnosedScenarios(this.#tried, this.#subject)
    return this.#nodes
  }
}

interface Growing extends DiagnosedScenario {
  readonly children: DiagnosedScenario[]
}

type DiagnosisNodes = Pick<LatencyDiagnosis, 'ranked' | 'tree' | 'changeP' | 'changedCallers'>

/** Orders what was tried, tells chance apart, and ties the tree together. */
function diagnosedScenarios(
  tried: readonly TriedScenario[],
  subject: DiagnosisSubject,
): DiagnosisNodes {
  const { isOfTraces, options } = subject
  const { unchanged } = subject.evaluator
  // The first node of each scenario is the one nearest to the root.
  const nodesOf = group(tried, ({ candidate }) => candidate.key)
  const firsts = Array.from(nodesOf.values(), ([first]) => first as TriedScenario)
  const { changeP, ps, responsePs } = subject.test(firsts.map(({ evaluation }) => evaluation))
  const q = benjaminiHochberg(ps)
  const isSignificant = firsts.map(({ evaluation }, row) => {
    const isNearer = evaluation.distanceUs < unchanged.distanceUs
    const isLess = evaluation.divergence < unchanged.divergence
    if (!(changeP < options.alpha)) return false
    if (!isOfTraces) return isNearer && isLess
    const p = Math.max(q[row] as number, responsePs[row] as number)
    return p < options.alpha && evaluation.towardUs > 0 && (isNearer || isLess)
  })
  // What may be chance never stands before what is not. Towards a wish nothing can be compared: the nearest counts.
  const byCause = causesFirst(firsts, nodesOf)
  const order = isOfTraces
    ? [
        ...byCause.filter((row) => isSignificant[row]),
        ...byCause.filter((row) => !isSignificant[row]),
      ]
    : byCause
  const rowOf = new Map(firsts.map(({ candidate }, row) => [candidate.key, row]))
  const rankOf = new Map(order.map((row, i) => [row, i + 1]))
  const scores = scoresOf(tried)
  const share = (gain: number) => (unchanged.divergence > 0 ? gain / unchanged.divergence : 0)
  const made = new Map<TriedScenario, Growing>()
  for (const node of tried) {
    const { candidate, evaluation, depth } = node
    const { divergence, distanceUs, statistic, touched } = evaluation
    const row = rowOf.get(candidate.key) as number
    // Callers come before what lies within them.
    const parent = (node.parent && made.get(node.parent)) ?? null
    const scenario: Growing = {
      rank: rankOf.get(row) as number,
      scenario: candidate,
      depth,
      parent,
      children: [],
      score: scores.get(node) ?? 0,
      divergence,
      distanceUs,
      gain: share(unchanged.divergence - divergence),
      statistic,
      p: ps[row] as number,
      q: q[row] as number,
      significant: isSignificant[row] as boolean,
      touched,
      evaluation,
      ...profileQuantiles(evaluation.profile),
    }
    parent?.children.push(scenario)
    made.set(node, scenario)
  }
  const byRank = (a: DiagnosedScenario, b: DiagnosedScenario) => a.rank - b.rank
  for (const { children } of made.values()) children.sort(byRank)
  return {
    changeP,
    changedCallers: changedCallers(firsts, { ps, responsePs, alpha: options.alpha }),
    ranked: firsts.map((node) => made.get(node) as Growing).sort(byRank),
    tree: [...made.values()].filter(({ parent }) => parent === null).sort(byRank),
  }
}

/** Share of an order's key that is as good as the whole. */
const NEARLY = { within: 0.8, given: 0.95 }

/**
 * The order of scenarios, best first, as rows: one that says nearly as much as another that it lies within
 * comes before that, and so does one that is as after before one that is as other calls are, and one
 * about what requests bring with them before one about what the system made of them.
 */
function causesFirst(
  firsts: readonly TriedScenario[],
  nodesOf: ReadonlyMap<string, readonly TriedScenario[]>,
): number[] {
  const above = firsts.map(({ candidate }) => {
    const keys = new Set<string>()
    for (const node of nodesOf.get(candidate.key) ?? []) {
      for (let at = node.parent; at !== null; at = at.parent) keys.add(at.candidate.key)
    }
    return keys
  })
  const order = rankScenarios(firsts.map(({ evaluation }) => evaluation))
  const at = (row: number) => firsts[row] as TriedScenario
  const goesBefore = (row: number, other: number) => {
    const share = orderKey(at(row).evaluation) / orderKey(at(other).evaluation)
    const [one, two] = [at(row).candidate, at(other).candidate]
    // A part of a service's calls is no cause of the whole.
    const isPart = one.kind === two.kind && one.service === two.service
    const isCause = !isPart && (above[row] as Set<string>).has(two.key)
    const isSeen = one.isTwoWay && !two.isTwoWay && !two.isGiven
    const isGiven = one.isGiven && !two.isGiven
    return ((isCause || isSeen) && share >= NEARLY.within) || (isGiven && share >= NEARLY.given)
  }
  const placed = new Set<number>()
  const place = (row: number, from: number) => {
    if (placed.has(row)) return
    placed.add(row)
    if (orderKey(at(row).evaluation) > 0) {
      for (let next = from + 1; next < order.length; next++) {
        const other = order[next] as number
        if (orderKey(at(other).evaluation) < NEARLY.within * orderKey(at(row).evaluation)) break
        if (!placed.has(other) && goesBefore(other, row)) place(other, next)
      }
    }
    sorted.push(row)
  }
  const sorted: number[] = []
  order.forEach((row, i) => {
    place(row, i)
  })
  return sorted
}

/** Scores among all siblings, those included that were tried elsewhere before. */
function scoresOf(tried: readonly TriedScenario[]): Map<TriedScenario, number> {
  const families = group(tried, ({ parent }) => parent)
  return new Map(
    [...families.values()].flatMap((family) => {
      const scores = scoreSiblings(family.map(({ evaluation }) => evaluation))
      return family.map((node, i) => [node, scores[i] as number] as const)
    }),
  )
}

/** A cause beside others, the most likely first. */
interface JointCause<T> {
  readonly cause: T
  /** What this cause and those before it come to when all of them are made at once. */
  readonly together: Evaluation
}

/** Causes that are put together at most. */
const MAX_CAUSES = 4
/** How many of the most likely causes are tried. */
const MAX_TRIED = 12
/** A further cause must explain at least this share of the difference. */
const MIN_GAIN = 0.1

/**
 * Puts causes together, the most likely first, as long as a further one explains clearly more. What lies
 * within another, or around it, is no cause beside it.
 *
 * Source: Ostrowski, Mann and Sandler 2011, §3.2, equation 4 (scenarios of scenarios); the greedy order is
 * a choice of ours.
 */
function putTogether<T>(
  causes: readonly T[],
  {
    unchanged,
    evaluate,
    areRelated,
  }: {
    readonly unchanged: Evaluation
    readonly evaluate: (causes: readonly T[]) => Evaluation
    readonly areRelated: (one: T, other: T) => boolean
  },
): JointCause<T>[] {
  const chosen: JointCause<T>[] = []
  let nearest = unchanged
  for (const cause of causes.slice(0, MAX_TRIED)) {
    if (chosen.length === MAX_CAUSES) break
    if (chosen.some((one) => areRelated(one.cause, cause))) continue
    const together = evaluate([...chosen.map((one) => one.cause), cause])
    const isMore =
      nearest.divergence - together.divergence >= MIN_GAIN * unchanged.divergence &&
      together.distanceUs < nearest.distanceUs
    if (chosen.length > 0 && !isMore) continue
    chosen.push({ cause, together })
    nearest = together
  }
  return chosen
}
