/** Characters. */
const LONGEST = 1 << 24

/** Takes the lines of a text; `line` is 1-based. */
export interface LineTaker {
  line(text: string, line: number): void
  /** A line too long to be one; `beginning` is what it begins with. */
  tooLong(beginning: string, line: number): void
}

/**
 * Splits UTF-8 text into lines that end in LF or CRLF; blank ones are handed on too. Gives the
 * number of lines.
 */
export async function readLines(
  chunks: AsyncIterable<Uint8Array>,
  taker: LineTaker,
): Promise<number> {
  const decoder = new TextDecoder()
  let rest = ''
  let line = 1
  let isTooLong = false
  const take = (text: string) => {
    if (!isTooLong) taker.line(text.endsWith('\r') ? text.slice(0, -1) : text, line)
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
    if (rest.length > LONGEST) {
      taker.tooLong(rest.slice(0, 200), line)
      rest = ''
      isTooLong = true
    }
  }
  rest += decoder.decode()
  if (rest !== '' || isTooLong) take(rest)
  return line - 1
}
