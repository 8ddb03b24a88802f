import { expect, test } from 'vitest'
import { Dictionary } from '../../src/traces/dictionary.ts'

test('codes are given in order of first appearance', () => {
  const dictionary = new Dictionary()
  expect(['b', 'a', 'b', 'c', 'a', 'a'].map((value) => dictionary.code(value))).toEqual([
    0, 1, 0, 2, 1, 1,
  ])
  expect(dictionary.values).toEqual(['b', 'a', 'c'])
  expect(dictionary.size).toBe(3)
})

test.each(['', ' ', '__proto__', 'constructor', 'größe 🚂', '\u0000'])(
  'the string %j is a value like any other',
  (value) => {
    const dictionary = new Dictionary()
    expect(dictionary.find(value)).toBeUndefined()
    expect(dictionary.code(value)).toBe(0)
    expect(dictionary.code(value)).toBe(0)
    expect(dictionary.find(value)).toBe(0)
    expect(dictionary.value(0)).toBe(value)
  },
)

test('a code that was never given is a bug of ours', () => {
  expect(() => new Dictionary().value(3)).toThrow(
    'flowdelta broke a promise of its own: no string has code 3. Please report this with the input.',
  )
})
