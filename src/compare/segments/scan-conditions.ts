// Runs once a request and column: the loops index with `!`.

import { range, sum } from 'd3-array'
import { normalP } from '../../stats/distributions.ts'
import { pooledQuantile } from '../../stats/quantile.ts'
import {
  BEAM,
  MAX_FOLLOWED,
  MAX_TRIED,
  MAX_VALUES,
  MIN_KNOWN,
  MIN_SEEN,
  PRIOR_COUNT,
  ROUNDS,
  SURE,
} from '../thresholds.ts'
import type { Measured } from './measured.ts'
import {
  type CodedRows,
  FIRST_VALUE,
  MISSING,
  RARE,
  type RequestColumn,
} from './request-columns.ts'

export interface Condition {
  readonly column: RequestColumn
  readonly codes: ReadonlySet<number>
}

export interface Candidate {
  readonly conditions: readonly Condition[]
  /** Stratum that it is restricted to; `null` for all. */
  readonly stratum: number | null
  /** Excess of their change over that of others, in standard errors. */
  readonly z: number
  /** Score of likelihood: `z²` less twice the log of `choices`, except for columns. */
  readonly score: number
  readonly choices: number
}

export function candidateKey({ conditions, stratum }: Candidate): string {
  const texts = conditions.map(({ column: { attribute, service, kind }, codes }) =>
    JSON.stringify([attribute, service, kind, ...codes]),
  )
  return `${stratum} ${texts}`
}

function bestOf(candidates: readonly Candidate[]): Candidate[] {
  return candidates.toSorted((a, b) => b.score - a.score).slice(0, MAX_TRIED)
}

/** Counts and sums of both scores before and after: `[nb, na, rb, ra, tb, ta]`. */
const FIELDS = 6
type Sums = Float64Array

interface Contrasted {
  readonly stratum: number | null
  readonly withNew: boolean
}

/** Some rows, ascending; those of stratum `s` in period `p` end before `ends[2 s + p + 1]`. */
interface GroupedRows {
  readonly rows: Uint32Array
  readonly ends: Uint32Array
}

/**
 * Finds conditions, single and in pairs, under which the measure changed more than elsewhere, by ranks within strata
 * and the share of the slowest twentieth.
 */
export class ConditionScan {
  readonly #measured: Measured
  readonly #columns: readonly CodedRows[]
  readonly #isOut: Uint8Array | null
  readonly #scores: readonly Float64Array[]
  readonly #strata: readonly (number | null)[]
  readonly #totals = new Map<number | null, Sums>()
  readonly #variances = new Map<number | null, readonly number[]>()
  readonly #everyRow: GroupedRows
  /** Tally of each column. */
  readonly #cells = new Map<RequestColumn, Float64Array>()
  readonly #within = new Map<string, readonly Sums[]>()

  constructor(measured: Measured, columns: readonly CodedRows[], isOut: Uint8Array | null) {
    this.#measured = measured
    this.#columns = columns
    this.#isOut = isOut
    this.#scores = measured.measure === 'time' ? rankScores(measured) : [centered(measured)]
    const numbers = Array.from(measured.strata.keys())
    this.#strata = numbers.length === 1 ? [null] : [null, ...numbers]
    this.#everyRow = this.#rowsWhere(() => true, null)
    const cells = this.#tally(new Uint8Array(measured.values.length), 1, this.#everyRow)
    for (const stratum of this.#strata) {
      this.#totals.set(stratum, this.#sumsOf(cells, 1, stratum))
      this.#variances.set(stratum, this.#varianceOf(stratum))
    }
    for (const { column, codes } of columns) {
      this.#cells.set(column, this.#tally(codes, column.values.length, this.#everyRow))
    }
  }

