import { expect, test } from 'vitest'
import { kullbackLeibler } from '../../src/stats/kullback-leibler.ts'
import { logBins } from '../../src/stats/log-bins.ts'
import { quantileMap } from '../../src/stats/quantile-map.ts'
import { siblingPercentiles } from '../../src/stats/sibling-percentile.ts'
import { describeWithShared, sharedJson } from '../shared.ts'

interface Oracle {
  readonly kl: readonly { p: number[]; q: number[]; alpha: number; kl: number }[]
  readonly bins: readonly (readonly [value: number, bin: number])[]
  readonly quantileMap: { base: number[]; target: number[]; pairs: readonly [number, number][] }
  readonly percentile: readonly { scores: number[]; percentiles: number[] }[]
}

describeWithShared('divergence, bins, quantile maps and scores agree with the oracle', () => {
  const oracle = sharedJson<Oracle>('oracles/divergence.json')

  test('Kullback-Leibler divergences', () => {
    expect(oracle.kl.length).toBeGreaterThan(0)
    for (const { p, q, alpha, kl } of oracle.kl) {
      expect(kullbackLeibler(p, q, { padding: alpha })).toBeCloseTo(kl, 14)
    }
  })

  test('bins of 1 to 1000', () => {
    const bins = logBins(1, 1000, 6)
    expect(oracle.bins.map(([value]) => [value, bins.index(value)])).toEqual(oracle.bins)
  })

  test('quantile maps', () => {
    const { base, target, pairs } = oracle.quantileMap
    const map = quantileMap(base, target)
    expect(pairs.map(([value]) => [value, map(value)])).toEqual(pairs)
  })

  test('percentiles among siblings', () => {
    for (const { scores, percentiles } of oracle.percentile) {
      expect([...siblingPercentiles(scores)]).toEqual(percentiles)
    }
  })
})
