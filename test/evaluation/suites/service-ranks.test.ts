import { expect, test } from 'vitest'
import { ownTimes, serviceBaselines } from '../../../evaluation/suites/service-baselines.ts'
import { accuracy, rankOf, servicesNamed } from '../../../evaluation/suites/service-ranks.ts'
import { halfOf } from '../../../evaluation/suites/shared-data.ts'
import { requests, shop, spread } from './traces.ts'

const named = (services: readonly string[], ...consequences: ReturnType<typeof finding>[]) =>
  finding(services, consequences)

function finding(services: readonly string[], consequences: readonly never[] | object[]) {
  return { services, consequences } as Parameters<typeof servicesNamed>[0][number]
}

test('services are named in order of first mention, consequences after their cause', () => {
  const findings = [named(['b', 'a'], named(['c', 'a'])), named(['d', 'b'])]
  expect(servicesNamed(findings)).toEqual(['b', 'a', 'c', 'd'])
  expect(servicesNamed([])).toEqual([])
})

test('the rank counts from 1, and a service not named has none', () => {
  expect(rankOf('c', ['b', 'a', 'c'])).toBe(3)
  expect(rankOf('d', ['b', 'a', 'c'])).toBeNull()
})

test('AS@k is the share of faults whose service is among the first k', () => {
  expect(accuracy([1, 2, 4, 6, null])).toEqual([0.2, 0.4, 0.6])
  expect(accuracy([1, 3, 5, 5])).toEqual([0.25, 0.5, 1])
})

test('each half takes every second case of its kind', () => {
  const cases = ['a1', 'b1', 'a2', 'a3', 'b2']
  const kind = (one: string) => one.charAt(0)
  expect(halfOf(cases, 'even', kind)).toEqual(['a1', 'b1', 'a3'])
  expect(halfOf(cases, 'odd', kind)).toEqual(['a2', 'b2'])
  expect(halfOf(cases, null, kind)).toEqual(cases)
})

test('own time is what no call covers, and the way of a call is the callee’s', () => {
  const times = ownTimes(requests([{ cartUs: 100, adsUs: 200 }], shop))
  // front: 10 before the calls, 5 + 50 + 5 after; cart: itself and the way there and back.
  expect([...times]).toEqual([
    ['front', 70],
    ['cart', 120],
    ['ads', 200],
  ])
})

test('own time is a mean over all requests, also those that do not visit the service', () => {
  const two = requests([1, 2], (n) => shop({ cartUs: 100, adsUs: 200 }).slice(0, n === 1 ? 6 : 1))
  expect(ownTimes(two).get('cart')).toBe(60)
})

test('a call without a span of the caller has no way', () => {
  const direct = requests([0], () => [
    { id: 'front', startUs: 0, endUs: 100 },
    { id: 'cart', parent: 'front', startUs: 20, endUs: 70 },
    { id: 'late', parent: 'front', startUs: 90, endUs: 150 },
  ])
  expect([...ownTimes(direct)]).toEqual([
    ['front', 40],
    ['cart', 50],
    ['late', 60],
  ])
})

const steady = requests(
  spread(100, 60).map((cartUs) => ({ cartUs, adsUs: 300 })),
  shop,
)

test('a slow way accuses the callee by own time; its durations show nothing', () => {
  const slow = requests(
    spread(100, 60).map((cartUs) => ({ cartUs, adsUs: 300, wayUs: 1000 })),
    shop,
  )
  const baselines = serviceBaselines(steady, slow)
  expect(baselines.ownTimeRise).toEqual(['cart'])
  // The spans around the call and of the root are the caller's.
  expect(baselines.p95Tripled).toEqual(['front'])
  expect(baselines.ksStatistic).toEqual(['front'])
})

test('services come by the largest ratio, the largest rise and the largest statistic', () => {
  const slow = requests(
    spread(100, 60).map((cartUs) => ({ cartUs: cartUs * 8, adsUs: 1000, workUs: 180 })),
    shop,
  )
  expect(serviceBaselines(steady, slow)).toEqual({
    p95Tripled: ['cart', 'front', 'ads'],
    ownTimeRise: ['cart', 'ads', 'front'],
    ksStatistic: ['front', 'cart', 'ads'],
  })
})

test('nothing changed accuses nobody', () => {
  expect(serviceBaselines(steady, steady)).toEqual({
    p95Tripled: [],
    ownTimeRise: [],
    ksStatistic: [],
  })
})
