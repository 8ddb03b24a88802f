import { expect, test } from 'vitest'
import { shortTexts } from '../../src/core/words.ts'

test('texts that fit, or differ where they are cut, are shortened one by one', () => {
  expect(shortTexts(['cart', 'a'.repeat(30), 'b'.repeat(30)], 9)).toEqual([
    ...['cart', 'aaaa…aaaa', 'bbbb…bbbb'],
  ])
})

test('texts that share beginning and end keep where they differ, however often they do', () => {
  const name = (middle: string) => `com.example.orders.internal.${middle}.within.transaction.reply`
  const texts = ['FindByUserA', 'FindByUserB', 'FindByDate', 'FindByDate'].map(name)
  const short = shortTexts(texts, 32)
  expect(new Set(short).size).toBe(3)
  expect(short[2]).toBe(short[3])
  expect(short[0]).toMatch(/^com\.exam….*UserA/)
  for (const one of short) expect(one.length).toBeLessThanOrEqual(32)
})

test('texts that differ by what cannot be printed are alike', () => {
  expect(shortTexts(['a\u0000b', 'a\u0001b'], 9)).toEqual(['a b', 'a b'])
})
