import { greatest, group, max, mean, min, sum } from 'd3-array'
import { patternSource } from '../../core/code-literals.ts'
import { FlowdeltaError, OptionError, show } from '../../core/errors.ts'
import { custom, defineOptions } from '../../core/options.ts'
import { counted, grouped, percent, readDuration, shortText } from '../../core/words.ts'
import { moments } from '../../stats/moments.ts'
import {
  AFTER,
  BEFORE,
  EVENT_FEATURES,
  type Feature,
  isEventTime,
  isShareOfRun,
  LOG_CLASSES,
  type LogSet,
  membersOf,
  STATE_FEATURES,
  type StateFeature,
  type Summary,
  type VariableKind,
} from '../features/log-set.ts'
import { aroundNumber, type Unit, WAIT_NAME } from '../features/units.ts'

/**
 * Measure of performance, a number per instance: `'runTime'` (from its start to its last message), the name of an event
 * (its last time since the start), of a state variable or of a field of several events (the mean of its values), or any
 * feature of a variable. `event:q` or `state:q` name one of two variables called q; `final:q`, `maximum:q` and
 * `minimum:q` are features of a state.
 */
export type Metric = string | { readonly variable: string; readonly feature: Feature }

/** Option of every stage that needs the measure of performance. */
export const METRIC_OPTIONS = defineOptions({
  metric: custom<Metric>({
    default: 'runTime',
    sentence:
      "Measure of performance: 'runTime', an event, a state variable or a field of several events",
    flag: 'metric <name>',
    accepts: (value) => typeof value === 'string' || (typeof value === 'object' && value !== null),
    expected: "'runTime', the name of a variable, or { variable, feature }",
  }),
})

export interface PerformanceMetric {
  /** Name of its node in graphs, which no variable has. */
  readonly name: string
  /** An instance each; NaN where it has none. */
  readonly values: Float64Array
  /** Absolute times are µs since the start, relative ones shares of the run time; all else is a value. */
  readonly unit: 'absolute time' | 'relative time' | 'value'
  /** Unit of the values, if they are no times since the start and their name or text gives one. */
  readonly quantity?: Unit
  /** The variable it is a feature of, which explains nothing then; none for the run time. */
  readonly variable?: {
    readonly kind: VariableKind
    readonly name: string
    readonly feature: Feature
    /** States that have it, if it is a field of several events, or states that repeat its number. */
    readonly states?: readonly string[]
  }
}

/** Looks a performance metric up. */
export function performanceMetric(logs: LogSet, metric: Metric): PerformanceMetric {
  if (metric === 'runTime') {
    const name = unlike('run time', [...logs.events.names, ...logs.states.names])
    return { name, values: logs.runTimeUs, unit: 'absolute time' }
  }
  const { variable: given, feature: asked } =
    typeof metric === 'string' ? namedMetric(logs, metric) : requireFeature(metric)
  const meant = meantBy(logs, given)
  const isOfEvent = (one: string) =>
    one.endsWith(`.${given}`) && logs.states.indexOf(one) !== undefined
  const isField = meant.length > 1 && meant.every(isOfEvent)
  const name = meant.length === 1 ? String(meant[0]) : given
  const feature = asked ?? (isField ? 'mean' : mainFeature(logs, name))
  const kind = (STATE_FEATURES as readonly Feature[]).includes(feature) ? 'state' : 'event'
  const states = kind === 'event' ? [] : isField ? meant : [name]
  const values = isField
    ? fieldOfEvents(logs, name, { feature, states })
    : valuesOf(logs, kind, { name, feature })
  const quantity = logs.unitOf(states[0] ?? name)
  const others = kind === 'state' ? logs.events.names : logs.states.names
  const all = [...states, ...states.flatMap((state) => copiesOf(logs, state, feature))]
  return {
    // The variable's own name, unless there is an event and a state of that name.
    name: unlike(name, others),
    values,
    unit: isShareOfRun(feature)
      ? 'relative time'
      : isEventTime(feature)
        ? 'absolute time'
        : 'value',
    ...(kind === 'state' && quantity !== undefined && { quantity }),
    variable: { kind, name, feature, ...(kind === 'state' && { states: all }) },
  }
}

