import { describe, expect, test } from 'vitest'
import { compare } from '../../../src/compare/comparison.ts'
import { comparisonWarnings } from '../../../src/compare/fairness/comparison-warnings.ts'
import { around, chains, makeGraphs } from '../../make-traces.ts'
import { coded } from './coded.ts'

const HIT = ['READ', 'HIT', 'REPLY']

describe('small-periods', () => {
  test('of periods too small to find anything in', () => {
    const few = coded(
      'small-periods',
      makeGraphs(chains(HIT, [1])),
      makeGraphs(chains(HIT, [5, 6])),
    )
    expect(few.map(({ message }) => message)).toEqual([
      'With 1 request before and 2 after, no category has enough requests in both periods to ' +
        'test its times, and no category can change by more than the threshold of 50 requests.',
    ])
    expect(few.map(({ detail }) => detail)).toEqual([
      'No finding does not mean no change. Load longer periods, or lower `smPThreshold`.',
    ])
  })

  test('silent when one category can be tested and one more than the threshold can change', () => {
    const requests = () => makeGraphs(chains(HIT, around(1, 51)))
    expect(coded('small-periods', requests(), requests())).toEqual([])
  })
})

describe('nothing-in-common', () => {
  test('of periods whose requests are all of other structures', () => {
    const other = makeGraphs(chains(['READ', 'MISS', 'REPLY'], around(1, 60)))
    const [found] = coded('nothing-in-common', makeGraphs(chains(HIT, around(1, 60))), other)
    expect(found?.finding).toBe(
      'No category has requests in both periods: every request has a new structure.',
    )
  })

  test('silent when a single request is like one before', () => {
    const other = [...chains(['READ', 'MISS', 'REPLY'], around(1, 60)), ...chains(HIT, [1])]
    expect(
      coded('nothing-in-common', makeGraphs(chains(HIT, around(1, 60))), makeGraphs(other)),
    ).toEqual([])
  })
})

test('undecided-structures: of structures too symmetric to compare', () => {
  const { before, after, flows, options } = compare(
    makeGraphs(chains(HIT, [1])),
    makeGraphs(chains(HIT, [1])),
  )
  const withUndecided = (undecided: number) =>
    comparisonWarnings({
      before,
      after,
      flows,
      options,
      categories: { undecided, size: 1, count: () => 100 },
    }).map(({ finding }) => finding)
  expect(withUndecided(1)).toContain(
    '1 pair of flows is too symmetric to compare within the step budget.',
  )
  expect(withUndecided(0).join()).not.toContain('symmetric')
})
