// Called for every column of every node: indexes with `!`.

/** Above so many codes a row, sorting the rows is faster than walking through all codes. */
const SPARSE = 4
/** More than there are rows. */
const POSITIONS = 2 ** 26

/**
 * The rows of a node added up by value: two numbers a row, of whichever criterion. Arrays are good
 * until the next `fill`.
 */
export class ValueGroups {
  size = 0
  readonly keys: Int32Array
  readonly first: Float64Array
  readonly second: Float64Array
  /** Sums over the rows whose value is missing. */
  missingFirst = 0
  missingSecond = 0
  readonly #bins: Float64Array
  readonly #sorted: Float64Array

  static for(columns: readonly { readonly size: number }[], mostRows: number): ValueGroups {
    return new ValueGroups(
      columns.reduce((most, { size }) => Math.max(most, size), 0),
      mostRows,
    )
  }

  constructor(mostCodes: number, mostRows: number) {
    const most = Math.min(mostCodes, mostRows)
    this.keys = new Int32Array(most)
    this.first = new Float64Array(most)
    this.second = new Float64Array(most)
    this.#bins = new Float64Array(2 * (Math.min(mostCodes, SPARSE * mostRows) + 1))
    this.#sorted = new Float64Array(mostRows)
  }

  /** Adds up `first[i]` and `second[i]` of `rows[i]` by code, for codes below `size`. */
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
    else this.#sort(codes, rows, first, second)
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

  #sort(codes: Int32Array, rows: Int32Array, first: Float64Array, second: Float64Array): void {
    // Code and position in one number: native sorting knows nothing but numbers.
    const sorted = this.#sorted.subarray(0, rows.length)
    for (let i = 0; i < rows.length; i++) sorted[i] = codes[rows[i]!]! * POSITIONS + i
    sorted.sort()
    let group = -1
    let last = -1
    for (let i = 0; i < rows.length; i++) {
      const code = Math.floor(sorted[i]! / POSITIONS)
      const position = sorted[i]! - code * POSITIONS
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
