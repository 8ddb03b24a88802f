import { type LogFile, SKIPPED } from './log-sink.ts'

const MAX_LINE_LENGTH = 1 << 24

/**
 * Splits UTF-8 text into lines that end in LF or CRLF, and counts them; blank ones are handed on too.
 *
 * @param onLine takes a line and its number, from 1
 */
export async function readLines(
  { chunks, sink }: LogFile,
  onLine: (text: string, line: number) => void,
): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  let line = 1
  let isTooLong = false
  const take = (text: string) => {
    if (!isTooLong) onLine(text.endsWith('\r') ? text.slice(0, -1) : text, line)
    isTooLong = false
    line++
  }
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true })
    let from = text.indexOf('\n') + 1
    if (from > 0) take(rest + text.slice(0, from - 1))
    for (let end = text.indexOf('\n', from); from > 0 && end >= 0; end = text.indexOf('\n', from)) {
      take(text.slice(from, end))
      from = end + 1
    }
    rest = from > 0 ? text.slice(from) : isTooLong ? '' : rest + text
    if (rest.length > MAX_LINE_LENGTH) {
      sink.skip(SKIPPED.tooLong, line, rest.slice(0, 200))
      rest = ''
      isTooLong = true
    }
  }
  rest += decoder.decode()
  if (rest !== '' || isTooLong) take(rest)
  sink.countLines(line - 1)
}
