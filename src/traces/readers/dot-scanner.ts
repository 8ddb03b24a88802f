// Runs once a span, node or edge: the loops index with `!`.
// Character codes: this file reads bytes, as strings would cost ten times as much.
const NEWLINE = 10
const SPACE = 32
const QUOTE = 34
const HASH = 35
const STAR = 42
const COMMA = 44
const MINUS = 45
const POINT = 46
const SLASH = 47
const ZERO = 48
const NINE = 57
const SEMICOLON = 59
const EQUALS = 61
const OPEN_BRACKET = 91
const BACKSLASH = 92
const CLOSE_BRACKET = 93
const LETTER_E = 101
const LETTER_X = 120

/** Bytes of unquoted names: letters, digits, `_`, `.`, `:`, and everything beyond ASCII. */
const NAME_BYTE = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 128 || /[\w.:]/.test(String.fromCharCode(byte)) ? 1 : 0,
)

/** Returns whether an unquoted name can hold this byte. */
export function isNameByte(byte: number): boolean {
  return NAME_BYTE[byte] === 1
}

/** What a graph cannot be read for. */
export class DotProblem extends Error {
  readonly code: string
  readonly line: number

  constructor(code: string, line: number, message: string) {
    super(message)
    this.code = code
    this.line = line
  }
}

/** Thrown where the bytes end in the middle of a graph. */
export class Incomplete extends Error {}

/** Cuts DOT into tokens. A token is a range of `source`; nothing is decoded that need not be. */
export class DotScanner {
  source: Uint8Array = new Uint8Array()
  /** Bytes from here on are not there yet. */
  limit = 0
  position = 0
  /** Line of `position`, 1-based. */
  line = 1
  /** The last token, quotes left out. */
  tokenStart = 0
  tokenEnd = 0
  readonly #decimal = new DecimalReader()
  readonly #decoder = new TextDecoder()

  /** Passes over spaces, line ends and comments; gives the byte that follows. */
  skipBlanks(): number {
    const { source, limit } = this
    let at = this.position
    let byte = 0
    while (at < limit) {
      byte = source[at]!
      if (byte === NEWLINE) this.line++
      else if (byte === HASH || (byte === SLASH && source[at + 1] === SLASH)) {
        while (at < limit && source[at] !== NEWLINE) at++
        continue
      } else if (byte === SLASH && source[at + 1] === STAR) {
        at = this.#blockCommentEnd(at + 2)
        continue
      } else if (byte > SPACE) break
      at++
    }
    this.position = at
    if (at >= limit) throw new Incomplete()
    return byte
  }

  /** Reads a name, bare or in quotes, as a token. */
  name(): void {
    const { source, limit } = this
    if (source[this.position] === QUOTE) {
      this.#quoted()
      return
    }
    let at = this.position
    while (at < limit && isNameByte(source[at]!)) at++
    if (at >= limit) throw new Incomplete()
    if (at === this.position) throw this.unexpected('a name')
    this.tokenStart = this.position
    this.tokenEnd = at
    this.position = at
  }

  /** Reads the value behind an equals sign: a name, a number with a sign, or a quoted string. */
  value(): void {
    if (this.skipBlanks() === MINUS) {
      this.position++
      this.name()
      this.tokenStart--
    } else this.name()
  }

  /** Enters `[`; gives whether there was one. */
  enterAttributes(): boolean {
    if (this.skipBlanks() !== OPEN_BRACKET) return false
    this.position++
    return true
  }

  /** Reads the next `key =` of an attribute list as a token; `false` at the end of the list. */
  nextAttribute(): boolean {
    let byte = this.skipBlanks()
    while (byte === COMMA || byte === SEMICOLON) {
      this.position++
      byte = this.skipBlanks()
    }
    if (byte === CLOSE_BRACKET) {
      this.position++
      return false
    }
    this.name()
    const { tokenStart, tokenEnd } = this
    if (this.skipBlanks() !== EQUALS) throw this.unexpected('`=`')
    this.position++
    this.tokenStart = tokenStart
    this.tokenEnd = tokenEnd
    return true
  }

  /** Returns whether the last token is this word, in lower case letters. */
  tokenIs(word: string): boolean {
    if (this.tokenEnd - this.tokenStart !== word.length) return false
    for (let i = 0; i < word.length; i++) {
      if ((this.source[this.tokenStart + i]! | 32) !== word.charCodeAt(i)) return false
    }
    return true
  }

  tokenText(): string {
    return this.text(this.tokenStart, this.tokenEnd)
  }

  /** A range of the source as text; escaped quotes and backslashes become themselves. */
  text(start: number, end: number): string {
    const text = this.#decoder.decode(this.source.subarray(start, end))
    return text.includes('\\') ? text.replace(/\\(["\\])/g, '$1') : text
  }

  /** A range of the source as the lines that a literal `\\n` cuts it into. */
  lines(start: number, end: number): string[] {
    const text = this.#decoder.decode(this.source.subarray(start, end))
    return text.replace(/\\(["\\n])/g, (_, kept) => (kept === 'n' ? '\n' : kept)).split('\n')
  }

  /** The first number in the last token (`R: 4.38 us` is 4.38); `NaN` where there is none. */
  tokenNumber(): number {
    const { source, tokenEnd } = this
    let at = this.tokenStart
    while (at < tokenEnd && !isDigit(source[at]!)) at++
    let first = at
    if (source[first - 1] === POINT) first--
    if (at === tokenEnd || first !== at || !this.#decimal.read(source, at, tokenEnd)) {
      return this.#wordNumber()
    }
    const negative = first > this.tokenStart && source[first - 1] === MINUS
    // `0x` and letters behind it are no decimal number.
    if (this.#decimal.end < tokenEnd && (source[this.#decimal.end]! | 32) === LETTER_X) {
      return this.#wordNumber()
    }
    return negative ? -this.#decimal.value : this.#decimal.value
  }

  unexpected(expected: string): DotProblem {
    const end = Math.min(this.position + 20, this.limit)
    const found = this.#decoder.decode(this.source.subarray(this.position, end))
    return new DotProblem(
      'malformed-graph',
      this.line,
      `Found ${JSON.stringify(/^[^\n]?[^\n}]*/.exec(found)?.[0])} where ${expected} should be`,
    )
  }

  /** `tokenNumber` for exponents, signs and very long numbers. */
  #wordNumber(): number {
    const number = /[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?/i.exec(this.tokenText())
    return number === null ? Number.NaN : Number(number[0])
  }

  #blockCommentEnd(start: number): number {
    let at = start
    while (at < this.limit && !(this.source[at] === SLASH && this.source[at - 1] === STAR)) {
      if (this.source[at] === NEWLINE) this.line++
      at++
    }
    return at + 1
  }

  #quoted(): void {
    const { source, limit } = this
    let at = this.position + 1
    this.tokenStart = at
    while (at < limit && source[at] !== QUOTE) {
      if (source[at] === BACKSLASH) {
        at++
      } else if (source[at] === NEWLINE) this.line++
      at++
    }
    if (at >= limit) throw new Incomplete()
    this.tokenEnd = at
    this.position = at + 1
  }
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE
}

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
      const byte = source[at]!
      if (byte === POINT && point < 0) point = count
      else if (byte < ZERO || byte > ZERO + 9) break
      else {
        digits = digits * 10 + byte - ZERO
        count++
      }
    }
    this.end = at
    const next = source[at]! | 32
    if (count === 0 || count > EXACT_DIGITS || next === LETTER_E) return false
    this.value = point < 0 ? digits : digits / POWERS_OF_TEN[count - point]!
    return true
  }
}
