// Runs once for some calls: the loops index with `!`.

import { greatest, group, least, mean, range } from 'd3-array'
import { getOrInsert } from '../../core/entries.ts'
import { memoized } from '../../core/remembered.ts'
import { ksTwoSample } from '../../stats/ks-two-sample.ts'
import { quantile } from '../../stats/quantile.ts'
import { Dictionary } from '../../traces/dictionary.ts'
import { CONSUMER, PRODUCER } from '../../traces/span-columns.ts'
import type { SpanTraces } from '../../traces/span-traces.ts'
import type { CallsBetween } from './calls-between.ts'

/** A clock, or those of a service, that moved against all others between the periods. */
export interface MovedClock {
  /** Its number among the ends. */
  readonly end: number
  /** How much farther ahead it is after. */
  readonly byUs: number
  /** Standard error of the move. */
  readonly errorUs: number
  /** The same for the callee of each pair of its calls, against the caller. */
  readonly ofPairs: ReadonlyMap<string, number>
}

/** Most calls that are looked at, evenly spread: in all, and of a pair and period. */
const MAX_CALLS = 100_000
const MAX_OF_PAIR = 1000
/** Names and clocks have smaller numbers. */
const MAX_NUMBER = 2 ** 26
/** Fewest calls of two operations in either period that tell a move. */
const MIN_CALLS = 20
/** A move is this many standard errors. */
const SURE = 5
/** Largest share of a move that other clocks may have moved by. */
const MAX_OTHER = 0.1
/** Below this p, corrected, ways are no longer alike once they are moved. */
const ALIKE_LEVEL = 0.01

/** Ascending times of before and after. */
type Two = readonly [Float64Array, Float64Array]

/** Times from the start of a caller to that of its callee, and from the end of the callee to that of the caller. */
type Ways = Readonly<Record<'there' | 'back', Two>>

/** Calls from one end to another. Each pair of operations that has enough of them has its ways. */
interface Pair {
  readonly caller: number
  readonly callee: number
  readonly ways: readonly Ways[]
}

interface PairMove extends Pick<Pair, 'caller' | 'callee'> {
  /** How much farther ahead of its caller the callee is after. */
  readonly byUs: number
  readonly errorUs: number
  /** Whether nothing but the move tells the ways of the periods apart. */
  readonly isAll: boolean
}

/** Lead of `clock` over `reference` at each call that is corrected, 0 elsewhere, and its greatest possible error. */
export interface Corrections {
  readonly offsetUs: Float64Array
  readonly doubtUs: Float64Array
}

interface Moving {
  /** Clocks of spans by recording, or their services if these move with all their clocks. */
  readonly ends: readonly Uint32Array[]
  /** Number of recordings of before. */
  readonly runs: number
}

/**
 * Corrects the calls to and from the clock that moved between the periods, if one did: those after, as if it were where
 * it was before; those before, if they alone are corrected already. `isWithin` says that none was, because they lie
 * within their callers.
 */
export function moveBack(
  periods: readonly SpanTraces[],
  calls: CallsBetween,
  { corrections, ...moving }: Moving & { readonly corrections: Corrections },
): (MovedClock & { readonly isWithin: boolean }) | null {
  const moved = movedClock(periods, calls, moving)
  if (moved === null) return null
  const { ends, runs } = moving
  const { firstOf, pairs, period, span, direction } = calls
  const { offsetUs, doubtUs } = corrections
  // By how much farther ahead of its caller a callee is after.
  const aheadUs = Float64Array.from(span, (callee, call) => {
    const own = ends[period[call]!]!
    const [to, from] = [own[callee]!, own[periods[period[call]!]!.spans.parent[callee]!]!]
    const sign = Number(to === moved.end) - Number(from === moved.end)
    return moved.ofPairs.get(pairKey(from, to)) ?? sign * moved.byUs
  })
  const isBefore = (call: number) => period[call]! < runs
  const isCorrected = (inBefore: boolean) =>
    offsetUs.some((us, call) => us !== 0 && aheadUs[call] !== 0 && isBefore(call) === inBefore)
  const [inBefore, inAfter] = [isCorrected(true), isCorrected(false)]
  const asBefore = !inBefore || inAfter
  pairs.forEach((_, pair) => {
    const own = range(firstOf[pair]!, firstOf[pair + 1]!).filter((call) => aheadUs[call] !== 0)
    const [base, others] = [true, false].map((is) =>
      own.filter((call) => (isBefore(call) === asBefore) === is),
    ) as [number[], number[]]
    const [baseUs, otherUs] = [base, others].map((some) => mean(some, (call) => offsetUs[call]!))
    if (baseUs === undefined || otherUs === undefined) return
    for (const call of others) {
      const us = asBefore ? aheadUs[call]! : -aheadUs[call]!
      // Keeps how they drift.
      offsetUs[call]! += baseUs - otherUs + direction[call]! * us
      doubtUs[call] = moved.errorUs
    }
  })
  return { ...moved, isWithin: !inBefore && !inAfter }
}

