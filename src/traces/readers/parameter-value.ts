import type { AttributeValue } from '../attributes.ts'

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i
/** Digits that begin with a zero are a name, such as a postcode. */
const NAME = /^[-+]?0\d/

/**
 * A field of a table as the parameter it looks like: a number, a truth value, else text; `undefined`
 * where it is missing (empty or NULL). Integers that a double cannot hold stay text.
 */
export function parameterValue(field: string | null): AttributeValue | undefined {
  if (field === null || field === '' || field === 'NULL') return undefined
  if (NUMBER.test(field) && !NAME.test(field)) {
    const value = Number(field)
    const isExact = Number.isSafeInteger(value) || !/^[-+]?\d+$/.test(field)
    return isExact && Number.isFinite(value) ? value : field
  }
  if (/^(true|false)$/i.test(field)) return field.toLowerCase() === 'true'
  return field
}
