import { tText, valueText } from '../charts/log-values.ts'
import type { AttentionEdge, AttentionGraph, AttentionNode } from '../logs/attention/attention.ts'
import { attentionTree } from '../logs/attention/attention-tree.ts'
import type { FeatureTest, VariableDivergence } from '../logs/divergence/divergence.ts'
import { featureText } from '../logs/features/feature-text.ts'
import { VARIABLE_KINDS } from '../logs/features/feature-types.ts'
import type { LogComparison } from '../logs/log-comparison.ts'
import { shortText } from '../shown-text.ts'
import { formatDuration } from '../units.ts'
import { counted, grouped, percent, pValue, shortNumber } from '../wording.ts'
import { textTable } from './text-table.ts'

const LONGEST_NAME = 70
const NODES = 10

/** A comparison of logs as text: is performance different, what differs, where to look first. */
export function logsText(compared: LogComparison, limit: number): string {
  return [
    inputText(compared),
    performanceText(compared),
    variablesText(compared, limit),
    newMessagesText(compared, limit),
    ...VARIABLE_KINDS.map((kind) => compared.attention.best(kind)).map((graph) =>
      graph === undefined ? '' : graphText(graph),
    ),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function inputText({ logs }: LogComparison): string {
  const { good, bad } = logs.counts
  const { messages, skippedLines, lines } = logs.report
  const read =
    `${counted(good, 'good instance')} and ${grouped(bad)} bad: ` +
    `${counted(messages.event, 'event message')} of ${counted(logs.events.names.length, 'event')}, ` +
    `${counted(messages.state, 'state message')} of ${counted(logs.states.names.length, 'variable')}.`
  const [first] = logs.report.skipped
  if (first === undefined) return read
  const place = first.first[0]
  const where = place === undefined ? '' : `, as in ${place.file} line ${place.line}`
  return `${read} ${counted(skippedLines, 'line')} of ${grouped(lines)} skipped: ${first.reason} (${grouped(first.count)}${where}).`
}

function performanceText({ divergence, tail }: LogComparison): string {
  const { goodMean, badMean, tested, p, significant } = divergence.performance
  const { name, unit } = tail.metric
  const text = (value: number) =>
    unit === 'absolute time' ? formatDuration(value) : shortNumber(value)
  const says = !tested
    ? 'too few instances to test'
    : `${pValue(p)}${significant ? '' : ', no significant difference'}`
  const first = `Performance is ${name}: ${text(goodMean)} on average in good, ${text(badMean)} in bad (${says}).`
  return tail.suggestion === '' ? first : `${first}\n${tail.suggestion}`
}

function variablesText({ divergence }: LogComparison, limit: number): string {
  const differing = divergence.variables.filter(({ score }) => score > 0)
  const all = counted(divergence.variables.length, 'variable')
  if (differing.length === 0) return `None of ${all} differs significantly.`
  const table = textTable(
    ['variable', 'kind', 'score', 'what differs most', 't'],
    differing.slice(0, limit).map((variable) => {
      const { feature, goodMean, badMean, t } = strongest(variable)
      return [
        shortText(variable.name, LONGEST_NAME),
        variable.kind,
        tText(variable.score),
        `${featureText(feature)} ${valueText(feature, goodMean)} → ${valueText(feature, badMean)}`,
        tText(t),
      ]
    }),
  )
  const left = differing.length - limit
  return [
    `${grouped(differing.length)} of ${all} differ${differing.length === 1 ? 's' : ''} significantly:`,
    table,
    ...(left > 0 ? [`… and ${grouped(left)} more; raise --limit to see them.`] : []),
  ].join('\n')
}

/** What only bad instances logged: with few instances no test says so, but a reader sees it. */
function newMessagesText({ divergence, logs }: LogComparison, limit: number): string {
  const found = divergence.onlyIn('bad').filter(({ kind }) => kind === 'event')
  if (found.length === 0) return ''
  const table = textTable(
    ['event', 'instances', 'messages'],
    found
      .slice(0, limit)
      .map(({ name, presence }) => [
        shortText(name, LONGEST_NAME),
        `${grouped(presence.bad)} of ${grouped(logs.counts.bad)}`,
        grouped(presence.badMessages),
      ]),
  )
  const left = found.length - limit
  return [
    `Only bad instances logged ${counted(found.length, 'event')}:`,
    table,
    ...(left > 0 ? [`… and ${grouped(left)} more; raise --limit to see them.`] : []),
  ].join('\n')
}

/** The significant feature with the largest |t|. */
function strongest({ features }: VariableDivergence): FeatureTest {
  return features
    .filter(({ significant }) => significant)
    .reduce((best, each) => (Math.abs(each.t) > Math.abs(best.t) ? each : best))
}

/** What the metric depends on, and below each variable what leads there. */
function graphText(graph: AttentionGraph): string {
  const { kind, featureType, metric, score } = graph
  const by = `${kind}s by ${featureText(featureType)}`
  const lines = treeLines(graph)
  if (lines.length === 0) {
    return `Of ${by}, ${metric} depends on none in the ${graph.class} instances.`
  }
  const left = lines.length - NODES
  return [
    `Look first at ${by} (score ${score.toPrecision(2)}). In the ${graph.class} instances ${metric} depends on`,
    ...lines.slice(0, NODES),
    ...(left > 0 ? [`   and ${grouped(left)} more`] : []),
  ].join('\n')
}

function treeLines(graph: AttentionGraph): string[] {
  const { order, depth, parentEdge } = attentionTree(graph)
  const nodeOf = new Map(graph.nodes.map((node) => [node.name, node]))
  return order.slice(1).map((name) => {
    const { t, significant } = nodeOf.get(name) as AttentionNode
    const edge = parentEdge.get(name) as AttentionEdge
    const says = significant ? `t = ${tText(t)}` : 'does not differ'
    const when = !edge.directed
      ? ''
      : edge.from === name
        ? ', always before it'
        : ', always after it'
    return `${'   '.repeat(depth.get(name) as number)}${shortText(name, LONGEST_NAME)} (${says}; ${percent(edge.weight)} of the instances${when})`
  })
}
