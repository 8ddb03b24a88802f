import { Comparison } from '../comparison/comparison.ts'
import { entryNamed, FlowdeltaError, show } from '../core/errors.ts'
import type { OptionsOf, OptionTable } from '../core/options.ts'
import { TIME } from '../core/quantity.ts'
import { isTable } from '../core/stage.ts'
import { withArticle } from '../core/words.ts'
import { CallingContexts } from '../explain/calling-contexts/find-calling-contexts.ts'
import { Explanation } from '../explain/parameters/explanation.ts'
import { Anomalies } from '../explain/variance/find-anomalies.ts'
import { VarianceSources } from '../explain/variance/find-variance.ts'
import { LogComparison } from '../logs/compare-logs.ts'
import type { TraceSet } from '../traces/trace-set.ts'
import { LatencyDiagnosis } from '../whatif/diagnosis/latency-diagnosis.ts'
import { ExecutionModels } from '../whatif/models/execution-models.ts'
import { type WidgetCall, type WidgetDefinition, widgetProps } from './widgets/define-widget.ts'
import * as WIDGETS from './widgets/page/views.ts'
import { exploreTable } from './widgets/table/explore-table.ts'
import { Widget } from './widgets/widget.ts'

const OF_VARIANCE = {
  variance: defined(WIDGETS.varianceWidget),
  anomalies: defined(WIDGETS.anomaliesWidget),
}

/** The widgets of each stage by kind, the first without a kind; stages have the name that they usually have in code. */
export const EXPLORED = [
  [
    isA(Comparison),
    'comparison',
    {
      ranking: defined(WIDGETS.rankingWidget),
      flows: defined(WIDGETS.flowsWidget),
      timeline: defined(WIDGETS.timelineWidget),
      swimlanes: defined(WIDGETS.swimlanesWidget),
      trace: defined(WIDGETS.ganttWidget),
      'calling-contexts': defined(WIDGETS.callingContextsWidget),
      ...OF_VARIANCE,
    },
  ],
  [
    isA(CallingContexts),
    'contexts',
    { 'calling-contexts': defined(WIDGETS.callingContextsWidget) },
  ],
  [isA(Explanation), 'explanation', { explanation: defined(WIDGETS.explanationWidget) }],
  [isA(LogComparison), 'logs', { logs: defined(WIDGETS.logsWidget) }],
  [isA(Anomalies), 'anomalies', { anomalies: defined(WIDGETS.anomaliesWidget) }],
  [isA(VarianceSources), 'variance', OF_VARIANCE],
  [isTable, 'table', { table: exploreTable }],
  [isA(LatencyDiagnosis), 'diagnosis', { 'what-if': defined(WIDGETS.whatIfWidget) }],
  [isA(ExecutionModels), 'models', { 'what-if': defined(WIDGETS.whatIfWidget) }],
  [isTraceSet, 'traces', { trace: defined(WIDGETS.ganttWidget) }],
] as const

interface MadeWidget<Stage, Table extends OptionTable> {
  (stage: Stage, options?: Partial<OptionsOf<Table>>, call?: WidgetCall): Widget
  readonly options: Table
}

type Guard<Of> = (stage: unknown) => stage is Of

/** Stages that {@link explore} shows. */
export type Explorable = (typeof EXPLORED)[number][0] extends Guard<infer Of> ? Of : never

type WidgetsOf<
  Of,
  Entries extends readonly unknown[] = typeof EXPLORED,
> = Entries extends readonly [readonly [Guard<infer Stage>, string, infer Kinds], ...infer More]
  ? Of extends Stage
    ? Kinds
    : WidgetsOf<Of, More>
  : never

/** Kinds of widget that a stage has. */
export type ExploreKind<Of> = keyof WidgetsOf<Of> & string

