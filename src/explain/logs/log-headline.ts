import { greatest } from 'd3-array'
import { formatDuration, grouped, percent, shortText } from '../../core/words.ts'
import type { LogComparison } from '../../logs/compare-logs.ts'
import type { FeatureTest, VariableDivergence } from '../../logs/divergence/find-divergence.ts'
import type { RunPhase } from '../../logs/divergence/run-phases.ts'
import { featureText, isEventTime } from '../../logs/features/log-set.ts'
import { quantityText, WAIT_NAME } from '../../logs/features/units.ts'
import type { MetricPart, PerformanceMetric } from '../../logs/performance/performance-metric.ts'
import { valueText } from './log-values.ts'
import { differenceOf, differences, isWait, newErrors } from './log-words.ts'

const MAX_TITLE_LENGTH = 120
const MAX_METRIC_LENGTH = 60

/** Returns the result of the comparison in a sentence. */
export function logsTitle(compared: LogComparison): string {
  const [error] = newErrors(compared)
  if (error !== undefined) return `Logged only after: ${shortText(error.name, MAX_TITLE_LENGTH)}`
  const cause = causeText(compared)
  if (cause !== undefined) return cause
  const first = differences(compared).told.find(({ idle }) => idle === null)
  if (first === undefined) return 'No variable of the logs differs significantly'
  return isWait(first)
    ? waitText(first)
    : `${titleName(first)}: ${differenceOf(first, compared).what}`
}

export function titleName({ name }: Pick<VariableDivergence, 'name'>): string {
  return shortText(name, MAX_TITLE_LENGTH)
}

function waitText({ name, features }: VariableDivergence): string {
  const { beforeMean, afterMean } = features.find(
    ({ feature }) => feature === 'mean',
  ) as FeatureTest
  const [was, is] = [beforeMean, afterMean].map((ms) => formatDuration(1000 * ms))
  if (beforeMean === 0)
    return `${titleName({ name: name.slice(WAIT_NAME.length) })} is awaited for ${is} on average (before: never)`
  const event = shortText(name.slice(WAIT_NAME.length), MAX_TITLE_LENGTH)
  return `${event} comes ${is} after the previous message (before: ${was})`
}

/**
 * Says why performance differs: the variable it depends on, or else the changed phase of the run; undefined otherwise.
 */
export function causeText(compared: LogComparison): string | undefined {
  const { attention, divergence, tail } = compared
  const { beforeMean, afterMean } = divergence.performance
  const changed = `${titleName(tail.metric)} ${changeText(tail.metric, afterMean - beforeMean)}`
  const phase = leadingPhase(compared)
  if (phase !== undefined) return `${changed} because ${phaseText(phase, compared)}`
  const part = compared.changedPart
  if (part !== undefined) return `${changed} because ${partText(part, compared)}`
  const { graph, path = [] } = attention.headline ?? {}
  const variable = divergence.variable(graph?.kind ?? 'event', path.at(-1)?.name ?? '')
  const test = variable?.features.find(({ feature }) => feature === graph?.featureType)
  if (variable === undefined || test === undefined) return undefined
  const through = path.slice(0, -1).reverse().map(titleName)
  return `${changed} because ${movedText(variable, test, compared)}${through.length === 0 ? '' : `, through ${through.join(' and ')}`}`
}

/**
 * Returns the phase of the headline. If the headline is a time of events or a wait, these are parts of a time, and the
 * phase says no more.
 */
function leadingPhase({ attention, changedPhase }: LogComparison): RunPhase | undefined {
  const { graph, path = [] } = attention.headline ?? {}
  const isPart = graph === undefined || isEventTime(graph.featureType)
  return isPart || path.at(-1)?.name.startsWith(WAIT_NAME) ? changedPhase : undefined
}

function phaseText({ from, to, counts, beforeUs, afterUs }: RunPhase, { tail }: LogComparison) {
  const pace = (us: number, count: number) => formatDuration(us / (count - 1))
  const ends = titleName({ name: to ?? tail.metric.name })
  if (counts !== undefined) {
    return `${ends} comes every ${pace(afterUs, counts.after)} instead of every ${pace(beforeUs, counts.before)}`
  }
  const [was, is] = [beforeUs, afterUs].map(formatDuration)
  if (to === null)
    return `it ends ${is} after ${titleName({ name: from ?? 'its start' })} (before: ${was})`
  return `${ends} comes ${is} after ${from === null ? 'the start' : titleName({ name: from })} (before: ${was})`
}

/** Returns the metric of one of the events that have it. */
function partText({ state, beforeMean, afterMean }: MetricPart, { logs, tail }: LogComparison) {
  const { quantity, name } = tail.metric
  const event = logs.events.names.find((one) => state === `${one}.${name}`) ?? state
  const unit = logs.unitOf(state) ?? quantity
  const [was, is] = [beforeMean, afterMean].map((mean) => quantityText(mean, unit))
  return `it ${afterMean > beforeMean ? 'rises' : 'falls'} from ${was} to ${is} in ${titleName({ name: event })}`
}

