import { shortText } from '../../core/shown-text.ts'
import { textWidth } from '../charts/text-width.ts'

/** Fewer characters than this say nothing. */
const FEWEST = 4
/** How much wider than other narrow characters `…` is in some fonts, in ems. */
const ELLIPSIS = 0.4

/** As much of a text as fits, its middle left out; empty where there is too little room. */
export function fittedText(text: string, pixels: number, fontSize: number): string {
  const longest = Math.min(300, Math.floor(pixels / (0.38 * fontSize)))
  const whole = shortText(text, Math.max(1, longest))
  for (let length = [...whole].length; length > 0; length--) {
    const short = shortText(text, length)
    const isCut = short.includes('…') && !text.includes('…')
    if (isCut && length < FEWEST) return ''
    const extra = isCut ? ELLIPSIS * fontSize : 0
    if (textWidth(short, fontSize) + extra <= pixels) return short
  }
  return ''
}
