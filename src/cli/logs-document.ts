import type { LogComparison } from '../logs/compare-logs.ts'
import { finiteOrNull, numbers } from './json-numbers.ts'
import { inFlags } from './logs-flag-words.ts'

/** The document's names of the classes, which are Distalyzer's. */
const CLASSES = { before: 'good', after: 'bad' } as const

/** Reasons for skipped lines that are listed, and graphs. */
const MAX_ISSUES = 50

/**
 * A comparison of logs as a JSON document, `flowdelta.logs/1`: variables and graphs best first. A
 * score or t that is infinite (two constants differ) is `null`. `performance.node` is what performance
 * is called in graphs.
 *
 * @param limit most variables listed
 */
export function logsDocument(compared: LogComparison, limit: number) {
  const { logs, divergence, attention, tail, options } = compared
  const { variables, performance } = divergence
  const { metric, alpha, correction, weights, minSplit, mostVariables, stop, balance, score } =
    options
  return {
    schema: 'flowdelta.logs/1',
    parameters: {
      ...{ metric, alpha, correction, weights, minSplit, mostVariables, stop, balance, score },
      class: CLASSES[options.class],
    },
    instances: byClass(logs.counts),
    messages: logs.report.messages,
    performance: {
      ...{ metric, node: tail.metric.name },
      ...{ tested: performance.tested, significant: performance.significant },
      goodCount: performance.beforeCount,
      badCount: performance.afterCount,
      leftOut: byClass(compared.networks.leftOut),
      weighted: weights !== 'none',
      ...numbers({
        goodMean: performance.beforeMean,
        badMean: performance.afterMean,
        ...{ t: performance.t, p: performance.p },
      }),
      heavyTail: tail.isHeavy,
      ...(tail.suggestion !== '' && { suggestion: inFlags(tail.suggestion) }),
    },
    variables: variables.slice(0, limit).map(({ name, kind, score: sum, presence, features }) => ({
      ...{ name, kind, score: finiteOrNull(sum) },
      presence: { good: presence.before, bad: presence.after, p: finiteOrNull(presence.p) },
      features: features.map((test) => ({
        feature: test.feature,
        ...numbers({ t: test.t, df: test.df, p: test.p, q: test.q }),
        ...{ tested: test.tested, significant: test.significant },
        goodCount: test.beforeCount,
        badCount: test.afterCount,
        ...numbers({ goodMean: test.beforeMean, badMean: test.afterMean }),
      })),
    })),
    graphs: attention.graphs.map((graph) => ({
      ...{ kind: graph.kind, class: CLASSES[graph.class], featureType: graph.featureType },
      score: finiteOrNull(graph.score),
      variablesLeftOut: graph.variablesLeftOut ?? 0,
      nodes: graph.nodes.map(({ name }) => name),
      edges: graph.edges.map(({ from, to, weight, r2, directed }) => ({
        ...{ from, to, ...numbers({ weight, r2 }), directed },
      })),
    })),
    warnings: compared.warnings().map(({ code, message }) => ({ code, message: inFlags(message) })),
    issues: logs.report.table().objects({ limit: MAX_ISSUES }),
    ...(variables.length > limit && { truncated: { variables: variables.length } }),
  }
}

function byClass({ before, after }: { readonly before: number; readonly after: number }) {
  return { good: before, bad: after }
}
