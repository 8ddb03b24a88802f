const WIDE = /[A-ZÄÖÜ@%&mwMW\u2190-\u21ff\u3000-\uffef]|[\u{10000}-\u{10ffff}]/u
const NARROW = /[ ijlftrI.,:;|!'"()[\]/\\-]/

/**
 * About how wide a text is drawn, in pixels. Fonts differ from machine to machine; this is for
 * the wider of the usual sans-serif ones, so that what was made room for fits.
 */
export function textWidth(text: string, fontSize: number): number {
  let ems = 0
  for (const character of text) {
    ems += WIDE.test(character) ? 0.73 : NARROW.test(character) ? 0.38 : 0.62
  }
  return ems * fontSize
}