/** Options of a kind of widget. */
export type ExploreOptions<Of, Kind extends ExploreKind<Of>> = WidgetsOf<Of>[Kind] extends (
  stage: never,
  options?: infer Given,
  ...rest: never[]
) => unknown
  ? Given
  : never

/** Options of the widget that a stage shows without a kind. */
type FirstOptions<Of> = Of extends Comparison
  ? ExploreOptions<Of, 'ranking' & ExploreKind<Of>>
  : ExploreOptions<Of, ExploreKind<Of>>

type Explorer = (stage: unknown, options: object, call: WidgetCall) => Widget

/**
 * Shows a stage to explore; without a kind, the most useful widget. In a notebook or page the widget answers to mouse
 * and keyboard, without a kernel; its state stands below it as code.
 *
 * @param stage a comparison, calling contexts, an explanation, a comparison of logs, a diagnosis,
 *   execution models, traces or a table
 * @param kind kind of widget; your editor lists them, and so does the error for an unknown kind
 * @param options of the widget, such as `limit`; they may follow the stage if no kind is given
 * @throws FlowdeltaError for a value that is no stage, a kind that it does not have, or an unknown
 *   option; OptionError for a value that an option does not take
 *
 * @example
 * explore(comparison, 'calling-contexts', { widths: 'before' })
 */
export function explore<const Of extends Explorable>(stage: Of, options?: FirstOptions<Of>): Widget
export function explore<const Of extends Explorable, Kind extends ExploreKind<Of>>(
  stage: Of,
  kind: Kind,
  options?: ExploreOptions<Of, Kind>,
): Widget
export function explore(stage: unknown, second?: unknown, third?: unknown): Widget {
  const known = EXPLORED.find(([isStage]) => isStage(stage))
  if (known === undefined) {
    throw new FlowdeltaError(
      `explore has no widget for ${show(stage)}. Give a comparison, or the table of a stage: explore(stage.table()). ` +
        `There are widgets of ${EXPLORED.map(([, name]) => name).join(', ')}.`,
    )
  }
  const [, name, widgets] = known
  const kinds = Object.keys(widgets)
  const kind = typeof second === 'string' ? second : (kinds[0] as string)
  const makers = widgets as Record<string, Explorer>
  if (TIMED.includes(kind)) requireTimes(stage, kind)
  const make = entryNamed(makers, kind, `no widget of ${withArticle(name)}`, 'It has:')
  const options = (typeof second === 'string' ? third : second) ?? {}
  return make(stage, options as object, { name, kind: kind === kinds[0] ? null : kind })
}

const TIMED = ['flows', 'timeline', 'swimlanes', 'trace', 'variance', 'anomalies']

function requireTimes(stage: unknown, kind: string): void {
  const isOfCategories = stage instanceof VarianceSources || stage instanceof Anomalies
  if (!(stage instanceof Comparison || isOfCategories)) return
  const { flows } = stage instanceof Comparison ? stage : stage.categories
  if (flows.quantity === TIME) return
  throw new FlowdeltaError(
    `explore(…, '${kind}') shows times, and these requests are compared by ${flows.quantity.name}. ` +
      "Give comparison.with({ measure: 'time' }), or look at 'ranking' and 'calling-contexts'.",
  )
}

function defined<Stage, Table extends OptionTable, Data>(
  definition: WidgetDefinition<Stage, Table, Data>,
): MadeWidget<Stage, Table> {
  const unnamed: WidgetCall = { name: 'stage', kind: null }
  return Object.assign(
    (stage: Stage, options: Partial<OptionsOf<Table>> = {}, call = unnamed) =>
      new Widget(definition, widgetProps(definition, stage, options, call)),
    { options: definition.options },
  )
}

function isA<Of>(Class: abstract new (...given: never[]) => Of): Guard<Of> {
  return (stage): stage is Of => stage instanceof Class
}

function isTraceSet(stage: unknown): stage is TraceSet {
  return typeof stage === 'object' && stage !== null && 'ids' in stage && 'epochNs' in stage
}
