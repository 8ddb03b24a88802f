/** One character a byte, so that places in the text are places in the bytes. */
export const BYTE_DECODER = new TextDecoder('latin1')
const DECODER = new TextDecoder()
const NEWLINE = 10
/** Spaces, line ends and comments; what begins a comment at the end of the text may become one. */
const BLANKS = /(?:[\0- ]+|#[^\n]*|\/\/[^\n]*|\/\*(?:[\s\S]*?\*\/|[\s\S]*$)|\/$)*/y
/** A name: in quotes, or letters, digits, `_`, `.`, `:`, and everything beyond ASCII. */
const NAME = /"([^"\\]*(?:\\[\s\S][^"\\]*)*)"|-?[\w.:\u0080-\uffff]+/y
const NUMBER = /[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?/i

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
  limit = 0
  position = 0
  line = 1
  tokenStart = 0
  tokenEnd = 0
  #source: Uint8Array = new Uint8Array()
  /** The bytes from `#textStart` to the limit, one character a byte, once they are asked for. */
  #text: string | undefined
  #textStart = 0

  get source(): Uint8Array {
    return this.#source
  }

  useSource(source: Uint8Array): void {
    this.#source = source
    this.#text = undefined
  }

  /** Passes over spaces, line ends and comments; gives the character that follows. */
  skipBlanks(): string {
    const length = this.#match(BLANKS)?.[0].length ?? 0
    this.#goTo(this.position + length)
    if (this.position >= this.limit) throw new Incomplete()
    return this.#charAt(this.position)
  }

  isAt(byte: number): boolean {
    return this.position < this.limit && this.#source[this.position] === byte
  }

  /** Passes over a line end that stands here: what `skipBlanks` does, without decoding. */
  skipNewline(): void {
    if (!this.isAt(NEWLINE)) return
    this.position++
    this.line++
  }

  /** Reads a name, bare or in quotes, as a token; as a `value`, also a number with a sign. */
  name(kind: 'name' | 'value' = 'name'): void {
    const found = this.#match(NAME)
    const first = this.#charAt(this.position)
    if (found === null && (first === '"' || this.position + 1 === this.limit)) {
      throw new Incomplete()
    }
    if (found === null || (first === '-' && kind === 'name')) throw this.unexpected('a name')
    const quotes = found[1] === undefined ? 0 : 1
    const end = this.position + found[0].length
    if (end >= this.limit && quotes === 0) throw new Incomplete()
    this.tokenStart = this.position + quotes
    this.tokenEnd = end - quotes
    this.#goTo(end)
  }

  /** Passes over characters, and blanks before them; `false` where others stand. */
  passes(characters: string): boolean {
    this.skipBlanks()
    const end = this.position + characters.length
    if (end > this.limit) throw new Incomplete()
    if (!this.#textFrom().startsWith(characters, this.position - this.#textStart)) return false
    this.position = end
    return true
  }

  /** Reads the value behind an equals sign: a name, a number with a sign, or a quoted string. */
  value(): void {
    this.skipBlanks()
    this.name('value')
  }

  /** Reads the next `key =` of an attribute list as a token; `false` at the end of the list. */
  nextAttribute(): boolean {
    while (this.passes(',') || this.passes(';'));
    if (this.passes(']')) return false
    this.name()
    if (!this.passes('=')) throw this.unexpected('`=`')
    return true
  }

  tokenIs(word: string): boolean {
    const { tokenStart, tokenEnd } = this
    return (
      tokenEnd - tokenStart === word.length &&
      this.text(tokenStart, tokenEnd).toLowerCase() === word
    )
  }

  text(start = this.tokenStart, end = this.tokenEnd): string {
    return DECODER.decode(this.#source.subarray(start, end)).replace(/\\(["\\])/g, '$1')
  }

  /** Returns a range of the source as the lines that a literal `\\n` cuts it into. */
  lines(start: number, end: number): string[] {
    const text = DECODER.decode(this.#source.subarray(start, end))
    return text.replace(/\\(["\\n])/g, (_, kept) => (kept === 'n' ? '\n' : kept)).split('\n')
  }

  /** Returns the first number in the last token (`R: 4.38 us` is 4.38); `NaN` where there is none. */
  tokenNumber(): number {
    return Number(NUMBER.exec(this.text())?.[0] ?? Number.NaN)
  }

  unexpected(expected: string): DotProblem {
    const end = Math.min(this.position + 20, this.limit)
    const found = DECODER.decode(this.#source.subarray(this.position, end))
    const shown = JSON.stringify(/^[^\n]?[^\n}]*/.exec(found)?.[0])
    return new DotProblem(
      'malformed-graph',
      this.line,
      `Found ${shown} where ${expected} should be`,
    )
  }

  /** Returns the bytes as text from `position` on: only ends of chunks are decoded, usual lines never. */
  #textFrom(): string {
    if (this.#text === undefined || this.position < this.#textStart) {
      this.#textStart = this.position
      this.#text = BYTE_DECODER.decode(this.#source.subarray(this.position, this.limit))
    }
    return this.#text
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    const text = this.#textFrom()
    pattern.lastIndex = this.position - this.#textStart
    return pattern.exec(text)
  }

  #charAt(position: number): string {
    return this.#textFrom().charAt(position - this.#textStart)
  }

  #goTo(end: number): void {
    for (let at = this.position; at < end; at++) if (this.#source[at] === NEWLINE) this.line++
    this.position = end
  }
}
