import { range } from 'd3-array'
import { shortText } from '../../core/words.ts'

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

/** Fewest characters of a shortened text: `lo…re` would say nothing. */
const MIN_CHARACTERS = 8
const MAX_CHARACTERS = 300
/** Extra width of `…` over other narrow characters in some fonts, in ems. */
const ELLIPSIS = 0.4

/** Returns as much of a text as fits, its middle left out; `''` where there is too little room. */
export function fittedText(text: string, pixels: number, fontSize: number): string {
  const longest = Math.min(MAX_CHARACTERS, Math.floor(pixels / (0.38 * fontSize)))
  const whole = shortText(text, Math.max(1, longest))
  for (let length = [...whole].length; length > 0; length--) {
    const short = shortText(text, length)
    const isCut = short.includes('…') && !text.includes('…')
    if (isCut && length < MIN_CHARACTERS) return ''
    const extra = isCut ? ELLIPSIS * fontSize : 0
    if (textWidth(short, fontSize) + extra <= pixels) return short
  }
  return ''
}

/** Makes names fit a page; longer ones are cut and end in a number, which tells them apart. */
export function namesInPage(names: readonly string[], longest: number): (name: string) => string {
  const numbers = new Map([...new Set(names)].map((name, number) => [name, number]))
  return (name) =>
    name.length > longest && numbers.has(name)
      ? `${shortText(name, longest)} (${numbers.get(name)})`
      : name
}

export function textLines(text: string, pixels: number, fontSize: number): string[] {
  return brokenInto(text.trim(), pixels / fontSize).map((line) =>
    fittedText(line, pixels, fontSize),
  )
}
