/** Control and formatting characters, line separators and halves of characters. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu
/** Characters that a terminal obeys, but for line ends and tabs. */
const CONTROL = /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu
const LONGEST_TOOLTIP = 300
/** Characters of a file that a message shows. */
const BEGINNING = 60
/** Longer names from traces lose their middle. */
const MAX_NAME_LENGTH = 100

/**
 * Text on one line, its middle left out where long: `recommen…dations`; what cannot be printed
 * becomes a space.
 */
export function shortText(text: string, longest: number): string {
  // Cut before splitting: labels can be megabytes long.
  const near =
    text.length > 8 * longest ? text.slice(0, 4 * longest) + text.slice(-4 * longest) : text
  const characters = [...near.replace(UNPRINTABLE, ' ').trim()]
  if (characters.length <= longest) return characters.join('')
  const head = Math.ceil((longest - 1) / 2)
  const tail = longest - 1 - head
  return `${characters.slice(0, head).join('')}…${characters.slice(characters.length - tail).join('')}`
}

/** Text for a terminal or a message: characters that a terminal would obey stand as `\u001b`. */
export function visibleText(text: string): string {
  return text.replace(
    CONTROL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** How a file begins, between quotes and on one line, for a message. */
export function beginning(text: string): string {
  const start = text.slice(0, BEGINNING).replace(/[^\P{C}\s]|\uFFFD/gu, '·')
  return `${JSON.stringify(start.replace(/\s+/g, ' '))}${text.length > BEGINNING ? ' …' : ''}`
}

/** A name from a trace as it can be printed. */
export function printable(name: string): string {
  return shortText(name, MAX_NAME_LENGTH)
}

/** Text from a trace for a tooltip: whole, unless it is very long. */
export function tooltipText(text: string): string {
  return shortText(text, LONGEST_TOOLTIP)
}
