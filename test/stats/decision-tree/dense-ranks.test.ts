import fc from 'fast-check'
import { expect, test } from 'vitest'
import { denseRanks } from '../../../src/stats/decision-tree/grow-node.ts'

function bySorting(values: Float64Array) {
  const distinct = [...new Set(values.filter((value) => !Number.isNaN(value)))].sort(
    (a, b) => a - b,
  )
  return { ranks: Array.from(values, (value) => distinct.indexOf(value + 0)), distinct }
}

function expectRanks(values: Float64Array): void {
  const { ranks, distinct } = denseRanks(values)
  const expected = bySorting(values.map((value) => value + 0))
  expect({ ranks: [...ranks], distinct: [...distinct] }).toEqual(expected)
}

test('ranks are those of sorting, for any doubles', () => {
  fc.assert(fc.property(fc.float64Array({ maxLength: 60 }), expectRanks))
})

test('and for values that share their upper half, in any order', () => {
  const close = fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 80 })
  fc.assert(
    fc.property(close, (low) => expectRanks(Float64Array.from(low, (each) => 2 ** 52 + each))),
  )
})

test('zero has no sign, missing has no rank', () => {
  const { ranks, distinct } = denseRanks(Float64Array.of(0, -0, Number.NaN, -1))
  expect([...ranks]).toEqual([1, 1, -1, 0])
  expect(Object.is(distinct[1], 0)).toBe(true)
})

test('the values are left alone', () => {
  const values = Float64Array.of(3, 1, 2)
  denseRanks(values)
  expect([...values]).toEqual([3, 1, 2])
})
