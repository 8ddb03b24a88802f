import { useMemo } from 'preact/hooks'
import { shortText, tooltipText } from '../../../core/shown-text.ts'
import { formatDuration } from '../../../core/units.ts'
import { counted, grouped, percent, pValue, shortNumber } from '../../../core/words.ts'
import {
  type AttentionEdge,
  type AttentionGraph,
  attentionTree,
} from '../../../logs/attention/attention.ts'
import type {
  Divergence,
  FeatureTest,
  PerformanceTest,
  VariableDivergence,
} from '../../../logs/divergence/divergence.ts'
import {
  type Feature,
  featureText,
  VARIABLE_KINDS,
  type VariableKind,
} from '../../../logs/features/features.ts'
import { LOG_CLASSES } from '../../../logs/features/log-set.ts'
import { missingText, tText, unitOf, valueText } from '../../charts/log-values.ts'
import { logVariableChart } from '../../charts/log-variable.ts'
import { PALETTE } from '../../charts/palette.ts'
import type { VegaLiteSpec } from '../../charts/svg-renderer.ts'
import { differenceText } from '../../drawing/dependency-network.tsx'
import { VegaChart } from '../vega-chart.tsx'
import type { RestoredLogs } from './logs-data.ts'
import { nameText, scoreText } from './logs-graph.tsx'

/** Features that are drawn of an open variable. */
const MAX_FEATURES = 10

interface Shown {
  readonly graph: AttentionGraph
  readonly divergence: Divergence
  readonly open: string | null
  readonly onToggle: (name: string) => void
}

/** More rows than this are only counted. */
const MAX_ROWS = 100
/** Of those that differ and that performance does not depend on. */
const MAX_OTHERS = 8

