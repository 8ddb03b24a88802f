import { unicodeEscape } from './escape.ts'

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

const SPECIAL = /[\\^$.*+?()[\]{}|/]/g

export function textLiteral(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1)
  return `'${seen(inner.replaceAll('\\"', '"').replaceAll("'", "\\'"))}'`
}

export function codeText(value: unknown): string {
  if (typeof value === 'string') return textLiteral(value)
  if (Array.isArray(value)) return `[${value.map(codeText).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, part]) => {
      const name = IDENTIFIER.test(key) ? key : textLiteral(key)
      return `${name}: ${codeText(part)}`
    })
    return `{ ${entries.join(', ')} }`
  }
  return String(value)
}

/** Returns a column of the row `d` in code. */
export function fieldLiteral(name: string): string {
  return IDENTIFIER.test(name) ? `d.${name}` : `d[${textLiteral(name)}]`
}

export function patternSource(text: string): string {
  return seen(text.replace(SPECIAL, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r'))
}

/** Invisible characters in code: controls, marks that turn the line around, other ends of lines. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/**
 * Returns code in which every character is visible: invisible characters, and those that turn others around, are
 * escaped.
 */
function seen(code: string): string {
  return code.replace(UNSEEN, (character) => character.split('').map(unicodeEscape).join(''))
}
