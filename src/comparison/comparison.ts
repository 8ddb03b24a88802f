import type { Categories } from '../compare/categories/categories.ts'
import { categorize } from '../compare/categories/categorize.ts'
import { type EdgeChanges, findEdgeChanges } from '../compare/edges/find-edge-changes.ts'
import { findingsLevel } from '../compare/findings/detectable.ts'
import {
  type Claim,
  claimMutations,
  draftFindings,
  type FindingSources,
} from '../compare/findings/draft-findings.ts'
import type { Draft } from '../compare/findings/finding.ts'
import {
  findResponseTimeMutations,
  type ResponseTimeMutations,
} from '../compare/mutations/find-response-time-mutations.ts'
import {
  findStructuralMutations,
  type StructuralMutations,
} from '../compare/mutations/find-structural-mutations.ts'
import { allEvents, seenEvents, type TimedEvent } from '../compare/onset/events.ts'
import { matchPrecursors, type Precursors } from '../compare/precursors/match-precursors.ts'
import { findMoves, type Moves } from '../compare/precursors/moves.ts'
import { type Ranking, rankMutations } from '../compare/ranking/rank-mutations.ts'
import { findSegments } from '../compare/segments/find-segments.ts'
import { RequestColumns } from '../compare/segments/request-columns.ts'
import type { Segments } from '../compare/segments/segments.ts'
import { findStepChanges } from '../compare/steps/find-step-changes.ts'
import type { StepChanges } from '../compare/steps/step-changes.ts'
import { changeOptions, pickOptions, readOptions } from '../core/options.ts'
import { Stage, type StageTable } from '../core/stage.ts'
import { AFTER, FLOW_OPTIONS, type FlowSet } from '../flows/flow-set.ts'
import { requestsBetween, selectRequests } from '../flows/select-requests.ts'
import type { TraceSet } from '../traces/trace-set.ts'
import { type Account, accountOf } from './account.ts'
import {
  COMPARISON_OPTIONS,
  type ComparisonOptions,
  flowsOfOneName,
  foldedBy,
  type RequestSelection,
  reachesStage,
  requirePeriods,
  STAGE_OPTIONS,
  sampledPeriods,
  selectedRows,
  stageOptions,
  traceKey,
  withHostClasses,
  withKnowledge,
} from './comparison-options.ts'
import type { ComparisonWarning } from './fairness/comparison-warning.ts'
import { comparisonWarnings } from './fairness/comparison-warnings.ts'
import { groupFindings } from './words/find-findings.ts'
import type { Findings } from './words/findings.ts'

export type { ComparisonOptions, RequestSelection } from './comparison-options.ts'

/** Stages that each stage is computed from; they come before it. */
const UPSTREAM: Record<keyof Stages, readonly (keyof Stages)[]> = {
  flows: [],
  categories: ['flows'],
  responseTime: ['categories'],
  structural: ['categories'],
  precursors: ['structural'],
  evidence: ['responseTime'],
  moves: ['evidence'],
  edges: ['categories'],
  steps: ['flows'],
  account: ['categories'],
  columns: ['flows'],
  segments: ['steps', 'columns'],
  drafts: ['evidence', 'edges', 'steps', 'segments'],
  claims: ['responseTime', 'drafts'],
  ranking: ['responseTime', 'precursors', 'claims'],
  seen: ['flows'],
  findings: ['ranking', 'seen'],
}

interface Stages {
  flows: FlowSet
  categories: Categories
  responseTime: ResponseTimeMutations
  structural: StructuralMutations
  precursors: Precursors
  evidence: Ranking
  moves: Moves
  ranking: Ranking
  edges: EdgeChanges
  steps: StepChanges
  account: Account
  columns: RequestColumns
  segments: Segments
  /** Findings before they are ranked, and the mutations that each accounts for. */
  drafts: readonly Draft[]
  claims: readonly Claim[]
  /** Versions and hosts that come or go. */
  seen: readonly TimedEvent[]
  findings: Findings
}

/**
 * Compares the traces of two periods: builds flows, groups them into categories, and finds, matches and ranks what
 * changed. Every stage is computed on first use and kept.
 *
 * @param before traces of the good period, or an array of its runs. With several runs, a change must exceed the
 *   differences between them
 * @param after traces of the bad period
 * @param options of any stage; see `ComparisonOptions`
 * @throws FlowdeltaError for an unknown option, or no runs, too many, or one twice; OptionError for a
 *   value that an option cannot have
 *
 * @example
 * const comparison = compare(before, after)
 * comparison.ranking.table().print()
 * comparison.with({ smPThreshold: 10 }).ranking.table().print()
 */
export function compare(
  before: TraceSet | readonly TraceSet[],
  after: TraceSet,
  options: Partial<ComparisonOptions> = {},
): Comparison {
  const runs = [before].flat()
  requirePeriods(runs, after)
  return new Comparison({ runs, after }, readOptions(COMPARISON_OPTIONS, options))
}

