import { expect, test } from 'vitest'
import { formsOf, priceOf } from '../../../src/compare/findings/form-prices.ts'
import { compare } from '../../../src/comparison/comparison.ts'
import { call, record } from '../../worlds.ts'

/** Requests of 100 ms (`slow`) and of 10 ms, give or take a tenth. */
function period(seed: number, slow: number, quick: number, addedUs = 0) {
  return record({ seed, requests: slow + quick, everyUs: 2e5 }, (r) => {
    const [operation, us] = r.index < slow ? ['slow', 100_000] : ['quick', 10_000]
    return call(`web ${operation}`, us * (0.9 + 0.2 * r.next()) + addedUs)
  })
}

test('a new form is held against requests of the same type: another mix of types costs nothing', () => {
  const priced = (addedUs: number) => {
    const { flows } = compare(period(1, 100, 300), period(2, 300, 100, addedUs))
    const price = priceOf(
      flows,
      formsOf(flows, (request) => flows.period[request] === 1),
      400,
    )
    return { eachUs: price.contributionUs / price.requests, interval: price.eachInterval }
  }
  const none = priced(0)
  expect(Math.abs(none.eachUs)).toBeLessThan(1500)
  expect(none.interval[0]).toBeLessThan(0)
  expect(none.interval[1]).toBeGreaterThan(0)
  expect(none.interval[1] - none.interval[0]).toBeLessThan(3000)
  const added = priced(5000)
  expect(added.eachUs - none.eachUs).toBeCloseTo(5000, -2)
})
