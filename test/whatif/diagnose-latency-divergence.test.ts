import { describe, expect, test } from 'vitest'
import { ksTwoSample } from '../../src/stats/ks-two-sample.ts'
import { randomSource } from '../../src/stats/random.ts'
import { wassersteinDistance } from '../../src/stats/wasserstein.ts'
import { knownTarget, wishTarget } from '../../src/whatif/diagnosis/diagnose-latency.ts'
import {
  countTimes,
  type DivergenceName,
  divergenceTo,
  knownChangeP,
  tailsP,
  testScenarios,
} from '../../src/whatif/diagnosis/evaluate-scenario.ts'
import { LatencyProfile } from '../../src/whatif/recompute/latency-profile.ts'
import type { EvidenceSample } from '../../src/whatif/scenarios/scenario.ts'

function sample(size: number, seed: number, medianUs = 1000): Float64Array {
  const random = randomSource(seed)
  return Float64Array.from({ length: size }, () =>
    Math.round(random.logNormal(Math.log(medianUs), 0.5)),
  )
}

const profileOf = (values: Float64Array, weight?: Float64Array) =>
  LatencyProfile.ofRequests(values, weight)

function between(one: Float64Array, target: Float64Array, name: DivergenceName): number {
  const size = Math.min(one.length, target.length)
  const base = profileOf(one)
  return divergenceTo(profileOf(target), name, { base, size })(base)
}

describe('divergence to a target', () => {
  const one = sample(150, 1)
  const other = sample(240, 2, 1300)

  test('is the KS statistic and the Wasserstein distance of two samples', () => {
    expect(between(one, other, 'ks')).toBeCloseTo(ksTwoSample(one, other).statistic, 12)
    expect(between(one, other, 'wasserstein')).toBeCloseTo(
      wassersteinDistance(one, other).distance,
      8,
    )
  })

  test('is 0 for itself, nearly so with the padding of Kullback and Leibler', () => {
    expect(between(one, one, 'ks')).toBe(0)
    expect(between(one, one, 'wasserstein')).toBe(0)
    expect(between(one, one, 'kl')).toBeLessThan(0.01)
  })

  test('weights count as repetitions', () => {
    const twice = Float64Array.from([...one, ...one.subarray(0, 50)])
    const weight = one.map((_, i) => (i < 50 ? 2 : 1))
    for (const name of ['kl', 'ks', 'wasserstein'] as const) {
      const to = divergenceTo(profileOf(other), name, { base: profileOf(one), size: 150 })
      expect(to(profileOf(one, weight)), name).toBeCloseTo(to(profileOf(twice)), 9)
    }
  })

  test('what lies beyond base and target counts in the outermost bins; no time at all is no error', () => {
    const to = divergenceTo(profileOf(other), 'kl', { base: profileOf(one), size: 150 })
    const far = to(profileOf(one.map(() => 1e9)))
    expect(far).toBe(to(profileOf(one.map(() => Math.max(...other)))))
    const nothing = new Float64Array(5)
    expect(between(nothing, nothing, 'kl')).toBeLessThan(2)
  })
})

