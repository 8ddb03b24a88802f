// Runs once a row: the loops index with `!`.

import { sum } from 'd3-array'
import { isOfPlace } from '../../calls/attribute-columns.ts'
import { AFTER, BEFORE, type FlowSet, type Period } from '../../flows/flow-set.ts'
import { logOf } from '../../stats/moderated-shifts.ts'
import { isNameLike } from '../../traces/attribute-names.ts'
import { CLEAR, MOST, SURE, TWICE } from '../thresholds.ts'
import type { Measured } from './measured.ts'
import { FIRST_VALUE, MISSING, type RequestColumn } from './request-columns.ts'
import type { Candidate } from './scan-conditions.ts'
import {
  countAfter,
  countOf,
  measureSides,
  rowsOf,
  type Searched as SearchedRows,
} from './test-segment.ts'

/** A candidate, with the rows that meet it. */
export interface Tried {
  readonly candidate: Candidate
  readonly isInside: Uint8Array
}

type Searched = Pick<SearchedRows, 'measured' | 'columns'>

/**
 * Whether a place is odd as another one was before, which no longer is: names moved, nothing changed.
 * Host names may be used again for other pods; other attributes, and their values, only if they are
 * of one period alone.
 */
export function isMoved({ candidate }: Tried, { measured, columns }: Searched): boolean {
  return candidate.conditions.some((condition) => {
    const { column, codes: own } = condition
    if (column.kind !== 'values') return false
    const { codes } = columns.find((one) => one.column === column)!
    const others = candidate.conditions.filter((one) => one !== condition)
    const isRow = rowsOf({ ...candidate, conditions: others }, columns, measured)
    const levels = levelsByCode(measured, codes, { isRow, size: column.values.length })
    const inside = [BEFORE, AFTER].map((period) => oddness(levels, [...own], period as Period))
    return ([AFTER, BEFORE] as const).some((now) => {
      const then = now === AFTER ? BEFORE : AFTER
      const [is, was] = [inside[now]!, inside[then]!]
      if (Math.abs(is.more) < MOST * Math.abs(was.more)) return false
      const sign = Math.sign(is.more)
      const isRenamed = was.count === 0
      // Attributes may be called otherwise, too.
      return (isRenamed ? columns : columns.filter((one) => one.column === column)).some((one) => {
        if (one.column.kind !== 'values') return false
        const isOwn = one.column === column
        const of = { isRow, size: one.column.values.length }
        const known = isOwn ? levels : levelsByCode(measured, one.codes, of)
        const moved = [...known.keys()]
          .filter((code) => code >= FIRST_VALUE && !(isOwn && own.has(code)))
          .map((code) => [oddness(known, [code], then), oddness(known, [code], now)] as const)
          .filter(([wasThen, isNow]) => {
            const isLess = isNow.more * sign < MOST * wasThen.more * sign
            const mayMove = isOwn && isOfPlace(column.attribute)
            const isGone = isNow.count === 0 ? mayMove || isRenamed : mayMove && isLess
            return isGone && sign * wasThen.more > CLEAR * wasThen.error
          })
        const inAll = sum(moved, ([wasThen]) => wasThen.more * wasThen.share)
        return sign * inAll >= MOST * Math.abs(is.more) * is.share
      })
    })
  })
}

/**
 * Whether one condition is enough where two hold: the rows that the second leaves out changed as well. Ranks of slow
 * calls, such as cache misses, move less in any case.
 */
export function isEnough(
  { candidate, isInside }: Tried,
  two: Tried,
  { measured, isOut }: Pick<SearchedRows, 'measured' | 'isOut'>,
): boolean {
  if (candidate.conditions.length >= two.candidate.conditions.length) return false
  if (two.isInside.some((is, row) => is > isInside[row]!)) return false
  const by = { stratum: candidate.stratum, isOut, kind: new Uint32Array(isInside.length) }
  const changeOf = (side: Uint8Array) => measureSides(measured, side, by).inside.change
  const left = isInside.map((is, row) => is - two.isInside[row]!)
  return changeOf(left) / changeOf(two.isInside) > MOST
}

