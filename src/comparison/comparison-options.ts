import { CATEGORY_OPTIONS, type Categories } from '../compare/categories/categories.ts'
import { categorize } from '../compare/categories/categorize.ts'
import { EDGE_OPTIONS } from '../compare/edges/find-edge-changes.ts'
import { findHostClasses } from '../compare/hosts/host-classes.ts'
import { INTERFERENCE_OPTIONS } from '../compare/interference/interference.ts'
import {
  IGNORABLE,
  type Ignorable,
  KNOWLEDGE_OPTIONS,
  type Knowledge,
} from '../compare/knowledge/knowledge.ts'
import { RESPONSE_TIME_OPTIONS } from '../compare/mutations/find-response-time-mutations.ts'
import { STRUCTURAL_OPTIONS } from '../compare/mutations/find-structural-mutations.ts'
import { EVENT_OPTIONS } from '../compare/onset/events.ts'
import { PRECURSOR_OPTIONS } from '../compare/precursors/match-precursors.ts'
import { RANKING_OPTIONS } from '../compare/ranking/rank-mutations.ts'
import { SEGMENT_OPTIONS, type Segment } from '../compare/segments/segments.ts'
import { withoutIdleWaits, withoutLayers } from '../compare/steps/layers.ts'
import {
  renamedOperations,
  renamedServices,
  renameIn,
  withCommonNames,
} from '../compare/steps/renames.ts'
import { MAX_RUNS, SURE_LEVEL } from '../compare/thresholds.ts'
import { FlowdeltaError, requireStage, show } from '../core/errors.ts'
import {
  count,
  defineOptions,
  flag,
  type OptionsOf,
  type OptionTable,
  oneOf,
  pickOptions,
  readOptions,
} from '../core/options.ts'
import { remembered } from '../core/remembered.ts'
import { counted, listed } from '../core/words.ts'
import { buildFlows } from '../flows/build-flows.ts'
import { FLOW_OPTIONS, type FlowOptions, FlowSet } from '../flows/flow-set.ts'
import { foldFlows } from '../flows/fold/fold-flows.ts'
import { FOLD_OPTIONS, recordedFlows } from '../flows/fold/folded-flows.ts'
import { type LabelChange, relabelFlows, withoutIds, withoutThread } from '../flows/label-parts.ts'
import { labelText, withoutHost } from '../flows/node-labels.ts'
import { requestsBetween, type Selection } from '../flows/select-requests.ts'
import { type Condition, parseConditions } from '../traces/selection/condition.ts'
import { mostLinked } from '../traces/selection/sample-traces.ts'
import { SelectableTraces } from '../traces/selection/selectable-traces.ts'
import type { TraceSet } from '../traces/trace-set.ts'
import { FINDINGS_OPTIONS } from './words/findings.ts'

const { sizeAttribute, sizeUnit } = FOLD_OPTIONS

/** Options that decide what flows look like before they are categorized; see `foldFlows`. */
export const FORM_OPTIONS = defineOptions({
  hostClasses: flag({
    default: false,
    sentence:
      'Replace hosts by classes of hosts with equal performance; see `findHostClasses`. No effect with `omitHosts`',
  }),
  fold: oneOf(['none', 'exact', 'log2'], {
    default: 'none',
    sentence:
      "Fold loops and pipeline lanes into one; 'exact' keeps their number, 'log2' its power of two",
    flag: 'fold <rule>',
  }),
  sizeAttribute,
  sizeUnit,
})

/** Option that bounds how many requests are compared; see `sampledPeriods`. */
const SAMPLE_SIZE_OPTIONS = defineOptions({
  sample: count({
    default: 40_000,
    or: 'all',
    unit: 'requests',
    sentence:
      'Approximate number of requests of a recording to compare; a larger one is reduced to a weighted sample of whole traces, with exact counts, see `traces.sample`',
  }),
})

/** Findings have a threshold of their own; all else that structural mutations take reaches them. */
const { smPThreshold: _, ...STRUCTURAL_EVIDENCE_OPTIONS } = STRUCTURAL_OPTIONS

