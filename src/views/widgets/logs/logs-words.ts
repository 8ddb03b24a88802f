import { shortText } from '../../../core/shown-text.ts'
import { counted, grouped, percent, shortNumber } from '../../../core/words.ts'
import type {
  AttentionEdge,
  AttentionGraph,
  AttentionNode,
} from '../../../logs/attention/attention.ts'
import { featureText } from '../../../logs/features/features.ts'
import { tText } from '../../charts/log-values.ts'
import type { LogsData } from './logs-data.ts'
import type { LogsState } from './logs-state.ts'

const LONGEST_NAME = 60

/** A name as it is said within a sentence. */
export function nameText(name: string): string {
  return shortText(name, LONGEST_NAME)
}

/** What a graph shows, for readers who cannot see it. */
export function graphText({ metric, nodes, edges, featureType, kind }: AttentionGraph): string {
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

/** Score of a graph or a term of it. */
export function scoreText(score: number): string {
  return score === 0 ? '0' : shortNumber(score)
}

/** How a variable differs, in a few words. */
export function differenceText({
  t,
  significant,
}: Pick<AttentionNode, 't' | 'significant'>): string {
  if (Number.isNaN(t)) return 'not tested'
  return significant ? `t = ${tText(t)}` : `t = ${tText(t)}, not significant`
}

/** A dependency in words, from the one variable to the other. */
export function edgeText({ from, to, weight, directed }: AttentionEdge): string {
  const order = directed ? 'before' : 'with'
  return `${nameText(from)} ${order} ${nameText(to)}, ${percent(weight)}`
}

/** How many instances a share of them is. */
export function splitText({ counts, withoutMetric }: LogsData, state: LogsState): string {
  const instances = counts[state.class] - withoutMetric[state.class]
  const least = Math.ceil(state.minSplit * instances * (1 - 1e-12))
  return `${percent(state.minSplit)}, ${grouped(least)} of ${counted(instances, 'instance')} ${state.class}`
}

/** What is not in the page; empty when all is. */
export function leftOutText(data: LogsData): readonly string[] {
  const { leftOut, values, counts, withoutMetric, least, variables } = data
  const without = values.ofVariable.filter((each) => each === null).length
  const missing = withoutMetric.before + withoutMetric.after
  return [
    ...(least > data.wished
      ? [`There are too many dependencies to carry those below m = ${percent(least)}.`]
      : []),
    ...(leftOut.graphs > 0
      ? [
          `${counted(leftOut.graphs, 'graph')} too large for the page ${isAre(leftOut.graphs)} left out.`,
        ]
      : []),
    ...(leftOut.variables > 0
      ? [
          `${counted(leftOut.variables, 'variable')} ${isAre(leftOut.variables)} not in the page: little differs there, and nothing shown depends on it.`,
        ]
      : []),
    ...(without > 0
      ? [
          `Distributions are there of ${variables.length - without} of ${counted(variables.length, 'variable')}.`,
        ]
      : []),
    ...(values.instances.length < counts.before + counts.after
      ? [
          `Dots are of ${grouped(values.instances.length)} of ${counted(counts.before + counts.after, 'instance')}, evenly by performance.`,
        ]
      : []),
    ...(missing > 0
      ? [
          `${counted(missing, 'instance')} without ${nameText(data.metric.name)} taught no dependency.`,
        ]
      : []),
  ]
}

function isAre(count: number): string {
  return count === 1 ? 'is' : 'are'
}
