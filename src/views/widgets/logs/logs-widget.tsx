import { range, sort } from 'd3-array'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { codeText, textLiteral } from '../../../core/code-literals.ts'
import { decodeColumns, encodeColumns } from '../../../core/columns.ts'
import { FlowdeltaError, OptionError, show } from '../../../core/errors.ts'
import { defineOptions, type OptionsOf, oneOf, optionalText } from '../../../core/options.ts'
import {
  counted,
  formatDuration,
  grouped,
  percent,
  pValue,
  shortNumber,
  shortText,
  spoken,
  tooltipText,
} from '../../../core/words.ts'
import {
  missingText,
  orderText,
  testSize,
  tText,
  unitOf,
  valueText,
} from '../../../explain/logs/log-words.ts'
import {
  type AttentionEdge,
  type AttentionGraph,
  type AttentionNode,
  attentionTree,
} from '../../../logs/attention/focus-attention.ts'
import type { LogComparison } from '../../../logs/compare-logs.ts'
import {
  Divergence,
  type PerformanceTest,
  type VariableDivergence,
} from '../../../logs/divergence/find-divergence.ts'
import {
  type Feature,
  featureText,
  LOG_CLASSES,
  type LogClass,
  LogReport,
  LogSet,
  VARIABLE_KINDS,
  VariableFeatures,
  type VariableKind,
} from '../../../logs/features/log-set.ts'
import type { Unit } from '../../../logs/features/units.ts'
import { periodColor } from '../../charts/builders.ts'
import { thinned } from '../../charts/ecdf-curves.ts'
import { logVariableChart } from '../../charts/logs.ts'
import { namesInPage } from '../../charts/text-width.ts'
import { Button, Choice, StateCode, useMarkKeys } from '../../drawing/controls.tsx'
import { type DataColumn, DataTable, numberColumn, textColumn } from '../../drawing/data-table.tsx'
import {
  DependencyNetwork,
  dependencyLayout,
  dependencyTitle,
  differenceText,
  MAX_NAME_LENGTH,
  readingSentences,
} from '../../drawing/dependency-network.tsx'
import { Caption, Figure, PageOnly, useIsStill } from '../../drawing/figure.tsx'
import { defineWidget, STAGE_NAME, type ViewProps } from '../define-widget.ts'
import { VegaChart } from '../vega-chart.tsx'

export type LogsData = ReturnType<typeof logsData>

const MAX_EDGES = 16_000
/** Number of the most divergent variables of a kind that are carried even if nothing depends on them. */
const MAX_DIVERGENT = 30
const MAX_CARRIED_NAME = 400
const MAX_INSTANCES = 200
const MAX_VALUES = 100_000

/** Returns the data that pages need to show, with `opened` among the variables. */
export function logsData(compared: LogComparison, opened: VariableDivergence | undefined) {
  const { logs, divergence, options, networks } = compared
  const all = LOG_CLASSES.flatMap((each) => compared.with({ class: each }).attention.graphs)
  const graphs = fitting(all)
  const variables = variablesToShow(divergence, graphs, opened)
  const shownName = namesInPage(
    variables.map(({ name }) => name),
    MAX_CARRIED_NAME,
  )
  const instances = instancesToShow(compared)
  return {
    carried: encodeColumns({
      counts: logs.counts,
      withoutMetric: networks.leftOut,
      metric: { given: options.metric, name: networks.metric.name, unit: networks.metric.unit },
      performance: divergence.performance,
      class: options.class,
      divergence: { alpha: options.alpha, correction: options.correction },
      variables: variables.map((variable) => ({ ...variable, name: shownName(variable.name) })),
      /** Names in the page that are not whole: code cannot use them. */
      cutNames: variables.flatMap(({ name }) =>
        shownName(name) === name ? [] : [shownName(name)],
      ),
      graphs: graphs.map((graph) => ({
        ...graph,
        metric: shownName(graph.metric),
        nodes: graph.nodes.map((node) => ({ ...node, name: shownName(node.name) })),
        edges: graph.edges.map(({ from, to, ...edge }) => ({
          from: shownName(from),
          to: shownName(to),
          ...edge,
        })),
      })),
      durations: variables.flatMap(({ name }) =>
        logs.durations?.has(name) ? [shownName(name)] : [],
      ),
      instances: instances.map((instance) => tooltipText(logs.instances[instance] ?? '')),
      classOf: Uint8Array.from(instances, (instance) => logs.classOf[instance] ?? 0),
      metricValues: sampled(networks.metric.values, instances),
      features: carriedFeatures(logs, variables, { instances, shownName }),
      leftOut: {
        graphs: all.length - graphs.length,
        variables: divergence.variables.length - variables.length,
      },
    }),
  }
}

