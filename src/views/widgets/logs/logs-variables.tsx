import { useMemo } from 'preact/hooks'
import {
  formatDuration,
  grouped,
  percent,
  pValue,
  shortNumber,
  shortText,
  tooltipText,
} from '../../../core/words.ts'
import {
  missingText,
  orderText,
  testSize,
  tText,
  unitOf,
  valueText,
} from '../../../explain/logs/log-values.ts'
import {
  type AttentionEdge,
  type AttentionGraph,
  type AttentionNode,
  attentionTree,
} from '../../../logs/attention/focus-attention.ts'
import type {
  Divergence,
  PerformanceTest,
  VariableDivergence,
} from '../../../logs/divergence/find-divergence.ts'
import {
  type Feature,
  featureText,
  VARIABLE_KINDS,
  type VariableKind,
} from '../../../logs/features/features.ts'
import { LOG_CLASSES } from '../../../logs/features/log-set.ts'
import { periodColor } from '../../charts/builders.ts'
import { logVariableChart } from '../../charts/logs.ts'
import type { VegaLiteSpec } from '../../charts/svg-renderer.ts'
import { Button } from '../../drawing/controls.tsx'
import { type DataColumn, DataTable, numberColumn, textColumn } from '../../drawing/data-table.tsx'
import { differenceText } from '../../drawing/dependency-network.tsx'
import { PageOnly } from '../../drawing/figure.tsx'
import { VegaChart } from '../vega-chart.tsx'
import type { RestoredLogs } from './logs-data.ts'
import { nameText, type Shown, scoreText } from './logs-graph.tsx'

const MAX_FEATURES = 10

interface ListProps extends Shown {
  readonly divergence: Divergence
}

const MAX_ROWS = 100
const MAX_OTHERS = 8

export function LogsVariables({ graph, divergence, open, onToggle }: ListProps) {
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
              {nameButton(each.name)} <span class="fd-soft">{whyOf(each)}</span>{' '}
            </span>
          ))}
          {others.length > MAX_OTHERS ? (
            <span class="fd-soft">and {others.length - MAX_OTHERS} more</span>
          ) : null}
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

function whyOf({ score, presence }: VariableDivergence): string {
  if (score > 0) return `(Σ|t| = ${tText(score)})`
  return `(only in ${presence.onlyIn} instances)`
}

interface DetailsProps {
  readonly logs: RestoredLogs
  readonly kind: VariableKind
  readonly name: string
  readonly onClose: () => void
}

interface TestRow {
  readonly name: string
  readonly test: PerformanceTest
  readonly textOf: (value: number) => string
}

export function VariableDetails({ logs, kind, name, onClose }: DetailsProps) {
  const { counts, divergence, metric } = logs
  const isMetric = name === metric.name
  // Performance may be a variable of the other kind than the graph.
  const found = [kind, ...(isMetric ? VARIABLE_KINDS : [])]
    .map((each) => divergence.variable(each, name))
    .find((each) => each !== undefined)
  const texts = { 'absolute time': formatDuration, 'relative time': percent, value: shortNumber }
  const all: readonly TestRow[] = found?.features.map((test) => ({
    name: featureText(test.feature),
    test,
    textOf: (value) => exactText(test.feature, value),
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
          {empty.length === 0 ? null : (
            <p class="fd-soft">No instance has: {empty.map((row) => row.name).join('; ')}.</p>
          )}
        </div>
        {spec === null ? null : <VegaChart spec={spec} />}
      </div>
    </section>
  )
}

function testColumns(counts: RestoredLogs['counts']): readonly DataColumn<TestRow>[] {
  return [
    {
      title: 'feature',
      isHead: true,
      cell: ({ name, test }) => (
        <>
          {name}
          <div class="fd-soft">{missingText(test, counts)}</div>
        </>
      ),
    },
    numberColumn('before, mean', ({ test, textOf }) => meanText(test.beforeMean, textOf)),
    numberColumn('after, mean', ({ test, textOf }) => meanText(test.afterMean, textOf)),
    numberColumn('t', ({ test }) => (test.tested ? tText(test.t) : 'not tested')),
    {
      title: 'p',
      hint: 'not corrected; whether it is significant is',
      isNumber: true,
      cell: ({ test }) => (test.tested ? pValue(test.p).replace(/^p (= )?/, '') : ''),
    },
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
    return metricSpec(shortText(metric.name, 60), values)
  }
  const { kind, name } = variable
  if (!hasValues(kind, name)) return null
  return logVariableChart(divergence, { name, kind, limit: MAX_FEATURES }).spec
}

function metricSpec(title: string, values: readonly object[]): VegaLiteSpec {
  return {
    data: { values },
    width: 520,
    height: 52,
    mark: { type: 'tick', thickness: 2 },
    encoding: {
      x: { field: 'value', type: 'quantitative', title, scale: { zero: false } },
      y: { field: 'class', type: 'nominal', title: null, sort: [...LOG_CLASSES] },
      color: periodColor('class', null),
      tooltip: { field: 'instance', type: 'nominal' },
    },
  }
}

/** Tells shares near 0 or 1 apart. */
function exactText(feature: Feature, value: number): string {
  if (unitOf(feature) !== 'share') return valueText(feature, value)
  return `${Number((100 * value).toPrecision(4))} %`.replace('-', '−')
}

function meanText(mean: number, textOf: (value: number) => string): string {
  return Number.isFinite(mean) ? textOf(mean) : 'none'
}
