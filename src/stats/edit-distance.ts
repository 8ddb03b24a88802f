import { distance } from 'fastest-levenshtein'
import { OptionError, requireArgument, requireNumbers } from '../core/errors.ts'

// Flows have up to 15,000 tokens and every mutation is compared with every candidate precursor,
// millions of steps a comparison: the loops index with `!`.

/** Beyond this share of the longer sequence, diagonals cost more than bit-parallel columns. */
const DIAGONAL_SHARE = 0.1

/**
 * Levenshtein distance of two sequences of tokens: the least number of insertions, deletions and
 * substitutions that turn one into the other.
 *
 * Tokens are integers (anything `===` tells apart, so not NaN). Symmetric; 0 when equal; the
 * other's length when one is empty.
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

/** A copy as doubles, which hold every integer token and keep the inner loops monomorphic. */
function cut(tokens: ArrayLike<number>, prefix: number, suffix: number): Float64Array {
  const length = tokens.length - prefix - suffix
  const copy = new Float64Array(length)
  for (let i = 0; i < length; i++) copy[i] = tokens[prefix + i]!
  return copy
}

/** Beyond this length, `editDistance` with its diagonals is faster. */
const MAX_PREPARED = 256

/**
 * Edit distances from one sequence to many, which take a microsecond or less for short ones.
 *
 * Tokens, of this sequence and of all it is compared with, are integers from 0 to `alphabet` − 1.
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
  if (pattern.length > MAX_PREPARED || alphabet > CODES)
    return (text) => editDistance(pattern, text)
  const letters = String.fromCharCode(...pattern)
  return (text) => distance(letters, textOf(text))
}

/** How many tokens can be told apart as the code units of a text. */
const CODES = 0x10000
/** More code units are not made a text at once. */
const PIECE = 4096

function textOf(codes: Uint32Array): string {
  let text = ''
  for (let from = 0; from < codes.length; from += PIECE) {
    text += String.fromCharCode(...codes.subarray(from, from + PIECE))
  }
  return text
}

/**
 * Levenshtein distance by bit-parallel columns, of tokens as letters: those of the pattern are numbered
 * from 1; 0 stands for every token it does not have.
 *
 * @throws OptionError for more different tokens than there are code units
 */
export function bitParallelEditDistance(pattern: Float64Array, text: Float64Array): number {
  const tokens = new Set(pattern)
  if (tokens.size >= CODES)
    throw new OptionError('a', `${tokens.size} different tokens`, `${CODES - 1} at most`)
  const numbers = new Map(Array.from(tokens, (token, i) => [token, i + 1]))
  const letters = (sequence: Float64Array) =>
    textOf(Uint32Array.from(sequence, (token) => numbers.get(token) ?? 0))
  return distance(letters(pattern), letters(text))
}

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
