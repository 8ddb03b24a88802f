/** Characters that mean something in a regular expression. */
const SPECIAL = /[\\^$.*+?()[\]{}|/]/g

/** `text` as a string in code. */
export function textLiteral(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1)
  return `'${unbroken(inner.replaceAll('\\"', '"').replaceAll("'", "\\'"))}'`
}

/** A column of the row `d` in code. */
export function fieldLiteral(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `d.${name}` : `d[${textLiteral(name)}]`
}

/** The source of an expression that finds `text` itself. */
export function patternSource(text: string): string {
  return unbroken(text.replace(SPECIAL, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r'))
}

/** Some programs take these two for the end of a line. */
function unbroken(code: string): string {
  return code.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}
