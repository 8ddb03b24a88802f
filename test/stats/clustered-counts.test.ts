import { describe, expect, test } from 'vitest'
import { clusteredCountsTest } from '../../src/stats/clustered-counts.ts'
import { type RandomSource, randomSource } from '../../src/stats/random.ts'
import { expectRelative } from './expect-relative.ts'

const STRETCHES = 80

/** Ten chances a stretch of time; how many of them are taken is given by stretch of both periods. */
function ofTen(taken: (stretch: number) => number) {
  const made = Float64Array.from({ length: 2 * STRETCHES }, (_, stretch) => taken(stretch))
  return { made, chances: new Float64Array(2 * STRETCHES).fill(10) }
}

function pOf(taken: (stretch: number) => number): number {
  return clusteredCountsTest([ofTen(taken)], STRETCHES).p
}

test('20 spread evenly over after and none before have p of throws of coins that wander', () => {
  const spread = clusteredCountsTest(
    [ofTen((stretch) => (stretch >= STRETCHES && stretch % 4 === 0 ? 1 : 0))],
    STRETCHES,
  )
  expect(spread).toMatchObject({ made: [0, 20], clusterSize: 1, wander: 0.3 })
  // The mean of 2 / (1 + exp(-0.3 z)) ** 20 over normal z.
  expectRelative(spread.p, 3.6386007e-5, 1e-4)
})

test('swapping the periods keeps p', () => {
  const counts = (stretch: number) => (stretch % 7 === 0 ? 2 : stretch > 100 ? 1 : 0)
  const there = clusteredCountsTest([ofTen(counts)], STRETCHES)
  const back = clusteredCountsTest([ofTen((i) => counts((i + STRETCHES) % 160))], STRETCHES)
  expect(back.made).toEqual([...there.made].reverse())
  expectRelative(back.p, there.p, 1e-9)
})

test.each([
  ['one stretch', (stretch: number) => (stretch === 100 ? 10 : 0)],
  ['a tenth of after', (stretch: number) => (stretch >= 100 && stretch < 108 ? 5 : 0)],
])('one burst of %s is no change', (_, taken) => {
  expect(pOf(taken)).toBeGreaterThan(0.2)
})

test('eight bursts against none are one, 20 against none too', () => {
  const every = (apart: number) => (stretch: number) =>
    stretch >= STRETCHES && stretch % apart === 0 ? 8 : 0
  expect(pOf(every(10))).toBeGreaterThan(1e-3)
  expect(pOf(every(10))).toBeLessThan(0.05)
  expect(pOf(every(4))).toBeLessThan(1e-4)
})

test('no chances in a period, or none taken, have no p', () => {
  expect(pOf(() => 0)).toBeNaN()
  const before = { made: new Float64Array(160), chances: new Float64Array(160) }
  before.made.fill(1, 0, STRETCHES)
  before.chances.fill(10, 0, STRETCHES)
  expect(clusteredCountsTest([before], STRETCHES).p).toBeNaN()
  expect(clusteredCountsTest([], STRETCHES).p).toBeNaN()
})

describe('of periods alike, at most 5 % have p < 0.05 and 1 in 300 p < 0.001', () => {
  const RUNS = 3000
  const poisson = (random: RandomSource, mean: number) => {
    let [count, product] = [0, random.next()]
    for (const limit = Math.exp(-mean); product > limit; count++) product *= random.next()
    return count
  }
  /** Rates whose log keeps a part from each tenth of a period to the next. */
  const wandering = (random: RandomSource, sd: number, kept: number) => {
    let level = sd * random.normal()
    return Array.from({ length: STRETCHES }, (_, i) => {
      if (i % 8 === 0) level = kept * level + Math.sqrt(1 - kept ** 2) * sd * random.normal()
      return Math.exp(level)
    })
  }

  test.each<[string, (random: RandomSource) => number[]]>([
    ['30 by chance', (random) => Array.from({ length: STRETCHES }, () => poisson(random, 30 / 80))],
    [
      'few bursts',
      (random) => Array.from({ length: STRETCHES }, () => 6 * poisson(random, 3 / 80)),
    ],
    [
      'bursts that last for a twentieth of a period',
      (random) => {
        const counts = Array.from({ length: STRETCHES }, () => poisson(random, 5 / 80))
        for (let burst = poisson(random, 2); burst > 0; burst--) {
          const from = Math.floor(random.next() * 76)
          for (let i = from; i < from + 4; i++) counts[i]! += poisson(random, 4)
        }
        return counts
      },
    ],
    [
      'levels that wander',
      (random) => wandering(random, 0.7, 0.3).map((rate) => poisson(random, (rate * 60) / 80)),
    ],
  ])('%s', (name, draw) => {
    const random = randomSource(31)
    const p = Array.from({ length: RUNS }, () => {
      const counts = [...draw(random), ...draw(random)]
      return pOf((stretch) => counts[stretch]!)
    })
    const below = (level: number) => p.filter((one) => one < level).length / RUNS
    console.log(`${name}: ${below(0.05)} below 0.05, ${below(0.001)} below 0.001`)
    expect(below(0.05)).toBeLessThanOrEqual(0.05)
    expect(below(0.001)).toBeLessThanOrEqual(1 / 300)
  })
})
