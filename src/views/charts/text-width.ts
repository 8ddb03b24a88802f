import { range } from 'd3-array'

const WIDE = /[A-ZÄÖÜ@%&mwMW\u2190-\u21ff\u3000-\uffef]|[\u{10000}-\u{10ffff}]/u
const NARROW = /[ \u00a0ijlftrI.,:;|!'"()[\]/\\-]/

/** Returns the approximate width of a text, in pixels, in the wider of the usual sans-serif fonts. */
export function textWidth(text: string, fontSize: number): number {
  let ems = 0
  for (const character of text) {
    ems += WIDE.test(character) ? 0.73 : NARROW.test(character) ? 0.38 : 0.62
  }
  return ems * fontSize
}

/** Between words, but not where signs and units need their neighbors: `p < 0.05`, `95 %`, `20 ms`. */
const BREAK = /(?<![<>=≤≥]|\d(?=\s+(?:µs|ms|s|min|h)\b))\s+(?![<>=≤≥%])/

/** Breaks a text into as few lines as possible; the last is no single short word, where words allow it. */
export function brokenInto(text: string, ems: number): string[] {
  const fewest = linesOf(text, ems)
  const [{ length = 0 } = ''] = fewest
  const narrower = range(1, 0.5, -0.05).map((share) => linesOf(text, ems * share))
  const fits = (lines: readonly string[]) =>
    lines.length === fewest.length && (lines.at(-1) ?? '').length > length / 3
  return narrower.find(fits) ?? fewest
}

function linesOf(text: string, ems: number): string[] {
  const lines: string[] = []
  for (const word of text.split(BREAK)) {
    const line = lines.at(-1)
    const longer = line === undefined ? word : `${line} ${word}`
    if (line === undefined || textWidth(longer, 1) > ems) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}
