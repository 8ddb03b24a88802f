import { shortText } from '../../core/shown-text.ts'
import { textWidth } from './text-width.ts'

/** Fewer characters than this say nothing. */
const FEWEST = 4
/** The narrowest characters, in ems. */
const NARROWEST = 0.38

/** As much of a text as has room, its middle left out. */
export function fittedLabel(text: string, pixels: number, fontSize: number): string {
  let length = Math.ceil(pixels / (NARROWEST * fontSize))
  while (length > FEWEST && textWidth(shortText(text, length), fontSize) > pixels) length--
  return shortText(text, length)
}
