import { group, least, sort } from 'd3-array'
import type { CallPaths } from '../../calls/call-paths.ts'
import type { Finding } from '../../compare/findings/finding.ts'
import type { Findings } from '../../comparison/words/findings.ts'
import { OptionError, requireArgument } from '../../core/errors.ts'
import {
  count,
  custom,
  defineOptions,
  flag,
  level,
  number,
  type OptionsOf,
  oneOf,
  readOptions,
  share,
} from '../../core/options.ts'
import { own, rowTable, Stage, type StageTable } from '../../core/stage.ts'
import { percent, shortText } from '../../core/words.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { bonferroni } from '../../stats/bonferroni.ts'
import { siblingPercentiles } from '../../stats/sibling-percentile.ts'
import { EXECUTION_MODEL_OPTIONS, type ExecutionModels } from '../models/execution-models.ts'
import {
  type LatencyProfile,
  type ProfileQuantiles,
  profileQuantiles,
} from '../recompute/latency-profile.ts'
import type { RequestModel } from '../recompute/request-model.ts'
import { ScenarioProfile } from '../scenarios/apply-scenario.ts'
import { chooseFeature, type FeatureChoice } from '../scenarios/features.ts'
import { isAbout, placesOf } from '../scenarios/finding-places.ts'
import type { Candidate, Scenario } from '../scenarios/scenario.ts'
import {
  DIVERGENCES,
  type Evaluation,
  type Evaluator,
  SCENARIO_ORDERS,
  type ScenarioTests,
} from './evaluate-scenario.ts'

/** A base, a target, and what judges scenarios. */
export interface DiagnosisSubject {
  /** Requests of the sampled base. */
  readonly base: RequestModel
  /** Those of the target if it consists of traces, so changed quantities can be compared with it; else null. */
  readonly target: RequestModel | null
  readonly targetProfile: LatencyProfile
  readonly targetTitle: string
  readonly evaluator: Evaluator
  readonly test: (tried: readonly Evaluation[]) => ScenarioTests
  readonly options: DiagnosisOptions
}

/** Diagnosis: scenarios, with how close each brings the base's latency profile to the target's. */
export class LatencyDiagnosis extends Stage {
  readonly options: DiagnosisOptions
  /** The execution models of the traces that were looked at. */
  readonly models: ExecutionModels
  /** The profile as recorded. */
  readonly base: LatencyProfile
  readonly target: LatencyProfile
  readonly targetTitle: string
  /** Divergence from the unchanged base to the target. */
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
    this.models = subject.base.models
    this.base = subject.evaluator.unchanged.profile
    this.target = subject.targetProfile
    this.targetTitle = subject.targetTitle
    this.divergence = subject.evaluator.unchanged.divergence
    this.state = state
  }

  /** Number of scenarios tried; the same one in different places of the tree counts once. */
  get size(): number {
    return this.ranked.length
  }

  /**
   * Returns p of the hypothesis that base and target have one latency profile, except for drift within them: see
   * `testScenarios`. If the target is no traces, samples are drawn from it, and p is at least 0.002. Drift is learned
   * from all tried scenarios, so p differs with `finding`, which tries fewer.
   */
  get changeP(): number {
    return this.#all.changeP
  }

  /** Call whose callers' requests changed most surely, with its p among all calls; `null` if that may be chance. */
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
    this.#together ??= this.#putTogether()
    return this.#together
  }

  /**
   * Returns, for each finding of a comparison of the same periods, the best significant cause about the same thing: the
   * work of the same service, the way between the same two, the calls that the same operation makes. Findings of trace
   * points, and causes that tell something else, stand alone.
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

  /**
   * Combines causes, the most likely first, while a further one explains clearly more. A scenario within or around a
   * chosen one is no further cause.
   *
   * Source: Ostrowski, Mann and Sandler 2011, §3.2, equation 4 (scenarios of scenarios); the greedy order is
   * a choice of ours.
   */
  #putTogether(): ExplainedTogether[] {
    const { unchanged, evaluateTogether } = this.#subject.evaluator
    const areRelated = (one: DiagnosedScenario, other: DiagnosedScenario) =>
      this.#isWithin(one, other) || this.#isWithin(other, one)
    const chosen: ExplainedTogether[] = []
    let nearest = unchanged
    const causes = this.ranked.filter(({ significant }) => significant).slice(0, MAX_TRIED)
    for (const cause of causes) {
      if (chosen.length === MAX_CAUSES) break
      if (chosen.some((one) => areRelated(one.cause, cause))) continue
      const made = [...chosen.map((one) => one.cause), cause]
      const together = evaluateTogether(made.map(({ scenario }) => scenario))
      const { divergence, distanceUs, profile } = together
      const isMore =
        nearest.divergence - divergence >= MIN_GAIN * unchanged.divergence &&
        distanceUs < nearest.distanceUs
      if (chosen.length > 0 && !isMore) continue
      const gain = this.divergence > 0 ? 1 - divergence / this.divergence : 0
      chosen.push({ cause, divergence, ...profileQuantiles(profile), gain })
      nearest = together
    }
    return chosen
  }

  /** Whether a scenario lies within another one, anywhere in the tree or by its callers. */
  #isWithin(
    { rank, scenario: { path } }: DiagnosedScenario,
    { rank: outer, scenario: around }: DiagnosedScenario,
  ): boolean {
    const isWhole = around.kind === 'server' || around.kind === 'partition'
    const above = path === null ? [] : this.models.paths.above(path)
    if (isWhole && above.some((each) => each === around.path)) return true
    const isBelow = (nodes: readonly DiagnosedScenario[], isInside: boolean): boolean =>
      nodes.some(
        (node) =>
          (isInside && node.rank === rank) ||
          isBelow(node.children, isInside || node.rank === outer),
      )
    return isBelow(this.tree, false)
  }

  /**
   * Returns the profile under the scenario of a rank, from 1, between base and target.
   *
   * @throws OptionError for a rank that no scenario has.
   */
  profile(rank: number): ScenarioProfile {
    const found = this.ranked[rank - 1]
    if (found === undefined) throw new OptionError('rank', rank, `a rank from 1 to ${this.size}`)
    const { scenario, evaluation, touched } = found
    const { base: before, target } = this
    const { profile } = evaluation
    return new ScenarioProfile({ title: scenario.title, before, profile, target, touched })
  }

  /**
   * Returns one row per scenario, best first; `parent` is the rank of the scenario that it lies within, 0 for those
   * tried first.
   */
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