/** Returns the graphs that a page has room for: the smallest, and one of each kind and class. */
function fitting(graphs: readonly AttentionGraph[]): AttentionGraph[] {
  const kept = new Set<AttentionGraph>()
  const kinds = new Set<string>()
  let edges = 0
  for (const graph of graphs.toSorted((a, b) => a.edges.length - b.edges.length)) {
    const kind = `${graph.kind} ${graph.class}`
    if (edges + graph.edges.length > MAX_EDGES && kinds.has(kind)) continue
    kinds.add(kind)
    kept.add(graph)
    edges += graph.edges.length
  }
  return graphs.filter((graph) => kept.has(graph))
}

function variablesToShow(
  divergence: Divergence,
  graphs: readonly AttentionGraph[],
  opened: VariableDivergence | undefined,
): readonly VariableDivergence[] {
  const { variables } = divergence
  const ofKinds = VARIABLE_KINDS.flatMap((kind) =>
    variables.filter((each) => each.kind === kind).slice(0, MAX_DIVERGENT),
  )
  const divergent = ofKinds.filter(({ score, presence }) => score > 0 || presence.onlyIn !== null)
  const inGraphs = graphs.flatMap(({ kind, nodes }) =>
    nodes.map(({ name }) => divergence.variable(kind, name)),
  )
  const wanted = new Set([opened, ...divergent, ...inGraphs])
  return variables.filter((each) => wanted.has(each))
}

function instancesToShow({ logs, networks }: LogComparison): number[] {
  const rank = (instance: number) => networks.metric.values[instance]
  return LOG_CLASSES.flatMap((_, code) => {
    const own = Array.from(logs.instances.keys()).filter(
      (instance) => logs.classOf[instance] === code,
    )
    // Instances without performance come last.
    return thinned(sort(own, rank), MAX_INSTANCES)
  }).sort((a, b) => a - b)
}

function carriedFeatures(
  logs: LogSet,
  variables: readonly VariableDivergence[],
  { instances, shownName }: { instances: readonly number[]; shownName: (name: string) => string },
) {
  let room = MAX_VALUES
  const withRoom = variables.filter(({ features }) => {
    room -= features.length * instances.length
    return room >= 0
  })
  const carry = (kind: VariableKind) => {
    const all = logs.features(kind)
    const own = withRoom.filter((variable) => variable.kind === kind)
    const valuesOf = (type: Feature) =>
      own.flatMap(({ name }) => [...sampled(all.of(all.indexOf(name) ?? 0, type), instances)])
    return {
      types: all.types,
      names: own.map(({ name }) => shownName(name)),
      /** Values by type: that of variable v in instance i at `v * instances + i`. */
      columns: all.types.map((type) => Float64Array.from(valuesOf(type))),
    }
  }
  return { event: carry('event'), state: carry('state') }
}

/** Values of some instances, to the 7 digits that can be seen. */
function sampled(values: Float64Array, instances: readonly number[]): Float64Array {
  return Float64Array.from(instances, (instance) => Math.fround(values[instance] ?? Number.NaN))
}

export type RestoredLogs = ReturnType<typeof restoreLogs>

const NO_REPORT = new LogReport({
  lines: 0,
  messages: { event: 0, state: 0 },
  skipped: [],
  emptyInstances: [],
  unreadFiles: [],
  fieldsLeftOut: [],
  sharedFiles: [],
  notExcluded: [],
})

export function restoreLogs({ carried }: LogsData) {
  const data = decodeColumns(carried)
  const { metric, performance, variables, features, instances } = data
  const logs = new LogSet({
    instances,
    classOf: data.classOf,
    runTimeUs: new Float64Array(instances.length),
    events: restoredFeatures(features.event, instances.length),
    states: restoredFeatures(features.state, instances.length),
    durations: new Set(data.durations),
    report: NO_REPORT,
  })
  const divergence = new Divergence({
    logs,
    performance,
    variables,
    options: { metric: metric.given, weights: 'none', ...data.divergence },
  })
  return {
    ...data,
    divergence,
    hasValues: (kind: VariableKind, name: string) => features[kind].names.includes(name),
  }
}

