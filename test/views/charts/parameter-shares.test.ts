import { describe, expect, test } from 'vitest'
import type { Parameter } from '../../../src/explain/parameters/parameter-table.ts'
import { numberText, parameterShares } from '../../../src/views/charts/parameter-differences.ts'

const source = {
  node: { service: '', operation: '', host: '', phase: 'call' },
  occurrence: 0,
  attribute: 'x',
} as const
const numeric = (values: number[]): Parameter => ({
  name: 'x',
  kind: 'numeric',
  values: Float64Array.from(values),
  source,
})
const named = (levels: string[], codes: number[]): Parameter => ({
  name: 'x',
  kind: 'categorical',
  levels,
  codes: Int32Array.from(codes),
  source,
})

describe('shares of values', () => {
  test('are of each group, whatever its size', () => {
    const labels = Uint8Array.of(0, 0, 0, 0, 1)
    expect(parameterShares(named(['a', 'b'], [0, 0, 0, 1, 1]), labels)).toEqual({
      kind: 'values',
      values: [
        { label: 'b', shares: [0.25, 1], kind: 'value' },
        { label: 'a', shares: [0.75, 0], kind: 'value' },
      ],
    })
  })

  test('of few numbers stand in the order of the numbers, the missing last', () => {
    const labels = Uint8Array.of(0, 0, 1, 1)
    expect(parameterShares(numeric([4096, Number.NaN, -1, -1]), labels)).toMatchObject({
      values: [
        { label: '−1', shares: [0, 1] },
        { label: '4,096', shares: [0.5, 0] },
        { label: 'missing', shares: [0.5, 0], kind: 'missing' },
      ],
    })
  })

  test('of more names than asked for are summed up', () => {
    const codes = [0, 0, 0, 1, 1, 2, 3]
    const shares = parameterShares(named(['a', 'b', 'c', 'd'], codes), new Uint8Array(7), {
      limit: 2,
    })
    expect(shares).toMatchObject({
      values: [
        { label: 'a' },
        { label: 'b' },
        { label: '2 others', shares: [2 / 7, 0], kind: 'others' },
      ],
    })
  })

  test('of many numbers make a histogram whose bars add up, what is far out in the last bin', () => {
    const values = [...Array.from({ length: 200 }, (_, i) => i), 1e6, Number.NaN]
    const labels = Uint8Array.from(values, (_, i) => i % 2)
    const shares = parameterShares(numeric(values), labels)
    if (shares.kind !== 'histogram') throw new Error('no histogram')
    const sum = (group: 0 | 1) =>
      shares.bins.reduce((total, bin) => total + bin.shares[group], shares.missing[group])
    expect([sum(0), sum(1)].map((total) => total.toFixed(9))).toEqual([
      '1.000000000',
      '1.000000000',
    ])
    expect(shares.isClipped).toEqual([true, true])
    expect(shares.missing[1]).toBeCloseTo(1 / 101)
    expect(shares.isLog).toBe(false)
  })

  test('of numbers of very different size have bins equal in ratio', () => {
    const values = Array.from({ length: 60 }, (_, i) => 2 ** (i / 3))
    const shares = parameterShares(
      numeric(values),
      Uint8Array.from(values, (_, i) => i % 2),
    )
    expect(shares).toMatchObject({ kind: 'histogram', isLog: true })
  })

  test('numbers have four digits, whole ones all of theirs', () => {
    expect([4096, 11.3871, 145_123.4, -12_345, -0.00012345, 0].map(numberText)).toEqual([
      '4,096',
      '11.39',
      '145,100',
      '−12,345',
      '−0.0001234',
      '0',
    ])
  })

  test('of a group without rows are 0', () => {
    expect(parameterShares(numeric([1, 2]), new Uint8Array(2))).toMatchObject({
      values: [{ shares: [0.5, 0] }, { shares: [0.5, 0] }],
    })
  })
})
