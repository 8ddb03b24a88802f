import { greatest, max, median, sum } from 'd3-array'
import {
  counted,
  firstOf,
  formatDuration,
  grouped,
  percent,
  pValue,
  shortText,
  spoken,
} from '../../core/words.ts'
import {
  type AttentionEdge,
  type AttentionGraph,
  type AttentionNode,
  attentionTree,
} from '../../logs/attention/focus-attention.ts'
import type { LogComparison } from '../../logs/compare-logs.ts'
import {
  bySeparation,
  type FeatureTest,
  strongestDifference,
  type VariableDivergence,
} from '../../logs/divergence/find-divergence.ts'
import type { RunPhase } from '../../logs/divergence/run-phases.ts'
import {
  type Feature,
  featureText,
  isEventTime,
  LOG_CLASSES,
  type LogClass,
  VARIABLE_KINDS,
} from '../../logs/features/log-set.ts'
import { quantityText, type Unit, WAIT_NAME } from '../../logs/features/units.ts'
import {
  type MetricPart,
  type PerformanceMetric,
  usualDoubling,
} from '../../logs/performance/performance-metric.ts'
import { twoSidedTP } from '../../stats/distributions.ts'
import { moments } from '../../stats/moments.ts'

export const MAX_VARIABLE_LENGTH = 70
const MAX_FIELDS = 6
const MAX_IDENTITY_LENGTH = 40
const MAX_GRAPHS = 2
const GRAVE = 2

/** Errors and exceptions that only the period after logged. */
export function newErrors({ divergence }: LogComparison): readonly VariableDivergence[] {
  return newEvents(divergence).filter(({ gravity }) => gravity >= GRAVE)
}

/**
 * Returns the events that only the period after logged, the gravest first; for a new event without the variants of its
 * messages.
 */
export function newEvents(divergence: LogComparison['divergence']): readonly VariableDivergence[] {
  const all = divergence.onlyIn('after').filter(({ kind }) => kind === 'event')
  const names = new Set(all.map(({ name }) => name))
  return all.filter(({ name }) => !names.has(name.slice(0, name.lastIndexOf(' · '))))
}

export function newnessText(
  { presence: { after, afterMessages } }: VariableDivergence,
  { logs }: LogComparison,
): string {
  return `${grouped(after)} of ${counted(logs.counts.after, 'instance')}, ${counted(afterMessages, 'message')}`
}

/** Whether new messages come first: if tests find nothing, or errors are new. */
export function newComesFirst(compared: LogComparison): boolean {
  return differences(compared).told.length === 0 || newErrors(compared).length > 0
}

/** Smallest change of a wait that matters, as a share of another wait's change. */
const MIN_WAIT_SHARE = 0.01

/**
 * Variables that differ, the most divergent first, but for performance itself. Where waits between messages
 * are known, times of events say nothing more: events differ by their numbers. Waits of no account stand apart.
 */
export function differences(compared: LogComparison) {
  const { divergence, tail, leading, logs } = compared
  const { kind: ofKind, name: own, states = [] } = tail.metric.variable ?? {}
  // Instances that are divided by a number differ in it, whichever event says it.
  const isOwn = (name: string) =>
    name === own || (logs.metric !== undefined && states.includes(name))
  const all = divergence.variables.filter(
    ({ name, kind, score }) => score > 0 && !(kind === ofKind && isOwn(name)),
  )
  const waits = all.filter(isWait)
  const largest = max(waits, shiftOf) ?? 0
  const told = waits.length === 0 ? all : all.map(withoutTimes)
  const small = waits.filter((each) => shiftOf(each) < MIN_WAIT_SHARE * largest)
  return {
    told: told
      .filter((each) => each.score > 0 && !small.includes(each))
      .sort(
        (one, other) =>
          placeOf(one, leading) - placeOf(other, leading) ||
          bySeparation(one, other) ||
          other.score - one.score ||
          0,
      ),
    moved: told.filter(({ score }) => score === 0).length,
    small: small.length,
    byNumber: changedByNumber(compared),
  }
}

