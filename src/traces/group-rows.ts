// Runs once a span, node or edge: the loops index with `!`.
/** Rows by the group they are in, in compressed rows. */
export interface GroupedRows {
  readonly offsets: Uint32Array
  readonly rows: Uint32Array
}

/** Groups rows by counting sort; a row that is not `chosen`, or whose group is below 0, is in none. */
export function groupRows(
  groupNumbers: ArrayLike<number>,
  groups: number,
  chosen?: Uint8Array,
): GroupedRows {
  // Arrays of one kind alone make the loops fast.
  const groupOf = new Int32Array(groupNumbers)
  for (let row = 0; chosen !== undefined && row < groupOf.length; row++) {
    if (chosen[row] !== 1) groupOf[row] = -1
  }
  const offsets = new Uint32Array(groups + 1)
  for (let row = 0; row < groupOf.length; row++) {
    if (groupOf[row]! >= 0) offsets[groupOf[row]! + 1]!++
  }
  for (let group = 0; group < groups; group++) offsets[group + 1]! += offsets[group]!
  const next = offsets.slice()
  const rows = new Uint32Array(offsets[groups]!)
  for (let row = 0; row < groupOf.length; row++) {
    const group = groupOf[row]!
    if (group >= 0) rows[next[group]!++] = row
  }
  return { offsets, rows }
}

/** Rows for which something holds, of `size`; `filter` of a typed array takes ten times as long. */
export function rowsWhere(size: number, isWanted: (row: number) => boolean): Uint32Array {
  const rows = new Uint32Array(size)
  let count = 0
  for (let row = 0; row < size; row++) if (isWanted(row)) rows[count++] = row
  return rows.slice(0, count)
}

/** Returns the entries of some groups, and where each group's begin, one group after the other. */
export function entriesWithin(
  offsets: Uint32Array,
  groups: Uint32Array,
): { readonly offsets: Uint32Array; readonly entries: Uint32Array } {
  const chosen = new Uint32Array(groups.length + 1)
  groups.forEach((group, i) => {
    chosen[i + 1] = chosen[i]! + offsets[group + 1]! - offsets[group]!
  })
  const entries = new Uint32Array(chosen[groups.length]!)
  groups.forEach((group, i) => {
    for (let k = 0; k < chosen[i + 1]! - chosen[i]!; k++) {
      entries[chosen[i]! + k] = offsets[group]! + k
    }
  })
  return { offsets: chosen, entries }
}

export function placesIn(order: ArrayLike<number>): Uint32Array {
  const places = new Uint32Array(order.length)
  for (let at = 0; at < order.length; at++) places[order[at]!] = at
  return places
}

/** Returns the pairs, one after the other, of which both rows are there, none being negative; `undefined` for none. */
export function pairsOfRows(rows: readonly number[]): Uint32Array | undefined {
  const found = rows.filter((_, at) => rows[at & ~1]! >= 0 && rows[at | 1]! >= 0)
  return found.length === 0 ? undefined : Uint32Array.from(found)
}
