import { ascending, descending, greatest, index, max, median, quantile, sum } from 'd3-array'
import { defineOptions, level, type OptionsOf, oneOf, readOptions } from '../../core/options.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { fisherExact } from '../../stats/fisher-exact.ts'
import { type WelchResult, welch } from '../../stats/welch.ts'
import {
  type Feature,
  isShareOfRun,
  LEVELS,
  type Level,
  LOG_CLASSES,
  type LogClass,
  type LogSet,
  membersOf,
  picked,
  VARIABLE_KINDS,
  type VariableFeatures,
  type VariableKind,
} from '../features/log-set.ts'
import {
  instanceWeights,
  performanceMetric,
  WEIGHT_OPTIONS,
} from '../performance/performance-metric.ts'

/**
 * Finds differences between two sets of logs by Welch's t-test of every feature of every variable. Null hypothesis: the
 * feature has the same mean before and after; positive t: later, more or larger after. With few instances, p is at
 * least the smallest p of a permutation test.
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §3.2.
 */
export function findDivergence(logs: LogSet, options: Partial<DivergenceOptions> = {}): Divergence {
  const chosen = readOptions(DIVERGENCE_OPTIONS, options)
  const test = tester(logs, instanceWeights(logs, chosen))
  const variables = VARIABLE_KINDS.flatMap((kind) => variablesOf(logs, kind, test, chosen))
  const { values } = performanceMetric(logs, chosen.metric)
  const { feature: _, ...performance } = test('count', values)
  return new Divergence({
    logs,
    options: chosen,
    variables: variables.sort(mostDivergentFirst),
    performance: { ...performance, q: performance.p, significant: performance.p < chosen.alpha },
  })
}

type Tester = ReturnType<typeof tester>

/** Returns the test of a feature, whose q and significance are open: those need all tests. */
function tester(logs: LogSet, weights: Float64Array | undefined) {
  const { before, after } = membersOf(logs, weights)
  const weighted = weights && {
    beforeWeights: picked(weights, before),
    afterWeights: picked(weights, after),
  }
  return (feature: Feature, values: Float64Array) => {
    const test = welch(picked(values, before), picked(values, after), weighted)
    // There may be a million tests: spreading takes several times the memory.
    return {
      feature,
      /** Welch's t, after minus before; NaN when not tested, ±Infinity for two constants. */
      t: test.statistic,
      df: test.df,
      p: Number.isFinite(test.statistic) || !test.tested ? test.p : Math.max(test.p, leastP(test)),
      q: Number.NaN,
      significant: false,
      tested: test.tested,
      beforeMean: test.beforeMean,
      afterMean: test.afterMean,
      beforeCount: test.beforeCount,
      afterCount: test.afterCount,
    }
  }
}

function variablesOf(
  logs: LogSet,
  kind: VariableKind,
  test: Tester,
  { alpha, correction }: DivergenceOptions,
): VariableDivergence[] {
  const features = logs.features(kind)
  const values = new Float64Array(logs.instances.length)
  const tests = features.names.map((_, variable) =>
    features.types.map((feature) => {
      features.of(variable, feature, values)
      const found = test(feature, values)
      const most = Math.max(found.beforeCount, found.afterCount)
      if (found.tested || feature !== 'mean' || most < 2 || isOfEvent(logs, variable)) return found
      // If hardly any instance of a class has it, the others count as 0: a message that did not come was not awaited.
      return test(
        feature,
        values.map((value) => (Number.isNaN(value) ? 0 : value)),
      )
    }),
  )
  const all = tests.flat()
  const q = CORRECTIONS[correction](
    Float64Array.from(all, (each) => Math.max(each.p, leastP(each))),
  )
  for (const [i, each] of all.entries()) {
    each.q = Number(q[i])
    each.significant = each.q < alpha
  }
  return features.names.map((name, variable) => {
    const own: readonly FeatureTest[] = tests[variable] ?? []
    const isConstant = own.some(({ feature, t }) => feature === 'mean' && Math.abs(t) === Infinity)
    return {
      name,
      kind,
      features: own,
      presence: presenceOf(logs, features, variable),
      score: sum(own, ({ t, significant }) => (significant ? Math.abs(t) : 0)),
      gravity: kind === 'event' ? gravityOf(name, logs.levels?.get(name)) : 0,
      idle: isConstant ? 'constant' : kind === 'event' && isTimer(logs, variable) ? 'timer' : null,
    }
  })
}

function isOfEvent({ events, states }: LogSet, state: number): boolean {
  const name = states.names[state] ?? ''
  const isOwn = (event: string) => name.startsWith(`${event}.`) || name.startsWith(`${event} #`)
  const having = states.rows(state, []).length
  return events.names.some((event, i) => isOwn(event) && events.rows(i, []).length === having)
}

const THROWN = 4

function gravityOf(name: string, level: Level | undefined): number {
  if (name.startsWith('threw ')) return THROWN
  return Math.max(0, LEVELS.indexOf(level ?? 'info') - LEVELS.indexOf('info'))
}

