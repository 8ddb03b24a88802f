// Runs once a row: the loops index with `!`.
import { sum } from 'd3-array'
import { AFTER, BEFORE } from '../../flows/flow-set.ts'
import { logOf } from '../../stats/moderated-shifts.ts'
import { type RunMeasure, RunSums, runMeasure } from '../../stats/run-shifts.ts'
import type { TimeBlocks } from '../steps/time-blocks.ts'
import { type Measured, onlyOperation } from './measured.ts'
import type { CodedRows } from './request-columns.ts'
import { type Candidate, MAX_VALUES, metBy, type SegmentSide } from './scan-conditions.ts'
import { measureSides, type SegmentTest } from './test-segment.ts'

/** Returns the values that each row has of the columns of a candidate, as a number. */
export function kindsOf(
  { conditions }: Candidate,
  columns: readonly CodedRows[],
  { values }: Measured,
) {
  const kinds = new Uint32Array(values.length)
  for (const { column } of conditions) {
    const own = columns.find((one) => one.column === column)!.codes
    const size = column.values.length
    for (let row = 0; row < kinds.length; row++) kinds[row] = kinds[row]! * size + own[row]!
  }
  return kinds
}

/** Marks the rows that meet a candidate. */
export function rowsOf(
  { conditions, stratum }: Candidate,
  columns: readonly CodedRows[],
  { offsets, values }: Measured,
): Uint8Array {
  const isInside = new Uint8Array(values.length)
  const [from, to] =
    stratum === null ? [0, values.length] : [offsets[2 * stratum]!, offsets[2 * stratum + 2]!]
  isInside.fill(1, from, to)
  for (const condition of conditions) {
    const own = columns.find((one) => one.column === condition.column)!.codes
    const isMet = metBy(condition)
    for (let row = from; row < to; row++) isInside[row]! &= isMet[own[row]!]!
  }
  return isInside
}

/** Rows that are out, and those of other operations than that of all inside; `null` for several. */
export function rowsOfOthers(
  measured: Measured,
  isInside: Uint8Array,
  isOut: Uint8Array | null,
): Uint8Array | null {
  const operation = onlyOperation(measured, isInside)
  if (operation === null) return null
  const { strata, offsets } = measured
  const others = isOut?.slice() ?? new Uint8Array(isInside.length)
  strata.forEach((stratum, i) => {
    if (stratum.operation !== operation) others.fill(1, offsets[2 * i], offsets[2 * i + 2])
  })
  return others
}

/** Outside, requests may have changed by this share of those inside. */
export const MAX_OUTSIDE = 1 / 3

/** Rows to search and the columns that divide them, without the rows of segments already found. */
export interface Searched<Column = CodedRows> {
  readonly measured: Measured
  readonly columns: readonly Column[]
  readonly isOut: Uint8Array | null
}

/** Leaves out values whose own rows surely changed by no more than outside rows may: they were included by chance. */
export function withoutUnchanged(
  { candidate, test }: { readonly candidate: Candidate; readonly test: SegmentTest },
  { measured, columns, isOut }: Searched,
): Candidate {
  const { stratum, conditions } = candidate
  const allUs = test.inside.change
  const isChanged = (own: Candidate) => {
    const by = { stratum, isOut, kind: kindsOf(own, columns, measured) }
    const { inside } = measureSides(measured, rowsOf(own, columns, measured), by)
    return !(Math.sign(allUs) * inside.change + 2 * inside.error < MAX_OUTSIDE * Math.abs(allUs))
  }
  return {
    ...candidate,
    conditions: conditions.map((condition) => {
      const { column, codes } = condition
      if (column.kind !== 'values' || codes.size < 2 || codes.size > MAX_VALUES) return condition
      const changed = [...codes].filter((code) => {
        const only = { column, codes: new Set([code]) }
        const own = conditions.map((one) => (one === condition ? only : one))
        return isChanged({ ...candidate, conditions: own })
      })
      return changed.length > 0 ? { column, codes: new Set(changed) } : condition
    }),
  }
}

/** Returns the weighted number of rows of a stratum and period. */
export function countOf({ offsets, weights }: Measured, group: number): number {
  const [from, to] = [offsets[group]!, offsets[group + 1]!]
  return weights === undefined ? to - from : sum(weights.subarray(from, to))
}

/** Returns the weighted number of rows after. */
export function countAfter(measured: Measured): number {
  return sum(measured.strata, (_, stratum) => countOf(measured, 2 * stratum + AFTER))
}

