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
