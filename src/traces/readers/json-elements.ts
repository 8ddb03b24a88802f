// Runs once a span, node or edge: the loops index with `!`.
import { TraceFormatError } from '../../core/errors.ts'
import { type IssueEffect, type QualityLog, TRUNCATED_FILE } from '../quality.ts'
import { parsedJson } from './json-values.ts'
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  NEWLINE,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './otlp-usual-spans.ts'

/** Bytes that may stand between JSON values: space, the record separator, the byte order mark. */
const SPACE = new Set([9, NEWLINE, 13, 32, 0x1e, 0xef, 0xbb, 0xbf])

interface JsonElementsOptions {
  readonly file: string
  readonly quality: QualityLog
  readonly lost: IssueEffect
  /** Keys of the arrays that may be cut, `''` for arrays that are no object's. */
  readonly cutAt: readonly string[]
  /** Reads an element, up to the end of the bytes or the line, without parsing it; returns its end, -1 for nothing. */
  readonly readBytes?:
    | ((bytes: Uint8Array, from: number, place: { line: number; inLine: boolean }) => number)
    | undefined
  /** Mends the text of an element before it is parsed. */
  readonly prepare?: (text: string) => string
  /** Bytes from which an unfinished value is cut at its outermost array. Default: 1 MB. */
  readonly pieceBytes?: number
  /** Bytes from which it is cut deeper inside. Default: 16 MB. */
  readonly tearBytes?: number
  /** Takes an element, its first line (in a piece, that of its first own element), and the key of the array that was cut. */
  readonly onElement: (element: { value: object; line: number; cutAt?: string }) => void
}

const STEP = 1 << 18
/** V8 cannot make a string of more than 512 MB. */
const LONGEST = 1 << 28
const MAX_LINE = 1 << 26
const CORRECT = 'Correct the file, or load without `strict` to leave the element out'

/**
 * Cuts JSON into pieces to be parsed one by one: values, JSON lines, or one huge value whose
 * `cutAt` arrays each piece holds a few elements of: `{"data":[a,b,c]}` becomes `{"data":[a,b]}`
 * and `{"data":[c]}`. Broken elements are noted and left out; brackets that do not match end all.
 */
export class JsonElements {
  readonly #options: JsonElementsOptions
  readonly #decoder = new TextDecoder()
  readonly #scanner: JsonScanner
  readonly #queue = new ByteQueue()
  #line = 1
  /** Length of the beginning that is copied from piece to piece, before the first own element. */
  #head = 0
  #cutAt: string | undefined
  #scanning = false
  #inLines = false
  /** Line of the end of the last value, if it was all on one line. */
  #lastSingleLine = 0
  /** Number of bytes of the queue in which no whole line ends. */
  #searched = 0

  constructor(options: JsonElementsOptions) {
    this.#options = options
    this.#scanner = new JsonScanner(new Set(options.cutAt))
  }

