import { expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { call, record } from '../../worlds.ts'

/** Requests through a gateway, whose type shows by what it calls, unless they end there. */
function period(seed: number, ending: number, ofA = 0.4) {
  return record({ seed, requests: 900, everyUs: 1e4, fromUs: seed * 1e9 }, (r) => {
    const { index: i } = r
    const type = i % 10 < 10 * ofA ? 'a' : Math.floor(i / 10) % 2 === 0 ? 'b' : 'c'
    const tookUs = 1000 * { a: 1, b: 5, c: 25 }[type] + 500 * r.next()
    if (r.is(ending)) return call('gateway /*', 100)
    return call('gateway /*', 200, {}, [call(`${type} get`, tookUs)])
  })
}

const mixOf = (ending: number, ofA?: number) =>
  compare(period(1, 0.02), period(2, ending, ofA))
    .warnings()
    .find(({ code }) => code === 'request-mix')

test('requests that end before they show their type are of no other mix, and a finding', () => {
  expect(mixOf(0.5)).toBeUndefined()
  const { findings } = compare(period(1, 0.02), period(2, 0.5))
  expect(findings.findings[0]?.title).toContain('returns without calling anything')
  expect(findings.text()).not.toContain('request mix')
})

test('of those that do, another mix is told with what it does to all', () => {
  const finding = mixOf(0.5, 0.7)?.finding ?? ''
  expect(finding).toContain('of requests that show their type')
  const [, shift, unit] = /take ([\d.]+) (ms|µs) less on average/.exec(finding) ?? []
  // Half of the requests are of a mix that takes 5.65 instead of 9.85 ms.
  expect(Number(shift) * (unit === 'ms' ? 1 : 1e-3)).toBeCloseTo(2.1, 0)
})