/** Returns the share of the rows inside after that requests wait for. */
export function waitedFor({ isWaited, offsets, units }: Measured, isInside: Uint8Array): number {
  let [waited, all] = [0, 0]
  for (let group = 1; group < offsets.length - 1; group += 2) {
    for (let row = offsets[group]!; row < offsets[group + 1]!; row++) {
      all += isInside[row]!
      waited += isInside[row]! * (isWaited?.[units[row]!] ?? 1)
    }
  }
  return waited / Math.max(1, all)
}

export interface ToldSides {
  readonly sides: Pick<SegmentTest, 'inside' | 'outside'>
  /** Rows of its requests in the flows. */
  readonly requests: readonly number[]
}

/** Returns the reported sides of a segment; for weighted requests, those of all recorded ones by weight. */
export function toldSides(
  {
    candidate,
    isInside,
    test,
  }: {
    readonly candidate: Candidate
    readonly isInside: Uint8Array
    readonly test: SegmentTest
  },
  {
    measured,
    isOut,
    earlier,
    operation,
  }: {
    readonly measured: Measured
    /** Rows of segments that were found earlier, and these. */
    readonly isOut: Uint8Array | null
    readonly earlier: readonly Candidate[]
    /** Operation whose requests are counted; `null` for all. */
    readonly operation: string | null
  },
): ToldSides {
  const { recorded } = measured
  const requestsOf = (of: Measured, inside: Uint8Array, out: Uint8Array | null) => {
    const own = of.requests.filter((_, row) => inside[row] === 1 && out?.[row] !== 1)
    return [...own]
  }
  const { stratum } = candidate
  if (recorded === null) {
    const sides = withAll(test, measured, { isInside, isOut, stratum, operation })
    return { sides, requests: requestsOf(measured, isInside, isOut) }
  }
  const columns = [...earlier, candidate].flatMap(({ conditions }) =>
    conditions.map(({ column }) => ({
      column,
      codes: Uint16Array.from(recorded.units, (unit) => column.codes[unit]!),
    })),
  )
  const [own, ...others] = [candidate, ...earlier].map((one) => rowsOf(one, columns, recorded))
  const out = own!.map((_, row) => Number(others.some((rows) => rows[row] === 1)))
  const kind = kindsOf(candidate, columns, recorded)
  const compared = measureSides(recorded, own!, { stratum, isOut: out, kind })
  const sides = withAll(compared, recorded, { isInside: own!, isOut: out, stratum, operation })
  return { sides, requests: requestsOf(recorded, own!, out) }
}

/** Returns both sides with all of their requests, including those with too few similar ones to compare. */
function withAll(
  { inside, outside }: ToldSides['sides'],
  { measure, offsets, values, weights, strata }: Measured,
  {
    isInside,
    isOut,
    stratum,
    operation,
  }: {
    isInside: Uint8Array
    isOut: Uint8Array | null
    stratum: number | null
    operation: string | null
  },
): ToldSides['sides'] {
  const counts = [0, 0, 0, 0]
  const sums = [0, 0, 0, 0]
  for (let group = 0; group < offsets.length - 1; group++) {
    if (stratum !== null && group >> 1 !== stratum) continue
    if (operation !== null && strata[group >> 1]!.operation !== operation) continue
    for (let row = offsets[group]!; row < offsets[group + 1]!; row++) {
      if (isOut?.[row] === 1) continue
      const cell = 2 * isInside[row]! + (group & 1)
      const weight = weights?.[row] ?? 1
      counts[cell]! += weight
      sums[cell]! += weight * values[row]!
    }
  }
  const share = (cell: number) => sums[cell]! / Math.max(1, counts[cell]!)
  const all = (side: SegmentSide, at: number): SegmentSide => ({
    ...side,
    before: Math.round(counts[at]!),
    after: Math.round(counts[at + 1]!),
    ...(measure !== 'time' && { beforeMean: share(at), afterMean: share(at + 1) }),
  })
  return { inside: all(inside, 2), outside: all(outside, 0) }
}

/** Levels of the rows inside in each run before and after, by their logs. */
export function levelsOf(
  { offsets, values, blocks }: Measured,
  isInside: Uint8Array,
  { perRun, runs }: TimeBlocks,
): RunMeasure {
  const strata: RunSums[] = []
  for (let group = 0; group < offsets.length - 1; group++) {
    if (group % 2 === BEFORE) strata.push(new RunSums(runs + 1))
    for (let row = offsets[group]!; row < offsets[group + 1]!; row++) {
      if (isInside[row] === 1)
        strata.at(-1)!.add(Math.floor(blocks[row]! / perRun), logOf(values[row]!))
    }
  }
  return runMeasure(strata.filter(({ counts }) => sum(counts) > 0))
}