  push(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length; from += STEP) {
      this.#queue.append(chunk.subarray(from, from + STEP))
      this.#advance(false)
    }
  }

  end(): void {
    this.#advance(true)
  }

  #advance(ended: boolean): void {
    while (this.#scanning ? this.#scanValue(ended) : this.#startValue(ended));
    if (this.#queue.length > LONGEST) {
      throw this.#error(
        this.#scanner.problem ?? 'An element is larger than 256 MB',
        'Correct the file, or split it into smaller elements',
      )
    }
  }

  /** Goes to the next value; reads lines where the file is made of them. Whether to go on. */
  #startValue(ended: boolean): boolean {
    this.#drop(this.#passSpace(0))
    if (this.#queue.length === 0) return false
    if (this.#lastSingleLine > 0 && this.#line > this.#lastSingleLine) this.#inLines = true
    if (this.#inLines && this.#queue.length < MAX_LINE) {
      if (this.#readLines(ended)) return true
      if (!this.#scanning) return false
    } else this.#beginScan()
    return true
  }

  #beginScan(): void {
    this.#scanning = true
    this.#head = 0
    this.#cutAt = undefined
    this.#scanner.begin(this.#line)
    const first = this.#queue.bytes[0]
    if (first !== 123 && first !== 91) this.#scanner.problem = 'Neither "{" nor "[" starts a value'
  }

  #readLines(ended: boolean): boolean {
    // The first byte behind a line is needed to judge a broken one.
    const { bytes: all, length } = this.#queue
    const last = all.subarray(this.#searched, length - 1).lastIndexOf(NEWLINE)
    if (last < 0 && !ended) {
      this.#searched = length - 1
      return false
    }
    const end = ended ? length : this.#searched + last + 1
    this.#cutAt = undefined
    const { readBytes } = this.#options
    const after = all[end] ?? NEWLINE
    const bytes = all.subarray(0, end)
    let from = 0
    while (from < end) {
      const read = readBytes?.(bytes, from, { line: this.#line, inLine: true }) ?? -1
      const newline = read < 0 ? bytes.indexOf(NEWLINE, from) : read
      const isWhole = newline >= 0 && newline < end
      const next = isWhole ? newline + 1 : end
      const line = read < 0 ? bytes.subarray(from, next) : undefined
      const fault = line && this.#parseText(line, '')
      if (fault !== undefined && this.#decoder.decode(line).trim() !== '') {
        // A line of JSON lines begins with a bracket, or is empty.
        if (![123, 91, 10, 13].includes(bytes[next] ?? after)) {
          this.#drop(from)
          this.#beginScan()
          this.#inLines = false
          this.#lastSingleLine = 0
          return false
        }
        this.#lost(fault, !isWhole)
      }
      if (isWhole) this.#line++
      from = next
    }
    this.#drop(end)
    return true
  }

  /** Follows the value being scanned; returns whether to go on with the queue. */
  #scanValue(ended: boolean): boolean {
    const { bytes, length } = this.#queue
    if (this.#scanner.scan(bytes, length)) {
      this.#emit(this.#scanner.at, '')
      this.#lastSingleLine = this.#head === 0 && this.#line === this.#scanner.line ? this.#line : 0
      this.#line = this.#scanner.line
      this.#drop(this.#scanner.at)
      this.#scanning = false
      return true
    }
    if (this.#scanner.problem !== undefined || ended) {
      const recovered = this.#recoverLine(ended)
      if (recovered !== false) return recovered === true
      if (this.#scanner.problem !== undefined) throw this.#error(this.#scanner.problem)
      this.#endTruncated()
      return false
    }
    while (this.#cutPiece(this.#options.pieceBytes ?? 1 << 20));
    return false
  }

  /** Takes the finished elements out of an unfinished value; whether that was possible. */
  #cutPiece(atLeast: number): boolean {
    const { length } = this.#queue
    const cut = length < atLeast ? undefined : this.#scanner.cut()
    const { tearBytes = 1 << 24 } = this.#options
    if (cut === undefined || (cut.isInner && atLeast > 0 && length < tearBytes)) return false
    this.#cutAt = cut.key
    this.#emit(cut.comma, cut.closers)
    this.#queue.remove(cut.open + 1, Math.min(cut.comma + 1, length))
    this.#scanner.wasCut(cut)
    this.#head = cut.open + 1
    this.#line = cut.line
    return true
  }

  #emit(end: number, closers: string): void {
    const piece = this.#queue.bytes.subarray(0, end)
    const headLine = this.#line - linesIn(piece.subarray(0, this.#head))
    this.#passSpace(this.#head)
    const fault = this.#readText(piece, closers)
    if (fault === undefined) return
    if (this.#options.tearBytes === 1) this.#lost(fault, false)
    else this.#readOneByOne(piece, closers, headLine)
  }

  /** Finds the broken elements of a piece that cannot be parsed, and reads the others. */
  #readOneByOne(piece: Uint8Array, closers: string, line: number): void {
    const single = new JsonElements({ ...this.#options, pieceBytes: 1, tearBytes: 1 })
    single.#line = line
    for (let at = 0; at < piece.length; at++) single.push(piece.subarray(at, at + 1))
    single.push(new TextEncoder().encode(closers))
    single.end()
  }

  /** Hands one text on; returns the problem with it, if any. */
  #readText(bytes: Uint8Array, closers: string): string | undefined {
    const text = closers === '' ? bytes : joined(bytes, closers)
    const read = this.#options.readBytes?.(text, 0, { line: this.#line, inLine: false }) ?? -1
    return read < 0 ? this.#parseText(bytes, closers) : undefined
  }

  #parseText(bytes: Uint8Array, closers: string): string | undefined {
    const { prepare, onElement } = this.#options
    const text = this.#decoder.decode(bytes) + closers
    let value: unknown
    try {
      value = JSON.parse(prepare === undefined ? text : prepare(text))
    } catch (error) {
      return String((error as Error).message).replace(/\s+/g, ' ')
    }
    if (typeof value !== 'object' || value === null) return `${text.trim()} is no object`
    const cutAt = this.#cutAt
    onElement({ value, line: this.#line, ...(cutAt === undefined ? {} : { cutAt }) })
    return undefined
  }

  /** Whether the first of JSON lines is broken, as the second is a value, once known. */
  #recoverLine(ended: boolean): boolean | undefined {
    if (this.#inLines || this.#head > 0) return false
    const { bytes, length } = this.#queue
    const newline = bytes.indexOf(NEWLINE)
    const lineEnd = newline < 0 ? -1 : bytes.indexOf(NEWLINE, newline + 1)
    if ((newline < 0 || lineEnd < 0) && !ended) return undefined
    if (newline < 0) return false
    const second = bytes.subarray(newline + 1, lineEnd < 0 ? length : lineEnd)
    if (!(parsedJson(this.#decoder.decode(second)) instanceof Object)) return false
    this.#lost(this.#scanner.problem ?? 'The line ends before its value does', false)
    this.#line++
    this.#drop(newline + 1)
    this.#scanning = false
    this.#inLines = true
    return true
  }

  #endTruncated(): void {
    this.#scanner.endElements()
    while (this.#cutPiece(0));
    this.#passSpace(this.#head)
    this.#lost('', true)
    this.#drop(this.#queue.length)
    this.#scanning = false
  }

  #drop(bytes: number): void {
    this.#queue.remove(0, bytes)
    if (bytes > 0) this.#searched = 0
  }

  /** Counts the lines that end in the space from a place on; returns where it ends. */
  #passSpace(from: number): number {
    const { bytes } = this.#queue
    let end = from
    while (end < bytes.length && SPACE.has(bytes[end]!)) end++
    this.#line += linesIn(bytes.subarray(from, end))
    return end
  }

  #lost(fault: string, truncated: boolean): void {
    const { file, quality, lost } = this.#options
    const [code, message] = truncated
      ? [TRUNCATED_FILE, `The file ends before what starts on line ${this.#line} does`]
      : ['unreadable-json', `This is not JSON: ${fault}`]
    quality.skip({ code, effect: lost, place: { file, line: this.#line }, message, next: CORRECT })
  }

  #error(problem: string, nextStep = 'Correct the file'): TraceFormatError {
    return new TraceFormatError(
      problem,
      { file: this.#options.file, line: this.#scanner.line },
      nextStep,
    )
  }
}

export async function readJsonElements(
  chunks: AsyncIterable<Uint8Array>,
  options: JsonElementsOptions,
): Promise<void> {
  const elements = new JsonElements(options)
  for await (const chunk of chunks) elements.push(chunk)
  elements.end()
}

function joined(bytes: Uint8Array, closers: string): Uint8Array {
  const all = new Uint8Array(bytes.length + closers.length)
  all.set(bytes)
  all.set(new TextEncoder().encode(closers), bytes.length)
  return all
}

function linesIn(bytes: Uint8Array): number {
  let lines = 0
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === NEWLINE) lines++
  return lines
}

class ByteQueue {
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

const DEEPEST = 10_000

/** 1 for the bytes that mean something between strings, and within them. */
const OUTSIDE = tableOf(QUOTE, COMMA, NEWLINE, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT)
const INSIDE = tableOf(QUOTE, BACKSLASH, NEWLINE)

function tableOf(...bytes: number[]): Uint8Array {
  const table = new Uint8Array(256)
  for (const byte of bytes) table[byte] = 1
  return table
}

/** Place where an unfinished value can be cut: an open array with finished elements before `comma`. */
interface JsonCut {
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
class JsonScanner {
  /** Everything before this position has been seen. */
  at = 0
  line = 1
  problem: string | undefined
  readonly #cuttable: ReadonlySet<string>
  #depth = 0
  #inString = false
  #stringStart = 0
  #stringEnd = 0
  /** Open arrays and objects by depth; the first stands for the value itself. */
  readonly #frames = [new Frame()]

  /** `cuttable`: keys of the arrays that may be cut, `''` for arrays that are no object's. */
  constructor(cuttable: ReadonlySet<string>) {
    this.#cuttable = cuttable
  }

  begin(line: number): void {
    this.at = 0
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
    return open.reduceRight((closers, { isArray }) => closers + (isArray ? ']' : '}'), '')
  }
}
