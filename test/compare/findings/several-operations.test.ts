import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/comparison/comparison.ts'
import { call, record } from '../../worlds.ts'

const ROUTES: readonly (readonly string[])[] = [
  ['auth', 'cart'],
  ['auth', 'price'],
  ['cart', 'stock', 'price'],
  ['stock'],
]

/** Requests of four routes, each of which calls some services, and then `more`, one after the other. */
function period(seed: number, more: (route: number) => readonly string[]) {
  return record({ seed, requests: 1200 }, (r) => {
    const [route, firstUs] = [r.integer(4), r.about(3000, 0.4)]
    const called = [...ROUTES[route]!, ...more(route)]
    const calls = called.map((service) => call(`${service} do`, r.about(2000, 0.5)))
    return call(`front GET /${route}`, [firstUs, r.about(500, 0.3)], {}, calls)
  })
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
