/** Characters. A quote that is never closed must not swallow a whole file. */
const LONGEST_STATEMENT = 1 << 27
/** What ends a statement, or begins what may hold a semicolon that ends none. */
const STOP = /[;'"`]|--|\/\*/g
/** Space and comments. No alternative begins as another does, so nothing is tried twice. */
const NOTHING = /(?:\s+|--[^\n]*|\/\*[\s\S]*?\*\/)*/y

/**
 * Cuts SQL text, chunk by chunk, into statements: at semicolons outside strings, quoted names and
 * comments.
 */
export class SqlStatements {
  readonly #onStatement: (text: string, line: number) => void
  readonly #decoder = new TextDecoder()
  #text = ''
  #line = 1
  /** Up to here the text is known to hold no end of a statement. */
  #searched = 0

  /** `onStatement` gets each without its semicolon, and the line on which it begins. */
  constructor(onStatement: (text: string, line: number) => void) {
    this.#onStatement = onStatement
  }

  /** Reads on; gives the line of a statement that is too long to be one. */
  push(chunk: Uint8Array): number | undefined {
    this.#text += this.#decoder.decode(chunk, { stream: true })
    this.#cut()
    return this.#text.length > LONGEST_STATEMENT ? this.#line : undefined
  }

  /** Ends the text; gives the line of a statement that has no end. */
  end(): number | undefined {
    this.#text += this.#decoder.decode()
    this.#cut()
    const from = this.#skipNothing(0)
    return from === this.#text.length ? undefined : this.#line
  }

  #cut(): void {
    const text = this.#text
    let from = 0
    let at = this.#searched
    for (;;) {
      STOP.lastIndex = at
      const stop = STOP.exec(text)
      if (stop === null) {
        // The last character may be half of what begins a comment.
        at = Math.max(at, text.length - 1)
        break
      }
      if (stop[0] !== ';') {
        const end = endOf(stop[0], text, stop.index)
        at = end < 0 ? stop.index : end
        if (end < 0) break
        continue
      }
      from = this.#skipNothing(from)
      const statement = text.slice(from, stop.index)
      if (statement !== '') this.#onStatement(statement, this.#line)
      this.#line += lineEnds(text, from, stop.index)
      from = stop.index + 1
      at = from
    }
    this.#text = text.slice(from)
    this.#searched = at - from
  }

  /** Passes over space and comments from `from` on. */
  #skipNothing(from: number): number {
    NOTHING.lastIndex = from
    const end = from + (NOTHING.exec(this.#text)?.[0].length ?? 0)
    this.#line += lineEnds(this.#text, from, end)
    return end
  }
}

/** How many line ends there are from `start` to `end`. */
export function lineEnds(text: string, start: number, end: number): number {
  let count = 0
  for (let at = text.indexOf('\n', start); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) {
    count++
  }
  return count
}

/** Where the string, quoted name or comment ends that begins at `start`; -1 where it does not yet. */
function endOf(opening: string, text: string, start: number): number {
  if (opening === '--') return text.indexOf('\n', start)
  const closing = opening === '/*' ? '*/' : opening
  const close = text.indexOf(closing, start + opening.length)
  return close < 0 ? -1 : close + closing.length
}
