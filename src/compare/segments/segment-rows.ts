// Runs once a row: the loops index with `!`.
import { sum } from 'd3-array'
import type { SegmentSide } from './contrast-shares.ts'
import type { Measured } from './measured.ts'
import type { CodedRows } from './request-columns.ts'
import { type Candidate, metBy } from './scan-conditions.ts'
import { measureSides, type SegmentTest } from './test-segment.ts'

/** The values that each row has of the columns of a candidate, as a number. */
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

/** Which rows meet a candidate. */
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

/** How many requests the rows after count as. */
export function countAfter({ offsets, weights }: Measured): number {
  let count = 0
  for (let group = 1; group < offsets.length - 1; group += 2) {
    const [from, to] = [offsets[group]!, offsets[group + 1]!]
    count += weights === undefined ? to - from : sum(weights.subarray(from, to))
  }
  return count
}

export interface ToldSides {
  readonly sides: Pick<SegmentTest, 'inside' | 'outside'>
  /** Rows of its requests in the flows. */
  readonly requests: readonly number[]
}

/** What is told of a segment: of weighted requests, of all that were recorded, by their weights. */
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
  }: {
    readonly measured: Measured
    /** Rows of segments that were found earlier, and these. */
    readonly isOut: Uint8Array | null
    readonly earlier: readonly Candidate[]
  },
): ToldSides {
  const { recorded } = measured
  const requestsOf = (of: Measured, inside: Uint8Array, out: Uint8Array | null) => {
    const own = of.requests.filter((_, row) => inside[row] === 1 && out?.[row] !== 1)
    return [...own]
  }
  if (recorded === null) return { sides: test, requests: requestsOf(measured, isInside, isOut) }
  const columns = [...earlier, candidate].flatMap(({ conditions }) =>
    conditions.map(({ column }) => ({
      column,
      codes: Uint16Array.from(recorded.requests, (request) => column.codes[request]!),
    })),
  )
  const [own, ...others] = [candidate, ...earlier].map((one) => rowsOf(one, columns, recorded))
  const out = own!.map((_, row) => Number(others.some((rows) => rows[row] === 1)))
  const { inside, outside } = measureSides(recorded, own!, {
    stratum: candidate.stratum,
    isOut: out,
    kind: kindsOf(candidate, columns, recorded),
  })
  const rounded = (side: SegmentSide) => ({
    ...side,
    before: Math.round(side.before),
    after: Math.round(side.after),
  })
  const sides = { inside: rounded(inside), outside: rounded(outside) }
  return { sides, requests: requestsOf(recorded, own!, out) }
}