/** Places the variables of the headline first, constants and timers last. */
function placeOf(
  { name, kind, idle }: VariableDivergence,
  leading: readonly VariableDivergence[],
): number {
  const at = leading.findIndex((each) => each.kind === kind && each.name === name)
  return at >= 0 ? at : leading.length + Number(idle !== null)
}

/** A standard deviation as a multiple of the median distance to the median, of a normal distribution. */
const SD_PER_MAD = 1.4826

/**
 * Returns events whose number of messages changed beyond chance, allowing for how unevenly instances have them and for
 * the changes of other events. A test of instances may not find them, because it needs many.
 */
function changedByNumber({ divergence: { variables, options }, logs }: LogComparison) {
  const events = variables.filter(({ kind }) => kind === 'event')
  const changes = events.map(({ name, presence: { beforeMessages, afterMessages } }) => {
    const rows = logs.events.rows(Number(logs.events.indexOf(name)), ['count'])
    const variances = [beforeMessages, afterMessages].map((messages, period) => {
      const own = rows.filter(({ instance }) => logs.classOf[instance] === period)
      const { count, mean, variance } = moments(own.map((row) => row.count))
      // All in one of many instances may have one cause.
      const isOne = count === 1 && logs.instances.length > 2
      return (isOne ? mean : Math.max(1, variance / mean || 1)) / (messages + 0.5)
    })
    const by = Math.log((afterMessages + 0.5) / (beforeMessages + 0.5))
    return { by, variance: sum(variances) }
  })
  const usual = median(changes, ({ by }) => by) ?? 0
  const spread = SD_PER_MAD * (median(changes, ({ by }) => Math.abs(by - usual)) ?? 0)
  const names = new Set(events.map(({ name }) => name))
  return events.filter(({ name, score, presence }, i) => {
    const { by = 0, variance = 1 } = changes[i] ?? {}
    const t = (by - usual) / Math.sqrt(spread ** 2 + variance)
    const isFar = twoSidedTP(t, events.length - 1) * events.length < options.alpha
    const isPart = names.has(name.slice(0, name.lastIndexOf(' · ')))
    return isFar && score === 0 && presence.onlyIn !== 'after' && !isPart
  })
}

function withoutTimes(variable: VariableDivergence): VariableDivergence {
  if (variable.kind === 'state') return variable
  const features = variable.features.filter(({ feature }) => !isEventTime(feature))
  const score = sum(features, ({ significant, t }) => (significant ? Math.abs(t) : 0))
  return { ...variable, features, score }
}

function isWait({ kind, name }: VariableDivergence): boolean {
  return kind === 'state' && name.startsWith(WAIT_NAME)
}

function shiftOf({ features }: VariableDivergence): number {
  const mean = features.find(({ feature }) => feature === 'mean')
  return mean === undefined ? 0 : Math.abs(mean.afterMean - mean.beforeMean)
}

export function differenceOf(
  variable: VariableDivergence,
  compared: LogComparison,
): { readonly what: string; t: string } {
  const { logs } = compared
  const { feature, beforeMean, afterMean, t } = strongestDifference(variable) as FeatureTest
  const amount = variable.kind === 'state' && feature === 'mean' && amountText(variable, compared)
  if (amount) return { what: amount, t: tText(t) }
  const { before, after, beforeMessages, afterMessages } = variable.presence
  if (feature === 'count' && before === beforeMessages && after === afterMessages) {
    return { what: `in ${percent(beforeMean)} → ${percent(afterMean)} of instances`, t: tText(t) }
  }
  const unit = variable.kind === 'state' ? logs.unitOf(variable.name) : undefined
  const [was, is] = [beforeMean, afterMean].map((mean) => valueText(feature, mean, unit))
  return { what: `${featureText(feature)} ${was} → ${is}`, t: tText(t) }
}

/**
 * Describes a variable that hardly any instance of one period has: its amount in the other period, and its share of
 * these instances' extra time.
 */
