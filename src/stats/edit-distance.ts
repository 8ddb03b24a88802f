import { requireArgument, requireNumbers } from '../core/errors.ts'

// Flows have up to 15,000 tokens and every mutation is compared with every candidate precursor,
// millions of steps a comparison: the loops index with `!`.

const WORD = 32
/** Beyond this share of the longer sequence, diagonals cost more than bit-parallel columns. */
const DIAGONAL_SHARE = 0.1

/**
 * Returns the Levenshtein distance of two sequences of tokens: the least number of insertions, deletions and
 * substitutions that turn one into the other.
 *
 * Tokens are integers (anything that `===` distinguishes, so not NaN). Symmetric; 0 when equal; the other's length when
 * one is empty.
 *
 * The common prefix and suffix are cut off; then furthest-reaching diagonals are followed while
 * the distance is at most a tenth of the longer rest, O(n + d²) on average; beyond, a bit-parallel
 * table is filled, O(n·m/32). Memory O(n + m).
 *
 * Sources: Ukkonen 1985, "Algorithms for approximate string matching", Information and Control
 * 64:100-118; Hyyrö 2003, "A bit-vector algorithm for computing Levenshtein and Damerau edit
 * distances", Nordic J. Computing 10(1):29-39.
 *
 * @example
 * editDistance([1, 2, 3, 4], [1, 3, 4, 5]) // 2
 */
export function editDistance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  requireNumbers({ a, b })
  const [shorter, longer] = a.length <= b.length ? [a, b] : [b, a]
  const prefix = commonPrefix(shorter, longer)
  const suffix = commonSuffix(shorter, longer, prefix)
  const width = longer.length - suffix - prefix
  if (shorter.length - suffix === prefix) return width
  const pattern = cut(shorter, prefix, suffix)
  const text = cut(longer, prefix, suffix)
  const limit = Math.floor(DIAGONAL_SHARE * width)
  return diagonalEditDistance(pattern, text, limit) ?? bitParallelEditDistance(pattern, text)
}

function commonPrefix(shorter: ArrayLike<number>, longer: ArrayLike<number>): number {
  let length = 0
  while (length < shorter.length && shorter[length]! === longer[length]!) length++
  return length
}

function commonSuffix(shorter: ArrayLike<number>, longer: ArrayLike<number>, prefix: number) {
  const rest = shorter.length - prefix
  const shift = longer.length - shorter.length
  let length = 0
  for (let i = shorter.length - 1; length < rest && shorter[i]! === longer[i + shift]!; i--) {
    length++
  }
  return length
}

/** Returns a copy as doubles, which hold every integer token and keep the inner loops monomorphic. */
function cut(tokens: ArrayLike<number>, prefix: number, suffix: number): Float64Array {
  const length = tokens.length - prefix - suffix
  const copy = new Float64Array(length)
  for (let i = 0; i < length; i++) copy[i] = tokens[prefix + i]!
  return copy
}

/** Beyond this length, `editDistance` with its diagonals is faster than a prepared table. */
const MAX_PREPARED = 256

/**
 * Returns a function for edit distances from one sequence to many. The preparation of the first sequence is done once,
 * so a comparison with a short one takes a tenth of a microsecond or two instead of several.
 *
 * Tokens of all sequences are integers from 0 to `alphabet` − 1.
 *
 * Source: Hyyrö 2003, as in `editDistance`.
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
  if (pattern.length > MAX_PREPARED) return (text) => editDistance(pattern, text)
  const bands: { positions: Int32Array; lastRow: number }[] = []
  for (let start = 0; start < pattern.length; start += WORD) {
    const rows = pattern.subarray(start, start + WORD)
    const positions = new Int32Array(alphabet)
    rows.forEach((token, row) => {
      positions[token]! |= 1 << row
    })
    bands.push({ positions, lastRow: rows.length - 1 })
  }
  let scratch = new Uint8Array(256)
  return (text) => {
    if (text.length > scratch.length) scratch = new Uint8Array(text.length * 2)
    const differences = scratch.subarray(0, text.length).fill(1)
    for (const { positions, lastRow } of bands) fillBand(text, { positions, differences, lastRow })
    return lastCell(pattern.length, differences)
  }
}

/** Returns the distance, from the horizontal differences along the table's last row. */
function lastCell(rows: number, differences: Uint8Array): number {
  let distance = rows
  for (let i = 0; i < differences.length; i++) {
    const difference = differences[i]!
    distance += (difference & 1) - (difference >> 1)
  }
  return distance
}

/**
 * Returns the Levenshtein distance by bit-parallel dynamic programming, 32 rows of the table at a time.
 *
 * The table is filled one band of 32 pattern tokens after the other; between bands only the
 * horizontal differences (−1, 0, 1) along the text are kept. O(n·m/32) time, O(n + m) memory.
 *
 * Source: Hyyrö 2003, "A bit-vector algorithm for computing Levenshtein and Damerau edit
 * distances", Nordic J. Computing 10(1):29-39, after Myers 1999.
 */
export function bitParallelEditDistance(pattern: Float64Array, text: Float64Array): number {
  const { patternIds, textIds, idCount } = numberTokens(pattern, text)
  const positions = new Int32Array(idCount)
  // The table's first row grows by 1 per column. Bit 0: +1, bit 1: −1.
  const differences = new Uint8Array(text.length).fill(1)
  for (let start = 0; start < pattern.length; start += WORD) {
    const band = patternIds.subarray(start, start + WORD)
    for (let row = 0; row < band.length; row++) positions[band[row]!]! |= 1 << row
    fillBand(textIds, { positions, differences, lastRow: band.length - 1 })
    for (const id of band) positions[id] = 0
  }
  return lastCell(pattern.length, differences)
}

/** 32 rows of the table, to be filled for one text. */
interface Band {
  /** Per token id, the rows of the band that hold it, as bits. */
  readonly positions: Int32Array
  readonly differences: Uint8Array
  readonly lastRow: number
}

function fillBand(textIds: Int32Array | Uint32Array, { positions, differences, lastRow }: Band) {
  let up = -1
  let down = 0
  for (let column = 0; column < textIds.length; column++) {
    const above = differences[column]!
    const aboveUp = above & 1
    const aboveDown = above >> 1
    let equal = positions[textIds[column]!]!
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

/** Numbers the pattern's tokens from 1; 0 stands for every token it does not have. */
function numberTokens(pattern: Float64Array, text: Float64Array) {
  const ids = new Map<number, number>()
  const patternIds = new Int32Array(pattern.length)
  for (let i = 0; i < pattern.length; i++) {
    let id = ids.get(pattern[i]!)
    if (id === undefined) {
      id = ids.size + 1
      ids.set(pattern[i]!, id)
    }
    patternIds[i] = id
  }
  const textIds = new Int32Array(text.length)
  for (let i = 0; i < text.length; i++) textIds[i] = ids.get(text[i]!) ?? 0
  return { patternIds, textIds, idCount: ids.size + 1 }
}

const UNREACHED = -(2 ** 30)

/**
 * Returns the Levenshtein distance by furthest-reaching diagonals, or undefined if it exceeds `limit`.
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

/** Returns the row where the run of equal tokens that starts at (row, column) ends. */
function slide(a: Float64Array, b: Float64Array, row: number, column: number): number {
  const shift = column - row
  const end = Math.min(a.length, b.length - shift)
  let i = row
  while (i < end && a[i]! === b[i + shift]!) i++
  return i
}