/** Number of rows in each period with a code, and sums of their levels relative to their stratum. */
interface Level {
  readonly counts: [number, number]
  readonly sums: [number, number]
  readonly squares: [number, number]
}

function levelsByCode(
  { measure, offsets, values }: Measured,
  codes: Uint16Array,
  { isRow, size }: { readonly isRow: Uint8Array; readonly size: number },
): Level[] {
  const levels = Array.from({ length: size }, (): Level => {
    return { counts: [0, 0], sums: [0, 0], squares: [0, 0] }
  })
  const levelOf = (row: number) => (measure === 'time' ? logOf(values[row]!) : values[row]!)
  for (let group = 0; group < offsets.length - 1; group++) {
    const period = (group & 1) as Period
    let [total, count] = [0, 0]
    for (let row = offsets[group]!; row < offsets[group + 1]!; row++) {
      if (isRow[row] === 0) continue
      total += levelOf(row)
      count++
    }
    for (let row = offsets[group]!; row < offsets[group + 1]!; row++) {
      if (isRow[row] === 0) continue
      const { counts, sums, squares } = levels[codes[row]!]!
      const level = levelOf(row) - total / count
      counts[period]++
      sums[period] += level
      squares[period] += level ** 2
    }
  }
  return levels
}

/** Returns the distance of rows with some codes from the others of a period. */
function oddness(levels: readonly Level[], some: readonly number[], period: Period) {
  const of = (codes: Iterable<number>) => {
    let [count, total, squares] = [0, 0, 0]
    for (const code of codes) {
      count += levels[code]!.counts[period]
      total += levels[code]!.sums[period]
      squares += levels[code]!.squares[period]
    }
    const mean = count === 0 ? 0 : total / count
    return { count, mean, variance: count === 0 ? 0 : (squares / count - mean ** 2) / count }
  }
  const [own, all] = [of(some), of(levels.keys())]
  const others = of([...levels.keys()].filter((code) => !some.includes(code)))
  return {
    count: own.count,
    share: own.count / Math.max(1, all.count),
    more: own.count === 0 ? 0 : own.mean - others.mean,
    error: Math.sqrt(own.variance + others.variance),
  }
}

/**
 * Whether only failures record an attribute, such as what went wrong, or most of them lack it and
 * more lack it than before, as an answer that was not made: it follows from them.
 */
export function tellsFailures(codes: Uint16Array, measured: Measured): boolean {
  const { values } = measured
  if (!codes.some((code, row) => code !== MISSING && values[row] === 0)) return true
  const lacks = (row: number) => Number(codes[row] === MISSING)
  const lacking = [BEFORE, AFTER].map((period) =>
    shareOfRows(measured, period as Period, { some: lacks }),
  )
  const share = shareOfRows(measured, AFTER, { some: (row) => values[row]! })
  const failing = shareOfRows(measured, AFTER, { some: (row) => values[row]! * lacks(row) })
  const more = lacking[AFTER]! - lacking[BEFORE]!
  const error = Math.sqrt((2 * lacking[AFTER]! * (1 - lacking[AFTER]!)) / countAfter(measured))
  return failing > MOST * share && more > Math.max(MOST * failing, CLEAR * error)
}

/**
 * Whether the times belong to failing requests, or a value is recorded where calls fail, as with fallbacks: that is an
 * outcome of requests, not a property.
 */
export function isOfFailures(
  { candidate, isInside }: Tried,
  measured: Measured,
  { failed, hasFailing }: Record<'failed' | 'hasFailing', Uint8Array>,
): boolean {
  if (measured.measure !== 'time') return false
  const shareOf = (is: Uint8Array, side: 0 | 1) =>
    shareOfRows(measured, AFTER, {
      of: (row) => Number(isInside[row] === side),
      some: (row) => is[measured.requests[row]!]!,
    })
  if (shareOf(failed, 1) > MOST) return true
  if (candidate.conditions.every(({ column }) => isOfPlace(column.attribute))) return false
  const share = shareOf(hasFailing, 1)
  return share > MOST && share >= TWICE * shareOf(hasFailing, 0) && isMoreOften(isInside, measured)
}

