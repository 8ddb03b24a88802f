import type { Option } from 'commander'
import { shortText } from '../core/shown-text.ts'
import { formatDuration } from '../core/units.ts'
import { counted, grouped, percent, pValue, shortNumber } from '../core/words.ts'
import {
  type AttentionEdge,
  type AttentionGraph,
  type AttentionNode,
  attentionTree,
} from '../logs/attention/focus-attention.ts'
import type { LogComparison } from '../logs/compare-logs.ts'
import { type FeatureTest, strongestDifference } from '../logs/divergence/divergence.ts'
import { featureText, VARIABLE_KINDS } from '../logs/features/features.ts'
import { skipAdvice, skipText } from '../logs/readers/log-sink.ts'
import { tText, valueText } from '../views/charts/log-values.ts'
import { adviceSentence } from './flags.ts'
import type { PrintedLogs } from './logs-document.ts'
import { textTable, warningLines } from './printing.ts'

const MAX_NAME_LENGTH = 70
const NODES = 10

/**
 * A comparison of logs as text: what to read it with, is performance different, what differs, where to
 * look first.
 */
export function logsText(
  { compared, warnings, limit }: PrintedLogs,
  flags: readonly Option[],
): string {
  return [
    warningLines(warnings).join('\n'),
    inputText(compared, flags),
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

function inputText(compared: LogComparison, flags: readonly Option[]): string {
  const { logs } = compared
  const { before, after } = logs.counts
  const { messages, skippedLines, lines } = logs.report
  const read =
    `${counted(before, 'instance')} before and ${grouped(after)} after: ` +
    `${counted(messages.event, 'event message')} of ${counted(logs.events.names.length, 'event')}, ` +
    `${counted(messages.state, 'state message')} of ${counted(logs.states.names.length, 'variable')}.`
  const [first] = logs.report.skipped
  const isSaid = compared.warnings().some(({ code }) => code === 'lines-skipped')
  if (first === undefined || isSaid) return read
  const { text, options } = skipAdvice(first.reason)
  const said = `${read} ${counted(skippedLines, 'line')} of ${grouped(lines)} skipped: ${skipText(first)}.`
  return text === '' ? said : `${said} ${text}.${adviceSentence(flags, options)}`
}

function performanceText({ divergence, tail, logs, options }: LogComparison): string {
  const { beforeMean, afterMean, beforeCount, afterCount, tested, p, significant } =
    divergence.performance
  const { unit } = tail.metric
  const name = shortText(tail.metric.name, MAX_NAME_LENGTH)
  const { before, after } = logs.counts
  const text = (value: number) =>
    unit === 'absolute time' ? formatDuration(value) : shortNumber(value)
  const says = !tested
    ? `too few instances to test: ${grouped(beforeCount)} before, ${grouped(afterCount)} after`
    : `${pValue(p)}${significant ? '' : ', no significant difference'}`
  const first = `Performance is ${name}: ${text(beforeMean)} on average before, ${text(afterMean)} after (${says}).`
  return [
    first,
    ...(beforeCount < before || afterCount < after
      ? [
          `${grouped(beforeCount)} of ${counted(before, 'instance')} before and ${grouped(afterCount)} of ${grouped(after)} after have it; the others count in no mean of it, and teach no dependency.`,
        ]
      : []),
    ...(options.weights === 'none'
      ? []
      : ['Means are weighted: instances that took longer count more (--weights latency).']),
    ...(tail.suggestion === '' || options.weights !== 'none' ? [] : [tail.suggestion]),
  ].join('\n')
}

function variablesText({ divergence, logs }: LogComparison, limit: number): string {
  const differing = divergence.variables.filter(({ score }) => score > 0)
  const all = counted(divergence.variables.length, 'variable')
  if (VARIABLE_KINDS.every((kind) => divergence.tests(kind) === 0)) {
    const { before, after } = logs.counts
    return `None of ${all} could be tested (${counted(before, 'instance')} before, ${grouped(after)} after): a test takes two of each class that have the variable.`
  }
  if (differing.length === 0) return `None of ${all} differs significantly.`
  const table = textTable(
    ['variable', 'kind', 'score', 'what differs most', 't'],
    differing.slice(0, limit).map((variable) => {
      const { feature, beforeMean, afterMean, t } = strongestDifference(variable) as FeatureTest
      return [
        shortText(variable.name, MAX_NAME_LENGTH),
        variable.kind,
        tText(variable.score),
        `${featureText(feature)} ${valueText(feature, beforeMean)} → ${valueText(feature, afterMean)}`,
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

/** What was logged only after: with few instances no test says so, but a reader sees it. */
function newMessagesText({ divergence, logs }: LogComparison, limit: number): string {
  const found = divergence.onlyIn('after').filter(({ kind }) => kind === 'event')
  if (found.length === 0) return ''
  const table = textTable(
    ['event', 'instances', 'messages'],
    found
      .slice(0, limit)
      .map(({ name, presence }) => [
        shortText(name, MAX_NAME_LENGTH),
        `${grouped(presence.after)} of ${grouped(logs.counts.after)}`,
        grouped(presence.afterMessages),
      ]),
  )
  const left = found.length - limit
  return [
    `Logged only after, ${counted(found.length, 'event')}:`,
    table,
    ...(left > 0 ? [`… and ${grouped(left)} more; raise --limit to see them.`] : []),
  ].join('\n')
}

/** What the metric depends on, and below each variable what leads there. */
function graphText(graph: AttentionGraph): string {
  const { kind, featureType, score, variablesLeftOut = 0 } = graph
  const metric = shortText(graph.metric, MAX_NAME_LENGTH)
  const leftOut =
    variablesLeftOut === 0
      ? []
      : [
          `Learned from the most telling variables; ${grouped(variablesLeftOut)} more are left out (raise --most-variables).`,
        ]
  const by = `${kind}s by ${featureText(featureType)}`
  const lines = treeLines(graph)
  if (lines.length === 0) {
    return [`Of ${by}, ${metric} depends on none in the ${graph.class} period.`, ...leftOut].join(
      '\n',
    )
  }
  const left = lines.length - NODES
  return [
    `Look first at ${by} (score ${score.toPrecision(2)}). In the ${graph.class} period ${metric} depends on`,
    ...lines.slice(0, NODES),
    ...(left > 0 ? [`   and ${grouped(left)} more`] : []),
    ...leftOut,
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
    return `${'   '.repeat(depth.get(name) as number)}${shortText(name, MAX_NAME_LENGTH)} (${says}; ${percent(edge.weight)} of the instances${when})`
  })
}
