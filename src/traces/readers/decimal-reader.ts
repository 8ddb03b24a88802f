const POINT = 46
const ZERO = 48
/** Numbers of up to this many digits are exact, and so is a power of ten to divide them by. */
const EXACT_DIGITS = 15
const POWERS_OF_TEN = Float64Array.from({ length: EXACT_DIGITS + 1 }, (_, n) => Number(`1e${n}`))

/** Reads plain decimal numbers, `4381.46`, from bytes, rounded as `Number` rounds them. */
export class DecimalReader {
  value = 0
  /** The byte behind the last number. */
  end = 0

  /**
   * Reads the number that begins at `start`; `false` where there is none, or one that needs more
   * care: a sign, an exponent, or more than 15 digits.
   */
  read(source: Uint8Array, start: number, limit: number): boolean {
    let at = start
    let digits = 0
    let count = 0
    let point = -1
    for (; at < limit; at++) {
      const byte = source[at] as number
      if (byte === POINT && point < 0) point = count
      else if (byte < ZERO || byte > ZERO + 9) break
      else {
        digits = digits * 10 + byte - ZERO
        count++
      }
    }
    this.end = at
    const next = (source[at] as number) | 32
    if (count === 0 || count > EXACT_DIGITS || next === 101) return false
    this.value = point < 0 ? digits : digits / (POWERS_OF_TEN[count - point] as number)
    return true
  }
}