function amountText(
  { name, presence: { before, after, onlyIn } }: VariableDivergence,
  { logs, tail: { metric } }: LogComparison,
): string | false {
  const { counts } = logs
  if (Math.min(before, after) > 1) return false
  const unit = logs.unitOf(name)
  const rows = logs.states
    .rows(Number(logs.states.indexOf(name)), ['mean'])
    .filter(({ instance }) => logs.classOf[instance] === Number(after > before))
    .map(({ instance, mean }) => ({ value: mean, performance: Number(metric.values[instance]) }))
  const often = onlyIn ?? (after > before ? 'after' : 'before')
  const share = often === 'after' ? after / counts.after : before / counts.before
  const text = quantityText(sum(rows, ({ value }) => value) / rows.length, unit)
  const said =
    onlyIn === null
      ? `in ${percent(before / counts.before)} → ${percent(after / counts.after)} of instances: ${text}`
      : `only ${onlyIn}: ${text} in ${percent(share)} of instances`
  const us = metric.unit === 'absolute time' ? 1 : metric.quantity?.us
  if (us === undefined || unit?.us === undefined || onlyIn !== 'after') return said
  const usual = moments(metric.values.filter((_, i) => logs.classOf[i] === 0)).mean
  const extra = us * sum(rows, ({ performance }) => performance - usual)
  const ofExtra = (unit.us * sum(rows, ({ value }) => value)) / extra
  return ofExtra > 0 && ofExtra <= 1 ? `${said}, ${percent(ofExtra)} of their extra time` : said
}

export function differencesText({ divergence, logs }: LogComparison, differing: number): string {
  const all = counted(divergence.variables.length, 'variable')
  if (VARIABLE_KINDS.every((kind) => divergence.tests(kind) === 0)) {
    const { before, after } = logs.counts
    return `None of ${all} could be tested (${counted(before, 'instance')} before, ${grouped(after)} after): a test needs two of each period that have the variable.`
  }
  if (differing === 0) return `None of ${all} differs significantly.`
  return `${grouped(differing)} of ${all} differ${differing === 1 ? 's' : ''} significantly:`
}

export function leftOutSentences(
  { moved, small, byNumber }: ReturnType<typeof differences>,
  { logs: { counts } }: LogComparison,
): string[] {
  const changes = byNumber.map(({ name, presence: { before, after, ...messages } }) => {
    const own = `${grouped(messages.beforeMessages)} → ${grouped(messages.afterMessages)}`
    return `${shortText(name, MAX_VARIABLE_LENGTH)} ${own} (in ${grouped(before)} of ${grouped(counts.before)} → ${grouped(after)} of ${counted(counts.after, 'instance')})`
  })
  return spoken([
    changes.length > 0 &&
      `Too few instances for a test, but ${counted(changes.length, 'event')} changed more than the others by number of messages: ${firstOf(changes, { most: MAX_FIELDS })}.`,
    moved > 0 &&
      `${counted(moved, 'event')} ${moved === 1 ? 'comes' : 'come'} at other times; the waits (ms until …) explain this.`,
    small > 0 &&
      `${counted(small, 'wait')} changed by less than a hundredth of the largest change.`,
  ])
}

/** Describes the input: instances, messages, and fields that are no variables. */
export function inputText({ logs, whole }: LogComparison): string {
  const { before, after } = logs.counts
  const { messages, fieldsLeftOut, sharedFiles } = whole.report
  const of =
    logs === whole ? 'instance' : `window of ${formatDuration(whole.windows?.lengthUs ?? 0)}`
  const read =
    `${counted(before, of, of.replace(/^\w+/, '$&s'))} before and ${grouped(after)} after: ` +
    `${counted(messages.event, 'event message')} of ${counted(logs.events.names.length, 'event')}, ` +
    `${counted(messages.state, 'state message')} of ${counted(logs.states.names.length, 'variable')}.`
  const shared =
    sharedFiles.length === 0
      ? ''
      : ` The ${counted(sharedFiles.length, 'file')} of each period are read as one log and share its windows. Keep them apart with --instance path.`
  if (fieldsLeftOut.length === 0) return read + shared
  const leftOut = fieldsLeftOut.map(
    ({ field, reason, byClass }) =>
      `${field} ${reason}${byClass === undefined ? '' : ` (${runText(byClass)})`}`,
  )
  return `${read}${shared} Fields not used as variables: ${firstOf(leftOut, { most: MAX_FIELDS })}.`
}