/** Looks up a performance metric that some instance of each class has. */
export function requirePerformance(logs: LogSet, metric: Metric): PerformanceMetric {
  const found = performanceMetric(logs, metric)
  const members = membersOf(logs, found.values)
  for (const logClass of LOG_CLASSES) {
    const count = logs.counts[logClass]
    if (count === 0) {
      throw new FlowdeltaError(
        `There are no logs of the ${logClass} period. Load logs of both periods.`,
      )
    }
    if (members[logClass].length > 0) continue
    const wanted = `a metric that both periods have, such as 'runTime': none of ${counted(count, 'instance')} of the ${logClass} period has this one`
    throw new OptionError('metric', shortText(found.name, MAX_NAME_LENGTH), wanted)
  }
  return found
}

const MAX_SHOWN = 10
const MAX_NAME_LENGTH = 70

function unlike(name: string, others: readonly string[]): string {
  return others.includes(name) ? unlike(`${name} (P)`, others) : name
}

/**
 * Returns the variables that a name means: the one so called, else those whose names end so after their class or event
 * (`duration_ms` is `request completed.duration_ms`), else the number after `duration_ms=` in a text, else the event of a
 * text as in the log.
 */
function meantBy({ events, states }: LogSet, name: string): readonly string[] {
  const all = [...events.names, ...states.names]
  if (all.includes(name)) return [name]
  const ending = all.filter(
    (each) =>
      !each.startsWith(WAIT_NAME) && (each.endsWith(`: ${name}`) || each.endsWith(`.${name}`)),
  )
  if (ending.length > 0) return ending
  const isOf = (state: string) =>
    /([A-Za-z_][\w.]*)=$/.exec(aroundNumber(state)?.before ?? '')?.[1] === name
  const ofKey = states.names.filter(isOf)
  if (ofKey.length > 0) return ofKey
  return events.names.filter((event) => {
    const any = patternSource(event).replace(/<[^<>\s]+>|…/g, '.+?')
    return new RegExp(`^${any.replace(/^([\w$.]+: )/, '(?:$1)?')}$`, 's').test(name)
  })
}

function fieldOfEvents(
  logs: LogSet,
  field: string,
  { feature, states }: { readonly feature: Feature; readonly states: readonly string[] },
): Float64Array {
  if (feature !== 'maximum' && feature !== 'minimum' && feature !== 'mean') {
    const wanted = `maximum, minimum or mean: ${states.length} events have ${show(field)}`
    throw new OptionError('metric.feature', feature, wanted)
  }
  const rows = states.flatMap((name) => rowsOf(logs, name, [feature, 'records']))
  const byInstance = group(rows, ({ instance }) => instance)
  const choose = feature === 'maximum' ? max : min
  return Float64Array.from(logs.instances, (_, instance) => {
    const own = (byInstance.get(instance) ?? []).filter((row) => !Number.isNaN(row[feature]))
    const records = sum(own, (row) => row.records)
    if (feature === 'mean') return sum(own, (row) => row.mean * row.records) / records
    return choose(own, (row) => row[feature]) ?? Number.NaN
  })
}

function rowsOf<T extends StateFeature | Summary>(logs: LogSet, name: string, types: readonly T[]) {
  return logs.states.rows(logs.states.indexOf(name) as number, types)
}

/** The units in which a time or a size may stand once more. */
const SCALES = [1, 1e3, 1e-3, 1e6, 1e-6]
/** Smallest multiple of its rounding unit at which equal values are hardly chance. */
const MIN_UNITS = 10

/** Returns other states of a state's event that repeat its number in each instance, but for unit and rounding. */
function copiesOf(logs: LogSet, state: string, feature: Feature): string[] {
  const event = logs.events.names.find((one) => state.startsWith(`${one}.`))
  if (event === undefined || logs.states.indexOf(state) === undefined) return []
  const type = feature as StateFeature
  const own = new Map(rowsOf(logs, state, [type]).map((row) => [row.instance, row[type]]))
  const unitOf = (value: number) => 10 ** -(String(value).split('.')[1]?.length ?? 0)
  return logs.states.names.filter((other) => {
    if (other === state || ![' #', '.'].some((sign) => other.startsWith(`${event}${sign}`)))
      return false
    const pairs = rowsOf(logs, other, [type]).flatMap((row) => {
      const same = own.get(row.instance)
      return same === undefined ? [] : [[row[type], same] as const]
    })
    return (
      pairs.some(([value]) => value >= MIN_UNITS * unitOf(value)) &&
      SCALES.some((by) => pairs.every(([value, of]) => Math.abs(value - by * of) <= unitOf(value)))
    )
  })
}

