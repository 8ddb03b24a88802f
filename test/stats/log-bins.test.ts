import { describe, expect, test } from 'vitest'
import { binCount, logBins } from '../../src/stats/log-bins.ts'

describe('bins on a logarithmic axis', () => {
  test('have edges at equal ratios, the outermost exact', () => {
    const { edges } = logBins(1, 1000, 3)
    expect(Array.from(edges, (edge) => Number(edge.toFixed(9)))).toEqual([1, 10, 100, 1000])
    expect([edges[0], edges[3]]).toEqual([1, 1000])
  })

  test('put 0, negative and infinite values in the outermost bins', () => {
    const bins = logBins(1, 1000, 6)
    expect([-5, 0, 0.1, 1e9, Infinity].map(bins.index)).toEqual([0, 0, 0, 5, 5])
  })

  test('of no width put everything from there on in the last bin', () => {
    const bins = logBins(7, 7, 4)
    expect([6, 7, 8].map(bins.index)).toEqual([0, 3, 3])
  })

  test('refuse a low of 0, a high below it, half a bin and NaN', () => {
    expect(() => logBins(0, 10, 4)).toThrow('Option low is 0. Give a number above 0.')
    expect(() => logBins(10, 9, 4)).toThrow('Option high is 9. Give a number from 10 up')
    expect(() => logBins(1, 9, 0.5)).toThrow('Option count is 0.5')
    expect(() => logBins(1, 9, 4).index(Number.NaN)).toThrow('Option value is NaN')
  })

  test('are 8 for few values, 20 for 1,000, and never more than 64', () => {
    expect([0, 1, 64, 1000, 1e6].map(binCount)).toEqual([8, 8, 8, 20, 64])
  })
})
