import { expect, test } from 'vitest'
import { moderatedVariances } from '../../src/stats/index.ts'
import { expectRelative } from './expect-relative.ts'

// Numbers against limma's `squeezeVar` in oracle.test.ts.

test('variances that tell nothing become the prior and leave it alone', () => {
  const told = moderatedVariances([1, 9, 2, 30], [2, 3, 4, 5])
  const mixed = moderatedVariances([0, 1, 9, 4, Number.NaN, 2, 30], [3, 2, 3, 0, 6, 4, 5])
  expect([mixed.prior, mixed.priorDf]).toEqual([told.prior, told.priorDf])
  expect([...mixed.variances].filter((_, i) => ![0, 3, 4].includes(i))).toEqual([...told.variances])
  for (const i of [0, 3, 4]) {
    expect(mixed.variances[i]).toBe(told.prior)
    expect(mixed.df[i]).toBe(told.priorDf)
  }
})

test('variances that agree are worth no more degrees of freedom than all have together', () => {
  const { prior, priorDf, variances, df } = moderatedVariances([2, 2.5], [4, 6])
  expect({ prior, priorDf }).toEqual({ prior: 2.25, priorDf: Number.POSITIVE_INFINITY })
  expect([[...variances], [...df]]).toEqual([
    [2.25, 2.25],
    [10, 10],
  ])
})

test('a single variance stays as it is, with its own degrees of freedom', () => {
  const { variances, df } = moderatedVariances([7, 0], [5, 5])
  expect([[...variances], [...df]]).toEqual([
    [7, 7],
    [5, 0],
  ])
})

test('without any variance that tells, all results are NaN', () => {
  const { prior, priorDf, variances, df } = moderatedVariances([0, Number.NaN], [3, 3])
  expect([prior, priorDf, ...variances, ...df]).toEqual(Array(6).fill(Number.NaN))
  expect(moderatedVariances([], []).variances).toHaveLength(0)
})

test('weighed, the squares of logs over their variances sum to what R finds', () => {
  // v <- c(…); d <- c(…); e <- log(v) - digamma(d/2) + log(d/2)
  // q <- function(t) { w <- 1 / (trigamma(d/2) + t); sum(w * (e - weighted.mean(e, w))^2) }
  // t <- exp(uniroot(function(l) q(exp(l)) - 9, c(-10, 10), tol=1e-14)$root)
  // w <- 1 / (trigamma(d/2) + t); h <- limma::trigammaInverse(t)
  // c(exp(weighted.mean(e, w) + digamma(h) - log(h)), 2 * h)
  const { prior, priorDf } = moderatedVariances(
    [0.5, 1.9, 0.02, 7, 3.1, 0.9, 4, 2.2, 0.4, 1],
    [1, 2, 1, 1, 2, 700, 900, 400, 650, 300],
    { weighed: true },
  )
  expectRelative(prior, 1.0886508450497, 1e-10)
  expectRelative(priorDf, 3.9125096810793, 1e-10)
})

test('weighed, variances of equally many degrees of freedom have the prior they have unweighed', () => {
  const variances = [0.5, 1.9, 0.02, 7, 3.1]
  const df = variances.map(() => 6)
  const [weighed, plain] = [true, false].map((weighed) =>
    moderatedVariances(variances, df, { weighed }),
  )
  expectRelative(weighed?.prior ?? 0, plain?.prior ?? 1, 1e-10)
  expectRelative(weighed?.priorDf ?? 0, plain?.priorDf ?? 1, 1e-10)
})
