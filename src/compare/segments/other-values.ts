// Runs once a row and column: the loops index with `!`.
import { greatest, group, median, range, sum } from 'd3-array'
import { percent } from '../../core/words.ts'
import { AFTER, BEFORE, type Period } from '../../flows/flow-set.ts'
import { normalP } from '../../stats/distributions.ts'
import { mannWhitney } from '../../stats/mann-whitney.ts'
import { condition } from '../../traces/selection/condition.ts'
import type { Measured } from './measured.ts'
import { type CodedRows, FIRST_VALUE, type RequestColumn } from './request-columns.ts'
import { subjectOf } from './segment-words.ts'
import type { OtherValues } from './segments.ts'

/** Smallest number of calls before from which a value's time is known. */
const MIN_KNOWN = 2
/** Values of which it is not known may be those of this share of the calls. */
const MAX_UNKNOWN = 0.05
/** Share of pairs of a call before and one after in which numbers differ the same way. */
const NEARLY_ALL = 0.9
/** Share of pairs between the first and second half of a period in which growing numbers differ the same way. */
const GROWING = 0.75
/** Largest remaining change of calls with the same value, as a share of the whole change. */
export const MAX_LEFT = 1 / 3

/**
 * Finds attributes whose values calls have more or less often than before, where calls with the same value
 * hardly changed: cold starts, misses of a cache, longer answers. A segment has calls that take longer than
 * like ones before; here, only the mix of calls is another.
 *
 * Null hypothesis: calls of both periods have values that took as long before, in the mean; by z within
 * operations. `surely` corrects for how many attributes are tested.
 *
 * Sources: Kitagawa 1955, "Components of a difference between two rates"; Oaxaca 1973.
 */
export function otherValues(measured: Measured, columns: readonly CodedRows[]): OtherValues[] {
  const { measure, isSure, step, call } = measured
  const isOfCalls = measure === 'structure' && call !== null
  const isOfTimes = measure === 'time' && step !== null && step.kind !== 'request'
  if (!isSure || !(isOfTimes || isOfCalls)) return []
  const main = mainStratum(measured)
  return columns.map((coded) => {
    const { mix, left, error, isKnown } = mixOf(measured, coded)
    const of = { step: isOfTimes ? step : null, call, attribute: coded.column.attribute }
    if (isOfTimes && isApart(main, coded)) {
      return { ...of, amount: Number.NaN, p: 0, text: wordsOf(main, coded) }
    }
    // An attribute that only some calls have may be what the call itself records.
    const isOfAll = isOfTimes || coded.codes.every((code) => code >= FIRST_VALUE)
    const isMost = isKnown && isOfAll && Math.abs(left) < MAX_LEFT * Math.abs(mix + left)
    const p = isKnown ? normalP(mix / error, 'two-sided') : 1
    return { ...of, amount: mix, p, text: isMost ? wordsOf(measured, coded) : '' }
  })
}

type Two = [before: Float64Array, after: Float64Array]

/** Attributes no call of a step has a value of that any had before, though the step takes as long: a redeploy. */
export function replacedInVain(measured: Measured, columns: readonly CodedRows[]): string[] {
  const { measure, isSure, step } = measured
  if (measure !== 'time' || isSure || step === null || step.kind === 'request') return []
  const main = mainStratum(measured)
  return columns.filter((coded) => isApart(main, coded)).map(({ column }) => column.attribute)
}

/** Returns the calls of the operation that changed by most in all. */
function mainStratum(measured: Measured): Measured {
  const { strata, offsets, values } = measured
  const most = greatest(strata.keys(), (stratum) => {
    const [was, is] = [0, 1].map((i) =>
      values.subarray(offsets[2 * stratum + i]!, offsets[2 * stratum + i + 1]!),
    ) as [Float64Array, Float64Array]
    return Math.abs(sum(is) - (is.length * sum(was)) / was.length)
  })!
  return { ...measured, strata: [strata[most]!], offsets: offsets.subarray(2 * most, 2 * most + 3) }
}

/**
 * Whether no call has a value that any had before: one value became another, or numbers of nearly all calls
 * are larger than before, or smaller, and do not merely grow with time.
 */
function isApart({ offsets, blocks }: Measured, { column, codes }: CodedRows): boolean {
  const ofPeriod = (period: Period) => range(offsets[period]!, offsets[period + 1]!)
  const isOrdered = (first: readonly number[], then: readonly number[], share: number) => {
    const [one, other] = [first, then].map((rows) => rows.map((row) => codes[row]!))
    return Math.abs(mannWhitney(one!, other!).probabilitySlower - 0.5) > share - 0.5
  }
  const isGrowing = (rows: readonly number[]) => {
    const middle = median(rows, (row) => blocks[row]!)!
    const [one, other] = group(rows, (row) => blocks[row]! > middle)
    return one !== undefined && other !== undefined && isOrdered(one[1], other[1], GROWING)
  }
  const [before, after] = [ofPeriod(BEFORE), ofPeriod(AFTER)]
  if ([...before, ...after].some((row) => codes[row]! < FIRST_VALUE)) return false
  if (column.kind !== 'numbers') {
    const [was, is] = [before, after].map((rows) => new Set(rows.map((row) => codes[row]!)))
    return was!.size === 1 && is!.size === 1 && ![...was!].some((one) => is!.has(one))
  }
  return isOrdered(before, after, NEARLY_ALL) && !isGrowing(before) && !isGrowing(after)
}

