import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { moments } from '../../src/stats/index.ts'
import { describeWithShared, sharedJson } from '../shared.ts'
import { expectRelative } from './expect-relative.ts'

interface Case {
  name: string
  edges: number[][]
  n: number
  mean: number
  var: number
  C2: number
  edgeVar: number[]
}

describeWithShared('moments against the oracle', () => {
  const { variance } = sharedJson<{ variance: Case[] }>('oracles/variance.json')

  test.each(variance)('$name', (expected) => {
    const totals = expected.edges.map((edges) => edges.reduce((sum, edge) => sum + edge, 0))
    const result = moments(Object.freeze(totals))
    expect(result.count).toBe(expected.n)
    expectRelative(result.mean, expected.mean, 1e-14)
    expectRelative(result.variance, expected.var, 1e-13)
    const { mean, variance } = moments(totals)
    expectRelative(variance / mean ** 2, expected.C2, 1e-13)
    for (const [edge, variance] of expected.edgeVar.entries()) {
      const latencies = expected.edges.map((edges) => edges[edge] ?? Number.NaN)
      expectRelative(moments(latencies).variance, variance, 1e-13)
    }
  })
})

describe('moments', () => {
  test('of 2, 4, 6', () => {
    expect(moments([2, 4, 6])).toEqual({ count: 3, mean: 4, variance: 4, sd: 2, min: 2, max: 6 })
  })

  test('an empty sample has a count and nothing else', () => {
    const none = Number.NaN
    expect(moments([])).toEqual({
      count: 0,
      mean: none,
      variance: none,
      sd: none,
      min: none,
      max: none,
    })
  })

  test('one value has a mean but no variance', () => {
    const { mean, variance, sd, min, max } = moments([7])
    expect([mean, variance, sd, min, max]).toEqual([7, Number.NaN, Number.NaN, 7, 7])
  })

  test('NaN in the sample shows in everything but the count', () => {
    expect(moments([1, Number.NaN, 3])).toEqual({
      count: 3,
      mean: Number.NaN,
      variance: Number.NaN,
      sd: Number.NaN,
      min: Number.NaN,
      max: Number.NaN,
    })
  })

  test('an offset of 1e9 does not eat the variance', () => {
    const offsets = Array.from({ length: 30_000 }, (_, i) => 1e9 + (i % 3))
    expectRelative(moments(offsets).variance, (2 / 3) * (30_000 / 29_999), 1e-12)
  })

  test('shifting a sample shifts the mean and keeps the variance', () => {
    const sample = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 2, maxLength: 50 })
    fc.assert(
      fc.property(sample, fc.integer({ min: 1, max: 1000 }), (values, by) => {
        const original = moments(values)
        const shifted = moments(values.map((value) => value + by))
        expect(shifted.mean).toBeCloseTo(original.mean + by, 8)
        expect(shifted.variance).toBeCloseTo(original.variance, 6)
      }),
    )
  })
})