/**
 * Finds the one clock that moved between the periods. A clock that moves makes all ways to it longer by one time and
 * all ways back shorter by the same; ways from it change the other way round. Nothing else does that to each operation
 * of each caller and to each that it calls, and leaves the spread of these times as it was. Returns `null` if no clock
 * or several moved, and if ways changed otherwise, too.
 */
function movedClock(
  periods: readonly SpanTraces[],
  calls: CallsBetween,
  { ends, runs }: Moving,
): MovedClock | null {
  if (runs === 0 || runs >= periods.length) return null
  const pairs = pairsOf(periods, calls, { ends, runs })
  const isSure = ({ byUs, errorUs }: PairMove) => Math.abs(byUs) > SURE * errorUs
  const largest = greatest(
    pairs
      .filter((pair) => !isAlike(pair, 0))
      .map(moveOf)
      .filter((move) => move.isAll && isSure(move)),
    ({ byUs }) => Math.abs(byUs),
  )
  if (largest === undefined) return null
  const moves = pairs.map(moveOf)
  const { caller, callee, byUs, errorUs } = largest
  const movedBy = (end: number, moveUs: number): MovedClock | null => {
    const isOf = (move: PairMove) => move.callee === end || move.caller === end
    const isOne = moves.every((move) => {
      if (!isOf(move)) return !isSure(move) || Math.abs(move.byUs) <= MAX_OTHER * Math.abs(moveUs)
      const apartUs = Math.abs(move.byUs - (move.callee === end ? moveUs : -moveUs))
      return move.isAll && apartUs <= SURE * Math.hypot(move.errorUs, errorUs)
    })
    const own = moves.filter(isOf)
    const ofPairs = new Map(own.map(({ caller, callee, byUs }) => [pairKey(caller, callee), byUs]))
    return isOne ? { end, byUs: moveUs, errorUs, ofPairs } : null
  }
  return movedBy(callee, byUs) ?? movedBy(caller, -byUs)
}

function pairKey(caller: number, callee: number): string {
  return `${caller} ${callee}`
}

/** Returns the calls between ends, and the ways of some of them. */
function pairsOf(
  periods: readonly SpanTraces[],
  { period, span }: CallsBetween,
  { ends, runs }: Moving,
): Pair[] {
  const endsOf = (call: number) => {
    const [recording, callee] = [period[call]!, span[call]!]
    const own = ends[recording]!
    return [own[periods[recording]!.spans.parent[callee]!]!, own[callee]!] as const
  }
  // Whoever does not wait tells nothing of the way back.
  const isWaitedFor = (call: number) => {
    const { kind, followsFrom, parent, durationUs } = periods[period[call]!]!.spans
    const [callee, caller] = [span[call]!, parent[span[call]!]!]
    const isMessage = kind[callee] === CONSUMER || kind[caller] === PRODUCER
    return followsFrom[callee] === 0 && !isMessage && durationUs[callee]! <= durationUs[caller]!
  }
  const names = new Dictionary()
  const operations = periods.map(({ services, operations }) => {
    const nameOf = memoized((code: number) => {
      const [service, operation] = [code % services.size, Math.floor(code / services.size)]
      return names.code(`${services.value(service)} ${operations.value(operation)}`)
    })
    return (service: number, operation: number) => nameOf(operation * services.size + service)
  })
  const calls = range(0, span.length, Math.ceil(span.length / MAX_CALLS))
  const ofPairs = group(calls, (call) => {
    const [caller, callee] = endsOf(call)
    return caller * MAX_NUMBER + callee
  })
  return Array.from(ofPairs.values()).flatMap((own): Pair[] => {
    const [from, to] = endsOf(own[0]!)
    if (from === to) return []
    const strata = new Map<number, Record<keyof Ways, readonly number[][]>>()
    const isBefore = (call: number) => period[call]! < runs
    const sides = [own.filter(isBefore), own.filter((call) => !isBefore(call))]
    sides.forEach((some, side) => {
      const every = Math.ceil(some.length / MAX_OF_PAIR)
      for (const call of some.filter(isWaitedFor).filter((_, i) => i % every === 0)) {
        const { parent, startUs, durationUs, service, operation } = periods[period[call]!]!.spans
        const operationOf = operations[period[call]!]!
        const [callee, caller] = [span[call]!, parent[span[call]!]!]
        const [calling, called] = [caller, callee].map((one) =>
          operationOf(service[one]!, operation[one]!),
        )
        const key = calling! * MAX_NUMBER + called!
        const ways = getOrInsert(strata, key, () => ({ there: [[], []], back: [[], []] }))
        const thereUs = startUs[callee]! - startUs[caller]!
        ways.there[side]!.push(thereUs)
        ways.back[side]!.push(durationUs[caller]! - durationUs[callee]! - thereUs)
      }
    })
    const known = [...strata.values()].filter(({ there }) =>
      there.every((own) => own.length >= MIN_CALLS),
    )
    const ways = known.map(({ there, back }) => ({ there: sortedOf(there), back: sortedOf(back) }))
    return ways.length > 0 ? [{ caller: from, callee: to, ways }] : []
  })
}

