import type { AttributeValue } from '../attributes.ts'

/** A parameter in a DOT file as the number or truth value it looks like, else as text. */
export function dotAttribute(text: string): AttributeValue {
  if (text === 'true' || text === 'false') return text === 'true'
  const number = Number(text)
  return text.trim() === '' || Number.isNaN(number) ? text : number
}