/** Corrections, which leave NaN as it is and do not count it. */
const CORRECTIONS = {
  none: (p: Float64Array) => p,
  bh: benjaminiHochberg,
  bonferroni: (p: Float64Array) => {
    const performed = p.filter((value) => !Number.isNaN(value)).length
    return p.map((value) => Math.min(1, value * performed))
  },
}

/** Returns the least p of a permutation test: of all ways to deal the values out, two are as extreme. */
function leastP({ beforeCount, afterCount }: Pick<WelchResult, 'beforeCount' | 'afterCount'>) {
  let ways = 1
  for (let i = 1; i <= beforeCount; i++) ways *= (afterCount + i) / i
  return 2 / ways
}

function mostDivergentFirst(a: VariableDivergence, b: VariableDivergence): number {
  const differ = a.score > 0 && b.score > 0
  return (
    (differ ? Number(a.idle !== null) - Number(b.idle !== null) : 0) ||
    bySeparation(a, b) ||
    descending(a.score, b.score) ||
    (differ ? ascending(`${a.kind} ${a.name}`, `${b.kind} ${b.name}`) : 0) ||
    PLACES.indexOf(a.presence.onlyIn) - PLACES.indexOf(b.presence.onlyIn) ||
    (a.presence.onlyIn === null ? largestFinite(b) - largestFinite(a) : 0) ||
    byPresence(a, b)
  )
}

const PLACES = ['after', 'before', null]

type Presence = Readonly<ReturnType<typeof presenceOf>>

function presenceOf(logs: LogSet, features: VariableFeatures, variable: number) {
  const { counts, classOf } = logs
  const rows = features.rows(variable, ['count'])
  const ofClass = (code: number) => rows.filter(({ instance }) => classOf[instance] === code)
  const [before, after] = [ofClass(0), ofClass(1)]
  // Not the sum of d3, for which NaN counts as 0.
  const messages = (own: typeof rows) => own.reduce((all, { count }) => all + count, 0)
  const [all, having] = [counts.before + counts.after, rows.length]
  const spread = having * (all - having) * counts.before * counts.after
  const excess = after.length * counts.before - before.length * counts.after
  const onlyIn: LogClass = before.length > 0 ? 'before' : 'after'
  return {
    before: before.length,
    after: after.length,
    beforeMessages: messages(before),
    afterMessages: messages(after),
    /** Fisher's exact test of whether a class has it in more of its instances, two-sided; uncorrected. */
    p: fisherExact(before.length, counts.before, after.length, counts.after).p,
    /** How well it separates the classes: the squared correlation of having it and being of a class. */
    separation: spread === 0 ? 0 : excess ** 2 / spread,
    onlyIn: before.length > 0 === after.length > 0 ? null : onlyIn,
  }
}

export const DIVERGENCE_OPTIONS = defineOptions({
  ...WEIGHT_OPTIONS,
  alpha: level({ default: 0.05, sentence: 'Significance level of the tests' }),
  correction: oneOf(['bonferroni', 'bh', 'none'], {
    default: 'bonferroni',
    sentence: "Correction for the number of tests; 'bh' is Benjamini-Hochberg",
    flag: 'correction <name>',
  }),
})
export type DivergenceOptions = OptionsOf<typeof DIVERGENCE_OPTIONS>

/** Whether one feature of one variable differs between the classes. */
export type FeatureTest = Readonly<ReturnType<Tester>>

/** Whether performance itself differs: a family of one test. */
export type PerformanceTest = Omit<FeatureTest, 'feature'>

export interface VariableDivergence {
  readonly name: string
  readonly kind: VariableKind
  /** Sum of |t| over significant features; Infinity where two constants differ. */
  readonly score: number
  readonly presence: Presence
  /** Why it can be no cause: a constant of each class, or a timer, which comes once a period of the run time. */
  readonly idle: 'constant' | 'timer' | null
  /** Gravity of its messages: 0 for plain ones, then warnings, errors, and thrown exceptions. */
  readonly gravity: number
  readonly features: readonly FeatureTest[]
}

