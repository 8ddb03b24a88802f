import { expect, test } from 'vitest'
import { siblingPercentiles } from '../../src/stats/sibling-percentile.ts'

test('the best of five has 0, the worst 1, in the order they were given', () => {
  expect([...siblingPercentiles([5, 1, 3, 2, 4])]).toEqual([1, 0, 0.5, 0.25, 0.75])
})

test('an only child has 0, and none has none', () => {
  expect([...siblingPercentiles([7])]).toEqual([0])
  expect([...siblingPercentiles([])]).toEqual([])
})

test('what has no score ranks last', () => {
  expect([...siblingPercentiles([Number.NaN, 2, Number.NaN])]).toEqual([0.75, 0, 0.75])
})
