// Over every call of a period: the loops index with `!`.
import type { CallForest } from '../calls/call-forest.ts'

interface RowsByPath {
  readonly offsets: Uint32Array
  readonly rows: Uint32Array
}

const known = new WeakMap<CallForest, RowsByPath>()

/**
 * The calls of one period that were made along some paths: rows, ascending. Paths that the period
 * does not have, have none.
 */
export function callRows(forest: CallForest, paths: readonly number[]): Uint32Array {
  let byPath = known.get(forest)
  if (byPath === undefined) {
    byPath = sortByPath(forest.path)
    known.set(forest, byPath)
  }
  const { offsets, rows } = byPath
  // The other period may have more paths than this one knows of.
  const end = rows.length
  const parts = paths.map((path) => rows.subarray(offsets[path] ?? end, offsets[path + 1] ?? end))
  if (parts.length === 1) return parts[0]!
  const all = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all.sort()
}

function sortByPath(path: Uint32Array): RowsByPath {
  const paths = path.reduce((most, each) => Math.max(most, each), -1) + 1
  const offsets = new Uint32Array(paths + 1)
  for (let call = 0; call < path.length; call++) offsets[path[call]! + 1]!++
  for (let each = 0; each < paths; each++) offsets[each + 1]! += offsets[each]!
  const next = offsets.slice()
  const rows = new Uint32Array(path.length)
  for (let call = 0; call < path.length; call++) rows[next[path[call]!]!++] = call
  return { offsets, rows }
}