/** Differences between two sets of logs, as found by `findDivergence`. */
export class Divergence extends columnarStage<{
  readonly logs: LogSet
  readonly options: DivergenceOptions
  /**
   * The most divergent first, but before all others events that tell the classes apart by whether they came;
   * constants and timers after all others that differ. Of others, those only after come first, then those only before.
   */
  readonly variables: readonly VariableDivergence[]
  readonly performance: PerformanceTest
}>() {
  readonly #byName = index(
    this.variables,
    ({ kind }) => kind,
    ({ name }) => name,
  )

  #ofKind(kind: VariableKind): readonly VariableDivergence[] {
    return [...(this.#byName.get(kind)?.values() ?? [])]
  }

  /** Returns the number of tests of variables of a kind: the family that they are corrected for. */
  tests(kind: VariableKind): number {
    return sum(this.#ofKind(kind), ({ features }) => features.filter(({ tested }) => tested).length)
  }

  /** Returns one variable; undefined if there is none of that name. */
  variable(kind: VariableKind, name: string): VariableDivergence | undefined {
    return this.#byName.get(kind)?.get(name)
  }

  /** Returns the variables that only one class logged: events, the gravest first, then those in more instances. */
  onlyIn(logClass: LogClass): readonly VariableDivergence[] {
    return this.variables.filter(({ presence }) => presence.onlyIn === logClass).sort(byPresence)
  }

  /** Returns the largest finite |t| of a kind, over all features; 0 where there is none. */
  largest(kind: VariableKind): number {
    return max(this.#ofKind(kind), largestFinite) ?? 0
  }

  /** Returns one row per variable, the most divergent first, with the feature that differs most. */
  table(): StageTable {
    const rows = this.variables.map(({ features, presence, ...variable }) => {
      const none = { feature: '', t: Number.NaN, beforeMean: Number.NaN, afterMean: Number.NaN }
      const strongest = largestT(features.filter(({ tested }) => tested)) ?? none
      return {
        ...strongest,
        ...variable,
        variable: variable.name,
        significant: features.filter(({ significant }) => significant).length,
        beforeInstances: presence.before,
        afterInstances: presence.after,
      }
    })
    return rowTable(rows, {
      ...own('variable kind score significant feature t'),
      ...own('beforeMean afterMean beforeInstances afterInstances'),
    })
  }
}

const SEPARATES = 0.5

/** Events that tell the classes apart by whether they came, the surest first, before all else. */
export function bySeparation(a: VariableDivergence, b: VariableDivergence): number {
  const [one = 0, other = 0] = [a, b].map(({ kind, score, presence: { separation } }) =>
    kind === 'event' && score > 0 && separation >= SEPARATES ? separation : 0,
  )
  return other - one
}

/** Events before states, which may be numbers in those; the gravest first, then in more instances and messages. */
export function byPresence(a: VariableDivergence, b: VariableDivergence): number {
  const [one, other] = [a.presence, b.presence]
  const messages = ({ beforeMessages, afterMessages }: Presence) =>
    beforeMessages + afterMessages || 0
  return (
    ascending(a.kind, b.kind) ||
    b.gravity - a.gravity ||
    other.before + other.after - (one.before + one.after) ||
    messages(other) - messages(one) ||
    ascending(a.name, b.name)
  )
}

/** Returns the significant feature with the largest |t|; shares of the run only where nothing else differs. */
export function strongestDifference({ features }: VariableDivergence): FeatureTest | undefined {
  const differing = features.filter(({ significant }) => significant)
  const others = differing.filter(({ feature }) => !isShareOfRun(feature))
  return largestT(others) ?? largestT(differing)
}

/** Returns the largest finite |t| of a variable; 0 where there is none. */
export function largestFinite({ features }: VariableDivergence): number {
  return max(features, ({ t }) => (Number.isFinite(t) ? Math.abs(t) : 0)) ?? 0
}

function largestT(tests: readonly FeatureTest[]): FeatureTest | undefined {
  const isMean = ({ feature }: FeatureTest) => Number(feature === 'mean')
  return greatest(tests, (a, b) => ascending(Math.abs(a.t), Math.abs(b.t)) || isMean(a) - isMean(b))
}

const MIN_INSTANCES = 3
/** Widest middle half of gaps, within an instance and of its instances, as a share of the period. */
const MAX_SPREAD = 0.15
const MIN_FITTING = 0.75

/**
 * Whether an event is a timer: it comes at even gaps, the same in all instances of a class, while they run. A fixed
 * amount of work logs equally often everywhere, and messages paced by a slow disk have other gaps in the other class.
 */
export function isTimer({ events, runTimeUs, classOf }: LogSet, event: number): boolean {
  if (!events.types.includes('count')) return false
  const rows = events.rows(event, ['gap', 'gapSpread', 'count'])
  const known = rows.filter(({ gap }) => gap > 0)
  if (new Set(rows.map(({ count }) => count)).size < 2) return false
  return LOG_CLASSES.every((_, code) => {
    const own = known.filter(({ instance }) => classOf[instance] === code)
    const periodUs = median(own, ({ gap }) => gap) ?? Number.NaN
    const [low = 0, high = 0] = [0.25, 0.75].map((p) => quantile(own, p, ({ gap }) => gap))
    const fitting = own.filter(({ count, instance }) => {
      const expected = Number(runTimeUs[instance]) / periodUs
      return Math.abs(count - expected) <= Math.max(1, MAX_SPREAD * expected) + 1
    })
    return (
      own.length >= MIN_INSTANCES &&
      high - low <= MAX_SPREAD * periodUs &&
      (median(own, ({ gapSpread }) => gapSpread) ?? 1) <= MAX_SPREAD &&
      fitting.length >= MIN_FITTING * own.length
    )
  })
}
