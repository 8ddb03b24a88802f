// Runs once a span, node or edge: the loops index with `!`.
/** Largest depth inside a value at which arrays may be cut and positions are remembered. */
const TRACKED = 8
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
  /** By depth; 1 for an array. */
  #isArray = new Uint8Array(64)
  // The rest is known down to depth `TRACKED` only.
  readonly #mayCut = new Uint8Array(TRACKED + 1).fill(1)
  readonly #open = new Float64Array(TRACKED + 1)
  readonly #comma = new Float64Array(TRACKED + 1)
  readonly #commaLine = new Float64Array(TRACKED + 1)
  readonly #lastEnd = new Float64Array(TRACKED + 1)
  readonly #key: string[] = new Array(TRACKED + 1).fill('')

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
        if (this.#depth <= TRACKED) {
          this.#comma[this.#depth] = at
          this.#commaLine[this.#depth] = this.line
        }
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
    for (let depth = 1; depth <= Math.min(this.#depth, TRACKED); depth++) {
      if (this.#isArray[depth] === 0 || this.#mayCut[depth] === 0) continue
      const open = this.#open[depth]!
      const comma = this.#comma[depth]!
      if (comma > open) {
        const line = this.#commaLine[depth]!
        const key = this.#key[depth] ?? ''
        return { depth, open, comma, line, key, isInner, closers: this.#closers(depth) }
      }
      isInner = true
    }
    return undefined
  }

  /** Treats the end of the last finished element of each open array as if a comma stood there. */
  endElements(): void {
    for (let depth = 1; depth <= Math.min(this.#depth, TRACKED); depth++) {
      const end = this.#lastEnd[depth]!
      if (end <= this.#comma[depth]!) continue
      this.#comma[depth] = end
      this.#commaLine[depth] = this.line
    }
  }

  /** Returns the elements before `cut` and its comma were taken out of the buffer. */
  wasCut({ depth, open, comma }: JsonCut): void {
    const lastEnd = this.#lastEnd[depth]!
    this.#comma[depth] = open
    this.#lastEnd[depth] = lastEnd > comma ? lastEnd - (comma - open) : open
    this.moved(comma - open, depth + 1)
  }

  /** Returns all positions seen, or those of depth `from` and deeper, moved `by` bytes forward. */
  moved(by: number, from = 0): void {
    for (let depth = from; depth <= Math.min(this.#depth, TRACKED); depth++) {
      this.#open[depth] = this.#open[depth]! - by
      this.#comma[depth] = this.#comma[depth]! - by
      this.#lastEnd[depth] = this.#lastEnd[depth]! - by
    }
    this.#stringStart -= by
    this.#stringEnd -= by
    this.at -= by
  }

  #enter(bytes: Uint8Array, at: number): void {
    const depth = ++this.#depth
    if (depth === this.#isArray.length) this.#growStack()
    const isArray = bytes[at] === OPEN_ARRAY
    this.#isArray[depth] = isArray ? 1 : 0
    if (depth > TRACKED) return
    this.#open[depth] = at
    this.#comma[depth] = at
    this.#lastEnd[depth] = at
    const outer = this.#mayCut[depth - 1]!
    this.#mayCut[depth] = outer
    if (outer === 0 || !isArray) return
    const inObject = depth > 1 && this.#isArray[depth - 1] === 0
    const key = inObject ? this.#lastString(bytes) : ''
    this.#key[depth] = key
    this.#mayCut[depth] = this.#cuttable.has(key) ? 1 : 0
  }

  #leave(byte: number, at: number): void {
    const isArray = this.#isArray[this.#depth] === 1
    if (isArray !== (byte === CLOSE_ARRAY)) {
      this.problem = isArray ? '"}" stands where "]" is due' : '"]" stands where "}" is due'
      return
    }
    this.#depth--
    if (this.#depth <= TRACKED) this.#lastEnd[this.#depth] = at + 1
  }

  /** Keys that are worth comparing are short and plain. */
  #lastString(bytes: Uint8Array): string {
    if (this.#stringEnd - this.#stringStart > 32) return ' '
    return String.fromCharCode(...bytes.subarray(this.#stringStart, this.#stringEnd))
  }

  #closers(depth: number): string {
    let closers = ''
    for (let d = depth; d > 0; d--) closers += this.#isArray[d] === 1 ? ']' : '}'
    return closers
  }

  #growStack(): void {
    if (this.#isArray.length > DEEPEST) {
      this.problem = `Brackets are nested more than ${DEEPEST} deep`
      this.#depth--
      return
    }
    const larger = new Uint8Array(this.#isArray.length * 2)
    larger.set(this.#isArray)
    this.#isArray = larger
  }
}