export const STAGE_OPTIONS = {
  flows: { ...FLOW_OPTIONS, ...FORM_OPTIONS, ...SAMPLE_SIZE_OPTIONS },
  categories: CATEGORY_OPTIONS,
  responseTime: RESPONSE_TIME_OPTIONS,
  structural: STRUCTURAL_OPTIONS,
  precursors: PRECURSOR_OPTIONS,
  evidence: {
    ...FINDINGS_OPTIONS,
    ...PRECURSOR_OPTIONS,
    ...RANKING_OPTIONS,
    ...STRUCTURAL_EVIDENCE_OPTIONS,
  },
  ranking: RANKING_OPTIONS,
  edges: EDGE_OPTIONS,
  steps: EDGE_OPTIONS,
  segments: SEGMENT_OPTIONS,
  findings: {
    ...FINDINGS_OPTIONS,
    ...EVENT_OPTIONS,
    ...INTERFERENCE_OPTIONS,
    ...KNOWLEDGE_OPTIONS,
  },
} as const satisfies Record<string, OptionTable>

type StageName = keyof typeof STAGE_OPTIONS

export const COMPARISON_OPTIONS = defineOptions({
  ...STAGE_OPTIONS.flows,
  ...STAGE_OPTIONS.categories,
  ...STAGE_OPTIONS.responseTime,
  ...STAGE_OPTIONS.structural,
  ...STAGE_OPTIONS.findings,
  ...STAGE_OPTIONS.precursors,
  ...STAGE_OPTIONS.ranking,
  ...STAGE_OPTIONS.edges,
  ...STAGE_OPTIONS.segments,
})

/** The options of every stage of a comparison; see the stages for meanings and defaults. */
export type ComparisonOptions = OptionsOf<typeof COMPARISON_OPTIONS>

const HOSTS = ['omitHosts'] as const

/**
 * Returns the options that a stage depends on. A number as threshold needs no level: the slider of α then keeps
 * structures and precursors. What repeats depends on hosts in labels.
 */
export function stageOptions(
  name: string,
  { smPThreshold, fold, hostClasses }: ComparisonOptions,
): readonly (keyof ComparisonOptions)[] {
  const table = name in STAGE_OPTIONS ? STAGE_OPTIONS[name as StageName] : {}
  const names = Object.keys(table) as (keyof ComparisonOptions)[]
  if (name === 'flows') {
    return [...names, ...(fold === 'none' && !hostClasses ? [] : HOSTS)]
  }
  return name === 'structural' && smPThreshold !== 'auto'
    ? names.filter((option) => option !== 'alpha')
    : names
}

/**
 * Whether a change of options affects a stage. Flows depend on `counts`
 * only in whether requests are weighted, which `counting` tells.
 */
export function reachesStage(
  name: string,
  now: ComparisonOptions,
  old: ComparisonOptions,
  counting: FlowSet['counting'],
): boolean {
  const settingOf = (options: ComparisonOptions, option: keyof ComparisonOptions) => {
    if (option === 'counts' && name === 'flows') {
      return now.counts === old.counts || counting(options.counts) === 'weighted'
    }
    return options[option]
  }
  return stageOptions(name, now).some((option) => settingOf(now, option) !== settingOf(old, option))
}

/** Selection of requests for `comparison.where`. */
export type RequestSelection =
  | string
  | Pick<Segment, 'requests'>
  | { readonly segment?: Segment }
  | ((request: number) => boolean)

/** Returns the rows of the selected requests, by period; rejects selections that no request meets. */
export function selectedRows(selection: RequestSelection, flows: FlowSet): Selection {
  if (typeof selection === 'function') return nonEmpty(requestsBetween(flows, { where: selection }))
  if (typeof selection === 'string') {
    const isInside = matchingRequests(parseConditions(selection), flows)
    const rows = requestsBetween(flows, { where: isInside })
    const isEmpty = rows.before.length + rows.after.length === 0
    // If no request matches, this throws an error that lists the values present.
    if (isEmpty) recordedFlows(flows).periods[0]?.where(selection)
    return nonEmpty(rows)
  }
  const segment = 'segment' in selection ? selection.segment : selection
  const requests = segment !== undefined && 'requests' in segment ? segment.requests : undefined
  if (!Array.isArray(requests)) {
    throw new FlowdeltaError(
      `comparison.where got ${show(selection)}, which has no segment. Give a finding that says 'only where', a segment, conditions as text, or a function of a request's row.`,
    )
  }
  const inside = new Set<number>(requests)
  return nonEmpty(requestsBetween(flows, { where: (request) => inside.has(request) }))
}