  /** Returns conditions whose requests changed unlike the rest, likeliest first; `withNew` includes new values. */
  candidates(withNew: boolean): Candidate[] {
    const all = this.#columns.length
    const singles = this.#columns.flatMap(({ column }) => this.#singles(column, withNew))
    const pairs = bestOf(singles)
      .slice(0, BEAM)
      .flatMap((first) => this.#pairs(first, withNew))
    // Singles and pairs share the level; so do columns, whatever number of values each has.
    return bestOf([
      ...singles.map((one) => ({ ...one, choices: 2 * all * one.choices })),
      ...pairs.map((one) => ({ ...one, choices: 2 * all ** 2 * one.choices })),
    ])
  }

  #singles(column: RequestColumn, withNew: boolean): Candidate[] {
    const { length } = this.#strata
    return this.#strata.flatMap((stratum) => {
      const share = length === 1 ? 1 : stratum === null ? 2 : 2 * (length - 1)
      const sums = this.#sumsOf(this.#cells.get(column)!, column.values.length, stratum)
      return this.#divisions(column, sums, { stratum, share, withNew, isWithin: false })
    })
  }

  #pairs(first: Candidate, withNew: boolean): Candidate[] {
    const [condition] = first.conditions as [Condition]
    const { stratum } = first
    const columns = this.#columns
    const parent = this.#knownSums(condition, stratum)
    const within = this.#sumsWithin(first)
    const at = columns.findIndex(({ column }) => column === condition.column)
    return columns.flatMap(({ column }, i) => {
      if (i === at) return []
      const sums = within[i]!
      const how = { stratum, share: 1, withNew, isWithin: true }
      return bestOf(this.#divisions(column, sums, how))
        .slice(0, MAX_FOLLOWED)
        .flatMap((second): Candidate[] => {
          const [added] = second.conditions as [Condition]
          const both = sumOf(sums, added.codes)
          const other = this.#knownSums(added, stratum)
          // Each condition must tell requests apart among those for which the other holds.
          const needed = [parent, other].every((around) => {
            const { z, isSwapped } = this.#contrast(both, around, { stratum, withNew })
            return !isSwapped && z * z > SURE ** 2 + 2 * Math.log(columns.length * second.choices)
          })
          const choices = first.choices * second.choices
          const score = second.z ** 2 - 2 * Math.log(choices * columns.length)
          const conditions = i < at ? [added, condition] : [condition, added]
          return needed ? [{ ...second, conditions, choices, score }] : []
        })
    })
  }

  #divisions(
    column: RequestColumn,
    sums: Sums,
    {
      share,
      isWithin,
      ...how
    }: Contrasted & { readonly share: number; readonly isWithin: boolean },
  ): Candidate[] {
    const { stratum } = how
    return this.#partitionsOf(column, sums, isWithin).flatMap(({ codes: chosen, choices: own }) => {
      const choices = own * share
      const all = this.#totals.get(stratum)!
      const { z: found, isSwapped } = this.#contrast(sumOf(sums, chosen), all, how)
      const codes = isSwapped ? othersAfter(sums, chosen, column.kind) : chosen
      const z = isSwapped ? this.#contrast(sumOf(sums, codes), all, how).z : found
      // Within a first condition, only rows inside both conditions count.
      if (Math.abs(z) < SURE || (isSwapped && isWithin)) return []
      const score = z * z - 2 * Math.log(choices)
      return [{ conditions: [{ column, codes }], stratum, z: Math.abs(z), score, choices }]
    })
  }

  /** Returns (after − before inside) − (after − before outside) over its standard error, of either score. */
  #contrast(inside: Sums, all: Sums, { stratum, withNew }: Contrasted) {
    const [inBefore, inAfter, allBefore, allAfter] = [inside[0]!, inside[1]!, all[0]!, all[1]!]
    const [outBefore, outAfter] = [allBefore - inBefore, allAfter - inAfter]
    const isNew =
      withNew && inBefore === 0 && (inAfter / Math.max(1, allAfter)) * allBefore >= MIN_KNOWN
    const enough = Math.min(inAfter, outAfter, outBefore, isNew ? MIN_SEEN : inBefore)
    if (enough < MIN_SEEN) return { z: 0, isSwapped: false }
    const weight =
      1 / inAfter + 1 / outAfter + (isNew ? 1 / outBefore : 1 / inBefore + 1 / outBefore)
    let [best, isSwapped] = [0, false]
    this.#variances.get(stratum)!.forEach((variance, score) => {
      const [before, after] = [2 + 2 * score, 3 + 2 * score]
      const then = isNew ? all[before]! / allBefore : inside[before]! / inBefore
      const changeInside = inside[after]! / inAfter - then
      const changeOutside =
        (all[after]! - inside[after]!) / outAfter - (all[before]! - inside[before]!) / outBefore
      const z = (changeInside - changeOutside) / Math.sqrt(variance * weight)
      if (!(Math.abs(z) > Math.abs(best))) return
      best = z
      isSwapped = !isNew && Math.abs(changeOutside) > Math.abs(changeInside)
    })
    return { z: best, isSwapped }
  }

  /**
   * Sets of values to divide by, each with how many there were to choose from; within a first condition both sides of
   * each, as there only one of them counts.
   */
  #partitionsOf(column: RequestColumn, sums: Sums, isWithin: boolean) {
    const size = column.values.length
    const present = range(size).filter(
      (code) =>
        code !== RARE &&
        sums[code * FIELDS + 1]! > 0 &&
        sums[code * FIELDS]! + sums[code * FIELDS + 1]! >= 2 * MIN_SEEN,
    )
    if (column.kind === 'numbers') {
      const bins = present.filter((code) => code !== MISSING)
      // Among ranges below or from a number, takes those of few bins.
      const prefixes = bins.slice(0, -1).map((last) => new Set(range(FIRST_VALUE, last + 1)))
      const isMixed = present.length > bins.length
      const suffixes =
        isMixed || isWithin ? bins.slice(1).map((first) => new Set(range(first, size))) : []
      const all = [...(isMixed ? [new Set([MISSING])] : []), ...prefixes, ...suffixes]
      return all.map((codes) => ({ codes, choices: all.length }))
    }
    if (present.length < 2 && sums[RARE * FIELDS + 1] === 0) return []
    if (present.length === 2) {
      // A value that is new has no other side before.
      const named = present.filter((code) => code !== MISSING)
      const sides = isWithin
        ? present
        : [named.find((code) => sums[code * FIELDS] === 0) ?? named[0]!]
      return sides.map((code) => ({ codes: new Set([code]), choices: sides.length }))
    }
    const changeOf = (code: number) => {
      const [nb, na, rb, ra] = sums.subarray(code * FIELDS, code * FIELDS + 4)
      return ra! / Math.max(1, na!) - rb! / Math.max(1, nb!)
    }
    const changes = new Map(present.map((code) => [code, changeOf(code)]))
    const order = present.toSorted((a, b) => changes.get(b)! - changes.get(a)!)
    const most = Math.min(MAX_VALUES, Math.floor(order.length / 2))
    const together = [order, order.toReversed()].flatMap((from) =>
      Array.from({ length: most - 1 }, (_, i) => ({
        codes: new Set(from.slice(0, i + 2)),
        choices: 2 * most * choose(from.length, i + 2),
      })),
    )
    const share = together.length > 0 ? 2 : 1
    return [
      ...present.map((code) => ({ codes: new Set([code]), choices: share * present.length })),
      ...together,
    ]
  }

  #rowsWhere(isWanted: (row: number) => boolean, stratum: number | null): GroupedRows {
    const { offsets, values } = this.#measured
    const rows = new Uint32Array(values.length)
    const ends = new Uint32Array(offsets.length)
    let at = 0
    for (let group = 0; group < offsets.length - 1; group++) {
      const isIn = stratum === null || group >> 1 === stratum
      for (let row = offsets[group]!; isIn && row < offsets[group + 1]!; row++) {
        if (this.#isOut?.[row] !== 1 && isWanted(row)) rows[at++] = row
      }
      ends[group + 1] = at
    }
    return { rows: rows.slice(0, at), ends }
  }

  #tally(codes: Uint8Array | Uint16Array, size: number, { rows, ends }: GroupedRows): Float64Array {
    const [first, second] = this.#scores as [Float64Array, Float64Array | undefined]
    const cells = new Float64Array((ends.length - 1) * size * 3)
    for (let group = 0; group < ends.length - 1; group++) {
      const base = group * size
      for (let at = ends[group]!; at < ends[group + 1]!; at++) {
        const row = rows[at]!
        const cell = 3 * (base + codes[row]!)
        cells[cell]!++
        cells[cell + 1]! += first[row]!
        if (second !== undefined) cells[cell + 2]! += second[row]!
      }
    }
    return cells
  }

  #sumsOf(cells: Float64Array, size: number, stratum: number | null): Sums {
    const sums = new Float64Array(size * FIELDS)
    const strata = this.#measured.strata.length
    for (let one = stratum ?? 0; one < (stratum === null ? strata : stratum + 1); one++) {
      for (let period = 0; period < 2; period++) {
        for (let code = 0; code < size; code++) {
          const cell = 3 * ((2 * one + period) * size + code)
          for (let field = 0; field < 3; field++) {
            sums[code * FIELDS + 2 * field + period]! += cells[cell + field]!
          }
        }
      }
    }
    return sums
  }

  #sumsWithin(first: Candidate): readonly Sums[] {
    const key = candidateKey(first)
    const known = this.#within.get(key)
    if (known !== undefined) return known
    const [condition] = first.conditions as [Condition]
    const { stratum } = first
    const own = this.#columns.find(({ column }) => column === condition.column)!
    const isMet = metBy(condition)
    const rows = this.#rowsWhere((row) => isMet[own.codes[row]!] === 1, stratum)
    const sums = this.#columns.map(({ column: { values }, codes }) =>
      this.#sumsOf(this.#tally(codes, values.length, rows), values.length, stratum),
    )
    this.#within.set(key, sums)
    return sums
  }

  /** Returns sums of the rows that meet a condition, from the tallies of its column. */
  #knownSums({ column, codes }: Condition, stratum: number | null): Sums {
    return sumOf(this.#sumsOf(this.#cells.get(column)!, column.values.length, stratum), codes)
  }

  #varianceOf(stratum: number | null): number[] {
    const { offsets } = this.#measured
    const from = stratum === null ? 0 : offsets[2 * stratum]!
    const to = stratum === null ? offsets.at(-1)! : offsets[2 * stratum + 2]!
    return this.#scores.map((scores) => {
      let squares = 0
      for (let row = from; row < to; row++) squares += scores[row]! ** 2
      return squares / Math.max(1, to - from)
    })
  }
}

