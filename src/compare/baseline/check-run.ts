import { extent, mean, sum } from 'd3-array'
import { FlowdeltaError } from '../../core/errors.ts'
import { normalQuantile, tQuantile } from '../../stats/distributions.ts'
import { eDivisive } from '../../stats/e-divisive.ts'
import { stratifiedShift } from '../../stats/hodges-lehmann.ts'
import { moments } from '../../stats/moments.ts'
import { proportionInterval } from '../../stats/proportion-interval.ts'
import { quantile } from '../../stats/quantile.ts'
import { runShifts } from '../../stats/run-shifts.ts'
import { differenceInterval } from '../../stats/two-proportions.ts'
import { RUN_SPREAD, RUN_SPREAD_DF, SLOWEST, SMALL, SURE } from '../thresholds.ts'
import { type RunSummary, type TypeSummary, withNamesOfLast } from './run-summary.ts'

/** An estimate with the interval that holds for all types of requests together. */
export interface Estimate {
  readonly value: number
  readonly low: number
  readonly high: number
}

/** Difference of one type of request from the runs of the baseline. */
export interface CheckedType {
  readonly name: string
  /** Requests in the baseline and in the run; the latter 0 where none came any more. */
  readonly requests: readonly [baseline: number, run: number]
  /** Median response times, µs. */
  readonly medianUs: readonly [baseline: number, run: number]
  /** Typical ratio of response times, less 1: 0.05 is 5 % slower. */
  readonly shift: Estimate
  /**
   * Whether its typical request is slower than nearly all of every run before, of several, by three times what these
   * differ.
   */
  readonly isApart: boolean
  /** Whether more of its requests fail, for sure, than in each of several runs before. */
  readonly failsApart: boolean
  /** Share of requests that fail; by how much it grew. `null` where traces do not say. */
  readonly errors: Growth | null
  /** Share of requests slower than 99 % of those before; by how much it grew. `null` where none came. */
  readonly tail: (Growth & { readonly beyondUs: number }) | null
}

/** A share of requests, and by how much it grew. */
export interface Growth {
  readonly share: number
  readonly growth: Estimate
}

export interface RunCheck {
  readonly run: RunSummary
  /** Runs that it is checked against: those since the last change of level. */
  readonly baseline: readonly RunSummary[]
  readonly changes: readonly HistoryChange[]
  readonly types: readonly CheckedType[]
  /** Types that only the run has. */
  readonly added: readonly string[]
  /** Types that runs before had under another name. */
  readonly renamed: readonly { readonly was: string; readonly name: string }[]
}

interface HistoryChange {
  readonly run: string
  /** Place in the history, from 0 on. */
  readonly at: number
  /** Types with their typical response times, µs, up to the changes before and after this one. */
  readonly types: readonly {
    readonly name: string
    readonly levelsUs: readonly [before: number, after: number]
    readonly p: number
  }[]
}

/** Finds the times at which a history changed its level, by the types of requests common to all of its runs. */
export function historyChanges(runs: readonly RunSummary[]): HistoryChange[] {
  const names = (runs[0]?.types ?? []).map(({ name }) => name)
  const common = names.filter((name) => runs.every((run) => typeOf(run, name) !== undefined))
  const levels = common.map((name) => runs.map((run) => logLevel(typeOf(run, name))))
  const changes = eDivisive(levels)
  return changes.map(({ at, series }, i) => {
    const bounds = [changes[i - 1]?.at ?? 0, at, changes[i + 1]?.at ?? runs.length] as const
    const types = series.map(({ index, p }) => {
      const level = (from: number, to: number) =>
        Math.exp(moments((levels[index] as number[]).slice(from, to)).mean)
      const levelsUs = [level(bounds[0], at), level(at, bounds[2])] as const
      return { name: common[index] as string, levelsUs, p }
    })
    return { at, run: (runs[at] as RunSummary).name, types }
  })
}

/**
 * Checks a run against the runs of a history since its last change of level. Against one run,
 * requests are compared (Hodges-Lehmann shift of logarithms); against several, the run with how much
 * these differ from each other (`runShifts`). The intervals of all types hold together with
 * probability 1 − alpha (Bonferroni).
 */