/** Prefixes of a variable's name: its kind, or the feature of a state. */
const PREFIXES: ReadonlyMap<string, Feature> = new Map<string, Feature>([
  ['event', 'lastAbsolute'],
  ['state', 'mean'],
  ['final', 'final'],
  ['maximum', 'maximum'],
  ['minimum', 'minimum'],
])

function namedMetric(logs: LogSet, name: string): { variable: string; feature?: Feature } {
  const [, prefix = '', variable = name] = /^(\w+):(.*)$/s.exec(name) ?? []
  const feature = PREFIXES.get(prefix)
  const isName = feature === undefined || meantBy(logs, name).length === 1
  return isName ? { variable: name } : { variable, feature }
}

function mainFeature({ events, states }: LogSet, name: string): Feature {
  const isState = states.names.includes(name)
  if (isState && events.names.includes(name)) {
    throw new FlowdeltaError(
      `Metric ${show(name)} is an event and a state variable. Give \`metric\` ${show(`event:${name}`)} (its last time) or ${show(`state:${name}`)} (its mean value).`,
      { metric: null },
    )
  }
  return isState ? 'mean' : 'lastAbsolute'
}

function requireFeature(metric: unknown): { variable: string; feature: Feature } {
  const { variable, feature } = (metric ?? {}) as { variable?: unknown; feature?: unknown }
  if (typeof variable !== 'string') {
    throw new OptionError('metric', metric, "'runTime', a variable, or { variable, feature }")
  }
  const known: readonly unknown[] = [...EVENT_FEATURES, ...STATE_FEATURES]
  if (known.includes(feature)) return { variable, feature: feature as Feature }
  throw new OptionError('metric.feature', feature, `one of ${known.join(', ')}`)
}

function valuesOf(
  logs: LogSet,
  kind: VariableKind,
  { name, feature }: { name: string; feature: Feature },
): Float64Array {
  const features = logs.features(kind)
  const index = features.indexOf(name)
  if (index !== undefined) return features.of(index, feature)
  const all = [...logs.events.names, ...logs.states.names]
  const shown = all.slice(0, MAX_SHOWN).map((each) => show(shortText(each, MAX_NAME_LENGTH)))
  const known = shown.length === 0 ? 'they have none' : shown.join(', ')
  throw new FlowdeltaError(
    `Metric ${show(name)} is no ${kind === 'event' ? 'event' : 'state variable'} of these logs. Give 'runTime' or one of their variables: ${known}${all.length > MAX_SHOWN ? ', …' : '.'}`,
  )
}

/**
 * Tells whether a few instances perform far worse, or better, than the rest, which averages hide: how
 * many lie outside mean ± 3σ, in each period and in both together.
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §3.1.
 */
export function metricTail(logs: LogSet, metric: PerformanceMetric) {
  const { name, unit, values } = metric
  const classes = LOG_CLASSES.map((whose, code) => ({
    whose: ` ${whose}`,
    ...heavyTail(values.filter((_, instance) => logs.classOf[instance] === code)),
  }))
  const heavy = [...classes, { whose: '', ...heavyTail(values) }].find(({ isHeavy }) => isHeavy)
  if (heavy === undefined) return { metric, isHeavy: false, suggestion: '' }
  const { whose, outliers, count, fraction } = heavy
  const weigh = values.some((value) => value < 0)
    ? 'weights, a number for each instance, make them count'
    : `weights: 'latency' makes the ${unit === 'value' ? 'large' : 'slow'} ones count`
  const suggestion = `${grouped(outliers)} of ${grouped(count)} instances${whose} (${percent(fraction)}) have a ${shortText(name, MAX_NAME_LENGTH)} beyond three standard deviations, and averages do not show them; ${weigh}.`
  return { metric, isHeavy: true, suggestion }
}

