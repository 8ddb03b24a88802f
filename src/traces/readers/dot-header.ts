import { DecimalReader } from './decimal-reader.ts'

const NEWLINE = 10
const SPACE = 32
const HASH = 35
const COLON = 58
const CAPITAL_R = 82
const CAPITAL_T = 84
const OPEN_BRACE = 123
const HEADER = /#\s*(\S+)\s+R:\s*(\S+)\s*us\w*(?:\s+RT:\s*(\S+)\s*us\w*)?/
const DECODER = new TextDecoder()

/** What stands before the opening brace of a graph. */
export interface DotHeader {
  readonly id: string
  readonly responseTimeUs: number
  readonly startUs: number
}

/** Reads `# 7  R: 4.38 usecs RT: 0.0 usecs`, and finds where the graph opens. */
export class DotHeaderReader {
  readonly #decimal = new DecimalReader()
  /** The byte behind the opening brace, or -1 where there is none yet. */
  end = -1
  /** Line ends passed. */
  lines = 0

  /**
   * Reads what stands between `start` and the next opening brace.
   *
   * @returns `null` when that is no header
   */
  read(source: Uint8Array, start: number, limit: number): DotHeader | null {
    let open = start
    this.lines = 0
    while (open < limit && source[open] !== OPEN_BRACE) if (source[open++] === NEWLINE) this.lines++
    this.end = open < limit ? open + 1 : -1
    return this.#usual(source, start, open) ?? this.#any(source, start, open)
  }

  #usual(source: Uint8Array, start: number, end: number): DotHeader | null {
    const decimal = this.#decimal
    let at = this.#skipSpace(source, start, end)
    if (source[at] !== HASH) return null
    const idStart = this.#skipSpace(source, at + 1, end)
    at = idStart
    let id = 0
    for (; at < end && (source[at] as number) > SPACE; at++)
      id = id * 10 + (source[at] as number) - 48
    const idText =
      decimal.read(source, idStart, at) && decimal.value === id && source[idStart] !== 48
        ? String(id)
        : DECODER.decode(source.subarray(idStart, at))
    at = this.#skipSpace(source, at, end)
    if (source[at] !== CAPITAL_R || source[at + 1] !== COLON) return null
    if (!decimal.read(source, this.#skipSpace(source, at + 2, end), end)) return null
    const responseTimeUs = decimal.value
    at = decimal.end
    while (at < end && source[at] !== NEWLINE && source[at] !== CAPITAL_R) at++
    if (source[at] !== CAPITAL_R || source[at + 1] !== CAPITAL_T) return null
    if (!decimal.read(source, this.#skipSpace(source, at + 3, end), end)) return null
    return { id: idText, responseTimeUs, startUs: decimal.value }
  }

  #any(source: Uint8Array, start: number, end: number): DotHeader | null {
    const found = HEADER.exec(DECODER.decode(source.subarray(start, end)))
    const [, id, responseTime, arrival = '0'] = found ?? []
    const responseTimeUs = Number(responseTime)
    const startUs = Number(arrival)
    if (id === undefined || !(responseTimeUs >= 0)) return null
    if (!Number.isFinite(responseTimeUs) || !Number.isFinite(startUs)) return null
    return { id, responseTimeUs, startUs }
  }

  #skipSpace(source: Uint8Array, start: number, end: number): number {
    let at = start
    while (at < end && (source[at] as number) <= SPACE) at++
    return at
  }
}

/** The id in the first header of a text, for messages about a graph that cannot be read. */
export function headerId(text: string): string | undefined {
  return HEADER.exec(text)?.[1]
}