/** A comparison of two periods, stage by stage. */
export class Comparison extends Stage {
  static readonly madeBy: string = 'a comparison: what compare returns'
  /** Runs of the period before, one at least. */
  readonly runs: readonly TraceSet[]
  readonly after: TraceSet
  readonly options: ComparisonOptions
  readonly #given: ComparisonOptions
  readonly #stages: Partial<Stages>
  /** Traces that it is limited to; `null` for all. */
  readonly #only: ReadonlySet<string> | null

  /** Use `compare` instead. */
  constructor(
    {
      runs,
      after,
      only = null,
    }: { runs: readonly TraceSet[]; after: TraceSet; only?: ReadonlySet<string> | null },
    options: ComparisonOptions,
    stages: Partial<Stages> = {},
  ) {
    super()
    this.runs = runs
    this.after = after
    this.options = withKnowledge(options)
    this.#given = options
    this.#only = only
    this.#stages = stages
  }

  /** Traces of the period before; of several runs, those of the first. */
  get before(): TraceSet {
    return this.runs[0] as TraceSet
  }

  /**
   * Returns the same comparison with other options. Stages that the changed options do not reach are shared, computed
   * or not: changing `smPThreshold` keeps flows, categories and all tests.
   */
  with(changes: Partial<ComparisonOptions>): Comparison {
    const given = changeOptions(COMPARISON_OPTIONS, this.#given, changes)
    const options = withKnowledge(given)
    const shared: Partial<Stages> = {}
    const stale = new Set<keyof Stages>()
    const counting: FlowSet['counting'] = (counts) => this.flows.counting(counts)
    for (const name of Object.keys(UPSTREAM) as (keyof Stages)[]) {
      const isStale = reachesStage(name, options, this.options, counting)
      if (isStale || UPSTREAM[name].some((upstream) => stale.has(upstream))) stale.add(name)
      else this.#share(name, shared)
    }
    return new Comparison({ runs: this.runs, after: this.after, only: this.#only }, given, shared)
  }

  /**
   * Returns the same comparison for some requests only, such as those of a segment. All stages then cover these
   * requests alone. The order of siblings and clocks are those of all requests. Requests of one trace stay together.
   *
   * @param selection a finding with a segment, a segment, conditions as `traces.where` takes them, or
   *   which requests count, by their row in `flows`
   * @throws FlowdeltaError for a finding that has no segment, text that is no condition, and if a period has none of
   *   these requests
   *
   * @example
   * comparison.where('duration > 1us').findings.text()
   */
  where(selection: RequestSelection): Comparison {
    const { before, after } = selectedRows(selection, this.flows)
    const traces = new Set(
      [...Array.from(before), ...Array.from(after)].map((request) => traceKey(this.flows, request)),
    )
    return new Comparison({ runs: this.runs, after: this.after, only: traces }, this.#given)
  }

  get flows(): FlowSet {
    return this.#stage('flows', () => this.#buildFlows())
  }

  #buildFlows(): FlowSet {
    const periods = sampledPeriods([this.runs, this.after], this.options)
    const named = flowsOfOneName(periods, pickOptions(FLOW_OPTIONS, this.options))
    const all = withHostClasses(named, this.options)
    const where = (request: number) => this.#only?.has(traceKey(all, request)) ?? true
    const flows = this.#only === null ? all : selectRequests(all, requestsBetween(all, { where }))
    return foldedBy(flows, this.options)
  }

  get categories(): Categories {
    return this.#stage('categories', () => categorize(this.flows, this.#pick('categories')))
  }

  get responseTime(): ResponseTimeMutations {
    return this.#stage('responseTime', () =>
      findResponseTimeMutations(this.categories, this.#pick('responseTime')),
    )
  }

  get structural(): StructuralMutations {
    return this.#stage('structural', () => {
      const names = stageOptions('structural', this.options)
      const options = Object.fromEntries(names.map((name) => [name, this.options[name]]))
      return findStructuralMutations(this.categories, options)
    })
  }

  get precursors(): Precursors {
    return this.#stage('precursors', () =>
      matchPrecursors(this.structural, this.#pick('precursors')),
    )
  }

  /**
   * The mutations that hold when tests are corrected for their number: what findings rest on where
   * there are no spans. `alpha` is shared by the three kinds of evidence: categories, structures,
   * edges. `findingsThreshold` decides which structures changed.
   */
  get evidence(): Ranking {
    return this.#stage('evidence', () => {
      const alpha = findingsLevel(this.options.alpha)
      const responseTime = this.responseTime.judged({ alpha, correction: 'bh' })
      const structural = findStructuralMutations(this.categories, {
        ...this.#pick('structural'),
        alpha,
        smPThreshold: this.options.findingsThreshold,
      })
      const precursors = matchPrecursors(structural, this.#pick('precursors'))
      return rankMutations(responseTime, precursors, this.#pick('ranking'))
    })
  }

  /** Moves of requests between categories, and the time these added: sums that add up. */
  get moves(): Moves {
    return this.#stage('moves', () => findMoves(this.evidence.precursors))
  }

  /** Mutations by contribution; those that findings explain are marked significant. */
  get ranking(): Ranking {
    return this.#stage('ranking', () => {
      const options = { ...this.#pick('ranking'), claimed: this.claims }
      return rankMutations(this.responseTime, this.precursors, options)
    })
  }