/**
 * Whether a number is higher, or lower, in many more requests than before. The number is then the change itself, such
 * as a growing queue or amount of data, and the requests beyond a limit are merely the most changed.
 */
export function isOfNumbers({ candidate, isInside }: Tried, { measured, columns }: Searched) {
  if (!isMoreOften(isInside, measured)) return false
  return candidate.conditions.some(({ column, codes: own }) => {
    if (
      isOfAmounts(
        column,
        [...own].filter((code) => code >= FIRST_VALUE),
      )
    )
      return true
    if (column.kind !== 'numbers') return false
    const { codes } = columns.find((one) => one.column === column)!
    const moments = [BEFORE, AFTER].map(() => [0, 0, 0] as [number, number, number])
    for (let group = 0; group < measured.offsets.length - 1; group++) {
      for (let row = measured.offsets[group]!; row < measured.offsets[group + 1]!; row++) {
        if (isInside[row] === 1 || codes[row]! < FIRST_VALUE) continue
        const of = moments[group & 1]!
        of[0]++
        of[1] += codes[row]!
        of[2] += codes[row]! ** 2
      }
    }
    const [before, after] = moments.map(([count, total, squares]) => {
      const mean = total / count
      return { count, mean, variance: squares / count - mean ** 2 }
    }) as [Moments, Moments]
    const shift = (after.mean - before.mean) * (own.has(FIRST_VALUE) ? -1 : 1)
    const error = Math.sqrt(before.variance / before.count + after.variance / after.count)
    const spread = Math.sqrt((before.variance + after.variance) / 2)
    return shift > SURE * error && shift > MOST * spread
  })
}

/** Whether codes are of several of few numbers from one on, or up to one, as lengths of queues are. */
function isOfAmounts(
  { kind, attribute, values }: RequestColumn,
  codes: readonly number[],
): boolean {
  const isNumber = (text: string) => text !== '' && Number.isFinite(Number(text))
  const [least, most] = [Math.min(...codes), Math.max(...codes)]
  const isRange = codes.length > 1 && most - least + 1 === codes.length
  const isEnd = least === FIRST_VALUE || most === values.length - 1
  const isOfNumbers = kind === 'values' && values.slice(FIRST_VALUE).every(isNumber)
  return isOfNumbers && !isNameLike(attribute) && isRange && isEnd
}

interface Moments {
  readonly count: number
  readonly mean: number
  readonly variance: number
}

/** Marks the requests with spans that failed. */
export function requestsWithFailing({ size, outcomes }: FlowSet): Uint8Array {
  return new Uint8Array(size).map((_, request) => +((outcomes?.failing(request).length ?? 0) > 0))
}

/** Returns the share of selected rows in a period; by weight if requests are weighted. */
function shareOfRows(
  measured: Measured,
  period: Period,
  {
    of = () => 1,
    some,
  }: Record<'some', (row: number) => number> & { of?: (row: number) => number },
): number {
  const { offsets, recorded } = measured
  let [own, all] = [0, 0]
  for (let group = period as number; group < offsets.length - 1; group += 2) {
    const [from, to] = [offsets[group]!, offsets[group + 1]!]
    const each = countOf(recorded ?? measured, group) / (to - from)
    for (let row = from; row < to; row++) {
      const count = each * of(row)
      all += count
      own += count * some(row)
    }
  }
  return all > 0 ? own / all : 0
}

/** Whether a segment holds many times the share of requests after that it held before. */
function isMoreOften(isInside: Uint8Array, measured: Measured): boolean {
  const [before, after] = [BEFORE, AFTER].map((period) =>
    shareOfRows(measured, period as Period, { some: (row) => isInside[row]! }),
  )
  return after! >= TWICE * before!
}
