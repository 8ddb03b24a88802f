import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ascendingOrder, sortAscending } from '../../src/stats/ascending-order.ts'

const number = fc.oneof(
  fc.constantFrom(0, -0, 1, -1, Number.MAX_VALUE, Number.MIN_VALUE, Infinity, -Infinity),
  fc.double({ noNaN: true }),
  fc.integer({ min: -3, max: 3 }),
)

test('many values and few are in the order that comparing gives, equal ones in that of their rows', () => {
  fc.assert(
    fc.property(fc.array(number, { minLength: 1, maxLength: 30 }), (some) => {
      for (const values of [
        some,
        Array.from({ length: 40 }, () => some)
          .flat()
          .concat(some),
      ]) {
        const rows = Uint32Array.from(values.keys()).reverse()
        const compared = (of: Uint32Array) =>
          Array.from(of).sort(
            (a, b) => Number(values[a]! > values[b]!) - Number(values[a]! < values[b]!),
          )
        const given = Float64Array.from(values)
        expect(Array.from(ascendingOrder(given, rows))).toEqual(compared(rows))
        expect(Array.from(ascendingOrder(given))).toEqual(compared(rows.slice().reverse()))
        expect(rows[0]).toBe(values.length - 1)
      }
    }),
    { numRuns: 40 },
  )
})

test('thousands of values are sorted digit by digit', () => {
  const values = Float64Array.from({ length: 5000 }, (_, i) => Math.sin(i) * 10 ** (i % 9))
  const order = ascendingOrder(values)
  expect(order.every((row, at) => at === 0 || values[order[at - 1]!]! <= values[row]!)).toBe(true)
  expect(new Set(order).size).toBe(5000)
})

test('values are sorted in place as typed arrays sort them, few and many, apart and alike', () => {
  const numbers = fc.array(fc.oneof(number, fc.double()), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(numbers, fc.constantFrom(1, 60), (some, times) => {
      const values = Float64Array.from(Array.from({ length: times }, () => some).flat())
      const expected = values.slice().sort()
      expect(sortAscending(values)).toBe(values)
      expect(values).toEqual(expected)
    }),
  )
  const close = Float64Array.from({ length: 2000 }, (_, i) => 1 + ((i * 7919) % 2000) * 1e-13)
  expect(sortAscending(close.slice())).toEqual(close.slice().sort())
})

test('no values are in no order', () => {
  expect(ascendingOrder(new Float64Array())).toEqual(new Uint32Array())
})
