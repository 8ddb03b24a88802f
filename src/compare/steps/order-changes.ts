import { bisectRight, mean } from 'd3-array'
import type { CallChoice } from './call-counts.ts'
import { type CallSites, isSame } from './call-order.ts'
import type { CountsTest } from './compare-counts.ts'

/** A choice with how often it was made. */
type TestedChoice = CallChoice & Pick<CountsTest, 'made' | 'chances' | 'difference' | 'p'>

/** Of calls that overlap no more, so many must come right after one another, or the reverse. */
const MIN_IN_TURN = 0.25
/** Calls that change places must come right after one another in this share, in either period. */
const MIN_REORDERED = 0.5
/** Level at which an order is taken for another. */
const ALPHA = 0.05

/**
 * Tests whether calls lie otherwise as they are made otherwise: two that no longer overlap come
 * right after one another, and when calls are made moved more than how long they take.
 */
export function callsMadeOtherwise(
  sites: CallSites,
  all: readonly TestedChoice[],
): (choice: TestedChoice) => boolean {
  const choices = new Map(all.map((choice) => [keyOf(choice), choice]))
  return (choice) => {
    const { kind, of, previous, call, difference } = choice
    if (kind === 'next' && previous !== null) return !isReordered(all, choice)
    if (call === null || kind === 'calls' || kind === 'next' || kind === 'again') return true
    if (kind === 'outlives') return isBorneOut(moveOf(sites, of, [call]), difference)
    const pair = (wanted: CallChoice['kind']) =>
      choices.get(keyOf({ ...choice, kind: wanted })) ??
      choices.get(keyOf({ ...choice, kind: wanted, previous: call, call: previous }))
    const [together, inTurn] = [pair('together'), pair('in turn')]
    if (kind === 'in turn' || previous === null || inTurn === undefined) return false
    if (kind === 'before') {
      const { made, chances } = inTurn
      const isClose = [0, 1].some(
        (i) => (made[i] as number) >= MIN_REORDERED * (chances[i] as number),
      )
      return isClose && difference > 2 * Math.abs(together?.difference ?? 0)
    }
    if (-inTurn.difference * Math.sign(difference) < MIN_IN_TURN * Math.abs(difference))
      return false
    return isSame(previous, call) || isBorneOut(moveOf(sites, of, [previous, call]), difference)
  }
}

/** Whether what comes after a call is only that another, which is made as often, changed places. */
function isReordered(
  all: readonly TestedChoice[],
  { of, previous, call, difference }: TestedChoice,
) {
  return all.some(
    (other) =>
      other.kind === 'before' &&
      other.p < ALPHA &&
      Math.abs(other.difference) >= Math.abs(difference) / 2 &&
      isSame(other.of, of) &&
      isOf(other, previous) &&
      (call === null || isOf(other, call)),
  )
}

function isOf(pair: TestedChoice, one: CallChoice['call']): boolean {
  return [pair.previous, pair.call].some((other) => other && one && isSame(other, one))
}

function keyOf({ kind, of, previous, call }: CallChoice): string {
  return JSON.stringify([kind, of, previous, call])
}

/** By how much a share moves if only starts had moved, and if only durations had. */
interface Move {
  readonly byStarts: number
  readonly byDurations: number
}

function isBorneOut({ byStarts, byDurations }: Move, difference: number): boolean {
  const sign = Math.sign(difference)
  return sign * byStarts > 0 && sign * byStarts >= sign * byDurations
}

/** How far a share moves by when calls are made, and by how long they take. */
function moveOf(
  sites: CallSites,
  of: CallChoice['of'],
  callees: readonly CallChoice['of'][],
): Move {
  const periods = sites.timesOf(of, callees).map((rows) => {
    const [first, second] = [0, 1].map((i) =>
      Float64Array.from(rows, (row) => spanOf(row, i)[1] - spanOf(row, i)[0]).sort(),
    )
    // How long after the one the other starts, or its caller ends.
    const gaps = rows.map((row) => {
      const [[start], other] = [spanOf(row, 0), spanOf(row, 1)]
      return callees.length === 1 ? other[1] - start : other[0] - start
    })
    return { gaps, durations: [first, second] as [Float64Array, Float64Array] }
  })
  const [before, after] = periods as [(typeof periods)[number], (typeof periods)[number]]
  const share = ({ gaps }: typeof before, { durations: [first, second] }: typeof before) =>
    mean(gaps, (gap) => {
      const durations = gap >= 0 ? first : second
      return 1 - bisectRight(durations, Math.abs(gap)) / durations.length
    }) ?? 0
  const usual = share(before, before)
  return { byStarts: share(after, before) - usual, byDurations: share(before, after) - usual }
}

function spanOf(row: Float64Array, which: number): [start: number, end: number] {
  return [row[2 * which] as number, row[2 * which + 1] as number]
}
