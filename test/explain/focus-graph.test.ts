import { expect, test } from 'vitest'
import { focusOn } from '../../src/explain/focus-graph.ts'
import { plot } from '../../src/index.ts'
import { compareShops } from '../compare/findings/fixture.ts'

const comparison = compareShops({}, { payUs: 4000 })

test('callers and callees have the calls and times that requests say', () => {
  const { calls, itself } = focusOn(comparison, 'shop')
  const [pay, stock, clients] = ['pay', 'stock', null].map((service) =>
    calls.find((one) => one.service === service),
  )
  expect(pay).toMatchObject({ direction: 'callee', beforeCalls: 100, afterCalls: 100 })
  expect((pay?.afterUs ?? 0) - (pay?.beforeUs ?? 0)).toBeGreaterThan(1800)
  // One request in three pays.
  expect(pay?.changeUs).toBeCloseTo(((pay?.afterUs ?? 0) - (pay?.beforeUs ?? 0)) / 3)
  expect(stock).toMatchObject({ direction: 'callee', beforeCalls: 300, afterCalls: 300 })
  expect(clients).toMatchObject({ direction: 'caller', beforeCalls: 300 })
  expect(clients?.afterUs).toBe(itself.afterUs)
})

test('what a service calls is what the called one is called by', () => {
  const ofShop = focusOn(comparison, 'shop').of('callee')
  const ofPay = focusOn(comparison, 'pay').of('caller')
  expect({ ...ofPay[0], direction: 'callee', service: 'pay' }).toEqual(
    ofShop.find(({ service }) => service === 'pay'),
  )
})

test('a drawing names the calls that changed most', () => {
  expect(plot(focusOn(comparison, 'shop')).description).toMatch(
    /Most changed: (its calls to pay|calls of clients to shop), \+6\d\d µs a mean request/,
  )
})

test('a service that nobody visits is refused with the nearest name', () => {
  expect(() => focusOn(comparison, 'pya')).toThrow("Did you mean 'pay'?")
})
