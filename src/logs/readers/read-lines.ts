import { LineBytes, MAX_SHORT } from './line-bytes.ts'
import { type LogFile, SKIPPED } from './log-sink.ts'

const NEWLINE = 10
const RETURN = 13
const MAX_LINE_LENGTH = 1 << 24
const decoder = new TextDecoder()

/**
 * Splits UTF-8 text into lines that end in LF or CRLF, and counts them; blank ones are handed on too.
 */
export async function readLines(
  { chunks, sink }: LogFile,
  onLine: (text: string, line: number) => void,
  onBytes?: (bytes: LineBytes, line: number) => boolean,
): Promise<void> {
  const own = new LineBytes()
  let rest: Uint8Array[] = []
  let restLength = 0
  let line = 1
  let isTooLong = false
  const take = (bytes: Uint8Array, start: number, to: number) => {
    const end = to > start && bytes[to - 1] === RETURN ? to - 1 : to
    if (!isTooLong) {
      own.set(bytes, start, end)
      if (onBytes?.(own, line) !== true) {
        const isShort = own.isAscii && end - start < MAX_SHORT
        const text = isShort ? own.text(0, end - start) : decoder.decode(bytes.subarray(start, end))
        onLine(text, line)
      }
    }
    isTooLong = false
    line++
  }
  const takeRest = (end: Uint8Array) => {
    const whole = rest.length === 0 ? end : joined([...rest, end], restLength + end.length)
    take(whole, 0, whole.length)
    rest = []
    restLength = 0
  }
  for await (const chunk of chunks) {
    let from = chunk.indexOf(NEWLINE) + 1
    if (from > 0) takeRest(chunk.subarray(0, from - 1))
    for (let end = chunk.indexOf(NEWLINE, from); from > 0 && end >= 0; ) {
      take(chunk, from, end)
      from = end + 1
      end = chunk.indexOf(NEWLINE, from)
    }
    // The chunk may be filled anew by whoever reads it.
    if (!isTooLong && from < chunk.length) {
      rest.push(chunk.slice(from))
      restLength += chunk.length - from
    }
    if (restLength > MAX_LINE_LENGTH) {
      sink.skip(SKIPPED.tooLong, line, decoder.decode(joined(rest, restLength).subarray(0, 200)))
      rest = []
      restLength = 0
      isTooLong = true
    }
  }
  if (restLength > 0 || isTooLong) takeRest(new Uint8Array(0))
  sink.countLines(line - 1)
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