export function checkRun(run: RunSummary, history: readonly RunSummary[], alpha = 0.05): RunCheck {
  // A run that was added twice tells no more than once.
  const once = [...new Map(history.map((one) => [JSON.stringify(one.types), one])).values()]
  const { runs, renamed } = withNamesOfLast([...once, run])
  const distinct = runs.slice(0, -1)
  const changes = historyChanges(distinct)
  const baseline = distinct.slice(changes.at(-1)?.at ?? 0)
  const known = new Set(baseline.flatMap(({ types }) => types.map(({ name }) => name)))
  const tested = run.types.filter(({ name }) => known.has(name))
  if (tested.length === 0) {
    throw new FlowdeltaError(
      'The run has no type of request that the baseline has. Give traces of the same services.',
    )
  }
  // Three intervals a type: of times, of failures and of slow requests.
  const level = alpha / tested.length / 3
  const shifts = (baseline.length === 1 ? ofRequests : ofRuns)(tested, baseline, level)
  const timesOf = (name: string) => baseline.flatMap((run) => typeOf(run, name)?.timesUs ?? [])
  const tailOf = (name: string) => quantile(Float64Array.from(timesOf(name)).sort(), 1 - SLOWEST)
  const beyondUs = new Map(Array.from(known, (name) => [name, tailOf(name)]))
  const slowOf = (type: TypeSummary) => slowerOf(type, beyondUs.get(type.name)!)
  const grows = (countOf: CountsOf, priorDf: number) => {
    const differences = { ...differencesOf([...known], baseline, countOf), priorDf }
    return (before: readonly TypeSummary[], now: TypeSummary) => {
      const usual = before.map(countOf)
      const spread = spreadOf(usual, differences, level)
      return growthOf(usual, countOf(now), { level, spread })
    }
  }
  // Tails of runs move with their levels, by as much as these differ.
  const [errorGrowth, tailGrowth] = [grows(failuresOf, RUN_SPREAD_DF), grows(slowOf, 0)]
  const types = Array.from(known, (name): CheckedType => {
    const now = typeOf(run, name)
    const before = baseline.flatMap((each) => typeOf(each, name) ?? [])
    const medians = Float64Array.from(before, ({ timesUs }) => quantile(timesUs, 0.5)).sort()
    return {
      name,
      requests: [sum(before, ({ requests }) => requests), now?.requests ?? 0],
      medianUs: [quantile(medians, 0.5), now ? quantile(now.timesUs, 0.5) : Number.NaN],
      shift: shifts[tested.indexOf(now as TypeSummary)] ?? asRatio(Number.NaN, 0, 0),
      isApart: now !== undefined && before.length > 1 && isApart(before, now),
      failsApart: now !== undefined && before.length > 1 && failsApart(before, now, level),
      errors: now === undefined ? null : errorGrowth(before, now),
      tail:
        now === undefined ? null : { ...tailGrowth(before, now)!, beyondUs: beyondUs.get(name)! },
    }
  })
  const added = run.types.map(({ name }) => name).filter((name) => !known.has(name))
  const names = new Set(run.types.map(({ name }) => name))
  return {
    run,
    baseline,
    changes,
    types,
    added,
    renamed: [...renamed].flatMap(([was, name]) => (names.has(name) ? { was, name } : [])),
  }
}

/** Returns the differences between shares of the runs before: Pearson's χ² of all types, and its degrees of freedom. */
function differencesOf(
  names: readonly string[],
  runs: readonly RunSummary[],
  countOf: CountsOf,
): { readonly squares: number; readonly df: number } {
  let [squares, df] = [0, 0]
  for (const name of names) {
    const own = runs.flatMap((run) => typeOf(run, name) ?? [])
    const counts = own.map(countOf)
    const share = sum(counts, ({ failed }) => failed ?? 0) / sum(counts, ({ requests }) => requests)
    if (!(share > 0 && share < 1)) continue
    df += own.length - 1
    squares += sum(
      counts,
      ({ failed, requests }) =>
        ((failed ?? 0) - requests * share) ** 2 / (requests * share * (1 - share)),
    )
  }
  return { squares, df }
}

/**
 * Returns the squared factor by which the intervals of a type's shares must be wider than those of independent
 * requests. Shares vary more between runs, and a few runs hardly show by how much (t instead of normal). Of two bounds
 * the nearer one holds: from these runs alone, or also from what runs usually do (`priorDf`).
 *
 * Sources: McCullagh and Nelder 1989, "Generalized linear models", §4.5 (the first); Smyth 2004 (see
 * `moderatedVariances`; the second).
 */
