const NEWLINE = 10
/** Bytes that may stand between JSON values: space, the record separator, the byte order mark. */
const SPACE = new Set([9, NEWLINE, 13, 32, 0x1e, 0xef, 0xbb, 0xbf])

/** Bytes that have arrived and are not used up yet. Positions count from its first byte. */
export class ByteQueue {
  #buffer = new Uint8Array(1 << 19)
  #start = 0
  #end = 0

  get length(): number {
    return this.#end - this.#start
  }

  /** A view of the content, good until the next change. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(this.#start, this.#end)
  }

  append(chunk: Uint8Array): void {
    if (this.#end + chunk.length > this.#buffer.length) this.#makeRoom(chunk.length)
    this.#buffer.set(chunk, this.#end)
    this.#end += chunk.length
  }

  remove(from: number, to: number): void {
    if (from === 0) {
      this.#start += to
      return
    }
    this.#buffer.copyWithin(this.#start + from, this.#start + to, this.#end)
    this.#end -= to - from
  }

  /** Removes space at the front; gives the number of lines it ended. */
  dropSpace(): number {
    let lines = 0
    while (this.#start < this.#end) {
      const byte = this.#buffer[this.#start] as number
      if (!SPACE.has(byte)) break
      if (byte === NEWLINE) lines++
      this.#start++
    }
    return lines
  }

  /** The number of line ends before position `end`. */
  newlinesBefore(end: number): number {
    let lines = 0
    for (let i = 0; i < end; i++) if (this.#buffer[this.#start + i] === NEWLINE) lines++
    return lines
  }

  /** The number of line ends in the space at position `at`. */
  newlinesInSpace(at: number): number {
    let lines = 0
    for (let i = this.#start + at; i < this.#end; i++) {
      const byte = this.#buffer[i] as number
      if (!SPACE.has(byte)) break
      if (byte === NEWLINE) lines++
    }
    return lines
  }

  /** The position of the first line end from `at` on, or -1. */
  newlineFrom(at: number): number {
    return this.bytes.indexOf(NEWLINE, at)
  }

  /** The position of the last line end from `from` on with a byte behind it, or -1. */
  lastNewline(from: number): number {
    const last = this.#buffer.subarray(this.#start + from, this.#end - 1).lastIndexOf(NEWLINE)
    return last < 0 ? -1 : from + last
  }

  #makeRoom(bytes: number): void {
    const { length } = this
    const needed = length + bytes
    if (needed * 2 <= this.#buffer.length) {
      this.#buffer.copyWithin(0, this.#start, this.#end)
    } else {
      const larger = new Uint8Array(needed * 2)
      larger.set(this.bytes)
      this.#buffer = larger
    }
    this.#start = 0
    this.#end = length
  }
}