function restoredFeatures<F extends Feature>(
  { types, names, columns }: ReturnType<typeof carriedFeatures>[VariableKind],
  instances: number,
): VariableFeatures<F> {
  const rows = names.map((_, variable) =>
    range(instances).map((instance) => {
      const place = variable * instances + instance
      return { instance, features: columns.map((column) => column[place] ?? Number.NaN) }
    }),
  )
  return new VariableFeatures({ names, instances, columns: types as F[], rows })
}

const MAX_DRAWN = 16

function nameText(name: string): string {
  return shortText(name, MAX_NAME_LENGTH)
}

function graphText({ metric, nodes, edges, featureType, kind }: AttentionGraph): string {
  const [, ...others] = nodes
  const what = `${kind}s by ${featureText(featureType)}`
  if (others.length === 0) return `${nameText(metric)} depends on no other: ${what}.`
  const first = others.slice(0, 3).map(({ name }) => nameText(name))
  const more = others.length > first.length ? ' and others' : ''
  return (
    `${nameText(metric)} depends on ${counted(others.length, 'variable')}, first ${first.join(', ')}${more}: ` +
    `${what}, ${counted(edges.length, 'dependency', 'dependencies')}.`
  )
}

function scoreText(score: number): string {
  return score === 0 ? '0' : shortNumber(score)
}

interface Shown {
  readonly graph: AttentionGraph
  readonly open: string | null
  readonly onToggle: (name: string) => void
}

function LogsGraph({ graph, open, onToggle }: Shown) {
  const isStill = useIsStill()
  const place = useRef<HTMLDivElement>(null)
  const layout = useMemo(() => dependencyLayout(graph, MAX_DRAWN), [graph])
  const words = new Map(
    layout.variables.map(({ node }) => [
      node.name,
      `${nameText(node.name)}${node.name === graph.metric ? ', performance' : ''}: ${differenceText(node)}`,
    ]),
  )
  const handsOf = useMarkKeys([...words.keys()], {
    isChosen: (name) => name === open,
    onToggle,
    onLetGo: () => open !== null && onToggle(open),
  })
  const hands = (name: string) => ({
    class: 'fd-logs-variable',
    ...handsOf(name, words.get(name) ?? ''),
  })
  useLayoutEffect(() => {
    // Readers look first at performance, at the right end.
    if (place.current !== null) place.current.scrollLeft = place.current.scrollWidth
  }, [layout])
  const title = dependencyTitle(graph)
  return (
    <div class="fd-logs-graph">
      <Caption isHeading text={title} />
      <div ref={place} class="fd-logs-drawing">
        <Figure
          width={Math.ceil(layout.width)}
          height={Math.ceil(layout.height)}
          label={title}
          role="application"
          aria-label={`${graphText(graph)} Arrow keys go from variable to variable, Enter opens one.`}
        >
          <DependencyNetwork
            graph={graph}
            layout={layout}
            open={open}
            {...(!isStill && { handsOf: hands })}
          />
        </Figure>
      </div>
      <Caption text={readingText(graph, layout.variables.length)} />
    </div>
  )
}

function readingText(graph: AttentionGraph, drawn: number): string {
  const { nodes, variablesLeftOut, sharesDenominator } = graph
  return spoken([
    ...(nodes.length < 2 ? ['It depends on no other logged variable.'] : readingSentences(graph)),
    drawn < nodes.length && `${grouped(drawn)} of ${grouped(nodes.length)} variables are drawn.`,
    variablesLeftOut !== undefined &&
      `Learned from the most telling variables; ${grouped(variablesLeftOut)} more are left out (option mostVariables).`,
    sharesDenominator &&
      'Times are shares of the run: what always takes equally long is a smaller share of a longer run, and only seems to depend on performance.',
  ]).join(' ')
}

const MAX_FEATURES = 10

const MAX_ROWS = 100
const MAX_OTHERS = 8

