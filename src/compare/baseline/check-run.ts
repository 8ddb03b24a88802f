import { sum } from 'd3-array'
import { FlowdeltaError } from '../../core/errors.ts'
import { twoSidedTP } from '../../stats/distributions.ts'
import { eDivisive } from '../../stats/e-divisive.ts'
import { stratifiedShift } from '../../stats/hodges-lehmann.ts'
import { moments } from '../../stats/moments.ts'
import { proportionInterval } from '../../stats/proportion-interval.ts'
import { quantile } from '../../stats/quantile.ts'
import { runShifts } from '../../stats/run-shifts.ts'
import type { RunSummary, TypeSummary } from './run-summary.ts'

/** An estimate with the interval that holds for all types of requests together. */
export interface Estimate {
  readonly value: number
  readonly low: number
  readonly high: number
}

/** How requests of one type differ from the runs of the baseline. */
export interface CheckedType {
  readonly name: string
  /** Requests in the baseline and in the run; the latter 0 where none came any more. */
  readonly requests: readonly [baseline: number, run: number]
  /** Median response times, µs. */
  readonly medianUs: readonly [baseline: number, run: number]
  /** Typical ratio of response times, less 1: 0.05 is 5 % slower. */
  readonly shift: Estimate
  /** Share of requests that fail; by how much it grew. `null` where traces do not say. */
  readonly errors: { readonly share: number; readonly growth: Estimate } | null
}

export interface RunCheck {
  readonly run: RunSummary
  /** Runs that it is checked against: those since the last change of level. */
  readonly baseline: readonly RunSummary[]
  readonly changes: readonly HistoryChange[]
  readonly types: readonly CheckedType[]
  /** Types that only the run has. */
  readonly added: readonly string[]
}

/** A change of level between two runs of a history. */
export interface HistoryChange {
  /** Name of the first run at the new level, and its place in the history, from 0 on. */
  readonly run: string
  readonly at: number
  readonly types: readonly {
    readonly name: string
    /** Typical response times, µs, of the runs since the change before and until the next. */
    readonly beforeUs: number
    readonly afterUs: number
    readonly p: number
  }[]
}

/** Finds where a history changed its level, by the types of requests that all of its runs have. */
export function historyChanges(runs: readonly RunSummary[], alpha = 0.05): HistoryChange[] {
  const names = (runs[0]?.types ?? [])
    .map(({ name }) => name)
    .filter((name) => runs.every((run) => typeOf(run, name) !== undefined))
  const levels = names.map((name) => runs.map((run) => logLevel(typeOf(run, name))))
  const changes = eDivisive(levels, { alpha })
  return changes.map(({ at, series }, i) => {
    const [from, to] = [changes[i - 1]?.at ?? 0, changes[i + 1]?.at ?? runs.length]
    const mean = (index: number, first: number, end: number) =>
      Math.exp(moments((levels[index] as number[]).slice(first, end)).mean)
    return {
      at,
      run: (runs[at] as RunSummary).name,
      types: series.map(({ index, p }) => ({
        name: names[index] as string,
        beforeUs: mean(index, from, at),
        afterUs: mean(index, at, to),
        p,
      })),
    }
  })
}

/**
 * Checks a run against the runs of a history since its last change of level. Against one run,
 * requests are compared (Hodges-Lehmann shift of logarithms); against several, the run with how much
 * these differ from each other (`runShifts`). The intervals of all types hold together with
 * probability 1 − alpha (Bonferroni).
 */
export function checkRun(run: RunSummary, history: readonly RunSummary[], alpha = 0.05): RunCheck {
  const changes = historyChanges(history, alpha)
  const baseline = history.slice(changes.at(-1)?.at ?? 0)
  const known = new Set(baseline.flatMap(({ types }) => types.map(({ name }) => name)))
  const tested = run.types.filter(({ name }) => known.has(name))
  if (tested.length === 0) {
    throw new FlowdeltaError(
      'The run has no type of request that the baseline has. Give traces of the same services.',
    )
  }
  // Two intervals a type: of times and of failures.
  const level = alpha / tested.length / 2
  const shifts = baseline.length === 1 ? ofRequests : ofRuns
  const gone = Array.from(known).filter((name) => typeOf(run, name) === undefined)
  return {
    run,
    baseline,
    changes,
    types: [
      ...shifts(tested, baseline, level).map((shift, i) =>
        checkedType((tested[i] as TypeSummary).name, { run, baseline, shift, level }),
      ),
      ...gone.map((name) => checkedType(name, { run, baseline, shift: UNKNOWN, level })),
    ],
    added: run.types.map(({ name }) => name).filter((name) => !known.has(name)),
  }
}

