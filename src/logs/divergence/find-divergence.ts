import { ascending } from 'd3-array'
import { readOptions } from '../../core/options.ts'
import { benjaminiHochberg } from '../../stats/benjamini-hochberg.ts'
import { fisherExact } from '../../stats/fisher-exact.ts'
import { type WelchResult, welch } from '../../stats/welch.ts'
import {
  type Feature,
  LEVELS,
  type Level,
  VARIABLE_KINDS,
  type VariableKind,
} from '../features/features.ts'
import { AFTER, BEFORE, type LogSet, type VariableFeatures } from '../features/log-set.ts'
import { instanceWeights } from '../performance/instance-weights.ts'
import { performanceMetric } from '../performance/performance-metric.ts'
import {
  byPresence,
  bySeparation,
  DIVERGENCE_OPTIONS,
  Divergence,
  type DivergenceOptions,
  type FeatureTest,
  largestFinite,
  type Presence,
  type VariableDivergence,
} from './divergence.ts'
import { isTimer } from './timers.ts'

/**
 * Finds what differs between two sets of logs: Welch's t-test of every feature of every variable.
 * Null hypothesis: the feature has the same mean before and after; positive t: later, more or larger after.
 * Of few instances no p counts as less than that of a permutation test could be.
 *
 * Source: Nagaraj, Killian and Neville, NSDI 2012, §3.2.
 */
export function findDivergence(logs: LogSet, options: Partial<DivergenceOptions> = {}): Divergence {
  const chosen = readOptions(DIVERGENCE_OPTIONS, options)
  const groups = instanceGroups(logs, instanceWeights(logs, chosen))
  const variables = VARIABLE_KINDS.flatMap((kind) => variablesOf(logs, kind, groups, chosen))
  const { values } = performanceMetric(logs, chosen.metric)
  const { feature: _, ...test } = openTest('count', values, groups)
  return new Divergence({
    logs,
    options: chosen,
    variables: variables.sort(mostDivergentFirst),
    performance: { ...test, q: test.p, significant: test.p < chosen.alpha },
  })
}

type Groups = ReturnType<typeof instanceGroups>

interface Group {
  readonly members: readonly number[]
  /** Room for a value a member. */
  readonly values: Float64Array
}

function instanceGroups(logs: LogSet, weights: Float64Array | undefined) {
  const [before, after] = [BEFORE, AFTER].map((code): Group => {
    // An instance without performance has no weight by it.
    const members = [...logs.instances.keys()].filter(
      (instance) => logs.classOf[instance] === code && !Number.isNaN(weights?.[instance]),
    )
    return { members, values: new Float64Array(members.length) }
  }) as [Group, Group]
  if (weights === undefined) return { before, after }
  const beforeWeights = picked(weights, before).slice()
  const afterWeights = picked(weights, after).slice()
  return { before, after, weights: { beforeWeights, afterWeights } }
}

/** The values of a group, in its own room: what was picked before is lost. */
function picked(values: Float64Array, { members, values: room }: Group): Float64Array {
  for (let i = 0; i < members.length; i++) room[i] = Number(values[Number(members[i])])
  return room
}

type OpenTest = { -readonly [K in keyof FeatureTest]: FeatureTest[K] }