function sumOf(sums: Sums, codes: ReadonlySet<number>): Sums {
  const all = new Float64Array(FIELDS)
  for (const code of codes) {
    for (let field = 0; field < FIELDS; field++) all[field]! += sums[code * FIELDS + field]!
  }
  return all
}

export function metBy({ column, codes }: Condition): Uint8Array {
  return Uint8Array.from(column.values, (_, code) => Number(codes.has(code)))
}

/**
 * Returns the other values that occur after: those that no longer do are no segment of after, but numbers are below or
 * from one, and where it is not known whether something was called, it was not left out.
 */
function othersAfter(
  sums: Sums,
  codes: ReadonlySet<number>,
  kind: RequestColumn['kind'],
): Set<number> {
  const isTold = (one: number) =>
    (sums[one * FIELDS + 1]! > 0 && !(kind === 'called' && one === RARE)) ||
    (kind === 'numbers' && one >= FIRST_VALUE)
  return new Set(range(sums.length / FIELDS).filter((one) => !codes.has(one) && isTold(one)))
}

function choose(all: number, some: number): number {
  let ways = 1
  for (let i = 1; i <= some; i++) ways = (ways * (all - some + i)) / i
  return ways
}

/** Ranks within strata, both periods together, less their mean; and being among the slowest 5 %. */
function rankScores({ values, offsets, strata }: Measured): Float64Array[] {
  const ranks = new Float64Array(values.length)
  const tail = new Float64Array(values.length)
  for (let stratum = 0; stratum < strata.length; stratum++) {
    const [from, middle, to] = offsets.subarray(2 * stratum) as unknown as [number, number, number]
    let [first, second] = [from, middle]
    while (first < middle || second < to) {
      const isFirst = second === to || (first < middle && values[first]! < values[second]!)
      const value = values[isFirst ? first : second]!
      let end1 = first
      let end2 = second
      while (end1 < middle && values[end1] === value) end1++
      while (end2 < to && values[end2] === value) end2++
      const below = first - from + (second - middle)
      const rank = (below + (end1 - first + end2 - second) / 2) / (to - from) - 0.5
      while (first < end1) ranks[first++] = rank
      while (second < end2) ranks[second++] = rank
    }
    const limit = pooledQuantile(values.subarray(from, middle), values.subarray(middle, to), 0.95)
    let slow = 0
    for (let row = from; row < to; row++) slow += Number(values[row]! > limit)
    for (let row = from; row < to; row++) {
      tail[row] = Number(values[row]! > limit) - slow / (to - from)
    }
  }
  return [ranks, tail]
}