export type MetricTail = Readonly<ReturnType<typeof metricTail>>

/** Distance beyond which a normal distribution has 0.27 % of its values: four times that is a heavy tail. */
const FAR_SD = 3
const HEAVY_SHARE = 0.011
/** One value beyond 3σ is 1.1 % of 90 and says nothing about a tail. */
const MIN_OUTLIERS = 2

/**
 * Whether more values lie outside mean ± 3σ than in four normal distributions together: more than
 * 1.1 %, and two of them at least.
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §3.1; that one outlier is no tail is our own.
 */
export function heavyTail(sample: ArrayLike<number>) {
  const values = Float64Array.from(sample).filter(Number.isFinite)
  const { mean, sd } = moments(values)
  const outliers = values.filter((value) => Math.abs(value - mean) > FAR_SD * sd).length
  const fraction = outliers / values.length
  const isHeavy = fraction > HEAVY_SHARE && outliers >= MIN_OUTLIERS
  return { count: values.length, outliers, fraction, isHeavy }
}

const MIN_SHARE = 0.5

/** Returns the states of a metric that is a mean, with its records in each instance; `[]` for other metrics. */
function recordColumns(logs: LogSet, { variable }: PerformanceMetric) {
  if (variable?.kind !== 'state' || variable.feature !== 'mean') return []
  const { name, states = [name] } = variable
  return states.flatMap((state) => {
    const index = logs.states.indexOf(state)
    const isCopy = state !== name && !state.endsWith(`.${name}`)
    if (index === undefined || isCopy) return []
    return [{ state, rows: rowsOf(logs, state, ['records', 'mean', 'median', 'p99']) }]
  })
}

type RecordRows = ReturnType<typeof recordColumns>[0]['rows']

function byClass({ classOf }: LogSet, rows: RecordRows) {
  const ofClass = (code: number) => {
    const own = rows.filter(({ instance }) => classOf[instance] === code)
    const count = sum(own, ({ records }) => records)
    return { own, count, mean: sum(own, (row) => row.records * row.mean) / count }
  }
  return [ofClass(BEFORE), ofClass(AFTER)] as const
}

/** Returns the statistics of a metric's records in each class; undefined if no instance has several. */
export function metricRecords(logs: LogSet, metric: PerformanceMetric) {
  const columns = recordColumns(logs, metric)
  const rows = columns.flatMap((column) => column.rows)
  if (!rows.some(({ records }) => records > 1)) return undefined
  const meanOf = (of: RecordRows, feature: 'median' | 'p99') =>
    (columns.length === 1 ? mean(of, (row) => row[feature]) : undefined) ?? Number.NaN
  const [before, after] = byClass(logs, rows).map(({ own, count, mean }) => ({
    count,
    mean,
    /** Mean over instances of the median and the 99th percentile of their records; NaN for a field of several events. */
    median: meanOf(own, 'median'),
    p99: meanOf(own, 'p99'),
  }))
  return before && after && { before, after }
}

/** An event by whose records a metric of several events changed. */
export type MetricPart = NonNullable<ReturnType<typeof changedPart>>

/** Returns the event whose records account for half of the change of a metric that several events have, if any. */
export function changedPart(logs: LogSet, metric: PerformanceMetric) {
  const columns = recordColumns(logs, metric)
  if (columns.length < 2) return undefined
  const [before, after] = byClass(
    logs,
    columns.flatMap(({ rows }) => rows),
  )
  const parts = columns.map(({ state, rows }) => {
    const [was, is] = byClass(logs, rows)
    const change = (is.count / after.count) * (is.mean - was.mean)
    /** Share of the change, if each event had as many records before as after. */
    const share = change / (after.mean - before.mean)
    return { state, beforeMean: was.mean, afterMean: is.mean, share }
  })
  const most = greatest(parts, ({ share }) => share)
  return most !== undefined && most.share >= MIN_SHARE ? most : undefined
}

