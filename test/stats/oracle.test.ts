import { describe, expect, test } from 'vitest'
import { incompleteBeta, normalTail } from '../../src/stats/distributions.ts'
import {
  type Alternative,
  bootstrapInterval,
  chiSquareTest,
  fisherExact,
  gammaQ,
  mannWhitney,
  moderatedVariances,
  normalQuantile,
  runShifts,
  stratifiedShift,
  vanElteren,
  wassersteinDistance,
} from '../../src/stats/index.ts'
import { expectRelative } from './expect-relative.ts'
import { type Interval, rOracle, scipyOracle } from './oracles/read.ts'

const SIDES: readonly Alternative[] = ['two-sided', 'slower', 'faster']
const scipy = scipyOracle()
const r = rOracle()

test('the oracles are SciPy 1.17.1, R 4.2.2 and limma 3.54.1', () => {
  expect([scipy.versions.scipy, r.versions]).toEqual(['1.17.1', { R: '4.2.2', limma: '3.54.1' }])
})

describe('against SciPy, samples', () => {
  test.each(scipy.pairs)('$name', ({ before, after, ...expected }) => {
    const asymptotic = mannWhitney(before, after)
    expect(asymptotic.statistic).toBe(expected.u)
    for (const alternative of SIDES) {
      const { p } = mannWhitney(before, after, { alternative })
      expectRelative(p, expected.asymptotic[alternative], 1e-12)
    }
    const { distance } = wassersteinDistance(before, after)
    expectRelative(distance, expected.wasserstein, 1e-12)
  })
})

describe('against SciPy, counts', () => {
  test.each(scipy.fisher)('Fisher’s exact test of $table', ({ table, ...expected }) => {
    const [successes1, n1, successes2, n2] = table
    const { p, pMore, pFewer } = fisherExact(successes1, n1, successes2, n2)
    expectRelative(p, expected.p, 1e-9)
    expectRelative(pMore, expected.pMore, 1e-9)
    expectRelative(pFewer, expected.pFewer, 1e-9)
  })

  test.each(scipy.chiSquare)('χ² of $before and $after', ({ before, after, ...expected }) => {
    const found = chiSquareTest(before, after)
    expectRelative(found.statistic, expected.statistic, 1e-12)
    expectRelative(found.p, expected.p, 1e-11)
    expectRelative(found.expectedMin, expected.expectedMin, 1e-13)
    expect(found.df).toBe(expected.df)
  })
})

describe('against SciPy, functions', () => {
  test.each(scipy.gammaQ)('gammaQ(%d, %d) is %d', (a, x, expected) => {
    expectRelative(gammaQ(a, x), expected, a < 0.5 ? 1e-9 : 1e-12)
  })

  test.each(scipy.normalQuantile)('normalQuantile(%d) is %d', (p, expected) => {
    expectRelative(normalQuantile(p), expected, 3e-15)
  })

  test.each(scipy.normalTail)('normalTail(%d) is %d', (z, expected) => {
    expectRelative(normalTail(z), expected, 1e-13)
  })

  test.each(scipy.incompleteBeta)('incompleteBeta(%d, %d, %d) is %d', (a, b, x, expected) => {
    expectRelative(incompleteBeta(a, b, x), expected, 2e-11)
  })
})

test('the incomplete beta function at its ends and outside', () => {
  expect([incompleteBeta(3, 2, 0), incompleteBeta(3, 2, 1)]).toEqual([0, 1])
  expect(() => incompleteBeta(0, 1, 0.5)).toThrow('Option a is 0. Give a number above 0.')
  expect(() => incompleteBeta(1, -1, 0.5)).toThrow('Option b is -1. Give a number above 0.')
  expect(() => incompleteBeta(1, 1, 1.5)).toThrow('Option x is 1.5. Give a number from 0 to 1.')
})