function centered({ values, offsets, strata }: Measured): Float64Array {
  const scores = new Float64Array(values.length)
  for (let stratum = 0; stratum < strata.length; stratum++) {
    const own = values.subarray(offsets[2 * stratum], offsets[2 * stratum + 2])
    const mean = own.reduce((sum, value) => sum + value, 0) / own.length
    own.forEach((value, i) => {
      scores[offsets[2 * stratum]! + i] = value - mean
    })
  }
  return scores
}

/** Requests inside or outside a segment, and their measures. */
export interface SegmentSide {
  readonly before: number
  readonly after: number
  /** Mean time in µs, the slowest hundredth cut, or share of requests. */
  readonly beforeMean: number
  readonly afterMean: number
  /** after − before within strata. */
  readonly change: number
  /** Standard error of the change, if requests were independent. */
  readonly error: number
}

/** Whether shares changed by another difference, and by another factor of their odds. */
export function contrastPs(
  inside: SegmentSide,
  outside: SegmentSide,
): [difference: number, factor: number] {
  const error = Math.hypot(errorOf(inside), errorOf(outside))
  return [
    normalP((inside.change - outside.change) / error, 'two-sided'),
    normalP(Math.sqrt(interactionG(inside, outside)), 'two-sided'),
  ]
}

/** Returns the standard error of the difference of shares; half a request is added to each count. */
function errorOf({ before, after, beforeMean, afterMean }: SegmentSide): number {
  const variance = (all: number, share: number) =>
    ((all * share + 0.5) * (all * (1 - share) + 0.5)) / (all + 1) ** 3
  return Math.sqrt(variance(before, beforeMean) + variance(after, afterMean))
}