/**
 * Returns the tested values that surely explain the calls' time. A replaced value explains nothing if the same
 * replacement left other calls as fast as before.
 */
export function surely(
  all: readonly OtherValues[],
  { alpha, inVain }: { readonly alpha: number; readonly inVain: ReadonlySet<string> },
): OtherValues[] {
  return all.filter(({ text, p, amount, attribute }) => {
    const isReplaced = Number.isNaN(amount)
    return text !== '' && p * all.length < alpha && !(isReplaced && inVain.has(attribute))
  })
}

/** Returns the part of the change that other values account for, with its standard error, and the part left. */
function mixOf({ offsets, values, strata }: Measured, { column, codes }: CodedRows) {
  let [mix, left, variance, unknown, calls] = [0, 0, 0, 0, 0]
  const ofPeriods = () => [BEFORE, AFTER].map(() => new Float64Array(column.values.length)) as Two
  const [counts, sums] = [ofPeriods(), ofPeriods()]
  for (const stratum of strata.keys()) {
    for (const period of [BEFORE, AFTER] satisfies Period[]) {
      counts[period].fill(0)
      sums[period].fill(0)
      const group = 2 * stratum + period
      for (let row = offsets[group]!; row < offsets[group + 1]!; row++) {
        counts[period][codes[row]!]!++
        sums[period][codes[row]!]! += values[row]!
      }
    }
    const [then, now] = counts.map((own) => sum(own)) as [number, number]
    const usual = sum(sums[BEFORE]) / then
    calls += now
    for (let code = 0; code < column.values.length; code++) {
      const [had, has] = [counts[BEFORE][code]!, counts[AFTER][code]!]
      const isKnown = had >= MIN_KNOWN
      if (!isKnown) unknown += has
      const ofValue = isKnown ? sums[BEFORE][code]! / had - usual : 0
      mix += has * ofValue
      left += sums[AFTER][code]! - has * (usual + ofValue)
      // Of a mean before, as many calls as after.
      variance += (has + (now / then) ** 2 * had) * ofValue ** 2
    }
  }
  const isKnown = unknown <= MAX_UNKNOWN * calls
  return { mix, left, error: Math.sqrt(variance), isKnown }
}

/** Says which value is more or less frequent by most, or of numbers, how large they are. */
function wordsOf(measured: Measured, { column, codes }: CodedRows): string {
  const shares = [BEFORE, AFTER].map((period) => sharesOf(measured, codes, period as Period))
  const [before, after] = shares as [Map<number, number>, Map<number, number>]
  const subject = subjectOf(column)
  if (column.kind === 'numbers') {
    const [was, is] = [before, after].map((own) => typical(column, own))
    return was === is ? '' : `typically ${condition(subject, 'is', [is!]).text} (${was} before)`
  }
  const moved = (code: number) => (after.get(code) ?? 0) - (before.get(code) ?? 0)
  const code = greatest(
    [...after.keys()].filter((one) => one >= FIRST_VALUE),
    moved,
  )
  if (code === undefined || moved(code) <= 0) return ''
  const [then, now] = [before, after].map((own) => percent(own.get(code) ?? 0))
  const { text } = condition(subject, 'is', [column.values[code]!])
  return before.has(code)
    ? `${text} comes more often (${now} of calls, ${then} before)`
    : `${text} in ${now} of calls (0 % before)`
}

function sharesOf({ offsets }: Measured, codes: Uint16Array, period: Period): Map<number, number> {
  const counts = new Map<number, number>()
  for (let group = period as number; group < offsets.length - 1; group += 2) {
    for (let row = offsets[group]!; row < offsets[group + 1]!; row++) {
      counts.set(codes[row]!, (counts.get(codes[row]!) ?? 0) + 1)
    }
  }
  const all = sum(counts.values())
  return new Map([...counts].map(([code, count]) => [code, count / all]))
}

/** Returns the median of binned numbers to two digits, evenly spread within its bin. */
function typical({ values }: RequestColumn, shares: ReadonlyMap<number, number>): string {
  const half = sum(shares, ([code, share]) => (code < FIRST_VALUE ? 0 : share)) / 2
  let below = 0
  for (let code = FIRST_VALUE; code < values.length; code++) {
    const own = shares.get(code) ?? 0
    if (own > 0 && below + own >= half) {
      const [low, high] = [Number(values[code]), Number(values[code + 1] ?? values[code])]
      return String(Number((low + ((half - below) / own) * (high - low)).toPrecision(2)))
    }
    below += own
  }
  return ''
}
