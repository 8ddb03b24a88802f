import { Dictionary } from './dictionary.ts'
import { type GrowingUint32, growingUint32 } from './growing-columns.ts'

/** High word of ids that are not 64-bit hex numbers: the low word is then a dictionary code. */
const INTERNED = 0xffffffff

/**
 * A column of span ids, eight bytes each. Ids of up to 16 hex digits are kept as the numbers
 * they are; any other string is interned. No id, an empty one and one of zeros are the same: none.
 */
export class SpanIds {
  readonly #others: Dictionary
  readonly #high: GrowingUint32 = growingUint32()
  readonly #low: GrowingUint32 = growingUint32()

  /** Columns that are to be compared with each other share one dictionary. */
  constructor(others: Dictionary = new Dictionary()) {
    this.#others = others
  }

  push(id: string | null): void {
    const length = id === null ? 0 : id.length
    let high = 0
    let low = 0
    let at = 0
    for (; at < length && length <= 16; at++) {
      const digit = hexDigit((id as string).charCodeAt(at))
      if (digit < 0) break
      high = ((high << 4) | (low >>> 28)) >>> 0
      low = ((low << 4) | digit) >>> 0
    }
    const isHex = at === length && high !== INTERNED
    this.#high.push(isHex ? high : INTERNED)
    this.#low.push(isHex ? low : this.#others.code(id ?? ''))
  }

  /** The id for a message: hex ids in full 16 digits, others as they were. */
  text(row: number): string {
    const high = this.#high.values[row] as number
    const low = this.#low.values[row] as number
    if (high === INTERNED) return this.#others.value(low)
    return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0')
  }

  isNone(row: number): boolean {
    return this.#high.values[row] === 0 && this.#low.values[row] === 0
  }

  same(row: number, other: SpanIds, otherRow: number): boolean {
    return (
      this.#low.values[row] === other.#low.values[otherRow] &&
      this.#high.values[row] === other.#high.values[otherRow]
    )
  }

  hash(row: number): number {
    const mixed = Math.imul(
      (this.#low.values[row] as number) ^ Math.imul(this.#high.values[row] as number, 0x9e3779b1),
      0x85ebca6b,
    )
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
}

/** The value of a hex digit's character code, or -1. */
function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const letter = code | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}
