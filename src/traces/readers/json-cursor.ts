// Runs once a byte or value: the loops index with `!`.
import { ByteInterner, sameBytes } from './byte-interner.ts'
import { parsedJson, withNanosAsText } from './json-values.ts'

export const QUOTE = 34
export const COMMA = 44
const COLON = 58
export const BACKSLASH = 92
export const OPEN_ARRAY = 91
export const CLOSE_ARRAY = 93
export const OPEN_OBJECT = 123
export const CLOSE_OBJECT = 125

/** Placeholder for a byte behind the end. */
const NOTHING = 0
export const NEWLINE = 10
const SPACE = new Set([9, NEWLINE, 13, 32])
/** 1 for the bytes that end a text, or its plain part: quotes, backslashes, control characters. */
const ENDS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 32 || byte === QUOTE || byte === BACKSLASH ? 1 : 0,
)

/** The keys that usual objects of one kind have; others make them unusual. */
export class Keys {
  /** Each key with the quote behind it. */
  readonly #keys: readonly DataView[]
  /** Key that followed each key last time: it mostly does so again. The last entry is for the first key. */
  readonly #next: Uint8Array

  constructor(...names: readonly string[]) {
    const encoder = new TextEncoder()
    this.#keys = names.map((name) => viewOf(encoder.encode(`${name}"`)))
    this.#next = new Uint8Array(names.length + 1)
  }

  /** Returns the number of the key that begins at `at`, -1 for any other; `last` came before it. */
  find(view: DataView, at: number, last: number): number {
    const place = last < 0 ? this.#keys.length : last
    const expected = this.#next[place]!
    if (this.#isAt(view, at, expected)) return expected
    for (let key = 0; key < this.#keys.length; key++) {
      if (!this.#isAt(view, at, key)) continue
      this.#next[place] = key
      return key
    }
    return -1
  }

  length(key: number): number {
    return this.#keys[key]!.byteLength
  }

  #isAt(view: DataView, at: number, key: number): boolean {
    const text = this.#keys[key]!
    const end = at + text.byteLength
    return end <= view.byteLength && sameBytes(view, at, end, text, 0)
  }
}

/** Most bytes of repeating values kept with their meanings; beyond it, all are forgotten. */
export const MAX_REMEMBERED_BYTES = 1 << 23

/** Meaning of bytes `start` to `end`; `undefined` if they are not JSON. */
type Meaning<T> = (view: DataView, start: number, end: number) => T | undefined

/** Remembers what values that repeat in many spans mean: of equal bytes only the first are parsed. */
export function rememberedBytes<T>(meaning: (value: unknown) => T): Meaning<T> {
  let interner = new ByteInterner()
  let meanings: (T | undefined)[] = []
  return (view, start, end) => {
    if (interner.bytesUsed > MAX_REMEMBERED_BYTES) {
      interner = new ByteInterner()
      meanings = []
    }
    const number = interner.intern(view, start, end)
    if (number === meanings.length) {
      const value = parsedNanos(view, start, end)
      meanings.push(value === undefined ? undefined : meaning(value))
    }
    return meanings[number]
  }
}

function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length)
}

/** Within JSON, a byte order mark is a character like others. */
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true })

export function textAt({ buffer, byteOffset }: DataView, start: number, end: number): string {
  return DECODER.decode(new Uint8Array(buffer as ArrayBuffer, byteOffset + start, end - start))
}

/** Parses bytes `start` to `end`, times as text; `undefined` if they are not JSON. */
export function parsedNanos(view: DataView, start: number, end: number): unknown {
  return parsedJson(withNanosAsText(textAt(view, start, end)))
}

/** Moves through JSON in bytes; skipped parts are checked by their brackets and quotes, or parsed. */
export class JsonCursor {
  bytes: Uint8Array = new Uint8Array()
  view: DataView = new DataView(this.bytes.buffer)
  at = 0
  end = 0
  /** Whether the text ends with its line. */
  inLine = false

  begin(bytes: Uint8Array, at: number, inLine: boolean): void {
    if (bytes !== this.bytes) this.view = viewOf(bytes)
    this.bytes = bytes
    this.at = at
    this.end = bytes.length
    this.inLine = inLine
  }

  /** Whether the text ends here, but for space, which is skipped. */
  ends(): boolean {
    const byte = this.next()
    return this.at >= this.end || (byte === NEWLINE && this.inLine)
  }

  /** Returns the byte behind space, which is skipped; `NOTHING` at the end. */
  next(): number {
    for (; this.at < this.end; this.at++) {
      const byte = this.bytes[this.at]!
      if (byte > 32 || !SPACE.has(byte) || (byte === NEWLINE && this.inLine)) return byte
    }
    return NOTHING
  }

  /** Goes from before a key to its value; the number of the key, -1 where it is none of `keys`. */
  key(keys: Keys, last: number): number {
    if (!this.passes(QUOTE)) return -1
    const key = keys.find(this.view, this.at, last)
    if (key < 0) return -1
    this.at += keys.length(key)
    if (!this.passes(COLON)) return -1
    this.next()
    return key
  }

  /** Reads an object with some of `keys`, each at most once, by `read`. */
  object(keys: Keys, read: (key: number) => boolean): boolean {
    if (!this.passes(OPEN_OBJECT)) return false
    let seen = 0
    let key = -1
    do {
      key = this.key(keys, key)
      if (key < 0 || (seen & (1 << key)) !== 0 || !read(key)) return false
      seen |= 1 << key
    } while (this.passes(COMMA))
    return this.passes(CLOSE_OBJECT)
  }

  list(read: () => boolean): boolean {
    if (!this.passes(OPEN_ARRAY)) return false
    if (this.passes(CLOSE_ARRAY)) return true
    do {
      this.next()
      if (!read()) return false
    } while (this.passes(COMMA))
    return this.passes(CLOSE_ARRAY)
  }

  /** Goes behind a byte, if it is what comes next but for space; whether it is. */
  passes(byte: number): boolean {
    if (this.next() !== byte) return false
    this.at++
    return true
  }

  /** Skips the value here and returns its meaning; `undefined` if it is not JSON. */
  value<T>(meaning: Meaning<T>): T | undefined {
    const start = this.at
    return this.skip() ? meaning(this.view, start, this.at) : undefined
  }

  /** Goes behind the value here by its brackets and quotes; whether it ends. */
  skip(): boolean {
    const bytes = this.bytes
    const end = this.end
    let at = this.at
    let depth = 0
    do {
      const byte = bytes[at]!
      if (byte === QUOTE) {
        do {
          do at++
          while (at < end && ENDS_PLAIN[bytes[at]!] === 0)
        } while (bytes[at] === BACKSLASH && ++at < end)
        if (bytes[at] !== QUOTE) return false
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth--
      else if (byte === NEWLINE && this.inLine) return false
      else if (depth === 0) {
        // A number, true, false or null.
        while (at + 1 < end && isWordByte(bytes[at + 1]!)) at++
      }
      at++
    } while (depth > 0 && at < end)
    this.at = at
    return depth === 0 && at <= end
  }
}

/** Whether a byte may stand in a number or a word. */
function isWordByte(byte: number): boolean {
  return byte > 32 && byte !== COMMA && byte !== CLOSE_OBJECT && byte !== CLOSE_ARRAY
}
