import { describe, expect, test } from 'vitest'
import { logBins } from '../../src/stats/log-bins.ts'
import { LatencyProfile } from '../../src/whatif/recompute/latency-profile.ts'

describe('a latency profile', () => {
  test('interpolates between the middles of neighbours and stays within them', () => {
    const profile = LatencyProfile.ofRequests([40, 10, 30, 20])
    expect([0, 0.125, 0.5, 0.75, 1].map((q) => profile.quantile(q))).toEqual([10, 10, 25, 35, 40])
  })

  test('tells the share of requests that take at most so long, each by its weight', () => {
    const profile = LatencyProfile.ofRequests([10, 20, 30], [1, 3, 4])
    expect([5, 10, 20, 29, 30].map((us) => profile.shareWithin(us))).toEqual([
      0, 0.125, 0.5, 0.5, 1,
    ])
    expect(() => profile.shareWithin(Number.NaN)).toThrow('Option us is NaN. Give µs from 0 up.')
  })

  test('counts a request of weight 3 as three', () => {
    const weighted = LatencyProfile.ofRequests([10, 20], [1, 3])
    expect(weighted.requests).toBe(4)
    expect(weighted.meanUs).toBe(17.5)
    expect([...weighted.histogram(logBins(5, 45, 2))]).toEqual([1, 3])
  })

  test('leaves out requests of weight 0, and its input as it is', () => {
    const latencyUs = Object.freeze([30, 10])
    expect([...LatencyProfile.ofRequests(latencyUs, [0, 2]).latencyUs]).toEqual([10])
  })

  test('of a histogram spreads its counts over their bins', () => {
    const profile = LatencyProfile.fromHistogram([0, 100, 300], [1, 1])
    expect(profile.quantile(0.25)).toBeCloseTo(50, 10)
    expect(profile.quantile(0.75)).toBeCloseTo(200, 10)
    expect(profile.meanUs).toBeCloseTo(125, 10)
  })

  test('leaves empty bins of a histogram empty', () => {
    const profile = LatencyProfile.fromHistogram([0, 100, 200, 300], [1, 0, 1])
    expect(profile.latencyUs.some((us) => us > 100 && us < 200)).toBe(false)
  })

  test('refuses what is no profile', () => {
    expect(() => LatencyProfile.ofRequests([])).toThrow('at least one latency')
    expect(() => LatencyProfile.ofRequests([1, Number.NaN])).toThrow('Option latencyUs is NaN')
    expect(() => LatencyProfile.ofRequests([1, 2], [1])).toThrow(
      'as many as there are latencies, 2',
    )
    expect(() => LatencyProfile.ofRequests([1, 2], [1, -1])).toThrow('Option weight[1] is -1')
    expect(() => LatencyProfile.ofRequests([1], [0])).toThrow('some weight above 0')
    expect(() => LatencyProfile.fromHistogram([0, 1], [1, 2])).toThrow('3, one more than')
    expect(() => LatencyProfile.fromHistogram([5, 5], [1])).toThrow('Option edgesUs[1] is 5')
    expect(() => LatencyProfile.ofRequests([1]).quantile(2)).toThrow('Option q is 2')
  })
})
