import fc from 'fast-check'
import { expect, test } from 'vitest'
import { editDistance, editDistanceFrom } from '../../src/stats/edit-distance.ts'

const ALPHABET = 5
const tokens = (maxLength: number) =>
  fc
    .array(fc.integer({ min: 0, max: ALPHABET - 1 }), { maxLength })
    .map((values) => Uint32Array.from(values))

test('one pattern gives the same distances to many texts as comparing each alone', () => {
  fc.assert(
    fc.property(tokens(100), fc.array(tokens(100), { minLength: 1, maxLength: 5 }), (a, texts) => {
      const distanceTo = editDistanceFrom(a, ALPHABET)
      for (const b of texts) expect(distanceTo(b)).toBe(editDistance(a, b))
    }),
  )
})

test('an empty pattern is as far away as the text is long', () => {
  expect(editDistanceFrom(new Uint32Array(), 3)(Uint32Array.of(0, 1, 2))).toBe(3)
})

test('a pattern of 300 tokens is compared too', () => {
  const long = Uint32Array.from({ length: 300 }, (_, i) => i % ALPHABET)
  expect(editDistanceFrom(long, ALPHABET)(long.slice(1))).toBe(1)
})