describe('against SciPy, the bootstrap', () => {
  const { before, after, intervals } = scipy.bootstrap

  const ofMedians = intervals.filter(({ measure }) => measure === 'median')

  test.each(ofMedians)('interval of the median at $level', (expected) => {
    const { level } = expected
    const { low, high } = bootstrapInterval(before, after, { level, resamples: 100_000 })
    const width = expected.high - expected.low
    expect(Math.abs(low - expected.low)).toBeLessThan(0.025 * width)
    expect(Math.abs(high - expected.high)).toBeLessThan(0.025 * width)
  })
})

describe('against R, Wilcoxon’s test', () => {
  test.each(r.wilcoxon)('$name', ({ before, after, level, ...expected }) => {
    for (const alternative of SIDES) {
      const { p } = mannWhitney(before, after, { alternative })
      expectRelative(p, expected.p[alternative], 1e-12)
    }
    const { shift } = stratifiedShift([{ before, after }], { level })
    expectRelative(shift, expected.medianDifference, 1e-13)
  })

  test.each(r.wilcoxon.filter(({ exact }) => exact !== undefined))(
    'the interval of $name is R’s asymptotic one, the shift R’s exact one',
    ({ before, after, level, ...expected }) => {
      const found = stratifiedShift([{ before, after }], { level })
      const asymptotic = expected.asymptotic as Interval
      expectRelative(found.shift, expected.exact?.shift as number, 1e-13)
      expectRelative(found.low, asymptotic.low, 1e-9)
      expectRelative(found.high, asymptotic.high, 1e-9)
    },
  )
})

describe('against R, van Elteren’s test', () => {
  test.each(r.vanElteren)('strata $strata', ({ strata, ...expected }) => {
    for (const alternative of SIDES) {
      const found = vanElteren(strata, { alternative })
      expectRelative(found.p, expected.p[alternative], 1e-12)
      expectRelative(found.z, expected.z, 1e-12)
      expectRelative(found.statistic, expected.statistic, 1e-13)
      expectRelative(found.probabilitySlower, expected.probabilitySlower, 1e-13)
    }
    expectRelative(stratifiedShift(strata).shift, expected.shift, 1e-13)
  })
})

describe('against R, Haberman’s residuals', () => {
  test.each(r.chiSquare)('of $before and $after', ({ before, after, ...expected }) => {
    const { residuals, statistic, p } = chiSquareTest(before, after)
    expectRelative(statistic, expected.statistic, 1e-12)
    expectRelative(p, expected.p, 1e-12)
    for (const [cell, residual] of expected.residuals.entries()) {
      expectRelative(residuals[cell] as number, residual, 1e-12)
    }
  })
})

describe('against limma, one run against several', () => {
  test.each(r.betweenRuns)('$name', ({ levels, shift, t, df }) => {
    const measures = levels.map((means) => ({
      strata: [{ means, counts: means.map(() => 1) }],
      variance: 0,
    }))
    runShifts(measures).forEach((ours, i) => {
      expectRelative(ours.shift, shift[i] as number, 1e-9)
      expectRelative(ours.t, t[i] as number, 1e-6)
      // limma takes measures for independent; here they count as far as they are seen to be.
      expect(ours.df).toBeLessThanOrEqual((df[i] as number) * (1 + 1e-7))
    })
  })
})

describe('against limma, squeezed variances', () => {
  test.each(r.squeezeVar)('$name', ({ variances, df, prior, priorDf, moderated, moderatedDf }) => {
    const ours = moderatedVariances(variances, df)
    expectRelative(ours.prior, prior, 1e-8)
    // limma solves for it by Newton's method, to 1e-8.
    expectRelative(ours.priorDf, Number(priorDf === 'Inf' ? 'Infinity' : priorDf), 1e-7)
    moderated.forEach((variance, i) => {
      expectRelative(ours.variances[i] as number, variance, 1e-7)
      expectRelative(ours.df[i] as number, moderatedDf[i] as number, 1e-7)
    })
  })
})
