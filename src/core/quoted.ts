/** A name between double quotes, in which a backslash takes the next character as it is. */
export const QUOTED = '"(?:[^"\\\\]|\\\\[^])*"'

/** Returns the text between quotes; a name without quotes is returned as it is. */
export function unquoted(name: string): string {
  if (!(name.length > 1 && name.startsWith('"') && name.endsWith('"'))) return name
  return name.slice(1, -1).replace(/\\([\s\S])/g, (_, character) => ESCAPES[character] ?? character)
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }

export function quoted(name: string): string {
  return `"${name.replace(/["\\]/g, (sign) => `\\${sign}`).replaceAll('\n', '\\n')}"`
}
