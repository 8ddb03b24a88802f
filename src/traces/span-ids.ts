import { Dictionary } from './dictionary.ts'
import { type GrowingUint32, growingUint32 } from './growing-columns.ts'

const HEX = /^[0-9a-f]{1,16}$/
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
    const digits = id === null || id === '' ? '0' : id.toLowerCase()
    if (HEX.test(digits) && !(digits.length === 16 && digits.startsWith('ffffffff'))) {
      this.#high.push(digits.length > 8 ? Number.parseInt(digits.slice(0, -8), 16) : 0)
      this.#low.push(Number.parseInt(digits.slice(-8), 16))
    } else {
      this.#high.push(INTERNED)
      this.#low.push(this.#others.code(id ?? ''))
    }
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
