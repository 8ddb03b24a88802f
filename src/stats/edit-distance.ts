import { requireArgument, requireNumbers } from '../core/errors.ts'

// Flows have up to 15,000 tokens and every mutation is compared with every candidate precursor,
// millions of steps a comparison: the loops index with `!`.

const WORD = 32
/** In longer texts, distances up to this share of their length are sought along diagonals, which takes n + d² steps. */
const [LONG, DIAGONAL_SHARE] = [256, 0.1]

/**
 * Returns the Levenshtein distance of two sequences of tokens: the least number of insertions, deletions and
 * substitutions that turn one into the other.
 *
 * Tokens are integers (anything that `===` distinguishes, so not NaN). Symmetric; 0 when equal; the other's length when
 * one is empty. Takes n·m/32 steps, n and m without the common beginning and end; n + d² steps for a distance d that is
 * small.
 *
 * Sources: Hyyrö 2003, "A bit-vector algorithm for computing Levenshtein and Damerau edit
 * distances", Nordic J. Computing 10(1):29-39, after Myers 1999; Ukkonen 1985, "Algorithms for approximate string
 * matching", Information and Control 64:100-118 (small distances).
 *
 * @example
 * editDistance([1, 2, 3, 4], [1, 3, 4, 5]) // 2
 */
export function editDistance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  requireNumbers({ a, b })
  const ids = new Map<number, number>()
  const numbered = (tokens: ArrayLike<number>) =>
    Uint32Array.from(tokens, (token) => {
      if (!ids.has(token)) ids.set(token, ids.size)
      return ids.get(token)!
    })
  const [pattern, text] = [numbered(a), numbered(b)]
  return editDistanceFrom(pattern, ids.size)(text)
}

/**
 * Returns a function for edit distances from one sequence to many. Tokens of all sequences are integers from 0 to
 * `alphabet` − 1.
 *
 * @example
 * const distanceTo = editDistanceFrom(Uint32Array.of(1, 2, 3, 4), 6)
 * distanceTo(Uint32Array.of(1, 3, 4, 5)) // 2
 */
export function editDistanceFrom(
  pattern: Uint32Array,
  alphabet: number,
): (text: Uint32Array) => number {
  requireArgument('pattern', pattern, pattern instanceof Uint32Array, 'a Uint32Array')
  const positions = new Int32Array(alphabet)
  return (text) => {
    const shorter = Math.min(pattern.length, text.length)
    let prefix = 0
    while (prefix < shorter && pattern[prefix] === text[prefix]) prefix++
    let [rows, columns] = [pattern.length, text.length]
    while (Math.min(rows, columns) > prefix && pattern[rows - 1] === text[columns - 1]) {
      rows--
      columns--
    }
    const rest = text.subarray(prefix, columns)
    if (rest.length > LONG) {
      const limit = Math.floor(DIAGONAL_SHARE * rest.length)
      const near = diagonalEditDistance(pattern.subarray(prefix, rows), rest, limit)
      if (near !== undefined) return near
    }
    // Along the table's last row so far, 1 more than the cell before (bit 0) or 1 less (bit 1).
    const differences = new Uint8Array(rest.length).fill(1)
    for (let start = prefix; start < rows; start += WORD) {
      const size = Math.min(WORD, rows - start)
      for (let row = 0; row < size; row++) positions[pattern[start + row]!]! |= 1 << row
      fillBand(rest, { positions, differences, lastRow: size - 1 })
      for (let row = 0; row < size; row++) positions[pattern[start + row]!] = 0
    }
    let distance = rows - prefix
    for (const difference of differences) distance += (difference & 1) - (difference >> 1)
    return distance
  }
}

/** 32 rows of the table of distances, to be filled for one text. */
interface Band {
  /** For each token, the rows of the band that hold it, as bits. */
  readonly positions: Int32Array
  readonly differences: Uint8Array
  readonly lastRow: number
}

function fillBand(text: Uint32Array, { positions, differences, lastRow }: Band): void {
  let up = -1
  let down = 0
  for (let column = 0; column < text.length; column++) {
    const above = differences[column]!
    const aboveUp = above & 1
    const aboveDown = above >> 1
    let equal = positions[text[column]!]!
    const vertical = equal | down
    equal |= aboveDown
    const horizontal = ((((equal & up) + up) | 0) ^ up) | equal
    let right = down | ~(horizontal | up)
    let left = up & horizontal
    differences[column] = ((right >>> lastRow) & 1) | (((left >>> lastRow) & 1) << 1)
    right = (right << 1) | aboveUp
    left = (left << 1) | aboveDown
    up = left | ~(vertical | right)
    down = right & vertical
  }
}

const UNREACHED = -(2 ** 30)

/**
 * Returns the distance by furthest-reaching diagonals, or undefined if it exceeds `limit`: for d = 0, 1, … and each
 * diagonal (column − row), the furthest row of `a` that d edits can reach.
 */
export function diagonalEditDistance(
  a: Uint32Array,
  b: Uint32Array,
  limit: number,
): number | undefined {
  const goal = b.length - a.length
  const origin = limit + 1
  const reach = new Int32Array(2 * limit + 3).fill(UNREACHED)
  for (let d = 0; d <= limit; d++) {
    // A diagonal further from the goal than the edits left cannot be part of a solution.
    const left = limit - d
    const first = Math.max(-d, goal - left, -a.length)
    const last = Math.min(d, goal + left, b.length)
    let below = reach[origin + first - 1]!
    for (let diagonal = first; diagonal <= last; diagonal++) {
      const here = reach[origin + diagonal]!
      const furthest = Math.max(below, here + 1, reach[origin + diagonal + 1]! + 1)
      let row = d === 0 ? 0 : Math.min(furthest, a.length, b.length - diagonal)
      while (row < a.length && row + diagonal < b.length && a[row] === b[row + diagonal]) row++
      below = here
      reach[origin + diagonal] = row
    }
    if (Math.abs(goal) <= d && reach[origin + goal] === a.length) return d
  }
  return undefined
}