function LogsVariables({ graph, divergence, open, onToggle }: Shown & { divergence: Divergence }) {
  const { parentEdge } = attentionTree(graph)
  const names = new Set(graph.nodes.map(({ name }) => name))
  const others = divergence.variables.filter(
    ({ kind, name, score, presence }) =>
      kind === graph.kind && !names.has(name) && (score > 0 || presence.onlyIn !== null),
  )
  const nameButton = (name: string) => (
    <Button aria-pressed={name === open} title={tooltipText(name)} onClick={() => onToggle(name)}>
      {nameText(name)}
    </Button>
  )
  const columns: readonly DataColumn<AttentionNode>[] = [
    textColumn('variable', ({ name }) => nameButton(name)),
    textColumn('differs', differenceText, { hint: 'after minus before, of this feature' }),
    textColumn('leads to', ({ name }) => leadsText(name, graph, parentEdge.get(name)), {
      hint: 'the strongest way towards performance',
    }),
    numberColumn('adds to the score', ({ name, term }) =>
      name === graph.metric ? '' : scoreText(term),
    ),
  ]
  const isOne = others.length === 1
  return (
    <PageOnly>
      <DataTable
        label="Variables of the graph"
        class="fd-logs-rows"
        columns={columns}
        rows={graph.nodes}
        few={MAX_ROWS}
        rowKey={({ name }) => name}
        rowProps={({ name }) => ({ 'aria-selected': name === open })}
      />
      {others.length === 0 ? null : (
        <p class="fd-logs-others">
          <span class="fd-soft">
            Differ{isOne ? 's' : ''} as well, but {nameText(graph.metric)} does not depend on{' '}
            {isOne ? 'it' : 'them'} here:
          </span>{' '}
          {others.slice(0, MAX_OTHERS).map((each) => (
            <span key={each.name}>
              {nameButton(each.name)}{' '}
              <span class="fd-soft">
                (
                {each.score > 0
                  ? `Σ|t| = ${tText(each.score)}`
                  : `only in ${each.presence.onlyIn} instances`}
                )
              </span>{' '}
            </span>
          ))}
          {others.length > MAX_OTHERS && (
            <span class="fd-soft">and {others.length - MAX_OTHERS} more</span>
          )}
        </p>
      )}
    </PageOnly>
  )
}

function leadsText(name: string, { metric }: AttentionGraph, edge: AttentionEdge | undefined) {
  if (name === metric) return 'performance'
  if (edge === undefined) return ''
  const other = edge.from === name ? edge.to : edge.from
  return `${nameText(other)}, ${percent(edge.weight)}${orderText(name, edge)}`
}

interface DetailsProps extends Pick<VariableDivergence, 'kind' | 'name'> {
  readonly logs: RestoredLogs
  readonly onClose: () => void
}

interface TestRow {
  readonly name: string
  readonly test: PerformanceTest
  readonly textOf: (value: number) => string
}

function VariableDetails({ logs, kind, name, onClose }: DetailsProps) {
  const { counts, divergence, metric } = logs
  const isMetric = name === metric.name
  // Performance may be a variable of the other kind than the graph.
  const found = [kind, ...(isMetric ? VARIABLE_KINDS : [])]
    .map((each) => divergence.variable(each, name))
    .find((each) => each !== undefined)
  const texts = { 'absolute time': formatDuration, 'relative time': percent, value: shortNumber }
  const unit = found?.kind === 'state' ? divergence.logs.unitOf(name) : undefined
  const all: readonly TestRow[] = found?.features.map((test) => ({
    name: featureText(test.feature),
    test,
    textOf: (value) => exactText(test.feature, value, unit),
  })) ?? [{ name: 'performance', test: logs.performance, textOf: texts[metric.unit] }]
  const rows = all
    .filter(({ test }) => test.beforeCount + test.afterCount > 0)
    .sort((a, b) => testSize(b.test) - testSize(a.test))
  const empty = all.filter((row) => !rows.includes(row))
  const spec = useMemo(() => specOf(logs, found), [logs, found])
  const onlyIn = found?.presence.onlyIn ?? null
  return (
    <section
      class="fd-logs-details"
      aria-label={`${nameText(name)}, feature by feature`}
      onKeyDown={({ key }) => {
        if (key === 'Escape') onClose()
      }}
    >
      <div class="fd-bar">
        <h3>{nameText(name)}</h3>
        <Button onClick={onClose} aria-label="Close the variable">
          Close
        </Button>
      </div>
      <p class="fd-soft">
        {found === undefined ? 'This is performance. ' : ''}
        {onlyIn === null
          ? ''
          : `Only ${grouped(found?.presence[onlyIn] ?? 0)} of ${grouped(counts[onlyIn])} instances ${onlyIn} have it. `}
        {spec === null ? 'Its values are not in the page; the code below draws them.' : ''}
      </p>
      <div class="fd-beside">
        <div>
          <DataTable columns={testColumns(counts)} rows={rows} rowKey={({ name: key }) => key} />
          {empty.length > 0 && (
            <p class="fd-soft">No instance has: {empty.map((row) => row.name).join('; ')}.</p>
          )}
        </div>
        {spec && <VegaChart spec={spec} />}
      </div>
    </section>
  )
}

