import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { makeSpans, type SpanSketch } from '../../make-traces.ts'

const ROUTES: readonly (readonly string[])[] = [
  ['auth', 'cart'],
  ['auth', 'price'],
  ['cart', 'stock', 'price'],
  ['stock'],
]

/** Requests of four routes, each of which calls some services, and then `more`, one after the other. */
function period(seed: number, more: (route: number) => readonly string[]) {
  const random = randomSource(seed)
  const spans = Array.from({ length: 1200 }, (_, i) => {
    const route = random.integer(4)
    const of = { trace: `${seed} ${i}`, service: 'front' }
    const startUs = i * 1e6
    let nowUs = startUs + random.logNormal(Math.log(3000), 0.4)
    const calls = [...(ROUTES[route] as string[]), ...more(route)].map((service, n): SpanSketch => {
      const from = nowUs
      nowUs += random.logNormal(Math.log(2000), 0.5)
      return {
        ...of,
        service,
        id: `call ${n}`,
        parent: 'root',
        operation: 'do',
        startUs: from,
        endUs: nowUs,
      }
    })
    const own = random.logNormal(Math.log(500), 0.3)
    const root = { ...of, id: 'root', operation: `GET /${route}`, startUs, endUs: nowUs + own }
    return [root, ...calls]
  })
  return makeSpans(spans.flat())
}

const MEAN_US = 2000 * Math.exp(0.5 ** 2 / 2)
const times = (count: number) => Array.from({ length: count }, () => 'audit')

describe('what several operations of a service do otherwise is one finding of all their requests', () => {
  test.each<
    [
      string,
      number,
      readonly [before: (route: number) => string[], after: (route: number) => string[]],
      RegExp,
    ]
  >([
    [
      'a new call',
      1,
      [() => [], () => times(1)],
      /^front: GET \/\d now calls audit do in (\d+) of \1 calls \(0 of \d+ before\), as do 3 other operations$/,
    ],
    [
      'a call that is gone',
      -1,
      [() => times(1), () => []],
      /^front: GET \/\d no longer calls audit do \((\d+) of \1 calls before\), as do 3 other operations$/,
    ],
    [
      'a call that is made many times',
      5,
      [() => times(1), () => times(6)],
      /^front: GET \/\d calls audit do 6 times instead of 1, as do 3 other operations$/,
    ],
    [
      'a new call of two operations',
      0.5,
      [() => [], (route) => times(route % 2)],
      /^front: GET \/\d now calls audit do in (\d+) of \1 calls \(0 of \d+ before\), as does 1 other operation$/,
    ],
  ])('%s', (_, calls, [before, after], title) => {
    for (const seed of [1, 3]) {
      const { findings } = compare(period(seed, before), period(seed + 1, after)).findings
      expect(findings.map((one) => one.title)).toEqual([expect.stringMatching(title)])
      const [one] = findings
      const share = Math.abs(calls) === 0.5 ? 0.5 : 1
      expect(Math.abs((one?.requests as number) / (share * 1200) - 1)).toBeLessThan(0.1)
      expect((one?.contributionUs as number) / 1200 / (calls * MEAN_US)).toBeGreaterThan(0.8)
      expect((one?.contributionUs as number) / 1200 / (calls * MEAN_US)).toBeLessThan(1.2)
    }
  })
})
