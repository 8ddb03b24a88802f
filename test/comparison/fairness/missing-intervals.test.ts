import { describe, expect, test } from 'vitest'
import { randomSource } from '../../../src/stats/random.ts'
import { NOON_US, requestsAt } from '../../make-traces.ts'
import { coded } from './coded.ts'

const HOUR_US = 3600e6

/** Arrivals at random within an hour, without those for which `isMissing`. */
function arrivals(
  count: number,
  { seed = 1, hour = 0, isMissing = (_share: number): boolean => false } = {},
) {
  const random = randomSource(seed)
  const shares = Array.from({ length: count }, () => random.next())
    .sort((a, b) => a - b)
    .filter((share) => !isMissing(share))
  return requestsAt(
    shares.map((share) => NOON_US + (hour + share) * HOUR_US),
    { trace: `hour ${hour} seed ${seed}` },
  )
}

describe('missing-intervals', () => {
  const hole = (share: number) => share > 0.4 && share < 0.5

  test('of a hole: how long it is, and where', () => {
    const found = coded(
      'missing-intervals',
      arrivals(1000),
      arrivals(1000, { hour: 1, isMissing: hole }),
    )
    expect(found.map(({ finding }) => finding)).toEqual([
      expect.stringMatching(
        /^No request of the after period arrived for 6\.\d+ min \(10 % of it\), from (23\.\d+|24) min after its start\.$/,
      ),
    ])
  })

  test('silent when requests come at random', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const after = arrivals(500, { seed: 100 + seed, hour: 1 })
      expect(coded('missing-intervals', arrivals(500, { seed }), after)).toEqual([])
    }
  })

  test('silent when the hole is no longer than a twentieth of the period', () => {
    const isMissing = (share: number) => share > 0.4 && share < 0.445
    expect(
      coded('missing-intervals', arrivals(3000), arrivals(3000, { hour: 1, isMissing })),
    ).toEqual([])
  })

  test('silent when so few requests may well leave a hole', () => {
    expect(
      coded('missing-intervals', arrivals(40), arrivals(40, { hour: 1, isMissing: hole })),
    ).toEqual([])
  })

  test('silent about the stretches of the other period, where both were recorded in turns', () => {
    const isFirst = (share: number) => Math.floor(share * 6) % 2 === 0
    const turns = [
      arrivals(1000, { isMissing: (share) => !isFirst(share) }),
      arrivals(1000, { seed: 2, isMissing: isFirst }),
    ] as const
    expect(coded('missing-intervals', ...turns)).toEqual([])
    const apart = arrivals(1000, { hour: 5, isMissing: isFirst })
    expect(coded('missing-intervals', turns[0], apart)).toHaveLength(2)
  })

  test('of a hole in whose middle only a short stretch of the other period lies', () => {
    const bursts = arrivals(1000, { isMissing: (share) => share > 0.02 && share < 0.98 })
    const within = arrivals(1000, { seed: 2, isMissing: (share) => share < 0.5 || share > 0.52 })
    const [found] = coded('missing-intervals', bursts, within)
    expect(found?.finding).toMatch(/^No request of the before period arrived for 57\.\d min/)
  })

  test('silent about a hole that periods recorded side by side have at once', () => {
    const both = arrivals(1000, { isMissing: hole })
    expect(coded('missing-intervals', both, arrivals(1000, { seed: 2, isMissing: hole }))).toEqual(
      [],
    )
    expect(coded('missing-intervals', both, arrivals(1000, { seed: 2 }))).toHaveLength(1)
  })
})