function spreadOf(
  usual: readonly Counts[],
  { squares, df, priorDf }: ReturnType<typeof differencesOf> & { readonly priorDf: number },
  level: number,
): number {
  if (df === 0) return 1
  const alike = 1 + RUN_SPREAD ** 2 * (mean(usual, ({ failed }) => failed ?? 0) ?? 0)
  const spreads = [0, priorDf].map((prior) => {
    const dispersion = (squares + prior * alike) / (df + prior)
    const wider = tQuantile(level, df + prior) / normalQuantile(1 - level / 2)
    return Math.max(1, dispersion) * wider ** 2
  })
  return Math.min(...spreads)
}

function isApart(before: readonly TypeSummary[], now: TypeSummary): boolean {
  const typicalUs = quantile(now.timesUs, 0.5)
  const levels = before.map(logLevel)
  const [low = 0, high = 0] = extent(levels)
  return (
    logLevel(now) - (mean(levels) ?? 0) > SURE * (high - low) &&
    before.every((each) => typicalUs > quantile(each.timesUs, 1 - SMALL))
  )
}

function failsApart(before: readonly TypeSummary[], now: TypeSummary, level: number): boolean {
  const growths = before.map((each) =>
    growthOf([failuresOf(each)], failuresOf(now), { level, spread: 1 }),
  )
  return growths.every((one) => (one?.growth.low ?? 0) > 0)
}

/**
 * Returns the growth of a share from exact intervals of both: a single failure is no surprise if hardly any request
 * failed.
 */
function growthOf(
  usual: readonly Counts[],
  { failed, requests }: Counts,
  { level, spread }: { readonly level: number; readonly spread: number },
): Growth | null {
  if (failed === null || usual.some((each) => each.failed === null)) return null
  const known = (failing: number, all: number) => ({
    share: failing / all,
    interval: proportionInterval(failing / spread, all / spread, { level: 1 - level }),
  })
  const was = known(
    sum(usual, (each) => each.failed ?? 0),
    sum(usual, (each) => each.requests),
  )
  const is = known(failed, requests)
  const [low, high] = differenceInterval(was, is)
  return { share: is.share, growth: { value: is.share - was.share, low, high } }
}

type Counts = Pick<TypeSummary, 'failed' | 'requests'>
type CountsOf = (type: TypeSummary) => Counts

function failuresOf(type: TypeSummary): Counts {
  return type.weighted ?? type
}

/** Counts the requests that are slower. If there are many, quantiles stand for them. */
function slowerOf({ requests, timesUs, slowestUs = [] }: TypeSummary, beyondUs: number): Counts {
  const isOfSlowest = beyondUs >= (slowestUs[0] ?? Number.POSITIVE_INFINITY)
  const times = isOfSlowest ? slowestUs : timesUs
  const share = times.filter((us) => us > beyondUs).length / times.length
  return { failed: Math.round(share * (isOfSlowest ? SMALL : 1) * requests), requests }
}

/** Compares with one run before, as if its requests were independent. */
function ofRequests(tested: readonly TypeSummary[], [base]: readonly RunSummary[], level: number) {
  return tested.map((now) => {
    const before = typeOf(base as RunSummary, now.name) as TypeSummary
    const stratum = { before: logTimes(before), after: logTimes(now) }
    const { shift, low, high } = stratifiedShift([stratum], { level: 1 - level, sorted: true })
    // Quantiles stand for more requests than there are: the interval goes with the root of these.
    const apart = (one: number, other: number) => Math.sqrt(1 / one + 1 / other)
    const narrower =
      apart(before.requests, now.requests) / apart(before.timesUs.length, now.timesUs.length)
    return asRatio(shift, (shift - low) * narrower, (high - shift) * narrower)
  })
}