/** Orders the tried scenarios, separates chance, and ties the tree together. */
function diagnosedScenarios(
  tried: readonly TriedScenario[],
  subject: DiagnosisSubject,
): DiagnosisNodes {
  const { options } = subject
  const isOfTraces = subject.target !== null
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
  // A scenario that may be chance never comes before a sure one. For a wish nothing can be compared, so the closest
  // comes first.
  const byCause = causesFirst(firsts, nodesOf)
  const order = isOfTraces ? sort(byCause, (row) => Number(!isSignificant[row])) : byCause
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
 * Returns the order of scenarios, best first, as rows. The key is the certainty that the changed quantity changed
 * between the periods, times the root of the distance that it moves response times towards the target. Scenarios that
 * cannot be compared between the periods come last, nearest to the target first. Divergence alone rewards any large
 * change; certainty alone rewards changes that nobody waits for.
 *
 * A scenario that explains nearly as much as one that contains it comes before that one. So does "as after" before "as
 * other calls", and a property that requests bring along before one that the system gave them.
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
  const at = (row: number) => firsts[row] as TriedScenario
  const order = [...firsts.keys()].sort(
    (a, b) => at(b).evaluation.key - at(a).evaluation.key || a - b,
  )
  const goesBefore = (row: number, other: number) => {
    const share = at(row).evaluation.key / at(other).evaluation.key
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
    if (at(row).evaluation.key > 0) {
      for (let next = from + 1; next < order.length; next++) {
        const other = order[next] as number
        if (at(other).evaluation.key < NEARLY.within * at(row).evaluation.key) break
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

/** Causes that are put together at most. */
const MAX_CAUSES = 4
/** Most causes that are tried, the most likely first. */
const MAX_TRIED = 12
/** A further cause must explain at least this share of the difference. */
const MIN_GAIN = 0.1

/** Cause that explains more of the change, along with others. */
export interface ExplainedTogether extends ProfileQuantiles {
  readonly cause: DiagnosedScenario
  /** Divergence from the target with it and those before it applied together. */
  readonly divergence: number
  /** Share of the base's divergence that they explain together. */
  readonly gain: number
}

/** One node of the diagnosis tree. */
export interface DiagnosedScenario
  extends ProfileQuantiles,
    Pick<Evaluation, 'divergence' | 'distanceUs' | 'statistic' | 'touched'> {
  /** p that the changed quantity is as before; see `testScenarios`. */
  readonly p: number
  /** Place among all scenarios, from 1, the best; the same wherever it stands in the tree. */
  readonly rank: number
  readonly scenario: Scenario
  /** 1 for those that are tried first. */
  readonly depth: number
  /** Scenario that it lies within; null for those tried first. */
  readonly parent: DiagnosedScenario | null
  /** Scenarios within it that were tried, best first. */
  readonly children: readonly DiagnosedScenario[]
  /** Place among its siblings: 0 the best, 1 the worst; 0 where there are none. */
  readonly score: number
  /** Reduction of the base's divergence, as a share; negative if it is further from the target. */
  readonly gain: number
  /** `p` corrected over all scenarios (Benjamini and Hochberg). */
  readonly q: number
  /**
   * Whether it explains a change beyond chance. Base and target must differ, and so must the changed quantity (q below
   * `alpha`) and the response times of requests that have it (their p). It must move the mean response time towards the
   * target's (not away, if the means may be equal), and bring the profile closer, by divergence or by the distance that
   * requests move. If the target is no traces, changes cannot be compared: then it must come closer by both.
   */
  readonly significant: boolean
  readonly evaluation: Evaluation
}

/** Finding of `compare`, with the scenarios of a diagnosis about the same. */
export interface ExplainedFinding {
  readonly finding: Finding
  /** The best significant cause that is about the same; `null` for none. */
  readonly cause: DiagnosedScenario | null
}

/**
 * Lays to each finding the best significant cause that is about the same: the work of the same service,
 * the way between the same two, the calls that the same operation makes, and into the same direction.
 */
function matchFindings(
  findings: readonly Finding[],
  ranked: readonly DiagnosedScenario[],
  paths: CallPaths,
): ExplainedFinding[] {
  const causes = ranked.filter(({ significant }) => significant)
  return findings.map((finding) => {
    const places = placesOf(finding)
    const isSlower = finding.direction === 'slower'
    const fits = causes.filter(
      ({ scenario, evaluation }) =>
        evaluation.impactUs > 0 === isSlower &&
        places.some((place) => isAbout(scenario, place, paths)),
    )
    return { finding, cause: fits[0] ?? null }
  })
}

/** `#1 own time of disk as after: by itself 85 % of the difference`; `null` where no cause is about it. */
export function causeText({ cause }: ExplainedFinding, maxLength: number): string | null {
  if (cause === null) return null
  const { rank, scenario, gain } = cause
  const share = gain > 0 ? `${percent(gain)} of the difference` : 'brings the profiles no closer'
  return `#${rank} ${shortText(scenario.title, maxLength)}: by itself ${share}`
}

/** A node of the tree while it grows. */
export interface TriedScenario {
  readonly candidate: Candidate
  readonly evaluation: Evaluation
  /** 1 for those that are tried first. */
  readonly depth: number
  /** Scenario that it lies within; null for those tried first. */
  readonly parent: TriedScenario | null
  /** Number of scenarios known to be tried so far, including this and earlier ones. */
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

/** Returns the scenarios within the most promising ones of a level. */
function furtherOf(
  tried: readonly (readonly TriedScenario[])[],
  unchanged: Evaluation,
  { beam, pruning, minimumGain }: GrowthOptions,
): Siblings[] {
  // With a thousand requests, chance moves the divergence by more than most changes do: a smaller distance counts as
  // well.
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
 * Scores of siblings, by row: (k − 1)/(n − 1) for the k-th best of n, 0 for the best and 1 for the worst; equal ones
 * share the mean of their ranks.
 */
export function scoreSiblings(evaluations: readonly Evaluation[]): Float64Array {
  return siblingPercentiles(evaluations.map(({ promise }) => -promise))
}

/** Requests that make a call, which changed though all together may hide it. */
export interface ChangedCallers extends Pick<Scenario, 'service' | 'operation'> {
  /** Corrected for all calls that are made. */
  readonly p: number
}

/** Returns the tried server time whose times and requests changed most surely; `null` if this may be chance. */
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

/** Options of `diagnoseLatency`. */
export const DIAGNOSIS_OPTIONS = defineOptions({
  divergence: oneOf(DIVERGENCES, {
    default: 'kl',
    sentence:
      "Distance to the target: 'kl' Kullback-Leibler over log bins, 'wasserstein' mean shift in µs, 'ks' largest gap between the distribution functions",
    flag: 'divergence <name>',
  }),
  order: oneOf(SCENARIO_ORDERS, {
    default: 'evidence',
    sentence:
      "Order of causes: 'evidence' puts sure changes with large effects first, 'divergence' those closest to the target, as in the paper",
    flag: 'order <by>',
  }),
  depth: count({
    default: 'auto',
    or: 'auto',
    unit: 'levels',
    sentence: "Maximum depth of the tree; 'auto' is 5, and 3 from 100,000 calls on",
  }),
  beam: count({
    default: 5,
    unit: 'scenarios',
    sentence: 'Maximum number of scenarios of a level to refine, best first',
  }),
  pruning: share({
    default: 0.5,
    sentence: 'Score among siblings above which a scenario is not refined',
  }),
  minimumGain: share({
    default: 0.01,
    sentence: 'Share of the distance by which a scenario must come closer to be refined',
  }),
  sampleSize: count({
    default: 5000,
    unit: 'traces',
    sentence: 'Maximum number of traces of each period, chosen at random',
    flag: 'sample <traces>',
  }),
  minimumPartition: count({
    default: 30,
    unit: 'requests or calls',
    sentence: 'Smallest group that is examined on its own',
  }),
  services: flag({
    default: true,
    sentence: 'Whether to also examine all calls of a service together, whoever makes them',
  }),
  structural: flag({
    default: true,
    sentence: 'Whether to try groups of requests: made faster, or more or less frequent',
  }),
  features: custom<readonly FeatureChoice[] | 'auto'>({
    default: 'auto',
    sentence:
      "Features that divide requests and calls; 'auto' is host, operation, calls, load, attributes with up to 16 values, numbers with many or rare values (cut where slow calls begin), and attributes and events that only some calls of an operation have; also: 'attribute:KEY', 'has:KEY' and 'event:NAME'",
    accepts: (value) => value === 'auto' || Array.isArray(value),
    expected: "'auto' or a list of features",
    flag: 'features <list>',
    parse: (text) => (text === 'auto' ? text : text.split(',').map((each) => each.trim())),
  }),
  finding: custom<Finding | null>({
    default: null,
    sentence: 'Finding to start from, of a comparison of the same periods',
    accepts: (value) => value === null || Array.isArray((value as Finding)?.steps),
    expected: 'a finding of compare, or null',
  }),
  factors: custom<readonly number[]>({
    default: [0.5, 0.8, 1.25, 2],
    sentence: 'Factors that times are multiplied by if the target is no traces',
    accepts: Array.isArray,
    expected: 'a list of numbers, 0 or more',
  }),
  similarity: EXECUTION_MODEL_OPTIONS.similarity,
  service: EXECUTION_MODEL_OPTIONS.service,
  operation: EXECUTION_MODEL_OPTIONS.operation,
  caller: EXECUTION_MODEL_OPTIONS.caller,
  alpha: level({ default: 0.05, sentence: 'Significance level of the tests' }),
  seed: number({ default: 1, sentence: 'Seed of the samples' }),
  signal: custom<AbortSignal | null>({
    default: null,
    sentence: 'Stops the diagnosis, which then holds the scenarios tried by then',
    accepts: (value) => value === null || typeof (value as AbortSignal)?.aborted === 'boolean',
    expected: 'an AbortSignal or null',
  }),
})
export type DiagnosisOptions = OptionsOf<typeof DIAGNOSIS_OPTIONS>

/** @throws FlowdeltaError for an unknown option, OptionError for a value that one does not take */
export function diagnosisOptions(given: Partial<DiagnosisOptions>): DiagnosisOptions {
  const options = readOptions(DIAGNOSIS_OPTIONS, given)
  if (options.features !== 'auto') {
    for (const feature of options.features) chooseFeature(feature, 'features')
  }
  const { factors } = options
  if (factors.length === 0) throw new OptionError('factors', 'empty', 'at least one factor')
  for (const [i, factor] of factors.entries()) {
    if (factor >= 0 && factor < Number.POSITIVE_INFINITY) continue
    throw new OptionError(`factors[${i}]`, factor, 'a number from 0 up')
  }
  return options
}