/** There may be a million of them: no spreading, which takes several times the memory. */
function openTest(
  feature: Feature,
  values: Float64Array,
  { before, after, weights }: Groups,
): OpenTest {
  const test = welch(picked(values, before), picked(values, after), weights)
  return {
    feature,
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

function variablesOf(
  logs: LogSet,
  kind: VariableKind,
  groups: Groups,
  { alpha, correction }: DivergenceOptions,
): VariableDivergence[] {
  const features = logs.features(kind)
  // One array for all: there may be a million tests.
  const values = new Float64Array(logs.instances.length)
  const tests = features.names.map((_, variable) =>
    features.types.map((feature) => {
      features.copy(variable, feature, values)
      const test = openTest(feature, values, groups)
      const most = Math.max(test.beforeCount, test.afterCount)
      if (test.tested || feature !== 'mean' || most < 2 || isOfEvent(logs, variable)) return test
      // What hardly any instance of a class has is nothing in the others: a wait for what did not come is none.
      values.forEach((value, i) => {
        if (Number.isNaN(value)) values[i] = 0
      })
      return openTest(feature, values, groups)
    }),
  )
  const all = tests.flat()
  // With few instances nothing is as sure as Welch's t may say.
  const p = Float64Array.from(all, (test) => Math.max(test.p, leastP(test)))
  const q = corrected(p, correction)
  // Filled in, not copied: there may be a million of them.
  for (const [i, test] of all.entries()) {
    test.q = Number(q[i])
    test.significant = test.q < alpha
  }
  const presenceOf = presences(logs, kind)
  return features.names.map((name, variable) => {
    const own: readonly FeatureTest[] = tests[variable] ?? []
    const score = own.reduce(
      (sum, { t, significant }) => sum + Number(significant && Math.abs(t)),
      0,
    )
    const gravity = kind === 'event' ? gravityOf(name, logs.levels?.get(name)) : 0
    const presence = presenceOf(variable)
    return {
      name,
      kind,
      features: own,
      presence,
      score,
      gravity,
      idle: idleOf(logs, kind, { variable, own }),
    }
  })
}

/** Whether a state is in no other instances than its event, which says the same. */
function isOfEvent({ events, states }: LogSet, state: number): boolean {
  const name = states.names[state] ?? ''
  const isOwn = (event: string) => name.startsWith(`${event}.`) || name.startsWith(`${event} #`)
  const having = states.entries(state).instances.length
  return events.names.some(
    (event, i) => isOwn(event) && events.entries(i).instances.length === having,
  )
}

function idleOf(
  logs: LogSet,
  kind: VariableKind,
  { variable, own }: { readonly variable: number; readonly own: readonly FeatureTest[] },
): VariableDivergence['idle'] {
  if (kind === 'event') return isTimer(logs, variable) ? 'timer' : null
  const mean = own.find(({ feature }) => feature === 'mean')
  return mean !== undefined && Math.abs(mean.t) === Number.POSITIVE_INFINITY ? 'constant' : null
}

const THROWN = 4

function gravityOf(name: string, level: Level | undefined): number {
  if (name.startsWith('threw ')) return THROWN
  return Math.max(0, LEVELS.indexOf(level ?? 'info') - LEVELS.indexOf('info'))
}

/** p-values made comparable with α; NaN stays NaN and counts in no family. */
function corrected(p: Float64Array, correction: DivergenceOptions['correction']): Float64Array {
  if (correction === 'none') return p
  if (correction === 'bh') return benjaminiHochberg(p)
  const performed = p.filter((value) => !Number.isNaN(value)).length
  return p.map((value) => Math.min(1, value * performed))
}

/** The least p of a permutation test: of all ways to deal the values out, two are as extreme. */
function leastP({
  beforeCount,
  afterCount,
}: Pick<WelchResult, 'beforeCount' | 'afterCount'>): number {
  let ways = 1
  for (let i = 1; i <= beforeCount; i++) ways *= (afterCount + i) / i
  return 2 / ways
}

function mostDivergentFirst(a: VariableDivergence, b: VariableDivergence): number {
  if (a.score > 0 && b.score > 0 && (a.idle === null) !== (b.idle === null)) {
    return a.idle === null ? -1 : 1
  }
  if (bySeparation(a, b) !== 0) return bySeparation(a, b)
  if (a.score !== b.score) return b.score - a.score
  if (a.score > 0) return ascending(`${a.kind} ${a.name}`, `${b.kind} ${b.name}`)
  const order = place(a) - place(b)
  if (order !== 0) return order
  const bySize = a.presence.onlyIn === null ? largestFinite(b) - largestFinite(a) : 0
  return bySize || byPresence(a, b)
}

/** What is new after tells more than what is missing. */
function place({ presence: { onlyIn } }: VariableDivergence): number {
  return onlyIn === 'after' ? 0 : onlyIn === 'before' ? 1 : 2
}

function presences(logs: LogSet, kind: VariableKind): (variable: number) => Presence {
  const { counts } = logs
  const features = logs.features(kind)
  // Of many variables most are in one instance: few tests are different ones.
  const known = new Map<string, number>()
  const test = (before: number, after: number) => {
    const key = `${before} ${after}`
    const p = known.get(key) ?? fisherExact(before, counts.before, after, counts.after).p
    known.set(key, p)
    return p
  }
  return (variable) => {
    const [before, after] = presentIn(logs.classOf, features, variable)
    return {
      before: before.instances,
      after: after.instances,
      beforeMessages: before.messages,
      afterMessages: after.messages,
      p: test(before.instances, after.instances),
      separation: separation(before.instances, after.instances, counts),
      onlyIn:
        before.instances === 0 && after.instances > 0
          ? 'after'
          : after.instances === 0 && before.instances > 0
            ? 'before'
            : null,
    }
  }
}

/** 0 where all instances have it, or none. */
function separation(before: number, after: number, counts: LogSet['counts']): number {
  const [all, having] = [counts.before + counts.after, before + after]
  const spread = having * (all - having) * counts.before * counts.after
  return spread === 0 ? 0 : (after * counts.before - before * counts.after) ** 2 / spread
}

interface Occurrences {
  instances: number
  /** NaN of state variables. */
  messages: number
}

/** In how many instances before and after a variable occurs. */
function presentIn(
  classOf: Uint8Array,
  features: VariableFeatures,
  variable: number,
): readonly [Occurrences, Occurrences] {
  const { instances: logged, values: valuesOf } = features.entries(variable)
  const columns = features.types.map((type) => ({ type, values: valuesOf(type) }))
  const numbers = columns.find(({ type }) => type === 'count')?.values
  const none = { instances: 0, messages: numbers === undefined ? Number.NaN : 0 }
  const found: [Occurrences, Occurrences] = [{ ...none }, { ...none }]
  for (const [entry, instance] of logged.entries()) {
    const isThere = columns.some(({ type, values }) => {
      const value = Number(values[entry])
      return type === 'count' ? value > 0 : !Number.isNaN(value)
    })
    if (!isThere) continue
    const own = found[classOf[instance] === AFTER ? 1 : 0]
    own.instances++
    own.messages += Number(numbers?.[entry])
  }
  return found
}