function matchingRequests(conditions: readonly Condition[], flows: FlowSet) {
  const { periods, recordedIn, traceOf } = recordedFlows(flows)
  for (const one of conditions) {
    // A name that only one period recorded is known, too.
    if (!periods.some((traces) => traces.knows(one))) periods[0]?.requireKnown([one])
  }
  const marks = periods.map((traces) => traces.matching(conditions))
  return (request: number) =>
    marks[recordedIn[request] as number]?.[traceOf[request] as number] === 1
}

export function traceKey({ period, ids }: FlowSet, request: number): string {
  return `${period[request]} ${ids[request]}`
}

function nonEmpty(rows: Selection): Selection {
  const missing = rows.before.length === 0 ? 'before' : rows.after.length === 0 ? 'after' : null
  if (missing === null) return rows
  throw new FlowdeltaError(
    `comparison.where leaves no request ${missing}. Choose requests of both periods.`,
  )
}

/** Rejects no runs, too many runs, repeated runs, and values that are no traces. */
export function requirePeriods(runs: readonly unknown[], after: unknown): void {
  requireRuns(runs)
  requireStage('compare(before, after) for after', after, SelectableTraces)
}

function requireRuns(runs: readonly unknown[]): void {
  if (runs.length === 0 || runs.length > MAX_RUNS) {
    throw new FlowdeltaError(
      `compare(before, after) got ${counted(runs.length, 'run')} for before. Give 1 to ${MAX_RUNS}.`,
    )
  }
  runs.forEach((run, i) => {
    requireStage('compare(before, after) for before', run, SelectableTraces)
    if (runs.indexOf(run) < i) {
      throw new FlowdeltaError(
        `compare(before, after) got the same traces for runs ${runs.indexOf(run) + 1} and ${i + 1} ` +
          'of before: they would seem never to differ. Give each run once.',
      )
    }
  })
}

type Periods = readonly [runs: readonly TraceSet[], after: TraceSet]

/**
 * Draws about `sample` requests of each recording that has more, with weights so that they stand for
 * all. Returns the periods as they are where that is impossible: counts are raw, only some recordings
 * have weights, or too many traces are linked to each other to be drawn together.
 */
export function sampledPeriods(
  periods: Periods,
  { sample, counts }: Pick<ComparisonOptions, 'sample' | 'counts'>,
): Periods {
  const recordings = periods.flat() as readonly TraceSet[]
  if (sample === 'all' || recordings.every(({ size }) => size <= sample)) return periods
  const spans = recordings.filter((traces) => traces.kind === 'spans')
  const weights = new Set(spans.map(({ weight }) => weight !== undefined))
  const areWeighed = counts === 'weighted' || (counts === 'auto' && weights.size === 1)
  const isLinked = spans.some((traces) => mostLinked(traces) > SURE_LEVEL)
  if (spans.length < recordings.length || !areWeighed || isLinked) return periods
  const sampled = spans.map((traces) =>
    traces.quality().isOfSample ? traces : traces.sample(sample),
  )
  return [sampled.slice(0, -1), sampled.at(-1) as TraceSet]
}

/** Builds flows of both periods, with the same names for the same services and operations. */
export function flowsOfOneName(given: Periods, options: Partial<FlowOptions>): FlowSet {
  const busy = withoutIdleWaits(given)
  const named = withCommonNames(busy.periods)
  const { periods, layers } = withoutLayers(named.periods)
  const { waits } = busy
  const all = [...named.renames]
  let [before, after] = periods
  let flows = buildFlows([before, after], options)
  for (const find of [renamedServices, renamedOperations]) {
    const found = find(flows)
    if (found.length === 0) continue
    all.push(...found)
    before = before.map((traces) => renameIn(traces, found))
    after = renameIn(after, found)
    flows = buildFlows([before, after], options)
  }
  if (all.length + layers.length + waits.length === 0) return flows
  return new FlowSet({ ...flows, renames: all, layers, waits }, flows.options, flows.report)
}