/** The variables of a graph as a list, and those that differ without being in it. */
export function LogsVariables({ graph, divergence, open, onToggle }: Shown) {
  const { parentEdge } = attentionTree(graph)
  const names = new Set(graph.nodes.map(({ name }) => name))
  const others = divergence.variables.filter(
    ({ kind, name, score, presence }) =>
      kind === graph.kind && !names.has(name) && (score > 0 || presence.onlyIn !== null),
  )
  const rows = graph.nodes.slice(0, MAX_ROWS)
  return (
    <>
      <div class="fd-scroll fd-logs-rows">
        <table aria-label="Variables of the graph">
          <thead>
            <tr>
              <th scope="col">variable</th>
              <th scope="col" title="after minus before, of this feature">
                differs
              </th>
              <th scope="col" title="the strongest way towards performance">
                leads to
              </th>
              <th scope="col" class="fd-amount">
                adds to the score
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((node) => (
              <tr key={node.name} aria-selected={node.name === open}>
                <td>
                  <NameButton name={node.name} open={open} onToggle={onToggle} />
                </td>
                <td>{differenceText(node)}</td>
                <td>{leadsText(node.name, graph, parentEdge.get(node.name))}</td>
                <td class="fd-amount">{node.name === graph.metric ? '' : scoreText(node.term)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {graph.nodes.length > rows.length ? (
        <p class="fd-soft">… and {counted(graph.nodes.length - rows.length, 'more variable')}.</p>
      ) : null}
      {others.length === 0 ? null : (
        <p class="fd-logs-others">
          <span class="fd-soft">
            Differ{others.length === 1 ? 's' : ''} as well, but {nameText(graph.metric)} does not
            depend on {others.length === 1 ? 'it' : 'them'} here:
          </span>{' '}
          {others.slice(0, MAX_OTHERS).map((each) => (
            <span key={each.name}>
              <NameButton name={each.name} open={open} onToggle={onToggle} />{' '}
              <span class="fd-soft">{whyOf(each)}</span>{' '}
            </span>
          ))}
          {others.length > MAX_OTHERS ? (
            <span class="fd-soft">and {others.length - MAX_OTHERS} more</span>
          ) : null}
        </p>
      )}
    </>
  )
}

function NameButton({
  name,
  open,
  onToggle,
}: {
  readonly name: string
  readonly open: string | null
  readonly onToggle: (name: string) => void
}) {
  return (
    <button
      type="button"
      aria-pressed={name === open}
      title={tooltipText(name)}
      onClick={() => onToggle(name)}
    >
      {nameText(name)}
    </button>
  )
}

function leadsText(name: string, { metric }: AttentionGraph, edge: AttentionEdge | undefined) {
  if (name === metric) return 'performance'
  if (edge === undefined) return ''
  const other = edge.from === name ? edge.to : edge.from
  const order = !edge.directed
    ? ''
    : edge.from === name
      ? ', always before it'
      : ', always after it'
  return `${nameText(other)}, ${percent(edge.weight)}${order}`
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

/** Shows one variable in both classes, feature by feature, and its tests. */
export function VariableDetails({ logs, kind, name, onClose }: DetailsProps) {
  const { counts, divergence, metric } = logs
  const isMetric = name === metric.name
  // Performance may be a variable of the other kind than the graph.
  const found = [kind, ...(isMetric ? VARIABLE_KINDS : [])]
    .map((each) => divergence.variable(each, name))
    .find((each) => each !== undefined)
  const all = found === undefined ? [performanceRow(logs)] : found.features.map(featureRow)
  const rows = all
    .filter(({ test }) => test.beforeCount + test.afterCount > 0)
    .sort((a, b) => size(b.test) - size(a.test))
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
        <button type="button" onClick={onClose} aria-label="Close the variable">
          Close
        </button>
      </div>
      <p class="fd-soft">
        {found === undefined ? 'This is performance. ' : ''}
        {onlyIn === null
          ? ''
          : `Only ${grouped(found?.presence[onlyIn] ?? 0)} of ${grouped(counts[onlyIn])} instances ${onlyIn} have it. `}
        {spec === null ? 'Its values are not in the page; the code below draws them.' : ''}
      </p>
      <div class="fd-scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">feature</th>
              {['before, mean', 'after, mean', 't', 'p', 'significant'].map((head) => (
                <th key={head} scope="col" class="fd-amount">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name: feature, test, textOf }) => (
              <tr key={feature}>
                <th scope="row">
                  {feature}
                  <div class="fd-soft">{missingText(test, counts)}</div>
                </th>
                <td class="fd-amount">{meanText(test.beforeMean, textOf)}</td>
                <td class="fd-amount">{meanText(test.afterMean, textOf)}</td>
                <td class="fd-amount">{test.tested ? tText(test.t) : 'not tested'}</td>
                <td class="fd-amount" title="not corrected; whether it is significant is">
                  {test.tested ? pValue(test.p).replace(/^p (= )?/, '') : ''}
                </td>
                <td class="fd-amount">{test.significant ? <b>yes</b> : 'no'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {empty.length === 0 ? null : (
        <p class="fd-soft">No instance has: {empty.map((row) => row.name).join('; ')}.</p>
      )}
      {spec === null ? null : (
        <div class="fd-scroll">
          <VegaChart spec={spec} />
        </div>
      )}
    </section>
  )
}

/** The values instance by instance; `null` where they are not in the page. */
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
      color: {
        field: 'class',
        type: 'nominal',
        legend: null,
        scale: { domain: [...LOG_CLASSES], range: [PALETTE.before, PALETTE.after] },
      },
      tooltip: { field: 'instance', type: 'nominal' },
    },
  }
}

function featureRow(test: FeatureTest): TestRow {
  const { feature } = test
  return { name: featureText(feature), test, textOf: (value) => exactText(feature, value) }
}

function performanceRow({ metric, performance }: RestoredLogs): TestRow {
  const texts = { 'absolute time': formatDuration, 'relative time': percent, value: shortNumber }
  return { name: 'performance', test: performance, textOf: texts[metric.unit] }
}

/** Tells shares near 0 or 1 apart. */
function exactText(feature: Feature, value: number): string {
  if (unitOf(feature) !== 'share') return valueText(feature, value)
  return `${Number((100 * value).toPrecision(4))} %`.replace('-', '−')
}

/** Untested features come last. */
function size({ tested, t }: PerformanceTest): number {
  return tested ? Math.abs(t) : -1
}

function meanText(mean: number, textOf: (value: number) => string): string {
  return Number.isFinite(mean) ? textOf(mean) : 'none'
}
