import type { EdgeKind } from '../../compare/edges/edge-pool.ts'
import type { EdgeChanges } from '../../compare/edges/find-edge-changes.ts'
import { counted } from '../../core/words.ts'

/** Mean time that a request spends at one place, on critical paths. */
export interface PlaceTime {
  readonly service: string
  /** Work of the service, the way to it and back, or all places that have no row of their own. */
  readonly kind: EdgeKind | 'others'
  readonly beforeUs: number
  readonly afterUs: number
  readonly changeUs: number
}

/** Where the time of a mean request goes. */
export interface Breakdown {
  /** The largest change first; places beyond the limit are one row at the end. */
  readonly rows: readonly PlaceTime[]
  /** What the rows add up to: the mean response times. */
  readonly beforeUs: number
  readonly afterUs: number
}

/** What the kinds of {@link PlaceTime} are called. */
export const KIND_NAMES: Readonly<Record<PlaceTime['kind'], string>> = {
  self: 'work',
  network: 'network',
  others: '',
}

/** The rows of `EdgeChanges.breakdown`, folded into at most `limit` and one for the others. */
export function breakdownRows(edges: EdgeChanges, limit: number): Breakdown {
  const all = (edges.breakdown().objects() as PlaceTime[]).map(
    ({ service, kind, beforeUs, afterUs, changeUs }) => ({
      ...{ service, kind, beforeUs, afterUs, changeUs },
    }),
  )
  const beforeUs = all.reduce((sum, row) => sum + row.beforeUs, 0)
  const afterUs = all.reduce((sum, row) => sum + row.afterUs, 0)
  // A row for a single other place would say less than its own.
  if (all.length <= limit + 1) return { rows: all, beforeUs, afterUs }
  const shown = all.slice(0, limit)
  return { rows: [...shown, othersOf(all.slice(limit))], beforeUs, afterUs }
}

function othersOf(rows: readonly PlaceTime[]): PlaceTime {
  const sum = (value: (row: PlaceTime) => number) =>
    rows.reduce((total, row) => total + value(row), 0)
  return {
    service: counted(rows.length, 'other place'),
    kind: 'others',
    beforeUs: sum((row) => row.beforeUs),
    afterUs: sum((row) => row.afterUs),
    changeUs: sum((row) => row.changeUs),
  }
}