/**
 * Weights of instances: `'none'` weights all the same, `'latency'` weights by ⌊2^(latency / doubling)⌋ of the
 * performance metric, with a doubling of 0.15 of the largest, so that this weighs 101, as in the paper.
 * `{ doublingMs: 150 }` gives the latency that doubles a weight in ms, and `{ doubling: 150 }` in the metric's own unit.
 * Also takes a list of weights, one per instance.
 */
export type LogWeights =
  | 'none'
  | 'latency'
  | { readonly doublingMs?: number; readonly doubling?: number }
  | ArrayLike<number>

/** Option of every stage that weighs instances, and the metric that weights go by. */
export const WEIGHT_OPTIONS = defineOptions({
  ...METRIC_OPTIONS,
  weights: custom<LogWeights>({
    default: 'none',
    sentence:
      "Weights of instances: 'latency' makes slow ones count more, the slowest a hundred times; latency=150ms sets the latency that doubles the weight",
    flag: 'weights <name>',
    accepts: (value) =>
      value === 'none' || value === 'latency' || (typeof value === 'object' && value !== null),
    expected:
      "'none', 'latency', { doublingMs: 150 } (latency=150ms) or a number for each instance",
    parse: (given) => {
      const [, more] = /^latency=(.+)$/.exec(given) ?? []
      if (more === undefined) return given
      return Number.isNaN(Number(more))
        ? { doublingMs: readDuration(more) / 1000 }
        : { doubling: Number(more) }
    },
  }),
})

/** Returns a weight an instance, or undefined where all are the same. NaN for those without performance. */
export function instanceWeights(
  logs: LogSet,
  { weights, metric }: { readonly weights: LogWeights; readonly metric: Metric },
): Float64Array | undefined {
  if (weights === 'none') return undefined
  const refused = (wanted: string) => new OptionError('weights', weights, wanted)
  if (typeof weights === 'object' && 'length' in weights) {
    const { length } = logs.instances
    if (weights.length !== length) throw refused(`'none', 'latency' or ${length} numbers`)
    const given = Float64Array.from(weights)
    const wrong = given.findIndex((weight) => !(weight > 0 && weight < Number.POSITIVE_INFINITY))
    if (wrong < 0) return given
    throw new OptionError(`weights[${wrong}]`, given[wrong], 'a number above 0')
  }
  const { values, unit, name, quantity } = performanceMetric(logs, metric)
  const { doublingMs, doubling = usualDoubling(values) } = weights === 'latency' ? {} : weights
  const us = unit === 'absolute time' ? 1 : quantity?.us
  if (doublingMs !== undefined && us === undefined) {
    throw refused(
      `'latency', latency=150 in whatever ${name} is in, or numbers: it is not known to be a time`,
    )
  }
  const own = doublingMs === undefined ? doubling : (doublingMs * 1000) / (us ?? 1)
  if (!(own > 0)) throw refused('a latency above 0 that doubles the weight')
  const negative = values.findIndex((value) => value < 0)
  if (negative < 0) return latencyWeights(values, own, values.length)
  throw refused(
    `'none' or numbers: ${name} is ${values[negative]} in ${logs.instances[negative]}, and what is below 0 has no such weight`,
  )
}

/** Share of the largest latency that doubles a weight: of 1 s 150 ms, the paper's choice. */
const DOUBLING_SHARE = 0.15

/** Returns the default increase of a latency (or another number) that doubles its weight. */
export function usualDoubling(latencies: ArrayLike<number>): number {
  return DOUBLING_SHARE * (max(Array.from(latencies).filter(Number.isFinite)) ?? 1) || 1
}

/**
 * Returns weights that make a few very slow instances count: ⌊2^(latency / doubling)⌋, at most `cap`.
 * Where the slowest takes 1 s, up to 149 ms count once, 150 ms twice, 1 s 101 times; NaN stays NaN.
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §5.2.1; the cap and the share are our own.
 */
export function latencyWeights(
  latencies: ArrayLike<number>,
  doubling: number,
  cap: number,
): Float64Array {
  return Float64Array.from(latencies, (latency) =>
    Math.min(cap, Math.floor(2 ** (latency / doubling))),
  )
}