/** Compares with several runs before, by how far their levels lie apart. */
function ofRuns(tested: readonly TypeSummary[], baseline: readonly RunSummary[], level: number) {
  const measures = tested.map((now) => {
    const all = [...baseline.map((each) => typeOf(each, now.name)), now]
    const within = all.flatMap((each) => (each ? moments(logTimes(each)).variance : []))
    const counts = all.map((each) => each?.requests ?? 0)
    const variance = mean(within.filter((one) => one > 0)) ?? 0
    return { strata: [{ means: all.map(logLevel), counts }], variance }
  })
  return runShifts(measures).map(({ shift, t, df }, i) => {
    // Levels that hardly differ still are as unsure as their requests make them.
    const { strata, variance } = measures[i] as (typeof measures)[number]
    const counts = strata[0]?.counts ?? []
    const requests = counts.at(-1) as number
    const ofRequests = Math.sqrt(variance * (1 / requests + 1 / (sum(counts) - requests)))
    const ofRuns =
      Number.isFinite(t) && shift !== 0 ? Math.abs(shift / t) * tQuantile(level, df) : 0
    const reach = Math.max(ofRuns, ofRequests * normalQuantile(1 - level / 2))
    const known = df > 0 ? reach : Number.POSITIVE_INFINITY
    return asRatio(shift, known, known)
  })
}

function asRatio(shift: number, below: number, above: number): Estimate {
  const [value, low, high] = [shift, shift - below, shift + above].map(Math.expm1)
  return { value, low, high } as Estimate
}

function typeOf({ types }: RunSummary, name: string): TypeSummary | undefined {
  return types.find((type) => type.name === name)
}

/** Shortest time, in µs: shorter ones count as a nanosecond. */
const MIN_US = 1e-3

function logTimes({ timesUs }: TypeSummary): number[] {
  return timesUs.map((us) => Math.log(Math.max(MIN_US, us)))
}

function logLevel(type: TypeSummary | undefined): number {
  return type === undefined ? Number.NaN : moments(logTimes(type)).mean
}

/** Type of requests with the verdict of `--fail-on` and `--warn-on`. */
export interface JudgedType extends CheckedType {
  readonly verdict: 'pass' | 'warn' | 'fail'
  /** Conditions that make it fail, or else warn. */
  readonly conditions: readonly string[]
  /** Whether it warns of a shift, or of failures, that runs before are too few to be sure of. */
  readonly isUntold: boolean
  /** Conditions of `--fail-on` that its interval does not rule out. */
  readonly possible: readonly string[]
}

/** Limits for a type of requests. */
interface RunCondition {
  readonly text: string
  readonly holds: (type: CheckedType, check: RunCheck) => boolean
}

interface RunConditions {
  readonly failOn: readonly RunCondition[]
  readonly warnOn: readonly RunCondition[]
  /** Conditions for quantities that no given condition judges. */
  readonly byDefault: readonly RunCondition[]
}

/** Judges each type of requests of a run: it fails, else warns, else passes. */
export function judgeTypes(
  check: RunCheck,
  { failOn, warnOn, byDefault }: RunConditions,
): JudgedType[] {
  const meets = (type: CheckedType, given: readonly RunCondition[]) =>
    given.filter(({ holds }) => holds(type, check)).map(({ text }) => text)
  return check.types.map((type): JudgedType => {
    // A result up to the other bounds cannot be ruled out.
    const worstOf = (of: Estimate) => ({ ...of, low: of.high })
    const { errors, tail } = type
    const worst = {
      ...type,
      shift: worstOf(type.shift),
      errors: errors && { ...errors, growth: worstOf(errors.growth) },
      tail: tail && { ...tail, growth: worstOf(tail.growth) },
    }
    const fails = meets(type, failOn)
    // With only a few earlier runs, a result far worse than any of them is a warning, not a pass.
    const isSlower = type.isApart && !(type.shift.low > 0)
    const isUntold = isSlower || failsUntold(type)
    const warns = [
      ...(isUntold ? meets(worst, [...failOn, ...warnOn]) : meets(type, warnOn)),
      ...meets(type, byDefault),
    ]
    return {
      ...type,
      verdict: fails.length > 0 ? 'fail' : warns.length > 0 ? 'warn' : 'pass',
      conditions: fails.length > 0 ? fails : warns,
      isUntold: fails.length === 0 && warns.length > 0 && isUntold,
      possible: meets(worst, failOn).filter((each) => each.includes('>')),
    }
  })
}

/** Whether clearly more requests fail than in each run before, which are too few to be sure of it. */
export function failsUntold({ failsApart, errors }: CheckedType): boolean {
  return failsApart && !((errors?.growth.low ?? 0) > 0)
}