/** Summarizes many records of performance: `300 records before, 302 after; median 99 → 405, p99 …`. */
function recordsText(
  { before, after }: NonNullable<LogComparison['records']>,
  text: (value: number) => string,
): string {
  const counts = `${counted(before.count, 'record')} before and ${grouped(after.count)} after`
  if (Number.isNaN(before.median) || Number.isNaN(after.median)) return `It has ${counts}.`
  return `It has ${counts}: median ${text(before.median)} → ${text(after.median)}, p99 ${text(before.p99)} → ${text(after.p99)}.`
}

function runText(byClass: Readonly<Record<LogClass, readonly string[]>>): string {
  return LOG_CLASSES.filter((logClass) => byClass[logClass].length > 0)
    .map((logClass) => {
      const [one = '', other = '', ...more] = byClass[logClass].map((value) =>
        shortText(value, MAX_IDENTITY_LENGTH),
      )
      return `${[one, other].filter(Boolean).join(', ')}${more.length > 0 ? ' …' : ''} ${logClass}`
    })
    .join(', ')
}

export function performanceSentences(compared: LogComparison): string[] {
  const { divergence, tail, logs, options } = compared
  const { beforeMean, afterMean, beforeCount, afterCount, tested, p, significant } =
    divergence.performance
  const { unit, values, quantity } = tail.metric
  const { records } = compared
  const name = shortText(tail.metric.name, MAX_VARIABLE_LENGTH)
  const { before, after } = logs.counts
  const text = (value: number) =>
    unit === 'absolute time' ? formatDuration(value) : quantityText(value, quantity)
  const says = !tested
    ? `too few instances to test: ${grouped(beforeCount)} before, ${grouped(afterCount)} after`
    : `${pValue(p)}${significant ? '' : ', no significant difference'}`
  const { weights } = options
  const averages =
    records === undefined || weights !== 'none'
      ? { before: beforeMean, after: afterMean }
      : { before: records.before.mean, after: records.after.mean }
  const isByLatency =
    weights === 'latency' || (typeof weights === 'object' && !('length' in weights))
  const given = typeof weights === 'object' && isByLatency ? weights : {}
  const { doublingMs, doubling: own = usualDoubling(values) } = given
  const us = unit === 'absolute time' ? 1 : (quantity?.us ?? 1)
  const doubling = doublingMs === undefined ? own : (1000 * doublingMs) / us
  return spoken([
    `Performance is ${name}: ${text(averages.before)} on average before, ${text(averages.after)} after (${says}).`,
    records !== undefined && recordsText(records, text),
    (beforeCount < before || afterCount < after) &&
      `${grouped(beforeCount)} of ${counted(before, 'instance')} before and ${grouped(afterCount)} of ${grouped(after)} after have it; means and dependencies leave the others out.`,
    isByLatency &&
      `Means are weighted: each ${text(doubling)} more counts twice (--weights latency).`,
    weights !== 'none' && !isByLatency && 'Means are weighted.',
    weights === 'none' && tail.suggestion,
  ])
}

/**
 * Returns the graphs to look at first, of each kind of variables: the best graph with a variable that differs, and the
 * next with one that no earlier graph had. The kind with the largest difference comes first.
 */
export function tellingGraphs(compared: LogComparison): readonly AttentionGraph[] {
  const { told } = differences(compared)
  const { headline } = compared.attention
  const first = headline?.graph.kind ?? told[0]?.kind
  const kinds = VARIABLE_KINDS.toSorted((a) => (a === first ? -1 : 0))
  return kinds.flatMap((kind) => {
    const differing = new Set(
      told.flatMap((each) => (each.kind === kind && each.idle === null ? each.name : [])),
    )
    const left = new Set(differing)
    const ordered = compared.attention
      .of(kind)
      .toSorted((a, b) => Number(b === headline?.graph) - Number(a === headline?.graph))
    const graphs = ordered.filter(({ nodes, sharesDenominator }) => {
      const own = nodes.slice(1).filter((node) => node.significant && left.has(node.name))
      if (own.length === 0 || (sharesDenominator && left.size < differing.size)) return false
      for (const { name } of own) left.delete(name)
      return true
    })
    return graphs.slice(0, MAX_GRAPHS)
  })
}

