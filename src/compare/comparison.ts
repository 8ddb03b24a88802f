import { changeOptions, pickOptions, readOptions } from '../core/options.ts'
import { Stage, type StageTable } from '../core/stage.ts'
import { AFTER, FLOW_OPTIONS, type FlowSet } from '../flows/flow-set.ts'
import { requestsBetween, selectRequests } from '../flows/select-requests.ts'
import type { TraceSet } from '../traces/trace-set.ts'
import { type Account, accountOf } from './account.ts'
import type { Categories } from './categories/categories.ts'
import { categorize } from './categories/categorize.ts'
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
import { type EdgeChanges, findEdgeChanges } from './edges/find-edge-changes.ts'
import type { ComparisonWarning } from './fairness/comparison-warning.ts'
import { comparisonWarnings } from './fairness/comparison-warnings.ts'
import { findingsLevel } from './findings/detectable.ts'
import {
  type Claim,
  claimMutations,
  draftFindings,
  type FindingSources,
} from './findings/draft-findings.ts'
import type { Draft } from './findings/finding.ts'
import {
  findResponseTimeMutations,
  type ResponseTimeMutations,
} from './mutations/find-response-time-mutations.ts'
import {
  findStructuralMutations,
  type StructuralMutations,
} from './mutations/find-structural-mutations.ts'
import { allEvents, seenEvents, type TimedEvent } from './onset/events.ts'
import { matchPrecursors, type Precursors } from './precursors/match-precursors.ts'
import { findMoves, type Moves } from './precursors/moves.ts'
import { type Ranking, rankMutations } from './ranking/rank-mutations.ts'
import { findSegments } from './segments/find-segments.ts'
import { RequestColumns } from './segments/request-columns.ts'
import type { Segments } from './segments/segments.ts'
import { findStepChanges } from './steps/find-step-changes.ts'
import type { StepChanges } from './steps/step-changes.ts'
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
    this.#stages.flows ??= this.#buildFlows()
    return this.#stages.flows
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
    this.#stages.categories ??= categorize(
      this.flows,
      pickOptions(STAGE_OPTIONS.categories, this.options),
    )
    return this.#stages.categories
  }

  get responseTime(): ResponseTimeMutations {
    this.#stages.responseTime ??= findResponseTimeMutations(
      this.categories,
      pickOptions(STAGE_OPTIONS.responseTime, this.options),
    )
    return this.#stages.responseTime
  }

  get structural(): StructuralMutations {
    this.#stages.structural ??= findStructuralMutations(
      this.categories,
      Object.fromEntries(
        stageOptions('structural', this.options).map((name) => [name, this.options[name]]),
      ),
    )
    return this.#stages.structural
  }

  get precursors(): Precursors {
    this.#stages.precursors ??= matchPrecursors(
      this.structural,
      pickOptions(STAGE_OPTIONS.precursors, this.options),
    )
    return this.#stages.precursors
  }

  /**
   * The mutations that hold when tests are corrected for their number: what findings rest on where
   * there are no spans. `alpha` is shared by the three kinds of evidence: categories, structures,
   * edges. `findingsThreshold` decides which structures changed.
   */
  get evidence(): Ranking {
    if (this.#stages.evidence === undefined) {
      const alpha = findingsLevel(this.options.alpha)
      const responseTime = this.responseTime.judged({ alpha, correction: 'bh' })
      const structural = findStructuralMutations(this.categories, {
        ...pickOptions(STAGE_OPTIONS.structural, this.options),
        alpha,
        smPThreshold: this.options.findingsThreshold,
      })
      this.#stages.evidence = rankMutations(
        responseTime,
        matchPrecursors(structural, pickOptions(STAGE_OPTIONS.precursors, this.options)),
        pickOptions(STAGE_OPTIONS.ranking, this.options),
      )
    }
    return this.#stages.evidence
  }

  /** Moves of requests between categories, and the time these added: sums that add up. */
  get moves(): Moves {
    this.#stages.moves ??= findMoves(this.evidence.precursors)
    return this.#stages.moves
  }

  /** Mutations by contribution; those that findings explain are marked significant. */
  get ranking(): Ranking {
    this.#stages.ranking ??= rankMutations(this.responseTime, this.precursors, {
      ...pickOptions(STAGE_OPTIONS.ranking, this.options),
      claimed: this.claims,
    })
    return this.#stages.ranking
  }

  /** Every edge, pooled over the categories and compared. */
  get edges(): EdgeChanges {
    this.#stages.edges ??= findEdgeChanges(
      this.categories,
      pickOptions(STAGE_OPTIONS.edges, this.options),
    )
    return this.#stages.edges
  }

  /** Work of services, the ways to them, and their calls, for traces with spans. */
  get steps(): StepChanges {
    this.#stages.steps ??= findStepChanges(this, pickOptions(STAGE_OPTIONS.steps, this.options))
    return this.#stages.steps
  }

  /** Account of a mean request's time, before and after, step by step: sums that add up. */
  get account(): Account {
    this.#stages.account ??= accountOf(this.categories)
    return this.#stages.account
  }

  /** Columns that can divide requests into segments: attributes, hosts and called services. */
  get columns(): RequestColumns {
    this.#stages.columns ??= new RequestColumns(this.steps.flows)
    return this.#stages.columns
  }

  /** Segments: the requests in which steps took another time, failed, or made other calls; of traces with spans. */
  get segments(): Segments {
    this.#stages.segments ??= findSegments(this, pickOptions(STAGE_OPTIONS.segments, this.options))
    return this.#stages.segments
  }

  /** Changes, one entry per cause; `correction` and `smPThreshold` affect only the ranking. */
  get findings(): Findings {
    const { ranking, drafts, claims, events } = this
    const { alternative } = STAGE_OPTIONS.responseTime
    this.#stages.findings ??= groupFindings(
      { ranking, drafts, claims, ...this.#sources(), events },
      pickOptions({ ...STAGE_OPTIONS.findings, alternative }, this.options),
    )
    return this.#stages.findings
  }

  /** Versions of services and hosts that come or go. */
  get seen(): readonly TimedEvent[] {
    this.#stages.seen ??= seenEvents(this.flows)
    return this.#stages.seen
  }

  /** Events from `options` and those `seen` in the traces, in order of time. */
  get events(): readonly TimedEvent[] {
    return allEvents(this.flows, { events: this.options.events, seen: this.seen })
  }

  /** Findings before they are ranked; part of `findings`. */
  get drafts(): readonly Draft[] {
    this.#stages.drafts ??= draftFindings(this.#sources())
    return this.#stages.drafts
  }

  /** Mutations that findings explain: the ranked list calls them significant. */
  get claims(): readonly Claim[] {
    this.#stages.claims ??= claimMutations(this.responseTime, this.drafts)
    return this.#stages.claims
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

  /** Computes a shared stage on demand, once for both comparisons. */
  #share<N extends keyof Stages>(name: N, shared: Partial<Stages>): void {
    Object.defineProperty(shared, name, { enumerable: true, get: () => this[name] })
  }
}
