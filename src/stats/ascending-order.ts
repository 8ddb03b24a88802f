// Runs for every value: the loops index with `!`.

/** Fewer values are sorted by comparing them. */
const MIN_COUNTED = 512
const BELOW_ZERO = 0x80000000
/** A word of 32 bits is three digits of so many. */
const BITS = 11
const DIGITS = 1 << BITS

/**
 * Returns the order in which values ascend; equal ones as they stand in `rows`, by default all of them
 * by number. Sorts by counting, digit by digit: comparing takes several times as long. No value is NaN.
 */
export function ascendingOrder(
  values: Float64Array,
  rows: Uint32Array = new Uint32Array(values.length).map((_, row) => row),
): Uint32Array {
  if (rows.length < MIN_COUNTED) return rows.slice().sort((a, b) => values[a]! - values[b]!)
  const words = new Uint32Array(values.map((value) => value + 0).buffer)
  // Words move with their rows, so that each pass reads them one after another.
  const empty = () => new Uint32Array(rows.length)
  let [order, next] = [rows.slice(), empty()]
  let [low, nextLow, high, nextHigh] = [empty(), empty(), empty(), empty()]
  for (let i = 0; i < order.length; i++) {
    const row = order[i]!
    // The bits of numbers ascend as these do, but those of numbers below zero, which descend.
    const isNegative = words[2 * row + 1]! >= BELOW_ZERO
    low[i] = words[2 * row]! ^ (isNegative ? 0xffffffff : 0)
    high[i] = words[2 * row + 1]! ^ (isNegative ? 0xffffffff : BELOW_ZERO)
  }
  for (const word of ['low', 'high']) {
    for (let shift = 0; shift < 32; shift += BITS) {
      const digits = word === 'low' ? low : high
      const starts = digitStarts(digits, shift)
      if (starts === null) continue
      for (let i = 0; i < order.length; i++) {
        const at = starts[(digits[i]! >>> shift) & (DIGITS - 1)]!++
        next[at] = order[i]!
        nextLow[at] = low[i]!
        nextHigh[at] = high[i]!
      }
      ;[order, next] = [next, order]
      ;[low, nextLow] = [nextLow, low]
      ;[high, nextHigh] = [nextHigh, high]
    }
  }
  return order
}

/** Where the words of each digit begin once sorted by it; `null` where all have the same. */
function digitStarts(words: Uint32Array, shift: number): Uint32Array | null {
  const counts = new Uint32Array(DIGITS)
  for (let i = 0; i < words.length; i++) counts[(words[i]! >>> shift) & (DIGITS - 1)]!++
  if (counts.includes(words.length)) return null
  let start = 0
  return counts.map((count) => {
    start += count
    return start - count
  })
}
