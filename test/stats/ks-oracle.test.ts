import { expect, test } from 'vitest'
import { ksTwoSample } from '../../src/stats/index.ts'
import { describeWithShared, sharedJson } from '../shared.ts'
import { expectRelative } from './expect-relative.ts'

interface Generator {
  n: number
  a: number
  b: number
  m: number
  div: number
  scale: number
  add: number
}

interface Case {
  name: string
  x?: number[]
  y?: number[]
  gx: Generator
  gy: Generator
  D: number
  Dplus: number
  Dminus: number
  testable: boolean
  p_matlab: number
  p_matlab_larger: number
  p_matlab_smaller: number
  p_exact_ties: number
}

function generate({ n, a, b, m, div, scale, add }: Generator): number[] {
  return Array.from({ length: n }, (_, i) => Math.floor(((a * i + b) % m) / div) * scale + add)
}

describeWithShared('the KS test against SciPy, R and MATLAB', () => {
  const { cases } = sharedJson<{ cases: Case[] }>('oracles/ks.json')

  test('there are 60 cases', () => {
    expect(cases).toHaveLength(60)
  })

  test.each(cases)('$name', (expected) => {
    const before = Object.freeze(expected.x ?? generate(expected.gx))
    const after = Object.freeze(expected.y ?? generate(expected.gy))
    const twoSided = ksTwoSample(before, after)
    const slower = ksTwoSample(before, after, { alternative: 'slower' })
    const faster = ksTwoSample(before, after, { alternative: 'faster' })
    const exact = ksTwoSample(before, after, { method: 'exact' })

    expect(twoSided).toMatchObject({
      statistic: expected.D,
      testable: expected.testable,
      beforeCount: before.length,
      afterCount: after.length,
      method: 'stephens',
    })
    expect(slower.statistic).toBe(expected.Dplus)
    expect(faster.statistic).toBe(expected.Dminus)
    expectRelative(twoSided.p, expected.p_matlab, 1e-13)
    expectRelative(slower.p, expected.p_matlab_larger, 1e-13)
    expectRelative(faster.p, expected.p_matlab_smaller, 1e-13)
    expectRelative(exact.p, expected.p_exact_ties, 1e-12)
  })
})
