import fc from 'fast-check'
import { expect, test } from 'vitest'
import { closedPrecedence, intervalPredecessors, siblingWaits } from '../../src/flows/precedence.ts'

/** Intervals on a small grid, so that touching and equal ones are common. */
const intervals = fc
  .array(fc.tuple(fc.nat(20), fc.nat(8), fc.boolean()), { maxLength: 14 })
  .map((drawn) =>
    drawn
      .map(([startUs, length, asynchronous]) => ({
        startUs,
        endUs: startUs + length,
        asynchronous,
      }))
      .sort((a, b) => a.startUs - b.startUs || a.endUs - b.endUs),
  )

const sorted = (lists: readonly (readonly number[])[]) =>
  lists.map((list) => list.toSorted((a, b) => a - b))

test('for any intervals it finds the pairs that reducing the whole relation finds', () => {
  fc.assert(
    fc.property(intervals, (children) => {
      const startUs = children.map((child) => child.startUs)
      const endUs = children.map((child) => child.endUs)
      const asynchronous = (child: number) => children[child]?.asynchronous === true
      const order = children.map((_, i) => i)
      const between = intervalPredecessors({ startUs, endUs, slackUs: 0 })
      const fast = siblingWaits(between, order, asynchronous)
      const { predecessors } = closedPrecedence(
        order,
        (a, b) => (endUs[a] as number) <= (startUs[b] as number),
      )
      const whole = siblingWaits(predecessors, order, asynchronous)
      expect(sorted(fast.followers)).toEqual(sorted(whole.followers))
      expect(fast.starters).toEqual(whole.starters)
      expect(fast.finishers).toEqual(whole.finishers)
    }),
    { numRuns: 2000 },
  )
})

test('100,000 children one after the other are a chain', () => {
  const startUs = Float64Array.from({ length: 100_000 }, (_, i) => 10 * i)
  const endUs = startUs.map((start) => start + 9)
  const { followers, starters, finishers } = siblingWaits(
    intervalPredecessors({ startUs, endUs, slackUs: 1 }),
    startUs.map((_, i) => i),
    () => false,
  )
  expect(starters).toEqual([0])
  expect(finishers).toEqual([99_999])
  expect(followers.slice(0, -1).every((next, i) => next.length === 1 && next[0] === i + 1)).toBe(
    true,
  )
})