  /** Every edge, pooled over the categories and compared. */
  get edges(): EdgeChanges {
    return this.#stage('edges', () => findEdgeChanges(this.categories, this.#pick('edges')))
  }

  /** Work of services, the ways to them, and their calls, for traces with spans. */
  get steps(): StepChanges {
    return this.#stage('steps', () => findStepChanges(this, this.#pick('steps')))
  }

  /** Account of a mean request's time, before and after, step by step: sums that add up. */
  get account(): Account {
    return this.#stage('account', () => accountOf(this.categories))
  }

  /** Columns that can divide requests into segments: attributes, hosts and called services. */
  get columns(): RequestColumns {
    return this.#stage('columns', () => new RequestColumns(this.steps.flows))
  }

  /** Segments: the requests in which steps took another time, failed, or made other calls; of traces with spans. */
  get segments(): Segments {
    return this.#stage('segments', () => findSegments(this, this.#pick('segments')))
  }

  /** Changes, one entry per cause; `correction` and `smPThreshold` affect only the ranking. */
  get findings(): Findings {
    return this.#stage('findings', () => {
      const { ranking, drafts, claims, events } = this
      const { alternative } = this.options
      return groupFindings(
        { ranking, drafts, claims, ...this.#sources(), events },
        { ...this.#pick('findings'), alternative },
      )
    })
  }

  /** Versions of services and hosts that come or go. */
  get seen(): readonly TimedEvent[] {
    return this.#stage('seen', () => seenEvents(this.flows))
  }

  /** Events from `options` and those `seen` in the traces, in order of time. */
  get events(): readonly TimedEvent[] {
    return allEvents(this.flows, { events: this.options.events, seen: this.seen })
  }

  /** Findings before they are ranked; part of `findings`. */
  get drafts(): readonly Draft[] {
    return this.#stage('drafts', () => draftFindings(this.#sources()))
  }

  /** Mutations that findings explain: the ranked list calls them significant. */
  get claims(): readonly Claim[] {
    return this.#stage('claims', () => claimMutations(this.responseTime, this.drafts))
  }

  #sources(): FindingSources {
    const edges = this.edges.judged(findingsLevel(this.options.alpha))
    const { evidence, steps, segments, columns } = this
    return { evidence, edges, steps, segments, columns }
  }

  /**
   * Checks whether the comparison is fair. Each warning names a problem, its effect on the results, and the option that
   * helps. If before has several runs, each is compared with after, and a warning names the first run that it concerns.
   *
   * @example
   * comparison.warnings().map(({ code, answer }) => `${code}: ${answer}`) // []
   */
  warnings(): readonly ComparisonWarning[] {
    if (this.runs.length === 1) return comparisonWarnings(this)
    const found = this.runs.map((run, i) => {
      const { before, after, flows, options } = compare(run, this.after, this.#given)
      return comparisonWarnings({ before, after, flows, options, categories: this.#ofRun(i) })
    })
    return found.flatMap((warnings, run) => {
      const told = new Set(
        found.slice(0, run).flatMap((earlier) => earlier.map(({ code }) => code)),
      )
      return warnings
        .filter(({ code }) => !told.has(code))
        .map((one) => {
          const finding = `Run ${run + 1} before: ${one.finding}`
          return { ...one, finding, message: finding }
        })
    })
  }

  /** Categories with the counts of one run: siblings of a single run could have another order. */
  #ofRun(run: number): Pick<Categories, 'size' | 'count' | 'undecided'> {
    const { categories } = this
    const isOfRun = (request: number) => this.flows.recordedIn[request] === run
    return {
      size: categories.size,
      undecided: categories.undecided,
      count: (category, period) =>
        period === AFTER
          ? categories.count(category, period)
          : Array.from(categories.members(category, period)).filter(isOfRun).length,
    }
  }

  /** Returns the ranked mutations. */
  table(): StageTable {
    return this.ranking.table()
  }

  /** Returns a stage, made on first use. */
  #stage<N extends keyof Stages>(name: N, make: () => Stages[N]): Stages[N] {
    this.#stages[name] ??= make()
    return this.#stages[name] as Stages[N]
  }

  /** Returns the options of a stage. */
  #pick<N extends keyof typeof STAGE_OPTIONS>(stage: N) {
    return pickOptions(STAGE_OPTIONS[stage], this.options)
  }

  /** Computes a shared stage on demand, once for both comparisons. */
  #share<N extends keyof Stages>(name: N, shared: Partial<Stages>): void {
    Object.defineProperty(shared, name, { enumerable: true, get: () => this[name] })
  }
}