const UNKNOWN: Estimate = { value: Number.NaN, low: Number.NaN, high: Number.NaN }

function checkedType(
  name: string,
  {
    run,
    baseline,
    shift,
    level,
  }: {
    readonly run: RunSummary
    readonly baseline: readonly RunSummary[]
    readonly shift: Estimate
    readonly level: number
  },
): CheckedType {
  const now = typeOf(run, name)
  const before = baseline.flatMap((each) => typeOf(each, name) ?? [])
  const medians = Float64Array.from(before, ({ timesUs }) => quantile(timesUs, 0.5)).sort()
  return {
    name,
    requests: [sum(before, ({ requests }) => requests), now?.requests ?? 0],
    medianUs: [quantile(medians, 0.5), now === undefined ? Number.NaN : quantile(now.timesUs, 0.5)],
    shift,
    errors: now === undefined ? null : errorGrowth(before, now, level),
  }
}

/** Newcombe's interval of the difference of two shares, from intervals of each. */
function errorGrowth(
  before: readonly TypeSummary[],
  { failed, requests }: TypeSummary,
  level: number,
): CheckedType['errors'] {
  if (failed === null || before.some((each) => each.failed === null)) return null
  const [x, n] = [sum(before, (each) => each.failed ?? 0), sum(before, (each) => each.requests)]
  const [usual, share] = [x / n, failed / requests]
  const [usualLow, usualHigh] = proportionInterval(x, n, { level: 1 - level })
  const [low, high] = proportionInterval(failed, requests, { level: 1 - level })
  const value = share - usual
  return {
    share,
    growth: {
      value,
      low: value - Math.hypot(share - low, usualHigh - usual),
      high: value + Math.hypot(high - share, usual - usualLow),
    },
  }
}

/** Of one run before: by its requests, as if they were independent. */
function ofRequests(
  tested: readonly TypeSummary[],
  [base]: readonly RunSummary[],
  level: number,
): Estimate[] {
  return tested.map((now) => {
    const before = typeOf(base as RunSummary, now.name) as TypeSummary
    const stratum = { before: logTimes(before), after: logTimes(now) }
    const { shift, low, high } = stratifiedShift([stratum], { level: 1 - level, sorted: true })
    // Quantiles stand for more requests than there are: the interval goes with the root of these.
    const narrower = Math.sqrt(
      (1 / before.requests + 1 / now.requests) /
        (1 / before.timesUs.length + 1 / now.timesUs.length),
    )
    return asRatio(shift, (shift - low) * narrower, (high - shift) * narrower)
  })
}

/** Of several: by how far their levels lie apart. */
function ofRuns(
  tested: readonly TypeSummary[],
  baseline: readonly RunSummary[],
  level: number,
): Estimate[] {
  const measures = tested.map((now) => {
    const all = [...baseline.map((each) => typeOf(each, now.name)), now]
    const within = all.flatMap((each) => (each === undefined ? [] : moments(logTimes(each))))
    const known = within.filter(({ count }) => count > 1)
    return {
      strata: [{ means: all.map(logLevel), counts: all.map((each) => each?.requests ?? 0) }],
      variance: known.length === 0 ? 0 : moments(known.map(({ variance }) => variance)).mean,
    }
  })
  return runShifts(measures).map(({ shift, t, df }) => {
    const reach = shift === 0 ? 0 : Math.abs(shift / t) * tQuantile(level, df)
    return Number.isNaN(reach) ? asRatio(shift, Infinity, Infinity) : asRatio(shift, reach, reach)
  })
}

function asRatio(shift: number, below: number, above: number): Estimate {
  return {
    value: Math.expm1(shift),
    low: Math.expm1(shift - below),
    high: Math.expm1(shift + above),
  }
}

/** The t that is exceeded to either side with this probability, by bisection. */
function tQuantile(p: number, df: number): number {
  if (!(df > 0)) return Number.NaN
  let [low, high] = [0, 1]
  while (twoSidedTP(high, df) > p && high < 1e12) high *= 2
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2
    if (twoSidedTP(middle, df) > p) low = middle
    else high = middle
  }
  return high
}

function typeOf({ types }: RunSummary, name: string): TypeSummary | undefined {
  return types.find((type) => type.name === name)
}

/** Of times below a nanosecond, that of one. */
const MIN_US = 1e-3

function logTimes({ timesUs }: TypeSummary): number[] {
  return timesUs.map((us) => Math.log(Math.max(MIN_US, us)))
}

function logLevel(type: TypeSummary | undefined): number {
  return type === undefined ? Number.NaN : moments(logTimes(type)).mean
}