function sortedOf(times: readonly number[][]): Two {
  const [before, after] = times.map((own) => Float64Array.from(own).sort())
  return [before!, after!]
}

/** Returns how far the clocks of a pair moved. */
function moveOf(pair: Pair): PairMove {
  const { caller, callee, ways } = pair
  const surest = least(ways, errorOf)!
  const tickUs = tickOf(ways)
  const shiftsUs = [...shiftsOf(surest.there), ...shiftsOf(surest.back).map((us) => -us)]
  let best = { byUs: 0, p: fitOf(pair, 0) }
  for (const byUs of new Set(shiftsUs.map((us) => tickUs * Math.round(us / tickUs)))) {
    const p = fitOf(pair, byUs, best.p)
    if (p > best.p || (p === best.p && Math.abs(byUs) < Math.abs(best.byUs))) best = { byUs, p }
  }
  const isAll = isAlike(pair, best.byUs)
  return {
    caller,
    callee,
    isAll,
    byUs: best.byUs,
    errorUs: Math.max(errorOf(surest), tickUs / Math.sqrt(12)),
  }
}

/** Whether nothing else tells the ways of the periods apart, the clock being moved by as much. */
function isAlike(pair: Pair, byUs: number): boolean {
  return fitOf(pair, byUs) * 2 * pair.ways.length >= ALIKE_LEVEL
}

/** Returns the least p of all ways being alike once those after are moved back, or the first that is below `enough`. */
function fitOf({ ways }: Pair, byUs: number, enough = 0): number {
  let lowest = 1
  for (const { there, back } of ways) {
    lowest = Math.min(lowest, alikeP(there, byUs), alikeP(back, -byUs))
    if (lowest < enough) break
  }
  return lowest
}

/** Shares at which times are compared: one of them lies where few times are far apart. */
const SHARES = range(0.05, 0.96, 0.05)

function shiftsOf([before, after]: Two): number[] {
  return SHARES.map((share) => quantile(after, share) - quantile(before, share))
}

/** Returns p that times are alike once those after are moved back. */
function alikeP([before, after]: Two, byUs: number): number {
  const moved = after.map((us) => us - byUs)
  return ksTwoSample(before, moved, { sorted: true }).p
}

/** Ratio of the standard error of a median to that of a mean of normal values, by their quartiles. */
const MEDIAN_ERROR = 1.2533 / 1.349

/** Returns the standard error of a move, by the medians of both ways. */
function errorOf({ there, back }: Ways): number {
  const errors = [...there, ...back].map(
    (own) => (MEDIAN_ERROR * (quantile(own, 0.75) - quantile(own, 0.25))) / Math.sqrt(own.length),
  )
  return Math.hypot(...errors) / 2
}

/** Grids that coarse clocks cut times to, in µs; else these are of whole nanoseconds. */
const TICKS_US = [1000, 1]
const NS_US = 1e-3

/** Returns the coarsest tick that all ways there, or all ways back, are a multiple of. */
function tickOf(ways: readonly Ways[]): number {
  const areWhole = (way: keyof Ways, tickUs: number) =>
    ways.every((own) =>
      own[way].every((times) =>
        times.every((us) => Math.abs(us - tickUs * Math.round(us / tickUs)) < NS_US),
      ),
    )
  return TICKS_US.find((tick) => areWhole('there', tick) || areWhole('back', tick)) ?? NS_US
}