type FormOptions = Pick<ComparisonOptions, keyof typeof FORM_OPTIONS | 'omitHosts'>

/** Flows with classes of hosts in place of hosts, if so chosen. */
export function withHostClasses(
  flows: FlowSet,
  { hostClasses, omitHosts }: Pick<FormOptions, 'hostClasses' | 'omitHosts'>,
): FlowSet {
  if (!hostClasses || omitHosts) return flows
  const classes = findHostClasses(flows)
  return relabelFlows(flows, [(node) => classes.inClass(node)])
}

/** Returns flows with repetitions folded, if the options say so. */
export function foldedBy(
  flows: FlowSet,
  { fold, omitHosts, sizeAttribute, sizeUnit }: FormOptions,
): FlowSet {
  if (fold === 'none') return flows
  return foldFlows(flows, { log2: fold === 'log2', omitHosts, sizeAttribute, sizeUnit })
}

const LABEL_CHANGES: Readonly<Partial<Record<Ignorable, LabelChange>>> = {
  'strip ids': withoutIds,
  'omit threads': withoutThread,
}

/** Options that decide how requests are divided into categories. */
type Ruled = Pick<ComparisonOptions, 'knowledge' | 'concurrency' | 'fold' | 'omitHosts' | 'label'>

/** Returns options with the settings from the rule of their knowledge; doing it again changes nothing. */
export function withKnowledge<Options extends Ruled>(options: Options): Options {
  const { knowledge, concurrency, fold, label } = options
  if (knowledge === null || knowledge.ignore.length === 0) return options
  const ignores = (what: Ignorable) => knowledge.ignore.includes(what)
  const omitHosts = options.omitHosts || ignores('omit hosts')
  const learned = ignores('learned order') && concurrency === 'observed' ? 'learned' : concurrency
  return {
    ...options,
    omitHosts,
    concurrency: ignores('no order') ? 'none' : learned,
    fold: ignores('fold loops') ? 'log2' : fold,
    label:
      changesOf(knowledge).length === 0
        ? label
        : labelsOf(knowledge)(label ?? (omitHosts ? hostless : labelText)),
  }
}

function changesOf({ ignore }: Knowledge): LabelChange[] {
  return ignore.flatMap((what) => LABEL_CHANGES[what] ?? [])
}

type Label = NonNullable<ComparisonOptions['label']>

const hostless: Label = (node) => labelText(withoutHost(node))

/** Returns one function per rule and label, so that stages made with it can be recognized as the same. */
const labelsOf = remembered((knowledge: Knowledge) => {
  const changes = changesOf(knowledge)
  return remembered(
    (label: Label): Label =>
      (node) =>
        label(changes.reduce((one, change) => change(one), node)),
  )
})

export function ruleText({ ignore }: Pick<Knowledge, 'ignore'>): string {
  if (ignore.length === 0) return 'Only requests with equal flows are the same.'
  return `Requests are the same if they differ only in ${listed(ignore.map((what) => IGNORABLE[what]))}.`
}

/** Options of all that leads from traces to categories. */
export const CATEGORIZED_BY = defineOptions({
  ...CATEGORY_OPTIONS,
  ...FLOW_OPTIONS,
  ...FORM_OPTIONS,
})

/** Categorizes the requests of one period or of two, by the rule that people taught. */
export function categorizeTraces(
  [before, after]: readonly [before: TraceSet, after?: TraceSet | undefined],
  options: Partial<OptionsOf<typeof CATEGORIZED_BY>> = {},
): Categories {
  const ruled = withKnowledge(readOptions(CATEGORIZED_BY, options))
  const built = buildFlows(
    after === undefined ? before : [before, after],
    pickOptions(FLOW_OPTIONS, ruled),
  )
  const flows = foldedBy(withHostClasses(built, ruled), ruled)
  return categorize(flows, pickOptions(CATEGORY_OPTIONS, ruled))
}
