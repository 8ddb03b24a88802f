// Runs once a span, node or edge: the loops index with `!`.
const DEEPEST = 10_000

const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92
const NEWLINE = 10
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** 1 for the bytes that mean something between strings, and within them. */
const OUTSIDE = tableOf(QUOTE, COMMA, NEWLINE, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT)
const INSIDE = tableOf(QUOTE, BACKSLASH, NEWLINE)

function tableOf(...bytes: number[]): Uint8Array {
  const table = new Uint8Array(256)
  for (const byte of bytes) table[byte] = 1
  return table
}

/** Place where an unfinished value can be cut: an open array with finished elements before `comma`. */
export interface JsonCut {
  readonly depth: number
  readonly open: number
  readonly comma: number
  readonly line: number
  readonly key: string
  /** Whether an outer array could be cut, were one of its elements finished. */
  readonly isInner: boolean
  readonly closers: string
}

/** An open array or object; kept for the next one at its depth. */
class Frame {
  isArray = false
  mayCut = true
  key = ''
  open = 0
  /** Place of the last comma, and its line; that of the bracket before there is one. */
  comma = 0
  commaLine = 0
  /** End of the last array or object in it. */
  lastEnd = 0
}

/** Follows brackets and strings of one JSON value; the grammar is left to `JSON.parse`. */
export class JsonScanner {
  /** Everything before this position has been seen. */
  at = 0
  line = 1
  problem: string | undefined
  readonly #cuttable: ReadonlySet<string>
  #depth = 0
  #inString = false
  #stringStart = 0
  #stringEnd = 0
  /** Open arrays and objects by depth, of which the first stands for the value itself. */
  readonly #frames = [new Frame()]

  /** `cuttable`: keys of the arrays that may be cut, `''` for arrays that are no object's. */
  constructor(cuttable: ReadonlySet<string>) {
    this.#cuttable = cuttable
  }

  begin(at: number, line: number): void {
    this.at = at
    this.line = line
    this.problem = undefined
    this.#depth = 0
    this.#inString = false
  }

  /** Goes on to `end` or to the end of the value, and says whether the value is complete. */
  scan(bytes: Uint8Array, end: number): boolean {
    while (this.at < end && this.problem === undefined) {
      if (!this.#inString) {
        if (this.#scanOutside(bytes, end)) return true
      } else if (!this.#scanString(bytes, end)) return false
    }
    return false
  }

  /** Goes on, over plain strings, to `end`, to another string or to the end of the value. */
  #scanOutside(bytes: Uint8Array, end: number): boolean {
    let at = this.at
    for (; at < end; at++) {
      const byte = bytes[at]!
      if (OUTSIDE[byte] === 0) continue
      if (byte === QUOTE) {
        this.#stringStart = at + 1
        do at++
        while (at < end && INSIDE[bytes[at]!] === 0)
        this.#stringEnd = at
        if (at < end && bytes[at] === QUOTE) continue
        this.#inString = true
        this.at = at
        return false
      }
      if (byte === COMMA) {
        const frame = this.#frames[this.#depth]!
        frame.comma = at
        frame.commaLine = this.line
      } else if (byte === NEWLINE) this.line++
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) this.#enter(bytes, at)
      else this.#leave(byte, at)
      if (this.#depth === 0 || this.problem !== undefined) break
    }
    this.at = Math.min(at + 1, end)
    return this.#depth === 0 && this.problem === undefined
  }

  /** Goes on behind a string that has escapes or arrives in parts; whether its end was found. */
  #scanString(bytes: Uint8Array, end: number): boolean {
    let at = this.at
    for (; at < end; at++) {
      const byte = bytes[at]!
      if (INSIDE[byte] === 0) continue
      if (byte === QUOTE) {
        this.#inString = false
        this.#stringEnd = at
        this.at = at + 1
        return true
      }
      if (byte === NEWLINE) break
      // A backslash and the next character are read together, so both must be there.
      if (at + 1 === end) break
      if (bytes[++at] === NEWLINE) break
    }
    this.at = at
    if (at < end && bytes[at] === NEWLINE) this.problem = 'A text has no closing quote on its line'
    return false
  }

  /** Returns the outermost array with a finished element that may be cut. */
  cut(): JsonCut | undefined {
    let isInner = false
    for (let depth = 1; depth <= this.#depth; depth++) {
      const { isArray, mayCut, open, comma, commaLine: line, key } = this.#frames[depth]!
      if (!isArray || !mayCut) continue
      if (comma > open) {
        return { depth, open, comma, line, key, isInner, closers: this.#closers(depth) }
      }
      isInner = true
    }
    return undefined
  }

  /** Treats the end of the last finished element of each open array as if a comma stood there. */
  endElements(): void {
    for (const frame of this.#frames.slice(1, this.#depth + 1)) {
      if (frame.lastEnd <= frame.comma) continue
      frame.comma = frame.lastEnd
      frame.commaLine = this.line
    }
  }

  /** Notes that the elements before `cut` and its comma were taken out of the buffer. */
  wasCut({ depth, open, comma }: JsonCut): void {
    const by = comma - open
    const frame = this.#frames[depth]!
    frame.comma = open
    frame.lastEnd = frame.lastEnd > comma ? frame.lastEnd - by : open
    for (const inner of this.#frames.slice(depth + 1, this.#depth + 1)) {
      inner.open -= by
      inner.comma -= by
      inner.lastEnd -= by
    }
    this.#stringStart -= by
    this.#stringEnd -= by
    this.at -= by
  }

  #enter(bytes: Uint8Array, at: number): void {
    if (this.#depth === DEEPEST) {
      this.problem = `Brackets are nested more than ${DEEPEST} deep`
      return
    }
    const outer = this.#frames[this.#depth]!
    const depth = ++this.#depth
    if (depth === this.#frames.length) this.#frames.push(new Frame())
    const frame = this.#frames[depth]!
    frame.isArray = bytes[at] === OPEN_ARRAY
    frame.open = at
    frame.comma = at
    frame.lastEnd = at
    frame.mayCut = outer.mayCut
    if (!outer.mayCut || !frame.isArray) return
    frame.key = depth > 1 && !outer.isArray ? this.#lastString(bytes) : ''
    frame.mayCut = this.#cuttable.has(frame.key)
  }

  #leave(byte: number, at: number): void {
    const { isArray } = this.#frames[this.#depth]!
    if (isArray !== (byte === CLOSE_ARRAY)) {
      this.problem = isArray ? '"}" stands where "]" is due' : '"]" stands where "}" is due'
      return
    }
    this.#depth--
    this.#frames[this.#depth]!.lastEnd = at + 1
  }

  /** Keys that are worth comparing are short and plain. */
  #lastString(bytes: Uint8Array): string {
    if (this.#stringEnd - this.#stringStart > 32) return ' '
    return String.fromCharCode(...bytes.subarray(this.#stringStart, this.#stringEnd))
  }

  #closers(depth: number): string {
    const open = this.#frames.slice(1, depth + 1)
    return open
      .map(({ isArray }) => (isArray ? ']' : '}'))
      .reverse()
      .join('')
  }
}
