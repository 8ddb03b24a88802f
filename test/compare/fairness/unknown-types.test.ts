import { expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans } from '../../make-traces.ts'

/** Requests through a gateway, whose type shows by what it calls, unless they end there. */
function period(seed: number, ending: number, ofA = 0.4) {
  const random = randomSource(seed)
  return makeSpans(
    Array.from({ length: 900 }, (_, i) => {
      const type = i % 10 < 10 * ofA ? 'a' : Math.floor(i / 10) % 2 === 0 ? 'b' : 'c'
      const [id, startUs] = [`${seed} ${i}`, seed * 1e9 + i * 1e4]
      const tookUs = 1000 * { a: 1, b: 5, c: 25 }[type] + Math.round(500 * random.next())
      const root = { id, trace: id, service: 'gateway', operation: '/*', startUs }
      if (random.next() < ending) return [{ ...root, endUs: startUs + 100 }]
      const call = { id: `${id} ${type}`, trace: id, parent: id, service: type, operation: 'get' }
      return [
        { ...root, endUs: startUs + tookUs + 200 },
        { ...call, startUs: startUs + 100, endUs: startUs + 100 + tookUs },
      ]
    }).flat(),
  )
}

const mixOf = (ending: number, ofA?: number) =>
  compare(period(1, 0.02), period(2, ending, ofA))
    .warnings()
    .find(({ code }) => code === 'request-mix')

test('requests that end before they show their type are of no other mix, and a finding', () => {
  expect(mixOf(0.5)).toBeUndefined()
  const { findings } = compare(period(1, 0.02), period(2, 0.5))
  expect(findings.findings[0]?.title).toContain('returns without calling anything')
  expect(findings.text()).not.toContain('changed mix')
})

test('of those that do, another mix is told with what it does to all', () => {
  const finding = mixOf(0.5, 0.7)?.finding ?? ''
  expect(finding).toContain('of requests that show their type')
  const [, shift, unit] = /take ([\d.]+) (ms|µs) less on average/.exec(finding) ?? []
  // Half of the requests are of a mix that takes 5.65 instead of 9.85 ms.
  expect(Number(shift) * (unit === 'ms' ? 1 : 1e-3)).toBeCloseTo(2.1, 0)
})
