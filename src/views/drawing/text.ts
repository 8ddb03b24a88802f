import { shortText } from '../../core/words.ts'
import { brokenInto, textWidth } from '../charts/text-width.ts'

export { textWidth } from '../charts/text-width.ts'

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