describe('whether there is a change at all', () => {
  const weighed = (latencyUs: Float64Array) => ({ latencyUs, weight: latencyUs.map(() => 1) })
  const testOf = (base: Float64Array, target: Float64Array) => ({
    name: 'kl' as const,
    seed: 1,
    range: { base: profileOf(base), size: Math.min(base.length, target.length) },
  })

  /** Twenty stretches of a run whose level wanders: half of it stays from one to the next. */
  const wandering = (seed: number, shift = 1) => {
    const random = randomSource(seed)
    let level = random.logNormal(0, 0.1)
    const values = Array.from({ length: 20 }, (_, stretch) => {
      level = Math.sqrt(level) * random.logNormal(0, 0.1)
      const times = shift ** Number(stretch >= 10) * level
      return Array.from({ length: 30 }, () => times * random.logNormal(Math.log(1000), 0.5))
    }).flat()
    const half = (from: number) => weighed(Float64Array.from(values.slice(from, from + 300)))
    return [{ recorded: half(0) }, { recorded: half(300) }]
  }
  const stretch = (from: number) => ({
    stretch: Uint8Array.from({ length: 300 }, (_, i) => from + i / 30),
    counts: new Float64Array(300).fill(1),
  })
  const stretches = { before: stretch(0), after: stretch(10), pairs: null }

  test('halves of one run whose level wanders are called different in at most one of twenty cases', {
    tags: ['full'],
  }, () => {
    const ps = Array.from({ length: 200 }, (_, seed) => {
      // How long levels last is learned from all that is looked at.
      const tried = Array.from({ length: 10 }, (_, i) => {
        const [before, after] = wandering(200 + 10 * seed + i).map(({ recorded }) => ({
          values: recorded.latencyUs,
          requests: Uint32Array.from(recorded.latencyUs.keys()),
        })) as [EvidenceSample, EvidenceSample]
        return { counts: countTimes(before, after, stretches), responseCounts: [], isOfTime: false }
      })
      return testScenarios(wandering(seed), { stretches, tried }).changeP
    })
    expect(ps.filter((p) => p < 0.05).length).toBeLessThanOrEqual(10)
  })

  test('a change by half is seen through that', () => {
    const ps = Array.from(
      { length: 20 },
      (_, seed) => testScenarios(wandering(seed, 1.5), { stretches, tried: [] }).changeP,
    )
    expect(ps.filter((p) => p < 0.05).length).toBeGreaterThanOrEqual(17)
  })

  test('a sample of a profile that is known is called different in about one of twenty cases', {
    tags: 'full',
  }, () => {
    const target = sample(2000, 7)
    let found = 0
    for (let i = 0; i < 200; i++) {
      const random = randomSource(i)
      const base = Float64Array.from({ length: 60 }, () => target[random.integer(2000)] as number)
      if (knownChangeP(profileOf(base), profileOf(target), testOf(base, target)) <= 0.05) found++
    }
    expect(found).toBeGreaterThanOrEqual(2)
    expect(found).toBeLessThanOrEqual(19)
  })

  test('others are told apart', () => {
    const [base, target] = [sample(60, 1), sample(90, 2, 2000)]
    expect(knownChangeP(profileOf(base), profileOf(target), testOf(base, target))).toBe(0.002)
  })
})

describe('targets that are no traces', () => {
  const base = LatencyProfile.ofRequests(sample(1000, 3))

  test('a wish is met exactly, and leaves what is up to the median', () => {
    const nowUs = base.quantile(0.99)
    const { profile } = wishTarget(base, { quantile: 0.99, belowUs: nowUs * 0.7 })
    expect(profile.quantile(0.99)).toBeCloseTo(nowUs * 0.7, 6)
    // Of an even number of requests, the median lies between two.
    expect(Math.abs(profile.quantile(0.5) - base.quantile(0.5))).toBeLessThan(1)
    expect(profile.quantile(0.2)).toBe(base.quantile(0.2))
  })

  test('a wish below the median, or about a lower quantile, scales all', () => {
    const half = wishTarget(base, { quantile: 0.5, belowUs: base.quantile(0.5) / 2 }).profile
    expect(half.quantile(0.9)).toBeCloseTo(base.quantile(0.9) / 2, 6)
    const belowUs = base.quantile(0.5) / 4
    expect(wishTarget(base, { quantile: 0.99, belowUs }).profile.quantile(0.99)).toBeCloseTo(
      belowUs,
      6,
    )
  })

  test('wishes that are met already, or are none', () => {
    const wish = (quantile: number, belowUs: number) => () =>
      wishTarget(base, { quantile, belowUs })
    expect(wish(0.99, 1e9)).toThrow('it is 3.13 ms already. Give a shorter time.')
    expect(wish(1, 100)).toThrow('Option target.quantile is 1')
    expect(wish(0.5, 0)).toThrow('Option target.belowUs is 0')
  })

  test('a histogram', () => {
    const { profile } = knownTarget(base, { edges: [0, 100, 300], counts: [1, 3] })
    expect(profile.requests).toBe(4)
    expect(profile.quantile(0.25)).toBeCloseTo(100, -1)
    expect(() => knownTarget(base, { edges: [0, 100], counts: [1, 3] })).toThrow('edges')
  })
})

describe('shares in the tails', () => {
  const counted = (fast: number, slow: number, counts = { fast: 1, slow: 1 }) => ({
    values: Float64Array.from({ length: fast + slow }, (_, i) =>
      i < fast ? 1000 + (1000 * (i + 0.5)) / fast : 9000 + (1000 * (i - fast + 0.5)) / slow,
    ),
    counts: Float64Array.from({ length: fast + slow }, (_, i) =>
      i < fast ? counts.fast : counts.slow,
    ),
  })

  test('count sampled requests by what they stand for', () => {
    const all = counted(950, 50)
    const ofSlowMore = counted(190, 50, { fast: 2.5, slow: 0.5 })
    expect(tailsP(all, counted(190, 50))).toBeLessThan(1e-6)
    expect(tailsP(all, ofSlowMore)).toBeGreaterThan(0.5)
    expect(tailsP(counted(190, 10, { fast: 1, slow: 4 }), all)).toBeLessThan(1e-4)
  })
})