function testColumns(counts: RestoredLogs['counts']): readonly DataColumn<TestRow>[] {
  return [
    textColumn(
      'feature',
      ({ name, test }) => (
        <>
          {name}
          <div class="fd-soft">{missingText(test, counts)}</div>
        </>
      ),
      { isHead: true },
    ),
    numberColumn('before, mean', ({ test, textOf }) => meanText(test.beforeMean, textOf)),
    numberColumn('after, mean', ({ test, textOf }) => meanText(test.afterMean, textOf)),
    numberColumn('t', ({ test }) => (test.tested ? tText(test.t) : 'not tested')),
    numberColumn('p', ({ test }) => (test.tested ? pValue(test.p).replace(/^p (= )?/, '') : ''), {
      hint: 'not corrected; whether it is significant is',
    }),
    numberColumn('significant', ({ test }) => (test.significant ? <b>yes</b> : 'no')),
  ]
}

function specOf(logs: RestoredLogs, variable: VariableDivergence | undefined) {
  const { divergence, hasValues, metric, metricValues, classOf, instances } = logs
  if (variable === undefined) {
    const values = Array.from(metricValues, (value, i) => ({
      value,
      class: LOG_CLASSES[classOf[i] ?? 0],
      instance: instances[i],
    })).filter(({ value }) => Number.isFinite(value))
    return {
      data: { values },
      width: 520,
      height: 52,
      mark: { type: 'tick', thickness: 2 },
      encoding: {
        x: {
          field: 'value',
          type: 'quantitative',
          title: shortText(metric.name, 60),
          scale: { zero: false },
        },
        y: { field: 'class', type: 'nominal', title: null, sort: [...LOG_CLASSES] },
        color: periodColor('class', null),
        tooltip: { field: 'instance', type: 'nominal' },
      },
    }
  }
  const { kind, name } = variable
  if (!hasValues(kind, name)) return null
  return logVariableChart(divergence, { name, kind, limit: MAX_FEATURES }).spec
}

/** Tells shares near 0 or 1 apart. */
function exactText(feature: Feature, value: number, unit: Unit | undefined): string {
  if (unitOf(feature) !== 'share') return valueText(feature, value, unit)
  return `${Number((100 * value).toPrecision(4))} %`.replace('-', '−')
}

function meanText(mean: number, textOf: (value: number) => string): string {
  return Number.isFinite(mean) ? textOf(mean) : 'none'
}

const LOGS_STYLE = `
.fd-logs-sides { display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: flex-start; }
.fd-logs-list { flex: 0 0 auto; border: 0; margin: 0; padding: 0; display: grid; gap: 2px; max-width: 100%; }
.fd-logs-list p { margin: 6px 0 2px; font-size: 12px; }
.fd-logs-list button { display: grid; grid-template-columns: 15em 4em 70px; gap: 8px; align-items: center; width: 100%; text-align: left; }
.fd-logs-list button[aria-pressed="false"] { background: none; border-color: transparent; }
.fd-logs-list button[aria-pressed="false"]:hover { background: var(--fd-raised); }
.fd-logs-graph { flex: 1 1 420px; min-width: 0; }
.fd-logs-drawing { overflow: auto; max-height: 560px; }
.fd-logs-drawing svg { max-width: none; }
.fd-logs-variable:hover .fd-logs-name { fill: var(--fd-raised); }
.fd-logs-variable:focus-visible .fd-logs-name { stroke: var(--fd-focus); stroke-width: 2; }
.fd-logs-rows { max-height: 300px; margin-top: 6px; }
.fd-logs-rows button { white-space: normal; text-align: left; overflow-wrap: anywhere; }
.fd-logs-others { line-height: 2; }
.fd-logs-others button { white-space: normal; text-align: left; overflow-wrap: anywhere; }
.fd-logs-details { border-top: 1px solid var(--fd-line); margin-top: 10px; padding-top: 10px; }
.fd-logs-details .fd-beside > * { flex-basis: 560px; }
.fd-logs-details h3 { overflow-wrap: anywhere; }
.fd-logs-details th[scope="row"] { font-weight: 400; min-width: 11em; max-width: 25em; position: static; white-space: normal; }
.fd-logs-details th[scope="row"] div { font-size: 11.5px; }
`