/** Returns the title of a graph: `states by mean value (score 0.9). In the after period run time depends on`. */
export function graphTitle(graph: AttentionGraph, { attention }: LogComparison): string {
  const { kind, featureType, score, metric, class: of } = graph
  const { headline } = attention
  const path = headline?.graph === graph ? headline.path.toReversed() : []
  const names = path.map(({ name }) => shortText(name, MAX_VARIABLE_LENGTH)).join(', then ')
  return `${names === '' ? '' : `${names}: `}${kind}s by ${featureText(featureType)} (score ${score.toPrecision(2)}). In the ${of} period ${shortText(metric, MAX_VARIABLE_LENGTH)} depends on`
}

/** Returns a graph as lines: below each variable what leads there. */
export function graphLines(graph: AttentionGraph, { divergence }: LogComparison): string[] {
  const { order, depth, parentEdge } = attentionTree(graph)
  const nodeOf = new Map(graph.nodes.map((node) => [node.name, node]))
  return order.slice(1).map((name) => {
    const { t, significant } = nodeOf.get(name) as AttentionNode
    const edge = parentEdge.get(name) as AttentionEdge
    const isTimer = divergence.variable(graph.kind, name)?.idle === 'timer'
    const differs = significant ? `t = ${tText(t)}` : 'does not differ'
    const says = isTimer ? `a timer, ${differs}` : differs
    return `${'   '.repeat(depth.get(name) as number)}${shortText(name, MAX_VARIABLE_LENGTH)} (${says}; ${percent(edge.weight)} of the instances${orderText(name, edge)})`
  })
}

export type FeatureUnit = 'time' | 'share' | 'number'

export function unitOf(feature: Feature): FeatureUnit {
  if (feature.endsWith('Relative')) return 'share'
  return isEventTime(feature) ? 'time' : 'number'
}

export function valueText(feature: Feature, value: number, quantity?: Unit | undefined): string {
  if (Number.isNaN(value)) return 'none'
  const unit = unitOf(feature)
  if (unit === 'time') return formatDuration(value)
  return unit === 'share' ? percent(value) : quantityText(value, quantity).replace('-', '−')
}

/** Returns Welch's t in three digits; two constants that differ are infinitely far apart. */
export function tText(t: number): string {
  const size = Number.isFinite(t) ? String(Number(Math.abs(t).toPrecision(3))) : '∞'
  return `${t < 0 ? '−' : ''}${size}`
}

export function testSize({ tested, t }: Pick<FeatureTest, 'tested' | 't'>): number {
  return tested ? Math.abs(t) : -1
}

export function testText({ tested, t, p, significant }: FeatureTest): string {
  if (!tested) return 'too few instances to test'
  return `t = ${tText(t)}, ${pValue(p)}${significant ? '' : ', not significant'}`
}

/** Returns the number of instances without a feature, class by class: `3 of 40 after have none`. */
export function missingText(
  { beforeCount, afterCount }: Pick<FeatureTest, 'beforeCount' | 'afterCount'>,
  totals: Readonly<Record<LogClass, number>>,
): string {
  const found = { before: beforeCount, after: afterCount }
  return LOG_CLASSES.flatMap((each) => {
    const missing = totals[each] - found[each]
    if (missing <= 0) return []
    const have = missing === 1 ? 'has' : 'have'
    return [`${grouped(missing)} of ${grouped(totals[each])} ${each} ${have} none`]
  }).join(', ')
}

/** Whether a variable always comes before the other one of an edge, or after it: `, always after it`. */
export function orderText(name: string, { from, directed }: AttentionEdge): string {
  if (!directed) return ''
  return from === name ? ', always before it' : ', always after it'
}

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
