import { hashMore } from './byte-interner.ts'
import { DecimalReader } from './decimal-reader.ts'
import { isNameByte } from './dot-scanner.ts'
import type { NodeIdTable } from './node-id-table.ts'

const NEWLINE = 10
const QUOTE = 34
const BACKSLASH = 92
const ARROW = word(' -> ')
const LIST = word(' [la')
const LABEL = word('bel=')
const LATENCY = word('"R: ')
const UNIT = word(' us"')
const CLOSE = 93
const FOUR_QUOTES = word('""""')

/**
 * Reads the two kinds of lines that make up nearly all of a file, exactly as the tracing tools
 * write them, four bytes at a time:
 *
 * ```
 * 25.1 [label="e10__t3__POINT\nDEFAULT"]
 * 25.1 -> 25.2 [label="R: 4.381460 us"]
 * ```
 *
 * Any other line is left to the scanner, which reads all of DOT at a third of the speed.
 */
export class UsualLines {
  readonly #decimal = new DecimalReader()
  source: Uint8Array = new Uint8Array()
  view: DataView = new DataView(new ArrayBuffer(0))
  /** Of the last node line: its id, and its label without quotes. */
  idEnd = 0
  labelStart = 0
  labelEnd = 0
  labelHash = 0
  /** Of the last edge line. */
  from = 0
  to = 0
  latencyUs = 0

  /**
   * Reads a node line; gives the position behind it, or -1 if it is another kind of line.
   *
   * @param last where the last id that was read begins, and how long it is
   */
  node(start: number, limit: number, last: { start: number; length: number }): number {
    const { source, view } = this
    const idEnd = this.#idEnd(start, limit, last)
    if (idEnd === start || idEnd + 12 > limit) return -1
    if (view.getInt32(idEnd) !== LIST || view.getInt32(idEnd + 4) !== LABEL) return -1
    if (source[idEnd + 8] !== QUOTE) return -1
    this.idEnd = idEnd
    this.labelStart = idEnd + 9
    const end = this.#labelEnd(idEnd + 9, limit)
    // A quote behind a backslash may or may not end the label.
    if (end < 0 || source[end - 1] === BACKSLASH || end + 3 > limit) return -1
    if (source[end + 1] !== CLOSE || source[end + 2] !== NEWLINE) return -1
    this.labelEnd = end
    return end + 3
  }

  /** Where the name at `start` ends. What it shares with the last id needs no second look. */
  #idEnd(start: number, limit: number, last: { start: number; length: number }): number {
    const { source, view } = this
    let at = start
    const lastWord = Math.min(start + last.length, limit) - 4
    for (let known = last.start; at <= lastWord; known += 4, at += 4) {
      if (view.getInt32(at) !== view.getInt32(known)) break
    }
    while (isNameByte(source[at] as number)) at++
    return at
  }

  /** Where the label that begins at `start` ends, -1 where it does not; hashes it on the way. */
  #labelEnd(start: number, limit: number): number {
    const { source, view } = this
    let at = start
    let hash = 0
    for (; at + 4 <= limit; at += 4) {
      const four = view.getInt32(at)
      // Whether one of four bytes is zero (Mycroft 1987), here: is a quote.
      const marked = four ^ FOUR_QUOTES
      if (((marked - 0x01010101) & ~marked & 0x80808080) !== 0) break
      hash = hashMore(hash, four)
    }
    for (; at < limit && source[at] !== QUOTE; at++) hash = hashMore(hash, source[at] as number)
    this.labelHash = hash
    return at < limit ? at : -1
  }

  /**
   * Reads an edge line between known nodes whose ids have `idLength` bytes; gives the position
   * behind it, or -1 if it is another kind of line.
   */
  edge(start: number, limit: number, { ids, idLength }: { ids: NodeIdTable; idLength: number }) {
    const { source, view } = this
    const fromEnd = start + idLength
    const toEnd = fromEnd + 4 + idLength
    if (toEnd + 16 > limit || view.getInt32(fromEnd) !== ARROW) return -1
    if (view.getInt32(toEnd) !== LIST || view.getInt32(toEnd + 4) !== LABEL) return -1
    if (view.getInt32(toEnd + 8) !== LATENCY) return -1
    const from = ids.find(start, fromEnd)
    const to = ids.find(fromEnd + 4, toEnd)
    if (from < 0 || to < 0) return -1
    if (!this.#decimal.read(source, toEnd + 12, limit)) return -1
    const at = this.#decimal.end
    if (at + 6 > limit) return -1
    if (view.getInt32(at) !== UNIT || source[at + 4] !== CLOSE || source[at + 5] !== NEWLINE) {
      return -1
    }
    this.from = from
    this.to = to
    this.latencyUs = this.#decimal.value
    return at + 6
  }
}

/** Four characters as the number that `DataView.getInt32` reads them as. */
function word(text: string): number {
  return [0, 1, 2, 3].reduce((value, i) => (value << 8) | text.charCodeAt(i), 0)
}
