import { describe, expect, test } from 'vitest'
import { compare } from '../../src/comparison/comparison.ts'
import { simulatePeriods } from '../compare/segments/incident.ts'
import { everything, restored, testSameResults } from './same-results.ts'

describe('results of recorded periods depend on inputs and options alone', () =>
  testSameResults(['create-behaviour', 'rare-operation', 'mds-config', 'mds-prefetch']))

// Of seeds 1 to 40, two say "mostly": others are slower, too, by more than two standard errors.
const incident = simulatePeriods({
  seed: 2,
  requests: 1_000,
  effectOf: ({ tier, cached }, chance) => ({
    factor: tier === 'enterprise' ? 6 : 1,
    fails: !cached && chance() < 0.1,
  }),
})

test('a restored comparison has the segments and outcomes of a fresh one', () => {
  const found = everything(compare(...incident))
  expect(found.text).toMatch(/only\s+where\s+tenant\.tier = enterprise/)
  expect(found.text).toMatch(/only\s+where\s+cache\.hit = false/)
  expect(everything(restored(compare(...incident)))).toEqual(found)
  const stricter = { alpha: 1e-6, fold: 'exact' } as const
  const expected = everything(compare(...incident, stricter))
  expect(everything(restored(compare(...incident, { fold: 'exact' })).with(stricter))).toEqual(
    expected,
  )
})
