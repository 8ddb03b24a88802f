import { expect, test } from 'vitest'
import { ecdf } from '../../src/stats/index.ts'

test('repeated values give one step', () => {
  const { x, y, count } = ecdf(Object.freeze([3, 1, 3, 5]))
  expect([...x]).toEqual([1, 3, 5])
  expect([...y]).toEqual([0.25, 0.75, 1])
  expect(count).toBe(4)
})

test('one value gives one step to 1', () => {
  const { x, y } = ecdf([7])
  expect([[...x], [...y]]).toEqual([[7], [1]])
})

test('an empty sample has no steps', () => {
  expect(ecdf([])).toEqual({ x: new Float64Array(), y: new Float64Array(), count: 0 })
})

test('NaN and infinities are left out', () => {
  const { x, y, count } = ecdf([2, Number.NaN, 1, Number.POSITIVE_INFINITY])
  expect([[...x], [...y], count]).toEqual([[1, 2], [0.5, 1], 2])
})

test('a typed array is not reordered', () => {
  const sample = new Float64Array([3, 1, 2])
  ecdf(sample)
  expect([...sample]).toEqual([3, 1, 2])
})
