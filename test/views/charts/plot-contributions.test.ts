import { expect, test } from 'vitest'
import { contributionsChart } from '../../../src/views/charts/findings.ts'
import {
  chain,
  comparisonOf,
  dataOf,
  expectDrawable,
  manyCategories,
  pick,
  smallComparison,
  upFrom,
} from './fixture.ts'

test('a bar is a mutation, by rank, with its contribution as one says it', () => {
  const chart = contributionsChart(smallComparison().ranking)
  expect(dataOf(chart)[0]).toEqual([
    {
      rank: 1,
      label: '1. GET (3)',
      root: 'GET',
      category: 3,
      kind: 'structural mutation',
      requests: 12,
      contributionUs: 107_400,
      contribution: '+107 ms',
      precursors: '2',
    },
    {
      rank: 2,
      label: '2. WRITE (1)',
      root: 'WRITE',
      category: 1,
      kind: 'response-time mutation',
      requests: 10,
      contributionUs: 20_000,
      contribution: '+20 ms',
      precursors: '–',
    },
  ])
  expectDrawable(chart)
})

test('a change that saves time has a bar to the left and a minus sign', () => {
  const before = chain(['A', 'B'], upFrom(1000, 10))
  const chart = contributionsChart(comparisonOf(before, chain(['A', 'B'], upFrom(500, 10))).ranking)
  expect(pick(dataOf(chart)[0], 'contributionUs', 'contribution')).toEqual([[-5000, '−5 ms']])
  expectDrawable(chart)
})

test('a mutation without a precursor has an unknown contribution, not 0 µs', () => {
  const { ranking } = comparisonOf([], chain(['A', 'B'], upFrom(1, 9)), { smPThreshold: 5 })
  const chart = contributionsChart(ranking)
  expect(pick(dataOf(chart)[0], 'contribution')).toEqual([['unknown: no precursor found']])
  expectDrawable(chart)
})

test('beyond the limit the chart says what is left out and what it adds', () => {
  const chart = contributionsChart(smallComparison().ranking, { limit: 1 })
  expect(pick(dataOf(chart)[0], 'rank')).toEqual([[1]])
  expect(chart.description).toContain(
    'Shows the first 1 of 2 mutations; the others add 20 ms together.',
  )
  const { ranking } = manyCategories()
  expect(dataOf(contributionsChart(ranking))[0]).toHaveLength(20)
})

test('no mutation makes an empty chart that says so', () => {
  const same = chain(['A', 'B'], upFrom(1, 10))
  const chart = contributionsChart(comparisonOf(same, same).ranking)
  expect(chart.description).toBe('No category changed in number of requests or in response time.')
  expectDrawable(chart)
})

test('a limit of 0 is refused', () => {
  expect(() => contributionsChart(smallComparison().ranking, { limit: 0 })).toThrow(
    'Option limit is 0. Give a whole number of mutations, 1 or more.',
  )
})
