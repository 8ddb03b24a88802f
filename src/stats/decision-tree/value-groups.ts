// Called for every column of every node: indexes with `!`.

/** Above so many codes a row, sorting the rows is faster than walking through all codes. */
const SPARSE = 4

/**
 * The rows of a node added up by the value they have in one column.
 *
 * Two numbers are added up for each row, whichever the criterion needs: the weights of a precursor
 * and of a mutation, or a weight and a weighted target. The arrays are used again for the next
 * column: what `fill` gave is gone after the next `fill`.
 */
export class ValueGroups {
  /** Values that occur among the rows. */
  size = 0
  /** Their codes, ascending. */
  readonly keys: Int32Array
  readonly first: Float64Array
  readonly second: Float64Array
  /** Sums over the rows whose value is missing. */
  missingFirst = 0
  missingSecond = 0
  readonly #bins: Float64Array
  readonly #sorter: CodeSorter

  /** For columns of up to `mostCodes` codes in nodes of up to `mostRows` rows. */
  constructor(mostCodes: number, mostRows: number) {
    const most = Math.min(mostCodes, mostRows)
    this.keys = new Int32Array(most)
    this.first = new Float64Array(most)
    this.second = new Float64Array(most)
    this.#bins = new Float64Array(2 * (Math.min(mostCodes, SPARSE * mostRows) + 1))
    this.#sorter = new CodeSorter(mostRows)
  }

  /**
   * Adds up `first[i]` and `second[i]` of `rows[i]` by `codes[rows[i]]`, for codes below `size`.
   */
  fill(
    { codes, size }: { readonly codes: Int32Array; readonly size: number },
    rows: Int32Array,
    first: Float64Array,
    second: Float64Array,
  ): this {
    this.size = 0
    this.missingFirst = 0
    this.missingSecond = 0
    if (size <= SPARSE * rows.length) this.#count(codes, size, rows, first, second)
    else this.#sort(codes, size, rows, first, second)
    return this
  }

  #count(
    codes: Int32Array,
    size: number,
    rows: Int32Array,
    first: Float64Array,
    second: Float64Array,
  ): void {
    // Missing (−1) has the first bin.
    const bins = this.#bins
    for (let i = 0; i < rows.length; i++) {
      const bin = 2 * codes[rows[i]!]! + 2
      bins[bin]! += first[i]!
      bins[bin + 1]! += second[i]!
    }
    this.missingFirst = bins[0]!
    this.missingSecond = bins[1]!
    let groups = 0
    for (let code = 0; code < size; code++) {
      const one = bins[2 * code + 2]!
      const other = bins[2 * code + 3]!
      if (one === 0 && other === 0) continue
      this.keys[groups] = code
      this.first[groups] = one
      this.second[groups] = other
      groups++
    }
    bins.fill(0, 0, 2 * size + 2)
    this.size = groups
  }

  #sort(
    codes: Int32Array,
    size: number,
    rows: Int32Array,
    first: Float64Array,
    second: Float64Array,
  ): void {
    this.#sorter.sort(codes, size - 1, rows)
    const { codes: sorted, positions } = this.#sorter
    let group = -1
    let last = -1
    for (let i = 0; i < rows.length; i++) {
      const code = sorted[i]!
      const position = positions[i]!
      if (code < 0) {
        this.missingFirst += first[position]!
        this.missingSecond += second[position]!
        continue
      }
      if (code !== last) {
        this.keys[++group] = code
        this.first[group] = 0
        this.second[group] = 0
        last = code
      }
      this.first[group]! += first[position]!
      this.second[group]! += second[position]!
    }
    this.size = group + 1
  }
}

// Called for every column of every small node: indexes with `!`.
const DIGIT_BITS = 8
const DIGITS = 1 << DIGIT_BITS
/** Up to so many rows, moving each to its place one by one is faster. */
const FEW = 96

/** Arrays that sorting by code needs, kept from one call to the next. */
class CodeSorter {
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
