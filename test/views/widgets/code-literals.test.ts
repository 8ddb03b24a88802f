import { describe, expect, test } from 'vitest'
import { patternSource, textLiteral } from '../../../src/core/code-literals.ts'

const HIDDEN = ['\u202e', '\u200b', '\u2028', '\ufeff', '\u0085', '\u{e0001}']

describe('text in code', () => {
  test('shows characters that are not seen, or turn the line around, by their numbers', () => {
    expect(textLiteral('a\u202eb')).toBe("'a\\u202eb'")
    expect(textLiteral('a\u{e0001}b')).toBe("'a\\udb40\\udc01b'")
    expect(textLiteral('grüße, 日本, שלום')).toBe("'grüße, 日本, שלום'")
  })

  test('is the same text when it is run', () => {
    for (const hidden of HIDDEN) {
      const text = `it's "${hidden}" \\ ${hidden}\n`
      expect(new Function(`return ${textLiteral(text)}`)()).toBe(text)
      expect(new RegExp(`^${patternSource(text)}$`).test(text)).toBe(true)
    }
  })
})
