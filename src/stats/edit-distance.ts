// Flows have up to 15,000 tokens and every mutation is compared with every candidate precursor:
// the scans below index with `!`.
import { bitParallelEditDistance } from './edit-distance-bit-parallel.ts'
import { diagonalEditDistance } from './edit-distance-diagonal.ts'

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

/**
 * Edit distance as a share of the longer sequence, 0 (equal) to 1; 0 when both are empty.
 *
 * Source: Sambasivan 2013, §2.6.3 (normalized string-edit distance).
 *
 * @example
 * normalizedEditDistance([1, 2, 3, 4], [1, 3, 4, 5]) // 0.5
 */
export function normalizedEditDistance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const longest = Math.max(a.length, b.length)
  return longest === 0 ? 0 : editDistance(a, b) / longest
}

function commonPrefix(shorter: ArrayLike<number>, longer: ArrayLike<number>): number {
  let length = 0
  while (length < shorter.length && shorter[length]! === longer[length]!) length++
  return length
}

function commonSuffix(
  shorter: ArrayLike<number>,
  longer: ArrayLike<number>,
  prefix: number,
): number {
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
