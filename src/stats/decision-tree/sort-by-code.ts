// Called for every column of every small node: indexes with `!`.
const DIGIT_BITS = 8
const DIGITS = 1 << DIGIT_BITS
/** Up to so many rows, moving each to its place one by one is faster. */
const FEW = 96

/** Arrays that sorting by code needs, kept from one call to the next. */
export class CodeSorter {
  /** Codes in ascending order, after `sort`. */
  codes: Int32Array
  /** Where each stood before, after `sort`. */
  positions: Int32Array
  #spareCodes: Int32Array
  #sparePositions: Int32Array
  readonly #starts = new Int32Array(DIGITS)

  constructor(most: number) {
    this.codes = new Int32Array(most)
    this.positions = new Int32Array(most)
    this.#spareCodes = new Int32Array(most)
    this.#sparePositions = new Int32Array(most)
  }

  /** Sorts the codes of `rows` stably; none is below −1 or above `largest`. */
  sort(codes: Int32Array, largest: number, rows: Int32Array): void {
    const count = rows.length
    if (count <= FEW) {
      this.#insert(codes, rows)
      return
    }
    for (let i = 0; i < count; i++) {
      this.codes[i] = codes[rows[i]!]!
      this.positions[i] = i
    }
    // One more than the code, so that missing is 0.
    for (let shift = 0; (largest + 1) >>> shift > 0; shift += DIGIT_BITS) {
      this.#sortByDigit(shift, count)
    }
  }

  #insert(codes: Int32Array, rows: Int32Array): void {
    const { codes: sorted, positions } = this
    for (let i = 0; i < rows.length; i++) {
      const code = codes[rows[i]!]!
      let at = i
      for (; at > 0 && sorted[at - 1]! > code; at--) {
        sorted[at] = sorted[at - 1]!
        positions[at] = positions[at - 1]!
      }
      sorted[at] = code
      positions[at] = i
    }
  }

  #sortByDigit(shift: number, count: number): void {
    const { codes, positions } = this
    const starts = this.#starts.fill(0)
    for (let i = 0; i < count; i++) starts[((codes[i]! + 1) >>> shift) & (DIGITS - 1)]!++
    let start = 0
    for (let digit = 0; digit < DIGITS; digit++) {
      const size = starts[digit]!
      starts[digit] = start
      start += size
    }
    for (let i = 0; i < count; i++) {
      const at = starts[((codes[i]! + 1) >>> shift) & (DIGITS - 1)]!++
      this.#spareCodes[at] = codes[i]!
      this.#sparePositions[at] = positions[i]!
    }
    this.codes = this.#spareCodes
    this.positions = this.#sparePositions
    this.#spareCodes = codes
    this.#sparePositions = positions
  }
}