const LOGS_WIDGET_OPTIONS = defineOptions({
  kind: oneOf(['event', 'state'], {
    default: 'event',
    sentence: 'Whether graphs of events or of states are shown first',
  }),
  feature: optionalText('Feature whose graph is shown first; null for the best of its kind'),
  variable: optionalText('Variable of that kind that is open in the beginning'),
  name: STAGE_NAME,
})

type LogsOptions = Pick<OptionsOf<typeof LOGS_WIDGET_OPTIONS>, 'kind' | 'feature' | 'variable'>
interface LogsState extends Omit<LogsOptions, 'variable'> {
  /** Period within which dependencies are learned. */
  readonly class: LogClass
}

/** Writes the graph that is shown as code: `logs.with({ class: 'before' }).attention.best('event')`. */
export function graphCode(name: string, state: LogsState, usual: LogClass): string {
  const comparison =
    state.class === usual ? name : `${name}.with({ class: ${codeText(state.class)} })`
  return state.feature === null
    ? `${comparison}.attention.best('${state.kind}')`
    : `${comparison}.attention.of('${state.kind}').find((graph) => graph.featureType === '${state.feature}')`
}

function LogsView({ data, options, call }: ViewProps<LogsData, LogsOptions>) {
  const isStill = useIsStill()
  const logs = useMemo(() => restoreLogs(data), [data])
  const [state, setState] = useState<LogsState>({ ...options, class: logs.class })
  const [open, setOpen] = useState(options.variable)
  const { kind, feature } = state
  const graphs = logs.graphs.filter((graph) => graph.class === state.class)
  const ofKind = graphs.filter((graph) => graph.kind === kind)
  const shown = ofKind.find((graph) => graph.featureType === feature) ?? ofKind[0]
  const change = (changes: Partial<LogsState>) => {
    if (changes.kind !== undefined && changes.kind !== kind) setOpen(null)
    setState({ ...state, ...changes })
  }
  const onToggle = (name: string) => setOpen(name === open ? null : name)
  // Performance may be a variable of the other kind than the graph.
  const openKind = [kind, ...VARIABLE_KINDS].find((each) =>
    logs.divergence.variable(each, open ?? ''),
  )
  const variableOptions =
    open === null || openKind === undefined || logs.cutNames.includes(open)
      ? undefined
      : `{ name: ${textLiteral(open)}, kind: '${openKind}', limit: 10 }`
  // A still has no buttons: the best graph of the other kind stands below.
  const others = VARIABLE_KINDS.flatMap((each) =>
    isStill && each !== kind ? (graphs.find((graph) => graph.kind === each) ?? []) : [],
  )
  return (
    <section aria-label="Logs">
      <div class="fd-bar">
        <Choice
          name="graphs of"
          help="Events have times and numbers, states have values"
          value={kind}
          values={KINDS}
          onChoose={(next) => change({ kind: next, feature: null })}
        />
        <Choice
          name="learned from"
          help="Dependencies within one period"
          value={state.class}
          values={CLASSES}
          onChoose={(each) => change({ class: each })}
        />
      </div>
      {shown === undefined ? (
        <p class="fd-soft">The logs have no {kind}s.</p>
      ) : (
        <>
          <p aria-live="polite" class="fd-logs-summary">
            {graphText(shown)}
          </p>
          <div class="fd-logs-sides">
            <GraphList
              {...{ graphs: ofKind, shown }}
              onChoose={(next) => change({ feature: next })}
            />
            <div class="fd-logs-graph">
              <LogsGraph graph={shown} open={open} onToggle={onToggle} />
              <LogsVariables graph={shown} divergence={logs.divergence} {...{ open, onToggle }} />
            </div>
          </div>
        </>
      )}
      {others.map((graph) => (
        <LogsGraph key={graph.kind} graph={graph} open={null} onToggle={onToggle} />
      ))}
      {open !== null && (
        <PageOnly>
          <VariableDetails logs={logs} kind={kind} name={open} onClose={() => setOpen(null)} />
        </PageOnly>
      )}
      {leftOutText(logs).map((sentence) => (
        <p key={sentence} class="fd-soft">
          {sentence}
        </p>
      ))}
      {shown === undefined ? null : <StateCode code={graphCode(call.name, state, logs.class)} />}
      {variableOptions === undefined ? null : (
        <StateCode code={`plot(${call.name}.divergence, 'variable', ${variableOptions})`} />
      )}
    </section>
  )
}