function changeText({ unit, variable }: PerformanceMetric, change: number): string {
  if (unit !== 'absolute time') return change > 0 ? 'is larger' : 'is smaller'
  if (variable === undefined) return change > 0 ? 'is longer' : 'is shorter'
  return change > 0 ? 'comes later' : 'comes earlier'
}

function movedText(
  variable: VariableDivergence,
  { feature, beforeMean, afterMean }: FeatureTest,
  { logs }: LogComparison,
): string {
  if (isWait(variable) && feature === 'mean') return waitText(variable)
  const name = titleName(variable)
  const unit = variable.kind === 'state' ? logs.unitOf(variable.name) : undefined
  const [was, is] = [beforeMean, afterMean].map((mean) => valueText(feature, mean, unit))
  if (feature === 'count') return `${name} is logged ${is} times instead of ${was}`
  if (isEventTime(feature))
    return `${name} comes at ${is} instead of ${was} (${featureText(feature)})`
  const verb = afterMean > beforeMean ? 'rises' : 'falls'
  return `${name} ${verb} from ${was} to ${is} (${featureText(feature)})`
}

/** Returns the share of the change that the phase of the headline explains. */
export function phaseShareText(compared: LogComparison): string | undefined {
  const phase = leadingPhase(compared)
  if (phase === undefined) return undefined
  const { beforeMean, afterMean, tested } = compared.divergence.performance
  const { counts, beforeUs, afterUs } = phase
  const [were, are] = [counts?.before ?? 1, counts?.after ?? 1].map((count) =>
    grouped(Math.round(count)),
  )
  const often = were === are ? `${are} times` : `${were} times before and ${are} after`
  const explains = `explains ${formatDuration(Math.abs(afterUs - beforeUs))} of ${formatDuration(Math.abs(afterMean - beforeMean))}`
  const said = counts === undefined ? `This ${explains}.` : `It comes ${often}, which ${explains}.`
  return tested ? said : `${said} With one log each, no test can say how sure this is.`
}

/** Returns why the variable that differs most is no cause; undefined where it may be one. */
export function decoyText(compared: LogComparison): string | undefined {
  const { attention, divergence } = compared
  const most = greatest(divergence.variables, ({ score }) => score)
  const isLed = leadingPhase(compared) ?? compared.changedPart
  if (attention.headline === null || most === undefined || isLed) return undefined
  const why = idleText(most, compared)
  return why === undefined ? undefined : `${titleName(most)} differs most, but ${why}.`
}

/** Returns why performance does not come from a variable that differs; undefined where it may. */
function idleText(variable: VariableDivergence, compared: LogComparison): string | undefined {
  const { attention, tail } = compared
  const { kind, name, idle } = variable
  if (attention.headline?.path.some((node) => node.name === name)) return undefined
  if (idle === 'constant') return 'it is constant within each period'
  if (idle === 'timer') return 'it is a timer: longer runs have more of it'
  const isReached = attention.graphs.some(
    ({ kind: own, nodes, sharesDenominator }) =>
      own === kind &&
      !sharesDenominator &&
      nodes.some((node) => node.significant && node.name === name),
  )
  return isReached ? undefined : `${titleName(tail.metric)} does not depend on it`
}

/** Returns how a differing variable relates to performance. */
export function relationText(variable: VariableDivergence, compared: LogComparison): string {
  const { attention, divergence, tail } = compared
  const metric = shortText(tail.metric.name, MAX_METRIC_LENGTH)
  if (!divergence.performance.significant) return `${metric} does not differ`
  const { state, share = 0 } = compared.changedPart ?? {}
  if (variable.name === state) return `it holds ${percent(share)} of the change of ${metric}`
  const why = idleText(variable, compared)
  if (why !== undefined) return why
  const path = attention.headline?.path ?? []
  const at = path.findIndex(({ name }) => name === variable.name)
  const through = path.slice(0, Math.max(0, at)).reverse()
  const names = through.map(({ name }) => shortText(name, MAX_METRIC_LENGTH)).join(' and ')
  return `${metric} depends on it${names === '' ? '' : `, through ${names}`}`
}

/** Returns how many instances would be enough, if there are too few to learn dependencies from and none was found. */
export function fewText({
  attention,
  divergence,
  networks,
  logs,
}: LogComparison): string | undefined {
  const { minLeaf, minSplit } = networks.options
  const enough = Math.ceil((2 * minLeaf) / minSplit - 1e-9)
  const { before, after } = logs.counts
  const isFew = Math.min(before, after) < enough
  if (attention.headline !== null || !divergence.performance.significant || !isFew) return undefined
  return `${grouped(before)} instances before and ${grouped(after)} after are too few to learn what performance depends on; ${grouped(enough)} of each would be enough.`
}
