// Runs once a request: the loops index with `!`.
import type { Measured } from './measured.ts'
import { type Candidate, type CodedRows, type Condition, metBy } from './scan-conditions.ts'

/** A pair of conditions of which one is another name for an operation: the other one, within it. */
export function withinOperation(
  candidate: Candidate,
  columns: readonly CodedRows[],
  measured: Measured,
): Candidate {
  const { conditions } = candidate
  if (candidate.stratum !== null || conditions.length < 2) return candidate
  for (const [i, condition] of conditions.entries()) {
    const stratum = stratumOf(condition, columns, measured)
    if (stratum !== null) return { ...candidate, stratum, conditions: conditions.toSpliced(i, 1) }
  }
  return candidate
}

/** The stratum of just those rows that meet a condition; `null` where there is none. */
function stratumOf(condition: Condition, columns: readonly CodedRows[], { offsets }: Measured) {
  const { codes } = columns.find(({ column }) => column === condition.column)!
  const isMet = metBy(condition)
  let found: number | null = null
  for (let stratum = 0; 2 * stratum < offsets.length - 1; stratum++) {
    const own = codes.subarray(offsets[2 * stratum], offsets[2 * stratum + 2])
    const isOwn = isMet[own[0] ?? 0] === 1
    if (own.some((code) => (isMet[code] === 1) !== isOwn)) return null
    if (isOwn && found !== null) return null
    if (isOwn) found = stratum
  }
  return found
}
