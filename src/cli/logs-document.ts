import type { LogComparison } from '../logs/log-comparison.ts'
import { finiteOrNull, numbers } from './json-numbers.ts'

/** Reasons for skipped lines that are listed, and graphs. */
const MOST_ISSUES = 50

/**
 * A comparison of logs as a JSON document, `flowdelta.logs/1`: variables and graphs best first. A
 * score or t that is infinite (two constants differ) is `null`.
 *
 * @param limit most variables listed
 */
export function logsDocument(compared: LogComparison, limit: number) {
  const { logs, divergence, attention, tail, options } = compared
  const { variables, performance } = divergence
  const { metric, alpha, correction, weights, minSplit, stop, balance, score } = options
  return {
    schema: 'flowdelta.logs/1',
    parameters: {
      ...{ metric, alpha, correction, weights, minSplit, stop, balance, score },
      class: options.class,
    },
    instances: logs.counts,
    messages: logs.report.messages,
    performance: {
      ...{ metric: tail.metric.name, significant: performance.significant },
      ...numbers({
        ...{ goodMean: performance.goodMean, badMean: performance.badMean },
        ...{ t: performance.t, p: performance.p },
      }),
      heavyTail: tail.isHeavy,
      ...(tail.suggestion !== '' && { suggestion: tail.suggestion }),
    },
    variables: variables.slice(0, limit).map(({ name, kind, score: sum, presence, features }) => ({
      ...{ name, kind, score: finiteOrNull(sum) },
      presence: { good: presence.good, bad: presence.bad, p: finiteOrNull(presence.p) },
      features: features.map((test) => ({
        feature: test.feature,
        ...numbers({ t: test.t, df: test.df, p: test.p, q: test.q }),
        significant: test.significant,
        ...numbers({ goodMean: test.goodMean, badMean: test.badMean }),
      })),
    })),
    graphs: attention.graphs.map((graph) => ({
      ...{ kind: graph.kind, class: graph.class, featureType: graph.featureType },
      score: finiteOrNull(graph.score),
      nodes: graph.nodes.map(({ name }) => name),
      edges: graph.edges.map(({ from, to, weight, r2, directed }) => ({
        ...{ from, to, ...numbers({ weight, r2 }), directed },
      })),
    })),
    issues: logs.report.table().objects({ limit: MOST_ISSUES }),
    ...(variables.length > limit && { truncated: { variables: variables.length } }),
  }
}
