// Runs once a byte of files of gigabytes: bytes are indexed without checks.
export const TIME = 0
export const NAME = 1
export const VALUE = 2
export const INSTANCE = 3

export interface PlainRole {
  readonly role: typeof TIME | typeof NAME | typeof VALUE | typeof INSTANCE
  /** Of several fields of one role the first counts: smaller is earlier. */
  readonly rank: number
}

/** The rank of a role that no field has had; a small integer, as all ranks are. */
const NONE = 1 << 20
const NEWLINE = 10
const SPACE = 32
const COMMA = 44
const QUOTE = 34
const BACKSLASH = 92
const MINUS = 45
const POINT = 46
const LETTER_E = 69
const ZERO = 48
/** 1 for the bytes at which a plain text ends: quote, backslash, and what must not stand in it. */
const ENDS_TEXT = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte === QUOTE || byte === BACKSLASH || byte < SPACE),
)
/** Numbers of so many digits may be exact; 10²² is the last exact power. */
const EXACT_DIGITS = 16
const POWERS = Float64Array.from({ length: 23 }, (_, i) => Number(`1e${i}`))

/** A key as the line before had it at the same place: nearly always the key of this line, too. */
interface ExpectedKey {
  /** From the brace or comma before it to the place where its value starts. */
  readonly bytes: Uint8Array
  readonly role: PlainRole | null
}

/** Where a field's value stands: a number, or a text from `start` to `end`. */
export class PlainField {
  rank = NONE
  isNumber = false
  number = 0
  start = 0
  end = 0

  get isThere(): boolean {
    return this.rank !== NONE
  }
}

/**
 * Reads JSON lines that are flat and plain, `{"time":1,"name":"a","value":2}`, without decoding them:
 * fields of a known role in any order, texts without escapes, numbers, and null. All else is left to
 * `JSON.parse`.
 */
export class PlainJsonLine {
  readonly fields = [
    new PlainField(),
    new PlainField(),
    new PlainField(),
    new PlainField(),
  ] as const
  readonly #roleOf: (field: string) => PlainRole | null
  readonly #expected: ExpectedKey[] = []
  #role: PlainRole | null = null
  readonly #decoder = new TextDecoder()
  #number = 0

  /** @param roleOf `null` for a field that makes a line another than plain */
  constructor(roleOf: (field: string) => PlainRole | null) {
    this.#roleOf = roleOf
  }

  /**
   * Reads the line that starts at `at`; gives the start of the next, or −1 for a line that is not
   * plain.
   */
  read(bytes: Uint8Array, start: number): number {
    this.fields[0].rank = NONE
    this.fields[1].rank = NONE
    this.fields[2].rank = NONE
    this.fields[3].rank = NONE
    if (bytes[start] !== 123) return -1
    let at = start
    let place = 0
    do {
      at = this.#key(bytes, at, place++)
      if (at < 0) return -1
      if (this.#role === null) return -1
      at = this.#value(bytes, at, this.#role)
      if (at < 0) return -1
      at = skipSpace(bytes, at)
    } while (bytes[at] === COMMA)
    if (bytes[at] !== 125) return -1
    at = skipSpace(bytes, at + 1)
    if (bytes[at] === 13) at++
    return bytes[at] === NEWLINE ? at + 1 : -1
  }

  /** Reads the key behind the brace or comma at `start`; gives the place where its value starts. */
  #key(bytes: Uint8Array, start: number, place: number): number {
    const expected = this.#expected[place]
    if (expected !== undefined && isAt(bytes, start, expected.bytes)) {
      this.#role = expected.role
      return start + expected.bytes.length
    }
    const quote = skipSpace(bytes, start + 1)
    const end = bytes[quote] === QUOTE ? plainEnd(bytes, quote + 1) : -1
    if (end < 0) return -1
    const colon = skipSpace(bytes, end + 1)
    if (bytes[colon] !== 58) return -1
    const value = skipSpace(bytes, colon + 1)
    this.#role = this.#roleOf(this.#decoder.decode(bytes.subarray(quote + 1, end)))
    this.#expected[place] = { bytes: bytes.slice(start, value), role: this.#role }
    return value
  }

  /** Reads the value at `at`, and gives the place behind it. */
  #value(bytes: Uint8Array, at: number, role: PlainRole): number {
    const first = bytes[at] as number
    if (first === QUOTE) {
      const end = plainEnd(bytes, at + 1)
      if (end < 0) return -1
      // An empty text is as good as none.
      if (end > at + 1) this.#take(role, at + 1, end, false)
      return end + 1
    }
    if (first === MINUS || (first >= ZERO && first <= 57)) {
      const end = this.#readNumber(bytes, at)
      if (end >= 0) this.#take(role, at, end, true)
      return end
    }
    const isNull = first === 110 && bytes[at + 1] === 117 && bytes[at + 3] === 108
    return isNull && bytes[at + 2] === 108 ? at + 4 : -1
  }

  #take({ role, rank }: PlainRole, start: number, end: number, isNumber: boolean): void {
    const field = this.fields[role]
    if (rank >= field.rank) return
    field.rank = rank
    field.isNumber = isNumber
    field.number = this.#number
    field.start = start
    field.end = end
  }

  #readNumber(bytes: Uint8Array, from: number): number {
    let at = bytes[from] === MINUS ? from + 1 : from
    const start = at
    let digits = 0
    let point = -1
    for (; ; at++) {
      const digit = (bytes[at] as number) - ZERO
      if (digit >= 0 && digit <= 9) digits = digits * 10 + digit
      else if (digit === POINT - ZERO && point < 0 && at > start) point = at
      else break
    }
    const decimals = point < 0 ? 0 : at - point - 1
    if (at === start || (point >= 0 && decimals === 0)) return -1
    if (((bytes[at] as number) | 32) === (LETTER_E | 32)) return -1
    if (at - start > EXACT_DIGITS || digits > Number.MAX_SAFE_INTEGER) {
      this.#number = Number(this.#decoder.decode(bytes.subarray(from, at)))
      return at
    }
    const value = digits / (POWERS[decimals] as number)
    this.#number = start > from ? -value : value
    return at
  }
}

function isAt(bytes: Uint8Array, at: number, key: Uint8Array): boolean {
  for (let i = 0; i < key.length; i++) if (bytes[at + i] !== key[i]) return false
  return true
}

function skipSpace(bytes: Uint8Array, at: number): number {
  let next = at
  while (bytes[next] === SPACE) next++
  return next
}

/** The end of a text without escapes, −1 for one that has any or does not end on its line. */
function plainEnd(bytes: Uint8Array, from: number): number {
  let at = from
  while (ENDS_TEXT[bytes[at] as number] === 0) at++
  return bytes[at] === QUOTE ? at : -1
}