const KINDS = { event: 'events', state: 'states' } as const
const CLASSES = { after: 'after', before: 'before' } as const

const BAR = 70

interface GraphListProps {
  readonly graphs: readonly AttentionGraph[]
  readonly shown: AttentionGraph
  readonly onChoose: (feature: Feature | null) => void
}

function GraphList({ graphs, shown, onChoose }: GraphListProps) {
  const largest = graphs.reduce((most, { score }) => Math.max(most, score), 0)
  const firstShare = graphs.findIndex(({ sharesDenominator }) => sharesDenominator)
  return (
    <fieldset class="fd-logs-list" aria-label="Graphs, best first">
      {graphs.map((graph, rank) => (
        <div key={graph.featureType}>
          {rank > 0 && rank === firstShare ? (
            <p class="fd-soft">shares of the run, which follow its length:</p>
          ) : null}
          <Button
            aria-pressed={graph === shown}
            onClick={() => onChoose(rank === 0 ? null : graph.featureType)}
          >
            <span>{featureText(graph.featureType)}</span>
            <span class="fd-amount">{scoreText(graph.score)}</span>
            <svg width={BAR} height="8" aria-hidden="true">
              <rect
                width={largest > 0 ? (BAR * graph.score) / largest : 0}
                height={8}
                style="fill:var(--fd-soft)"
              />
            </svg>
          </Button>
        </div>
      ))}
    </fieldset>
  )
}

export function leftOutText(logs: RestoredLogs): readonly string[] {
  const { leftOut, instances, counts, withoutMetric, variables, hasValues } = logs
  const missing = withoutMetric.before + withoutMetric.after
  const all = counts.before + counts.after
  const withValues = variables.filter(({ kind, name }) => hasValues(kind, name)).length
  return spoken([
    leftOut.graphs > 0 &&
      `${counted(leftOut.graphs, 'graph is', 'graphs are')} too large for the page.`,
    leftOut.variables > 0 &&
      `${counted(leftOut.variables, 'variable is', 'variables are')} not in the page: little differs there, and nothing shown depends on it.`,
    withValues < variables.length &&
      `Values are here of ${withValues} of ${counted(variables.length, 'variable')}.`,
    instances.length < all &&
      `Dots are ${grouped(instances.length)} of ${counted(all, 'instance')}, evenly by performance.`,
    missing > 0 &&
      `${counted(missing, 'instance')} without ${nameText(logs.metric.name)} taught no dependency.`,
  ])
}

/**
 * Graphs of the dependencies of performance, learned from before or after; a variable opens into its values and t-tests. Source: Nagaraj, Killian and Neville, NSDI 2012, §3.4 and figures 3 to 7.
 */
export const logsWidget = defineWidget({
  name: 'logs',
  title: 'Logs',
  description: (carried: LogsData) => {
    const { metric, counts, variables, leftOut } = restoreLogs(carried)
    const all = variables.length + leftOut.variables
    return (
      `What ${shortText(metric.name, 60)} depends on in ${counted(counts.before, 'instance')} before and ` +
      `${grouped(counts.after)} after, among ${counted(all, 'variable')}; ` +
      'open a variable for its values and tests.'
    )
  },
  options: LOGS_WIDGET_OPTIONS,
  data: (compared: LogComparison, { kind, feature, variable }) => {
    const { types } = compared.logs.features(kind)
    if (feature !== null && !types.some((type) => type === feature)) {
      const known = types.map((each) => `'${each}'`)
      throw new OptionError('feature', feature, `one of ${known.join(', ')}`)
    }
    const opened = compared.divergence.variable(kind, variable ?? '')
    if (variable !== null && opened === undefined) {
      throw new FlowdeltaError(
        `The logs have no ${kind} ${show(variable)}. See divergence.table().`,
      )
    }
    return logsData(compared, opened)
  },
  view: LogsView,
  style: LOGS_STYLE,
  hasCharts: true,
})
