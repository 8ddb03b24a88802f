// One step per pair of distance and diagonal, millions per comparison: the loops index with `!`.

const UNREACHED = -(2 ** 30)

/**
 * Levenshtein distance by furthest-reaching diagonals, or undefined when it exceeds `limit`.
 *
 * For d = 0, 1, … it keeps, per diagonal (column − row), the furthest row of `a` that d edits
 * can reach. O(n + d²) time on average, O(n·d) at worst, O(limit) memory.
 *
 * Source: Ukkonen 1985, "Algorithms for approximate string matching", Information and Control
 * 64:100-118.
 */
export function diagonalEditDistance(
  a: Float64Array,
  b: Float64Array,
  limit: number,
): number | undefined {
  const rows = a.length
  const columns = b.length
  const goal = columns - rows
  if (Math.abs(goal) > limit) return undefined
  const origin = limit + 1
  const reach = new Int32Array(2 * limit + 3).fill(UNREACHED)
  reach[origin] = slide(a, b, 0, 0)
  if (goal === 0 && reach[origin] === rows) return 0
  for (let d = 1; d <= limit; d++) {
    // A diagonal further from the goal than the edits left cannot be part of a solution.
    const left = limit - d
    const first = Math.max(-d, goal - left, -rows)
    const last = Math.min(d, goal + left, columns)
    let below = reach[origin + first - 1]!
    for (let diagonal = first; diagonal <= last; diagonal++) {
      const here = reach[origin + diagonal]!
      const furthest = Math.max(below, here + 1, reach[origin + diagonal + 1]! + 1)
      const row = Math.min(furthest, rows, columns - diagonal)
      below = here
      reach[origin + diagonal] = slide(a, b, row, row + diagonal)
    }
    if (reach[origin + goal] === rows) return d
  }
  return undefined
}

/** The row where the run of equal tokens that starts at (row, column) ends. */
function slide(a: Float64Array, b: Float64Array, row: number, column: number): number {
  const shift = column - row
  const end = Math.min(a.length, b.length - shift)
  let i = row
  while (i < end && a[i]! === b[i + shift]!) i++
  return i
}