/**
 * Returns the likelihood ratio of a common odds ratio against two: χ² with one degree of freedom. Counts are fitted by
 * their margins (Deming and Stephan 1940). Two or three failures before cannot rule out that failures inside are as
 * usual there. That is unlikely, so shares before are drawn to each other.
 */
function interactionG(inside: SegmentSide, outside: SegmentSide): number {
  // An event that never happened before had half a chance to.
  const made = sum([inside, outside], (side) => side.before * side.beforeMean) + 0.5
  const usual = made / (inside.before + outside.before + 1)
  const seen = [inside, outside].flatMap(({ before, after, beforeMean, afterMean }) => [
    before * (1 - beforeMean) + PRIOR_COUNT / usual - PRIOR_COUNT,
    before * beforeMean + PRIOR_COUNT,
    after * (1 - afterMean),
    after * afterMean,
  ])
  const fitted = seen.map(() => 1)
  for (let round = 0; round < ROUNDS; round++) {
    // Cells that differ in one of side, period and outcome share a margin.
    for (const bit of [1, 2, 4]) {
      for (let cell = 0; cell < 8; cell++) {
        if (cell & bit) continue
        const [one, two] = [cell, cell | bit] as const
        const scale = (seen[one]! + seen[two]!) / (fitted[one]! + fitted[two]!)
        fitted[one] = scale > 0 ? fitted[one]! * scale : 0
        fitted[two] = scale > 0 ? fitted[two]! * scale : 0
      }
    }
  }
  const terms = seen.map((count, i) => (count > 0 ? count * Math.log(count / fitted[i]!) : 0))
  return Math.max(0, 2 * sum(terms))
}
