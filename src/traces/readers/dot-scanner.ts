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

/** Bytes of unquoted names: letters, digits, `_`, `.`, `:`, and everything beyond ASCII. */
const NAME_BYTE = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 128 || /[\w.:]/.test(String.fromCharCode(byte)) ? 1 : 0,
)
const POWERS_OF_TEN = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`))

/** Whether an unquoted name can hold this byte. */
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
  readonly #decoder = new TextDecoder()

  /** Passes over spaces, line ends and comments; gives the byte that follows. */
  skipBlanks(): number {
    const { source, limit } = this
    let at = this.position
    let byte = 0
    while (at < limit) {
      byte = source[at] as number
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
    while (at < limit && isNameByte(source[at] as number)) at++
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

  /** Whether the last token is this word, in lower case letters. */
  tokenIs(word: string): boolean {
    if (this.tokenEnd - this.tokenStart !== word.length) return false
    for (let i = 0; i < word.length; i++) {
      if (((this.source[this.tokenStart + i] as number) | 32) !== word.charCodeAt(i)) return false
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
    while (at < tokenEnd && !isDigit(source[at] as number)) at++
    let first = at
    if (source[first - 1] === POINT) first--
    const negative = first > this.tokenStart && source[first - 1] === MINUS
    let digits = 0
    let fraction = -1
    const start = at
    for (; at < tokenEnd; at++) {
      const byte = source[at] as number
      if (byte === POINT && fraction < 0 && first === start) fraction = 0
      else if (!isDigit(byte)) break
      else {
        digits = digits * 10 + byte - ZERO
        if (fraction >= 0) fraction++
      }
    }
    const follow = (source[at] as number) | 32
    const simple = at < tokenEnd ? follow !== 101 && follow !== 120 : true
    if (start === at) return this.#wordNumber()
    // 15 digits and a power of ten up to 22 are exact doubles, so one division rounds correctly.
    if (simple && first === start && at - start <= 16 && fraction <= 22) {
      const size = fraction > 0 ? digits / (POWERS_OF_TEN[fraction] as number) : digits
      return negative ? -size : size
    }
    return this.#wordNumber()
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
