// Runs for every value: the loops index with `!`.

/** Fewer values are sorted by comparing them. */
const MIN_COUNTED = 512
/** A word of 32 bits is three digits of eleven. */
const DIGITS = 2048
const SHIFTS = [0, 11, 22] as const

/**
 * Returns the order in which values ascend; equal ones as they stand in `rows`, by default all of them
 * by number. Sorts by counting, digit by digit, in linear time: comparing takes several times as long.
 * No value is NaN.
 *
 * Source: Knuth 1998, "The art of computer programming", vol. 3, 2nd ed., §5.2.5 (algorithm R).
 */
export function ascendingOrder(
  values: Float64Array,
  rows: Uint32Array = new Uint32Array(values.length).map((_, row) => row),
): Uint32Array {
  if (rows.length < MIN_COUNTED) return rows.slice().sort((a, b) => values[a]! - values[b]!)
  const { low, high } = sortableBits(values)
  let [order, spare] = [rows.slice(), new Uint32Array(rows.length)]
  const sortBy = (word: Uint32Array) => {
    for (const shift of SHIFTS) {
      if (sortByDigit(word, shift, order, spare)) [order, spare] = [spare, order]
    }
  }
  sortBy(high)
  if (settleTies(values, order)) return order
  sortBy(low)
  sortBy(high)
  return order
}

/** Sorts what the high words left undecided; false where that is more than a few neighbors. */
function settleTies(values: Float64Array, order: Uint32Array): boolean {
  let moves = 0
  for (let i = 1; i < order.length; i++) {
    const item = order[i]!
    let at = i
    for (; at > 0 && values[order[at - 1]!]! > values[item]!; at--) order[at] = order[at - 1]!
    order[at] = item
    moves += i - at
    if (moves > order.length) return false
  }
  return true
}

/** Two words a value that compare, unsigned and the high one first, as the values do. */
function sortableBits(values: Float64Array): { low: Uint32Array; high: Uint32Array } {
  const low = new Uint32Array(values.length)
  const high = new Uint32Array(values.length)
  const one = new Float64Array(1)
  const words = new Uint32Array(one.buffer)
  one[0] = 1
  const highWord = words[1] === 0 ? 0 : 1
  for (let i = 0; i < values.length; i++) {
    one[0] = values[i]! + 0 // −0 becomes 0.
    const upper = words[highWord]!
    // The larger the magnitude of a negative value, the smaller the value: all its bits turn.
    const turn = upper >>> 31 === 1 ? 0xffffffff : 0
    low[i] = words[1 - highWord]! ^ turn
    high[i] = upper ^ (turn | 0x80000000)
  }
  return { low, high }
}

/** Sorts `order` stably by 11 bits into `target`; false, and nothing done, if all are the same. */
function sortByDigit(word: Uint32Array, shift: number, order: Uint32Array, target: Uint32Array) {
  const starts = new Int32Array(DIGITS)
  for (let i = 0; i < order.length; i++) starts[(word[order[i]!]! >>> shift) & (DIGITS - 1)]!++
  let start = 0
  for (let digit = 0; digit < DIGITS; digit++) {
    const count = starts[digit]!
    if (count === order.length) return false
    starts[digit] = start
    start += count
  }
  for (let i = 0; i < order.length; i++) {
    const item = order[i]!
    target[starts[(word[item]! >>> shift) & (DIGITS - 1)]!++] = item
  }
  return true
}
